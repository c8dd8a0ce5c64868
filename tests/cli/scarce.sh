# Recording under shortage: all descriptors closed, another folder, few descriptors, small file
# limit, small trace, full disk. The program is never disturbed, and what could not be kept is
# reported.
. "$SNARL_ROOT/tests/lib.sh"

cat >scarce.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int shared[64];
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

/* random elements, so that the accesses compress badly and need room in the trace */
static void *work(void *n)
{
	unsigned x = 1;

	for (long i = 0; i < (long)n; i++) {
		x = x * 1664525 + 1013904223;
		shared[x >> 26]++;
		if (i % 1000 == 0) {
			pthread_mutex_lock(&m);
			shared[0]++;
			pthread_mutex_unlock(&m);
		}
	}
	return NULL;
}

static void both(long n)
{
	pthread_t thread[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, work, (void *)n);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
}

int main(int argc, char **argv)
{
	long n = argc == 3 ? atol(argv[2]) : 0;
	int status = 0;

	if (strcmp(argv[1], "close") == 0) {
		both(n);
		close_range(3, ~0u, 0);
		both(n);
		/* the runtime's descriptors are out of the way; then the program takes all
		 * numbers */
		if (open("/dev/null", O_RDONLY) != 3)
			return 4;
		for (int i = 3; i < 1000; i++)
			dup2(1, i);
		both(n);
	} else if (strcmp(argv[1], "elsewhere") == 0) {
		if (chdir("/") != 0)
			return 5;
		umask(0777);
		close_range(3, ~0u, 0);
		both(n);
	} else if (strcmp(argv[1], "child") == 0) {
		pid_t pid = fork();

		if (pid == 0) {
			both(n);
			exit(0);
		}
		waitpid(pid, &status, 0);
	} else {
		both(n);
	}
	printf("%d\n", shared[0] > 0 || status == 0 ? 0 : 1);
	return status != 0;
}
END
wrap gcc scarce.c prog -O1 -pthread

# locks WANTED: the number of lock events of all threads
locks() {
	"$tools/count" t.snarl lock >counts || fail "$what: unreadable"
	[ "$(awk '{ n += $2 } END { print n }' counts)" = "$1" ] || { cat counts; fail "$what"; }
	! grep lost record.err || fail "$what: something was lost"
}

what="all descriptors closed"
RECORD_OPTIONS= record t.snarl ./prog close 20000
locks 120
what="another folder, no permissions"
RECORD_OPTIONS= record t.snarl ./prog elsewhere 20000
locks 40
what="20 descriptors"
(ulimit -n 20 && RECORD_OPTIONS= record t.snarl ./prog plain 20000)
locks 40

what="small files"
cp t.snarl before.snarl
status=0
(ulimit -f 1000 && exec snarl record --out t.snarl -- ./prog plain 20000) >out 2>err || status=$?
[ $status = 3 ] || { cat err; fail "$what: exit $status"; }
grep -q 'ulimit -f' err || { cat err; fail "$what: nothing said"; }
grep -q '^snarl record: nothing was recorded' err || { cat err; fail "$what: no error"; }
cmp -s t.snarl before.snarl || fail "$what: the older trace is gone"
! ls t.snarl.* 2>/dev/null || fail "$what: something was left"

# Beyond the file size limit the tool prints a message; programs still get SIGXFSZ.
status=0
(ulimit -f 1 && exec snarl hunt --runs 1 -- ./prog plain 10) >out 2>err || status=$?
[ $status = 3 ] && grep -q 'raise ulimit -f' err && [ "$(wc -l <err)" = 1 ] ||
	{ cat err; fail "$what: hunt: exit $status"; }
cat >default.c <<'END'
#include <signal.h>

int main(void)
{
	struct sigaction now;

	sigaction(SIGXFSZ, 0, &now);
	return now.sa_handler != SIG_DFL;
}
END
snarl cc -pthread default.c -o default
snarl record --exit-code --out t.snarl ./default 2>err ||
	{ cat err; fail "$what: signal recorded"; }
snarl test --runs 1 -- ./default 2>err || { cat err; fail "$what: signal under control"; }
grep -q '^snarl: 1 run in .* 1 interleaving, 0 bugs$' err || { cat err; fail "summary of one run"; }

# A trace limited by --max-size has what fits; the number of lost records is printed.
what="a small trace"
RECORD_OPTIONS="--max-size 64K" record t.snarl ./prog plain 300000 || fail "$what"
grep -q 'records were lost: .*--max-size' record.err ||
	{ cat record.err; fail "$what: no word of lost records"; }
"$tools/count" t.snarl lock >/dev/null || fail "$what: unreadable"
! grep 'until it was killed or replaced' record.err || fail "$what: no end"
for size in 0 1K 64X -1 99999999G; do
	status=0
	snarl record --max-size $size ./prog plain 10 >out 2>err || status=$?
	[ $status = 2 ] && grep -q 'needs a size' err ||
		{ cat err; fail "$what: $size: exit $status"; }
done

mkdir read-only
chmod 555 read-only
snarl record --out read-only/t.snarl ./prog plain 10 >out 2>err && [ "$(id -u)" != 0 ] &&
	fail "recorded to a read-only folder"
chmod 755 read-only

# The rest needs a small file system, which only root can mount.
mkdir small
mount -t tmpfs -o size=600k none small 2>/dev/null || exit 0
trap 'umount small' EXIT
for how in plain child; do
	status=0
	snarl record --exit-code --max-size 1G --out small/t.snarl ./prog $how 300000 >out 2>err ||
		status=$?
	[ "$(cat out)" = 0 ] || { cat out err; fail "full disk, $how: the program failed"; }
	[ $status = 0 ] || [ $status = 3 ] || { cat err; fail "full disk, $how: exit $status"; }
	grep -qi -e 'lost' -e 'no space' -e unrecorded err ||
		{ cat err; fail "full disk, $how: nothing said"; }
	ls -l small
	cat err
	rm -f small/*
done
# By default a recording takes at most half of the free space.
snarl record --exit-code --out small/t.snarl ./prog plain 300000 >out 2>err ||
	{ cat err; fail "half of the disk"; }
grep -q 'records were lost' err || { cat err; fail "half of the disk: nothing said"; }
[ "$(stat -c %s small/t.snarl)" -le 400000 ] || { ls -l small; fail "more than half of the disk"; }
rm -f small/*

# If not a byte can be written, record fails and the older trace stays.
what="no room for a byte"
snarl record --quiet --out small/t.snarl ./prog plain 10 >out 2>err </dev/null ||
	fail "$what: $(cat err)"
cp small/t.snarl older
cat /dev/zero >small/fill 2>/dev/null || :
status=0
snarl record --out small/t.snarl ./prog plain 10 >out 2>err </dev/null || status=$?
[ $status = 3 ] || { cat err; fail "$what: exit $status"; }
[ "$(cat out)" = 0 ] || { cat out err; fail "$what: the program failed"; }
grep -q 'nothing was recorded' err || { cat err; fail "$what: not said"; }
same "$what: the older trace" older small/t.snarl
[ "$(ls small)" = "fill
t.snarl" ] || fail "$what: left over: $(ls small)"
