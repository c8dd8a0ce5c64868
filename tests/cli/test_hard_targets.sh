# snarl test copes with hostile programs: crashes, closed descriptors, ignored signals, floods of
# output, kills, children. It reports the result and leaves no processes.
. "$SNARL_ROOT/tests/lib.sh"

# try NAME WANTED_EXIT WANTED_TEXT OPTIONS… <SOURCE
try() {
	name=$1 exit=$2 text=$3
	shift 3
	cat >"$name.c"
	snarl-cc -g -O1 -pthread "$name.c" -o "$name"
	status=0
	timeout 100 snarl test --replays 1 --out "out-$name" "$@" -- "./$name" 2>err </dev/null ||
		status=$?
	[ $status = "$exit" ] || { cat err; fail "$name: exit $status, not $exit"; }
	grep -q -e "$text" err || { cat err; fail "$name: no '$text'"; }
}

try crash 1 'killed by signal 11' --runs 20 <<'C'
int main(void) { *(volatile int *)8 = 1; }
C
try quiet_exit 1 'exit status 7' --runs 20 <<'C'
#include <unistd.h>
int main(void) { _exit(7); }
C
try closed 0 '30 runs' --runs 30 <<'C'
#include <pthread.h>
#include <unistd.h>
static void *nothing(void *arg) { return arg; }
int main(void)
{
	pthread_t t;

	for (int i = 0; i < 1024; i++)
		close(i);
	pthread_create(&t, 0, nothing, 0);
	return pthread_join(t, 0);
}
C
try deaf 0 'inconclusive: it did not end within 0.2 s' --runs 5 --timeout 0.2 -j1 <<'C'
#include <signal.h>
int main(void)
{
	for (int i = 1; i < 32; i++)
		signal(i, SIG_IGN);
	for (volatile unsigned i = 0;; i++)
		;
}
C
try flood 0 '2 runs' --runs 2 -j1 --timeout 60 <<'C'
#include <string.h>
#include <unistd.h>
static char b[1 << 20];
int main(void)
{
	memset(b, 'x', sizeof(b));
	for (int i = 0; i < 200; i++)
		if (write(1, b, sizeof(b)) != sizeof(b))
			return 1;
	return 0;
}
C
try group 1 'killed by signal 9' --runs 20 <<'C'
#include <signal.h>
#include <unistd.h>
int main(void) { kill(0, SIGKILL); pause(); }
C
try parent 3 'the fork server was lost 3 times in a row' --runs 20 -j1 <<'C'
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void) { syscall(SYS_kill, getppid(), SIGKILL); for (;;) pause(); }
C
try shielded 0 '20 runs' --runs 20 -j1 <<'C'
#include <signal.h>
#include <unistd.h>
int main(void) { return kill(getppid(), SIGKILL); }
C
try children 0 '50 runs' --runs 50 <<'C'
#include <unistd.h>
int main(void)
{
	for (int i = 0; i < 3; i++)
		if (fork() == 0) {
			if (i == 2)
				setsid();
			execl("/bin/sleep", "snarl-stray-sleep", "1000", (char *)0);
			_exit(1);
		}
	return 0;
}
C
# /proc has command lines on every system; pgrep may be missing.
! grep -l snarl-stray-sleep /proc/[0-9]*/cmdline 2>/dev/null || fail "processes were left behind"
try threads_first 0 'starts threads before main' --runs 5 -j2 <<'C'
#include <pthread.h>
static void *nothing(void *arg) { return arg; }
static void *stay(void *arg) { for (;;) { volatile int i = 0; while (i < 1000) i++; } return arg; }
__attribute__((constructor)) static void early(void)
{
	pthread_t t;
	pthread_create(&t, 0, stay, 0);
}
int main(void) { pthread_t t; pthread_create(&t, 0, nothing, 0); return pthread_join(t, 0); }
C

# Programs that cannot be run give exit code 3 and one line.
refuse() {
	text=$1
	shift
	status=0
	snarl test -- "$@" 2>err </dev/null || status=$?
	[ $status = 3 ] || fail "$*: exit $status, not 3"
	[ "$(wc -l <err)" = 1 ] || { cat err; fail "$*: not one line"; }
	grep -q -e "$text" err || { cat err; fail "$*: no '$text'"; }
}
printf '#!/bin/sh\nexit 0\n' >script
chmod +x script
gcc -x c -o plain - <<'C'
int main(void) { return 0; }
C
refuse 'was it built with snarl-cc?' ./plain
refuse 'not a script' ./script
refuse 'No such file' ./missing
refuse 'it is a folder' /
