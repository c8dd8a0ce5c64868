# What hunt prints at once, of bugs whose steps are easily mistaken: two accesses at one place
# in the code, a failure amid the steps of its cause, threads that wait with no cause known,
# and one that has ended when the other waits.
. "$SNARL_ROOT/tests/lib.sh"

# hunt NAME: builds NAME.c and finds its bug; told is what was printed
hunt() {
	snarl-cc -g -O0 -pthread "$1.c" -o "$1"
	rm -rf out
	status=0
	snarl hunt --out out -- "./$1" >/dev/null 2>told </dev/null || status=$?
	[ $status = 1 ] || { cat told; fail "$1: exit $status"; }
}

tells() { grep -q -- "$1" told || { cat told; fail "not told: $1"; }; }
never() { ! grep -q -- "$1" told || { cat told; fail "told: $1"; }; }

# Both reads are by one line of one function.
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
tells 'atomicity/RWR'
tells '^3 reads NULL from name'
never '(not reached)'

# It fails before the second write: that is step 4.
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
tells ' 3 misuses lock'
tells '^4 (not reached) atomically writes busy'
tells 'Put steps 1 and 4 in one critical section, protected by a lock that step 2 also takes\.'

# It fails whatever happens, so that there is no cause; who waits for whom is told all the same.
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
tells '^  thread 0 waits at join.c:18 (main) to join$'
tells '^  thread 0.1 waits at join.c:7 (worker) for lock (join.c:3), held by thread 0 since join.c:16 (main)$'

# The one that did not wake the other has ended.
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
tells 'deadlock/lost-wake'
tells '^  No other thread can wake it: deadlock\.$'
never 'None of them'
