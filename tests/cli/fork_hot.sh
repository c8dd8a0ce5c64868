# Forks while other threads are inside the runtime: every child runs on, with a trace of its own or
# none. Also children of clone(), _Fork() and the raw system call, grandchildren, a child that
# execs, and one that outlives its parent. A lock held at the fork would hang a child.
. "$SNARL_ROOT/tests/lib.sh"

cat >forks.c <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int shared[64];
static atomic_int counter, stop, bad;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static char stack[256 << 10];

static void *hot(void *unused)
{
	for (unsigned i = 0; !atomic_load(&stop); i++) {
		shared[i % 64]++;
		atomic_fetch_add(&counter, 1);
		free(malloc(i % 300));
	}
	return unused;
}

static void *one(void *unused)
{
	for (int i = 0; i < 64; i++)
		shared[i]++;
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	return unused;
}

/* uses everything that another thread might have held a lock of at the fork */
static int child(void *depth)
{
	pthread_t thread;
	int status;

	for (int i = 0; i < 64; i++) {
		shared[i]++;
		atomic_fetch_add(&counter, 1);
		free(malloc(100));
	}
	pthread_create(&thread, NULL, one, NULL);
	pthread_join(thread, NULL);
	if (depth) {
		pid_t pid = fork();

		if (pid == 0)
			exit(child(NULL));
		waitpid(pid, &status, 0);
		return status != 0;
	}
	return 0;
}

static void check(pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) {
		fprintf(stderr, "child %d: status %x\n", pid, status);
		atomic_store(&bad, 1);
	}
}

static void *forks(void *n)
{
	for (long i = 0; i < (long)n; i++) {
		pid_t pid = fork();

		if (pid == 0)
			exit(child(i % 10 == 0 ? &bad : NULL));
		check(pid);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long n = atoi(argv[1]);
	pthread_t thread[3];
	pid_t pid;

	if (argc > 2 && strcmp(argv[2], "last") == 0) {
		/* the parent exits without waiting for the child */
		int ready[2];

		if (pipe(ready) != 0)
			return 3;
		if (fork() == 0) {
			char byte;

			/* read() returns when the parent is gone */
			close(ready[1]);
			shared[0]++;
			if (read(ready[0], &byte, 1) == 0)
				shared[1]++;
			exit(child(NULL));
		}
		return 0;
	}
	if (argc > 2)	/* this is the image that was exec'd */
		return child(NULL);
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, hot, NULL);
	pthread_create(&thread[2], NULL, forks, (void *)n);
	forks((void *)n);
	pid = clone(child, stack + sizeof(stack), SIGCHLD, NULL);
	check(pid);
	pid = (pid_t)syscall(SYS_fork);
	if (pid == 0)
		exit(child(NULL));
	check(pid);
	pid = _Fork();
	if (pid == 0)
		_exit(child(NULL));
	check(pid);
	pid = fork();
	if (pid == 0) {
		execl("/proc/self/exe", argv[0], "1", "image", NULL);
		_exit(9);
	}
	check(pid);
	atomic_store(&stop, 1);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	return atomic_load(&bad);
}
END

wrap gcc forks.c prog -O1 -pthread
RECORD_OPTIONS="--fork off" record off.snarl timeout 60 ./prog 40
# An exec'd program writes its own trace, even with --fork off.
[ "$(ls off.snarl* | wc -l)" = 2 ] || fail "--fork off: $(ls off.snarl*)"

RECORD_OPTIONS= record on.snarl timeout 60 ./prog 20
# 40 forks of two threads, 4 grandchildren, 4 other children and 1 exec'd image make 49.
[ "$(ls on.snarl.* | wc -l)" = 49 ] || fail "$(ls on.snarl.* | wc -l) children's traces"
for child in on.snarl.*; do
	"$tools/count" "$child" lock >locks || fail "$child is unreadable"
	"$tools/count" "$child" exit-process >exits
	# Each child takes one lock; the child that execs takes none.
	awk '{ n += $2 } END { print n + 0 }' locks
done | sort | uniq -c | tr -s ' ' | tr '\n' ';' >got
[ "$(cat got)" = " 1 0; 48 1;" ] || fail "locks of the children: $(cat got)"

RECORD_OPTIONS= record last.snarl ./prog 1 last
child=$(ls last.snarl.*)
"$tools/count" "$child" lock >locks
[ "$(awk '{ n += $2 } END { print n }' locks)" = 1 ] ||
	fail "the child that outlives its parent: $(cat locks)"
