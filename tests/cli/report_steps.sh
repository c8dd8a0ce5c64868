# The steps that snarl hunt prints, of bugs in which steps are easily confused: two accesses at one
# place, a failure between the steps of its cause, blocked threads without a known cause, and a
# thread that ended before it woke another one.
. "$SNARL_ROOT/tests/lib.sh"

# hunt NAME: builds NAME.c and finds its bug; the file printed has what snarl printed
hunt() {
	snarl-cc -g -O0 -pthread "$1.c" -o "$1"
	rm -rf out
	status=0
	snarl hunt --out out -- "./$1" >/dev/null 2>printed </dev/null || status=$?
	[ $status = 1 ] || { cat printed; fail "$1: exit $status"; }
}

prints() { grep -q -- "$1" printed || { cat printed; fail "not printed: $1"; }; }
never() { ! grep -q -- "$1" printed || { cat printed; fail "printed: $1"; }; }

# Both reads are on one line of one function.
cat >reads.c <<'END'
#include <pthread.h>
#include <stdio.h>

static const char *name = "hello";
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const char *get(void)
{
	const char *now;

	pthread_mutex_lock(&lock);
	now = name;
	pthread_mutex_unlock(&lock);
	return now;
}

static void *print(void *arg)
{
	if (get())
		putchar(get()[0]);
	return arg;
}

static void *drop(void *arg)
{
	pthread_mutex_lock(&lock);
	name = NULL;
	pthread_mutex_unlock(&lock);
	return arg;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, print, NULL);
	pthread_create(&b, NULL, drop, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
END
hunt reads
prints 'atomicity/RWR'
prints '^3 reads NULL from name'
never '(not reached)'

# The run fails before the second write, which is step 4.
cat >early.c <<'END'
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int busy;

static void *release(void *arg)
{
	if (atomic_load(&busy))
		pthread_mutex_unlock(&lock);
	return arg;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, release, NULL);
	pthread_mutex_lock(&lock);
	atomic_store(&busy, 1);
	atomic_store(&busy, 0);
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
	return 0;
}
END
hunt early
prints ' 3 misuses lock'
prints '^4 (not reached) atomically writes busy'
prints 'Put steps 1 and 4 in one critical section, protected by a lock that step 2 also takes\.'

# Every run fails, so that no cause is found; the report still says which thread waits for which.
cat >join.c <<'END'
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	return arg;
}

int main(void)
{
	pthread_t thread;

	pthread_mutex_lock(&lock);
	pthread_create(&thread, NULL, worker, NULL);
	pthread_join(thread, NULL);
	pthread_mutex_unlock(&lock);
	return 0;
}
END
hunt join
prints '^  thread 0 waits at join.c:18 (main) to join$'
lock='lock (join.c:3), held by thread 0 since join.c:16 (main)'
prints "^  thread 0.1 waits at join.c:7 (worker) for $lock\$"

# The thread that should have woken the other one has ended.
cat >wake.c <<'END'
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static atomic_int ready;

static void *waiter(void *arg)
{
	pthread_mutex_lock(&lock);
	while (!atomic_load(&ready))
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	return arg;
}

static void *setter(void *arg)
{
	atomic_store(&ready, 1);
	pthread_cond_signal(&changed);
	return arg;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, setter, NULL);
	pthread_create(&b, NULL, waiter, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
END
hunt wake
prints 'deadlock/lost-wake'
prints '^  No other thread can wake it: deadlock\.$'
never 'None of them'
