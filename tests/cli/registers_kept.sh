# Hooks and interposed functions keep errno, the floating-point environment and the registers that
# the compiler relies on: on the fast path, the slow path, and when the ring is flushed.
. "$SNARL_ROOT/tests/lib.sh"

cat >kept.c <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <fenv.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sched.h>
#include <xmmintrin.h>

static int shared[64];
static char bytes[256], more[256];
static atomic_int counter;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static sem_t sem;
static jmp_buf back;

static void nothing(void)
{
}

static void handler(int number)
{
	shared[number % 64]++;
}

static void *thread(void *unused)
{
	for (int i = 0; i < 64; i++)
		shared[i]++;
	return unused;
}

static __attribute__((noinline)) void accesses(void)
{
	for (int i = 0; i < 64; i++)
		shared[i] += i;
	*(char *)&shared[0] = 1;
	*(short *)&shared[1] = 1;
	*(long *)&shared[2] = 1;
	*(volatile int *)&shared[4] = 1;
	*(__int128 *)&shared[8] = 1;
}

static void atomics(void)
{
	atomic_fetch_add(&counter, 1);
	atomic_load(&counter);
	atomic_store(&counter, 2);
	atomic_exchange(&counter, 3);
	atomic_thread_fence(memory_order_seq_cst);
}

static void locks(void)
{
	pthread_mutex_lock(&m);
	pthread_mutex_trylock(&m);
	pthread_cond_signal(&c);
	pthread_cond_broadcast(&c);
	pthread_mutex_unlock(&m);
	pthread_rwlock_rdlock(&rw);
	pthread_rwlock_unlock(&rw);
	pthread_rwlock_wrlock(&rw);
	pthread_rwlock_unlock(&rw);
	pthread_spin_lock(&spin);
	pthread_spin_unlock(&spin);
	pthread_once(&once, nothing);
	sem_post(&sem);
	sem_wait(&sem);
}

static void memory(void)
{
	void *p = malloc(100);

	p = realloc(p, 5000);
	free(p);
	free(calloc(3, 4));
	memcpy(bytes, more, 200);
	memset(bytes, 1, 100);
	memmove(bytes + 1, bytes, 100);
	bytes[255] = 0;
	(void)strlen(bytes);
}

static void rest(void)
{
	pthread_t t;

	if (setjmp(back) == 0)
		longjmp(back, 1);
	raise(SIGUSR1);
	sched_yield();
	pthread_create(&t, NULL, thread, NULL);
	pthread_join(t, NULL);
}

static void check(const char *what, int round)
{
	if (errno != 4711 || fegetround() != FE_UPWARD || (_mm_getcsr() & 0x8040) != 0x8040) {
		printf("%s, round %d: errno %d, rounding %x, mxcsr %x\n", what, round, errno,
		       fegetround(), _mm_getcsr());
		exit(1);
	}
}

int main(void)
{
	pthread_t t;

	pthread_spin_init(&spin, 0);
	sem_init(&sem, 0, 0);
	pthread_key_create(&key, NULL);
	signal(SIGUSR1, handler);
	pthread_create(&t, NULL, thread, NULL);
	pthread_join(t, NULL);
	fesetround(FE_UPWARD);
	_mm_setcsr(_mm_getcsr() | 0x8040);	/* denormals are zero, rounding up: a state that
						 * the runtime would not have by itself */
	errno = 4711;
	/* enough rounds to flush the ring many times */
	for (int i = 0; i < 3000; i++) {
		accesses();
		check("accesses", i);
		atomics();
		check("atomics", i);
		locks();
		check("locks", i);
		memory();
		check("memory", i);
		if (i % 100 == 0)
			rest();
		check("rest", i);
	}
	return 0;
}
END

for cc in $(compilers); do
	wrap "$cc" kept.c prog -O1 -pthread -lm -mcx16
	RECORD_OPTIONS= record t.snarl ./prog
	RECORD_OPTIONS=--no-filter record t.snarl ./prog
done

# Keeps as many values as there are registers across accesses to new, private and shared memory.
# Under control, other threads run in between and do the same.
cat >values.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __AVX512F__
typedef double vector __attribute__((vector_size(64)));
#elif defined __AVX2__
typedef double vector __attribute__((vector_size(32)));
#else
typedef double vector __attribute__((vector_size(16)));
#endif

static volatile long shared[64], own[2][64];

#define EACH(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12)
#define LOAD(n) vector v##n = from[n]; long l##n = (long)from[n][0] + n;
#define TOUCH(n) shared[n] = 1; own[self][n] = shared[n]; fresh[n] = (char)n; \
	v##n += from[n]; l##n += n;
#define STORE(n) to[n] = v##n; sum += l##n;

__attribute__((noinline, no_sanitize("thread"))) static int
wrong(const vector *from, const vector *to, long sum, int self)
{
	long expected = 0;

	for (int n = 0; n < 13; n++) {
		expected += (long)from[n][0] + 2 * n;
		for (size_t i = 0; i < sizeof(vector) / sizeof(double); i++)
			if (to[n][i] != 2 * from[n][i]) {
				printf("thread %d: vector %d[%zu] is %g\n", self, n, i, to[n][i]);
				return 1;
			}
	}
	if (sum != expected)
		printf("thread %d: the sum is %ld, not %ld\n", self, sum, expected);
	return sum != expected;
}

__attribute__((noinline)) static long touch(const vector *from, vector *to, int self,
						 volatile char *fresh)
{
	long sum = 0;
	EACH(LOAD)
	EACH(TOUCH)
	EACH(STORE)
	return sum;
}

static int rounds;

static void *part(void *arg)
{
	int self = arg != NULL;
	vector from[13], to[13];

	for (int r = 0; r < rounds; r++) {
		char *fresh = malloc(64);

		for (int n = 0; n < 13; n++)
			for (size_t i = 0; i < sizeof(vector) / sizeof(double); i++)
				from[n][i] = 1000 * self + 100 * r + 10 * n + (int)i;
		memset(to, 0, sizeof(to));
		if (wrong(from, to, touch(from, to, self, fresh), self))
			abort();
		free(fresh);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t;

	(void)argc;
	rounds = atoi(argv[1]);
	pthread_create(&t, NULL, part, &t);
	part(NULL);
	pthread_join(t, NULL);
	return 0;
}
END
for cc in $(compilers); do
	for flags in -O0 -O2 '-O2 -fPIC' '-O2 -mavx2' '-O2 -mavx512f -mprefer-vector-width=512'; do
		case $flags in *avx2) cpu=avx2 ;; *avx512f*) cpu=avx512f ;; *) cpu=sse2 ;; esac
		grep -qw $cpu /proc/cpuinfo || continue
		wrap "$cc" values.c prog $flags -pthread -Wno-psabi
		record t.snarl ./prog 2000
		snarl test --quiet --strategy random --runs 30 --out out -- ./prog 2 >said 2>&1 ||
			{ cat said; fail "$cc $flags: under control"; }
		snarl test --quiet --backend kernel --strategy pos --runs 5 --out out -- ./prog 2 \
			>said 2>&1 ||
			{ cat said; fail "$cc $flags: under control, kernel threads"; }
	done
done
