#!/bin/sh
# What runs without being scheduled is named after the summary and in results.json, and
# --require controlled makes it an error. What cannot be controlled ends the run with one line.
. "$SNARL_ROOT/tests/lib.sh"

cat >fork.c <<'X'
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static int *shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *p)
{
	return p;
}
static void *waits(void *p)
{
	pthread_mutex_lock(&lock);
	return p;
}
static int test(int threads)
{
	pthread_t t;
	while (threads-- > 0) {
		pthread_create(&t, 0, work, 0);
		pthread_join(t, 0);
	}
	if (shared)
		shared[3]++;
	return 0;
}
int main(int argc, char **argv)
{
	int threads = argc > 1 ? argv[1][0] - '0' : 0, status = 0;
	char what = argc > 2 ? argv[2][0] : 0;
	pthread_t t;
	pthread_mutex_lock(&lock);
	if (what == 'h') /* has a helper: a process with several threads does not lend its run */
		pthread_create(&t, 0, waits, 0);
	if (what == 's')
		shared = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 2; i++) {
		pid_t p = fork(); /* here */
		if (!p)
			_exit(test(threads));
		waitpid(p, &status, 0);
	}
	pthread_mutex_unlock(&lock);
	if (what == 'h')
		pthread_join(t, 0);
	return status != 0;
}
X
cat >foreign.c <<'X'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
static int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *p)
{
	pthread_mutex_lock(&lock);
	shared++;
	pthread_mutex_unlock(&lock);
	return p;
}
int main(void)
{
	int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	pthread_t t;
	*(void **)&create = dlvsym(RTLD_NEXT, "pthread_create", "GLIBC_2.34");
	if (!create)
		return 0;
	create(&t, 0, work, 0);
	pthread_join(t, 0);
	return shared != 1;
}
X
cat >refused.c <<'X'
#define _GNU_SOURCE
#include <linux/seccomp.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static char stack[65536];
static int child(void *p)
{
	return p != 0;
}
int main(int argc, char **argv)
{
	int status;
	pid_t pid;
	switch (argc > 1 ? argv[1][0] : 0) {
	case 'p': prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT); _exit(1);
	case 's': syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, NULL); _exit(1);
	case 't': return (int)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	case 'c':
		clone(child, stack + sizeof(stack), CLONE_VM | CLONE_THREAD | CLONE_SIGHAND, NULL);
		return 1;
	case 'v':
		pid = clone(child, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
		return waitpid(pid, &status, 0) != pid || status != 0;
	case 'f':
		pid = fork();
		if (!pid)
			_exit(ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0);
		return waitpid(pid, &status, 0) != pid || status != 0;
	}
	prctl(PR_SET_NAME, "name");
	return 0;
}
X
sed -i 's/#include <sched.h>/&\n#include <signal.h>/' refused.c

cat >plain.c <<'X'
#include <pthread.h>
static void (*what)(void);
static void *work(void *p)
{
	what();
	return p;
}
void plain_run(void (*f)(void))
{
	pthread_t t;
	what = f;
	pthread_create(&t, 0, work, 0);
	pthread_join(t, 0);
}
X
cat >uses.c <<'X'
void plain_run(void (*f)(void));
static int count;
static void add(void)
{
	count++;
}
int main(void)
{
	plain_run(add);
	return count != 1;
}
X

cat >next.c <<'X'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
typedef int create_fn(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
#ifdef WRAPS
int pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *p)
#else
int next_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *p)
#endif
{
	create_fn *create;
	*(void **)&create = dlsym(RTLD_NEXT, "pthread_create");
	return create(t, a, f, p);
}
#ifdef WRAPS
int next_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *p)
{
	return pthread_create(t, a, f, p);
}
#endif
X
cat >calls.c <<'X'
#include <pthread.h>
int next_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *p);
static int count;
static void *add(void *p)
{
	count++;
	return p;
}
int main(void)
{
	pthread_t t;
	if (next_create(&t, 0, add, 0) != 0 || pthread_join(t, 0) != 0)
		return 2;
	return count != 1;
}
X

# run EXPECTED PROGRAM ARGUMENTS…
run() {
	run_want=$1 run_status=0
	shift
	rm -rf out
	snarl test --runs 3 --timeout 20 --require controlled -o out -- \
		"$@" >/dev/null 2>err </dev/null ||
		run_status=$?
	[ $run_status = "$run_want" ] || { cat err; fail "$*: exit $run_status, not $run_want"; }
}

# says TEXT: the messages have it, and only one line says that something ran uncontrolled
says() {
	grep -q -F -- "$1" err || { cat err; fail "no line says: $1"; }
	[ "$(grep -c uncontrolled err)" = 1 ] || { cat err; fail "more than one line"; }
}

for cc in $(compilers); do
	for name in fork foreign refused; do
		SNARL_CC=$cc snarl-cc -g -O1 -pthread $name.c -o $name
	done
	line=$(grep -n '/\* here' fork.c | cut -d : -f 1)
	run 0 ./fork
	run 0 ./fork 2
	run 3 ./fork 2 helper
	says "2 child processes with 4 threads ran uncontrolled (forked at fork.c:$line)"
	counts='"child_processes":2,"child_threads":4,"other_threads":0,"sharing_processes":0'
	grep -q "\"uncontrolled\":{$counts" \
		out/results.json || fail "results.json"
	run 3 ./fork 0 shared
	at='accessed at fork.c:24'
	says "2 child processes used memory that processes share, uncontrolled ($at)"
	run 3 ./foreign
	at='running at foreign.c:8'
	says "1 thread ran uncontrolled, made in a way that snarl does not see ($at)"
	# A library whose threads run code without hooks, and its twin with hooks.
	"$cc" -g -shared -fPIC plain.c -o libplain.so
	SNARL_CC=$cc snarl-cc -g uses.c -o uses -L. -lplain -Wl,-rpath,"$PWD" -pthread
	run 3 ./uses
	says 'libplain.so runs threads and has no hooks'
	SNARL_CC=$cc snarl-cc -g -shared -fPIC plain.c -o libplain.so
	run 0 ./uses
	# Libraries that ask dlsym() for pthread_create: one wraps it, the other only uses it.
	"$cc" -g -shared -fPIC -DWRAPS next.c -o libwraps.so
	"$cc" -g -shared -fPIC next.c -o libnext.so
	for name in wraps next; do
		SNARL_CC=$cc snarl-cc -g calls.c -o calls -L. -l$name -Wl,-rpath,"$PWD" -pthread
		SNARL_OPTIONS=mode=off timeout 20 ./calls || fail "calls $name: exit $?"
		record t.snarl ./calls
		snarl test --runs 3 --timeout 20 -o out -- ./calls 2>err ||
			{ cat err; fail "calls $name"; }
	done
	# Without the option it is no error.
	snarl hunt --runs 10 -o out -- ./fork 2 helper 2>err || fail "hunt: exit $?"
	says "2 child processes with 4 threads ran uncontrolled"

	for backend in user kernel; do
		for way in nothing vfork fork; do
			snarl test --runs 1 --backend $backend -o out -- ./refused $way 2>err ||
				{ cat err; fail "refused $way: exit $?"; }
		done
		for way in prctl seccomp traced clone; do
			status=0
			snarl test --runs 1 --backend $backend -o out -- ./refused $way 2>err ||
				status=$?
			[ $status = 3 ] || { cat err; fail "refused $way: exit $status"; }
			grep -q 'cannot be controlled: .*not controllable' err ||
				{ cat err; fail "refused $way"; }
		done
	done
done
