#!/bin/sh
# snarl test survives hostile programs (closed descriptors, SIGSTOP, kill of the parent, endless
# output …): it ends with the right exit code, says what happened and leaves no process behind.
. "$SNARL_ROOT/tests/lib.sh"
. "$SNARL_ROOT/tests/control/lib.sh"
# The program writes to all open descriptors; close those inherited from make or a shell.
exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-

cat >hostile.c <<'C'
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *what = "";

static int is(const char *name)
{
	return strcmp(what, name) == 0;
}

static void *nothing(void *arg)
{
	return arg;
}

/* gives the program a thread to control */
static void thread(void)
{
	pthread_t t;

	pthread_create(&t, NULL, nothing, NULL);
	pthread_join(t, NULL);
}

static void linger(int children)
{
	for (int i = 0; i < children; i++)
		if (fork() == 0) {
			setsid();
			for (;;)
				pause();
		}
}

static void garbage(void)
{
	static const char noise[16] = "garbage garbage";

	signal(SIGPIPE, SIG_IGN);	/* an inherited pipe may have no reader */
	for (int fd = 3; fd < 1024; fd++) {
		ssize_t ignored = write(fd, noise, sizeof(noise));

		ignored += write(fd, noise, 3);
		(void)ignored;
	}
}

static void say(long megabytes)
{
	static char block[1 << 20];

	memset(block, 'y', sizeof(block));
	for (long i = 0; i < megabytes; i++)
		if (fwrite(block, 1, sizeof(block), stdout) != sizeof(block))
			exit(1);
}

__attribute__((noinline)) static void overflow(void)
{
	volatile char big[1 << 30];

	big[0] = 1;
	big[sizeof(big) - 1] = big[0];
}

__attribute__((constructor)) static void early(int argc, char **argv)
{
	what = argc > 1 ? argv[1] : "";
	if (is("constructor"))
		raise(SIGSEGV);
	if (is("exit-early"))
		_exit(0);
}

int main(void)
{
	thread();
	if (is("close"))
		for (int fd = 0; fd < 1024; fd++)
			close(fd);
	if (is("close-range"))
		syscall(436, 0u, ~0u, 0u);
	if (is("output"))
		say(200);
	if (is("loop")) {
		for (int i = 1; i < 32; i++)
			signal(i, SIG_IGN);
		for (volatile int i = 1; i; i |= 1)
			;
	}
	if (is("linger"))
		linger(200);
	if (is("kill-parent"))
		kill(getppid(), SIGKILL);
	if (is("kill-group"))
		kill(0, SIGKILL);
	if (is("stop"))
		kill(getpid(), SIGSTOP);
	if (is("garbage"))
		garbage();
	if (is("limits")) {
		struct rlimit none = { 0, 0 };

		setrlimit(RLIMIT_NOFILE, &none);
		setrlimit(RLIMIT_FSIZE, &none);
		setrlimit(RLIMIT_NPROC, &none);
	}
	if (is("null"))
		*(volatile int *)16 = 1;
	if (is("stack"))
		overflow();
	thread();
	return 0;
}
C
snarl-cc -O1 -g -pthread hostile.c -o hostile

# Prints the process ids of all running ./hostile.
left_behind() {
	for left_exe in /proc/[0-9]*/exe; do
		[ "$(readlink "$left_exe" 2>/dev/null)" != "$PWD/hostile" ] || echo "$left_exe"
	done | cut -d/ -f3
}
trap 'left_behind | xargs -r kill -KILL 2>/dev/null || :' EXIT

# survives CODE PATTERN NAME OPTIONS…: expects this exit code and a line of stderr, with and without
# fork server
survives() {
	code=$1 pattern=$2 name=$3
	shift 3
	for mode in ${modes:-fork exec}; do
		[ $mode = fork ] && mode= || mode=--no-fork-server
		status=0
		rm -rf out
		timeout 100 snarl test -o out --runs 20 -j 2 $mode "$@" -- ./hostile "$name" \
			>stdout 2>err </dev/null || status=$?
		[ $status = "$code" ] || { cat err; fail "$name $mode: exit $status, not $code"; }
		grep -q "$pattern" err || { cat err; fail "$name $mode: does not say '$pattern'"; }
		[ -z "$(left_behind)" ] || fail "$name $mode: processes are left: $(left_behind)"
	done
}
survives 0 '20 runs' nothing
survives 0 '20 runs' close
survives 0 '20 runs' close-range
survives 0 '20 runs' garbage
survives 0 '20 runs' limits
survives 1 'signal 11' null --replays 1
survives 1 'signal 11' stack --replays 1
survives 1 'failed: hang: ' loop
survives 0 'inconclusive: it did not end within 1 s' stop --timeout 1
survives 0 '4 runs' linger --runs 4
survives 0 '2 runs' output --runs 2 --timeout 60
survives 1 'signal 9' kill-group --replays 1
survives 0 '20 runs' kill-parent
survives 3 'signal 11.* before main' constructor
survives 3 'built with snarl-cc?' exit-early

# refused PATTERN PROGRAM…: the program cannot be run; exit code 3 and one line with PATTERN
refused() {
	pattern=$1
	shift
	for mode in "" --no-fork-server; do
		status=0
		timeout 100 snarl test --runs 3 $mode -- "$@" >stdout 2>err </dev/null || status=$?
		[ $status = 3 ] && [ "$(wc -l <err)" = 1 ] && grep -q "$pattern" err ||
			{ cat err; fail "$* $mode: exit $status"; }
	done
}
cat >threads.c <<'C'
#include <pthread.h>

static void *nothing(void *arg)
{
	return arg;
}

int main(void)
{
	for (int i = 0; i < 1100; i++) {
		pthread_t t;

		if (pthread_create(&t, NULL, nothing, NULL) == 0)
			pthread_join(t, NULL);
	}
	return 0;
}
C
snarl-cc -O1 -pthread threads.c -o threads
gcc -pthread threads.c -o plain
printf '#!/bin/sh\n' >script
cp threads forbidden
chmod -x forbidden
chmod +x script
refused 'more than 1,024 threads' ./threads
refused 'built with snarl-cc?' ./plain
refused 'script' ./script
refused 'nowhere' ./nowhere
refused 'no-such-program-anywhere' no-such-program-anywhere
refused 'forbidden' ./forbidden
refused '/' /
