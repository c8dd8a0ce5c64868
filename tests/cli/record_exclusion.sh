# In the trace, too, a mutex is held by one thread at a time and an atomic counter only goes up. A
# ring that is flushed at the wrong moment would order events of one thread behind those of another.
. "$SNARL_ROOT/tests/lib.sh"

cat >busy.c <<'EOF'
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_long count;
static volatile long sum;

static void *work(void *arg)
{
	for (int i = 0; i < 20000; i++) {
		pthread_mutex_lock(&lock);
		sum = sum + 1;
		sched_yield();	/* makes the other thread wait for the lock */
		pthread_mutex_unlock(&lock);
	}
	for (int i = 0; i < 20000; i++)
		atomic_fetch_add(&count, 1);
	return arg;
}

int main(void)
{
	pthread_t other;

	if (pthread_create(&other, NULL, work, NULL) != 0)
		return 2;
	work(NULL);
	pthread_join(other, NULL);
	return sum != 40000 || count != 40000;
}
EOF
snarl-cc -O2 -pthread busy.c -o busy
snarl record -q -o busy.snarl -- ./busy
snarl dump busy.snarl | awk '
	$2 == "lock" { locks++; if ($3 in by) bad++; by[$3] = $1 }
	$2 == "unlock" { if (by[$3] != $1) bad++; delete by[$3] }
	$2 == "atomic-add" { if ((adds ? sprintf("0x%x", adds) : "seq_cst") != $4) bad++; adds++ }
	END { print locks + 0, adds + 0, bad + 0 }' >got
echo "40000 40000 0" >wanted
same "order of locks and atomics" wanted got

# Thousands of mutexes share stripes of the trace clock (runtime/record/clock.h), and threads come
# and go. A thread reserves times of a stripe and uses them until another thread comes; a mistake
# would order two critical sections wrongly.
cat >many.c <<'EOF'
#include <pthread.h>
#include <stdint.h>

#define LOCKS 3000
#define LIVES 6

static pthread_mutex_t lock[LOCKS];
static pthread_rwlock_t few[4];

static uint64_t draw(uint64_t *seed)
{
	return (*seed = *seed * 6364136223846793005ull + 1442695040888963407ull) >> 33;
}

static void *work(void *arg)
{
	uint64_t seed = (uintptr_t)arg;

	for (int i = 0; i < 4000; i++) {
		uint64_t spread = draw(&seed) % 4 ? 3 : LOCKS;
		uint64_t a = draw(&seed) % spread, b = draw(&seed) % spread;
		pthread_rwlock_t *rw = &few[draw(&seed) % 4];

		pthread_mutex_lock(&lock[a]);
		if (b != a && pthread_mutex_trylock(&lock[b]) == 0)
			pthread_mutex_unlock(&lock[b]);
		pthread_mutex_unlock(&lock[a]);
		if (draw(&seed) % 3)
			pthread_rwlock_rdlock(rw);
		else
			pthread_rwlock_wrlock(rw);
		pthread_mutex_lock(&lock[b]);
		pthread_mutex_unlock(&lock[b]);
		pthread_rwlock_unlock(rw);
	}
	return NULL;
}

int main(void)
{
	for (int i = 0; i < LOCKS; i++)
		pthread_mutex_init(&lock[i], NULL);
	for (int i = 0; i < 4; i++)
		pthread_rwlock_init(&few[i], NULL);
	for (uintptr_t life = 0; life < LIVES; life++) {
		pthread_t threads[3];

		for (uintptr_t i = 0; i < 3; i++)
			pthread_create(&threads[i], NULL, work, (void *)(life * 3 + i + 1));
		for (int i = 0; i < 3; i++)
			pthread_join(threads[i], NULL);
	}
	return 0;
}
EOF
snarl-cc -O2 -pthread many.c -o many
snarl record -q -o many.snarl -- ./many
snarl dump --no-symbols many.snarl | awk '
	$2 == "lock" || ($2 == "trylock" && !/ =E/) { locks++; if ($3 in by) bad++; by[$3] = $1 }
	$2 == "unlock" { if (by[$3] != $1) bad++; delete by[$3] }
	$2 == "rdlock" { rw++; if (writers[$3]) bad++; readers[$3]++; mine[$1] = "r" }
	$2 == "wrlock" { rw++; if (writers[$3] || readers[$3]) bad++; writers[$3]++;
		mine[$1] = "w" }
	$2 == "rwunlock" { if (mine[$1] == "w") writers[$3]--; else readers[$3]-- }
	END { print (locks > 150000), rw + 0, bad + 0 }' >got
echo "1 72000 0" >wanted
same "order of many locks" wanted got
