# The time of a mutex's last event is stored inside the mutex (runtime/record/mutex_clock.h). In the
# trace, mutexes of all types are held by one thread at a time, also with failing calls and
# condition waits. The program must not notice the stored time.
. "$SNARL_ROOT/tests/lib.sh"

cat >sorts.c <<'EOF'
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>

#define SORTS 8
#define ROUNDS 3000

static pthread_mutex_t sort[SORTS], turn = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static int whose;

static void make(int i)
{
	static const int type[] = { PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE,
				    PTHREAD_MUTEX_ERRORCHECK,
				    PTHREAD_MUTEX_ADAPTIVE_NP };
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, type[i % 4]);
	if (i == 4)
		pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	if (i == 5)
		pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	if (i == 6)
		pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&sort[i], i == 7 ? NULL : &attr);	/* NULL: a type of its own,
								 * distinct from
								 * PTHREAD_MUTEX_NORMAL */
}

static void *work(void *arg)
{
	int me = (int)(intptr_t)arg, wrong = 0;

	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_t *m = &sort[i % SORTS];

		pthread_mutex_lock(m);
		if (i % SORTS == 1)
			pthread_mutex_lock(m);
		if (i % 5 == 0)
			sched_yield();
		if (i % SORTS == 1)
			pthread_mutex_unlock(m);
		pthread_mutex_unlock(m);
		if (i % 3 == 0)
			wrong += pthread_mutex_unlock(&sort[2]) != EPERM;	/* held by
										 * another thread
										 * or by none */
		if (pthread_mutex_trylock(&sort[0]) == 0)
			pthread_mutex_unlock(&sort[0]);
	}
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&turn);
		while (whose != me)
			pthread_cond_wait(&moved, &turn);
		whose = (me + 1) % 3;
		pthread_cond_broadcast(&moved);
		pthread_mutex_unlock(&turn);
	}
	return (void *)(intptr_t)wrong;
}

int main(void)
{
	pthread_t threads[3];
	void *wrong, *all = NULL;

	for (int i = 0; i < SORTS; i++)
		make(i);
	for (intptr_t i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (int i = 0; i < 3; i++) {
		pthread_join(threads[i], &wrong);
		all = wrong ? wrong : all;
	}
	for (int i = 0; i < SORTS; i++)
		if (pthread_mutex_destroy(&sort[i]) != 0)
			return 3;
	return all != NULL;
}
EOF
snarl-cc -O2 -pthread sorts.c -o sorts
snarl record -q -o sorts.snarl -- ./sorts
# Failed calls are marked in the trace. A failed unlock also has the event recorded before the call.
snarl dump --no-symbols sorts.snarl | awk '
	function take(m) { if (depth[m] && by[m] != $1) bad++; by[m] = $1; depth[m]++ }
	function leave(m) { if (!depth[m] || by[m] != $1) bad++; depth[m]-- }
	$2 == "unlock" && by[$3] != $1 { foreign++; next }
	$2 == "unlock" && !depth[$3] { foreign++; next }
	/ =E/ { failed++; next }
	$2 == "lock" { locks++ }
	$2 == "lock" || $2 == "trylock" { take($3) }
	$2 == "unlock" { leave($3) }
	$2 == "cond-wait" { leave($4) }
	$2 == "cond-wake" { take($4); wakes++ }
	$2 == "mutex-destroy" && depth[$3] { bad++ }
	END { print locks + 0, (wakes > 100), foreign, bad + 0 }' >got
echo "19125 1 6000 0" >wanted
same "order of mutexes of all sorts" wanted got

# Some code calls glibc directly, so the runtime sees only some operations on a mutex. The program
# must work as without the runtime, each call that is seen is one event, and only the time in the
# mutex changes. One mutex is unlocked by another thread than the one that locked it.
cat >mixed.c <<'EOF'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>

#define ROUNDS 30000

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, passed = PTHREAD_MUTEX_INITIALIZER;
static int (*libc_lock)(pthread_mutex_t *), (*libc_unlock)(pthread_mutex_t *);
static volatile long count, inside, met;

static void *work(void *arg)
{
	int me = (int)(intptr_t)arg;

	for (int i = 0; i < ROUNDS; i++) {
		int direct = i * 7 + me;

		(direct & 1 ? libc_lock : pthread_mutex_lock)(&mutex);
		met += inside++ != 0;
		count++;
		if (direct % 97 == 0)
			sched_yield();
		inside--;
		(direct & 2 ? libc_unlock : pthread_mutex_unlock)(&mutex);
	}
	return NULL;
}

static void *release(void *arg)
{
	pthread_mutex_unlock(&passed);
	return arg;
}

int main(void)
{
	pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
	void *libc = dlopen("libc.so.6", RTLD_NOW);
	pthread_t threads[3];

	libc_lock = (int (*)(pthread_mutex_t *))dlvsym(libc, "pthread_mutex_lock", "GLIBC_2.2.5");
	libc_unlock = (int (*)(pthread_mutex_t *))dlvsym(libc, "pthread_mutex_unlock",
							 "GLIBC_2.2.5");
	if (libc_lock == pthread_mutex_lock || libc_unlock == pthread_mutex_unlock)
		return 2;
	for (intptr_t i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	pthread_mutex_lock(&passed);
	pthread_create(&threads[0], NULL, release, NULL);
	pthread_join(threads[0], NULL);
	pthread_mutex_lock(&passed);
	if (pthread_mutex_trylock(&passed) == 0)
		return 3;
	pthread_mutex_unlock(&passed);
	/* everything but the stored time */
	if (memcmp(&mutex, &fresh, 24) != 0 || memcmp(&passed, &fresh, 24) != 0)
		return 4;
	if (pthread_mutex_destroy(&mutex) != 0 || pthread_mutex_destroy(&passed) != 0)
		return 5;
	return count == 3L * ROUNDS && met == 0 ? 0 : 1;
}
EOF
for cc in $(compilers); do
	wrap $cc mixed.c mixed -O1 -pthread
	timeout 60 snarl record -q --exit-code -o mixed.snarl -- ./mixed ||
		fail "$cc: mutexes that others take, too: $?"
	# Each thread's calls alternate between glibc and the runtime: half of 3 * 30000 locks are
	# seen, and a few more.
	snarl dump --no-symbols mixed.snarl |
		awk '{ n[$2]++ } END { print n["lock"], n["unlock"], n["trylock"] }' >got
	echo "45002 45002 1" >wanted
	same "$cc: events of mutexes that others take, too" wanted got
done

# A mutex that was never initialised may contain anything; a garbage time must not be used.
cat >never.c <<'EOF'
#include <pthread.h>
#include <string.h>

static pthread_mutex_t dirty[3], clean = PTHREAD_MUTEX_INITIALIZER;

int main(void)
{
	unsigned long soon;

	memset((char *)&dirty[0] + 24, 0xff, 16);
	memset((char *)&dirty[1] + 24, 0x3f, 16);
	soon = (__builtin_ia32_rdtsc() + 100000) | 1;
	memcpy((char *)&dirty[2] + 24, &soon, sizeof(soon));
	memcpy((char *)&dirty[2] + 32, &soon, sizeof(soon));
	for (int i = 0; i < 300; i++) {
		pthread_mutex_t *m = i % 4 < 3 ? &dirty[i % 4] : &clean;

		pthread_mutex_lock(m);
		pthread_mutex_unlock(m);
	}
	return 0;
}
EOF
snarl-cc -O2 -pthread never.c -o never
snarl record -q -o never.snarl -- ./never
snarl dump --raw never.snarl | awk '
	/^begin/ { split($2, start, "=") }
	/^meta ticks_per_second/ { hour = 3600 * $3 }
	$2 == "lock" || $2 == "unlock" {
		n++
		sub(/.* t=/, "")
		time = $0 + 0	# + 0 makes a number; text would be compared as text
		if (time % 2 || time < start[2] + 0 || time > start[2] + hour) bad++
	}
	END { print n, bad + 0 }' >got
echo "600 0" >wanted
same "times of mutexes that were not initialised" wanted got

# mutex-destroy comes after the last unlock in the trace, though only the time stored in the mutex
# orders the two; here that time is ahead of the clock.
cat >ahead.c <<'EOF'
#include <pthread.h>
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int done;

static void *work(void *arg)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	done = 1;
	return arg;
}

int main(void)
{
	unsigned long later = (__builtin_ia32_rdtsc() + (1ul << 29)) & ~1ul;
	pthread_t thread;

	memcpy((char *)&mutex + 32, &later, sizeof(later));
	pthread_create(&thread, NULL, work, NULL);
	while (!done)
		;
	pthread_mutex_destroy(&mutex);
	return pthread_join(thread, NULL);
}
EOF
snarl-cc -O2 -pthread ahead.c -o ahead
snarl record -q -o ahead.snarl -- ./ahead
snarl dump --no-symbols ahead.snarl |
	awk '$2 == "lock" || $2 == "unlock" || $2 == "mutex-destroy" { print $1, $2 }' >got
printf '%s\n' '0.1 lock' '0.1 unlock' '0 mutex-destroy' >wanted
same "the end of a mutex" wanted got
