/*
 * The cost of one event: nanoseconds per operation, made by both threads at once, on memory of
 * their own unless the name says shared. The best of many short rounds, because the machine may be
 * busy. Built natively, with snarl-cc and with TSan; the difference to native is the cost of the
 * hook.
 *
 *   micro [ROUNDS]
 *   NAME NANOSECONDS
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define OPERATIONS 20000	/* per round; takes some tens of microseconds */

struct own {
	long words[512];
	pthread_mutex_t lock;
	char pad[64];
};

static struct own own[2];
static long shared[512];
static pthread_mutex_t shared_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static int rounds = 300;

/* Keeps the compiler from merging or hoisting accesses. */
#define BARRIER() __asm__ volatile("" ::: "memory")

static void private_read(struct own *o)
{
	for (int i = 0; i < OPERATIONS; i++) {
		long value = o->words[i & 511];

		__asm__ volatile("" :: "r"(value) : "memory");
	}
}

static void private_write(struct own *o)
{
	for (int i = 0; i < OPERATIONS; i++) {
		o->words[i & 511] = i;
		BARRIER();
	}
}

/* Reads only: no cache line moves, so the hook alone is measured. */
static void shared_read(struct own *o)
{
	(void)o;
	for (int i = 0; i < OPERATIONS; i++) {
		long value = shared[i & 511];

		__asm__ volatile("" :: "r"(value) : "memory");
	}
}

/* Inner loops of 16 iterations, two accesses in each. */
static __attribute__((noinline)) long product(const long *a, const long *b)
{
	long sum = 0;

	for (int i = 0; i < 16; i++)
		sum += a[i] * b[i];
	return sum;
}

static void product_loops(const long *words)
{
	for (int i = 0; i < OPERATIONS / 32; i++) {
		long value = product(words + i % 16 * 8, words + 256);

		__asm__ volatile("" :: "r"(value) : "memory");
	}
}

static void private_loop(struct own *o)
{
	product_loops(o->words);
}

static void shared_loop(struct own *o)
{
	(void)o;
	product_loops(shared);
}

static void atomic_add(struct own *o)
{
	for (int i = 0; i < OPERATIONS; i++)
		__atomic_fetch_add(&o->words[0], 1, __ATOMIC_SEQ_CST);
}

static void mutex_pair(struct own *o)
{
	for (int i = 0; i < OPERATIONS; i++) {
		pthread_mutex_lock(&o->lock);
		pthread_mutex_unlock(&o->lock);
	}
}

static __attribute__((noinline)) void leaf(volatile long *p)
{
	BARRIER();
	(void)*p;
}

static void call(struct own *o)
{
	for (int i = 0; i < OPERATIONS; i++)
		leaf(&o->words[i & 511]);
}

static void heap_pair(struct own *o)
{
	for (int i = 0; i < OPERATIONS; i++) {
		long *p = malloc(48);

		__asm__ volatile("" : "+r"(p) :: "memory");
		free(p);
	}
	(void)o;
}

static const struct {
	const char *name;
	void (*run)(struct own *o);
} tests[] = {
	{ "private-read", private_read }, { "private-write", private_write },
	{ "shared-read", shared_read }, { "private-loop", private_loop },
	{ "shared-loop", shared_loop }, { "call", call }, { "atomic-add", atomic_add },
	{ "lock+unlock", mutex_pair }, { "malloc+free", heap_pair },
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *work(void *arg)
{
	struct own *o = arg;

	pthread_mutex_lock(&shared_lock);
	for (int i = 0; i < 512; i++)
		shared[i]++;	/* becomes shared when the second thread comes */
	pthread_mutex_unlock(&shared_lock);
	for (size_t t = 0; t < sizeof(tests) / sizeof(tests[0]); t++) {
		double best = 1e18;

		pthread_barrier_wait(&barrier);
		for (int r = 0; r < rounds; r++) {
			double start = now(), spent;

			tests[t].run(o);
			spent = now() - start;
			if (spent < best)
				best = spent;
		}
		if (o == &own[0])
			printf("%s %.2f\n", tests[t].name, best / OPERATIONS);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t second;

	if (argc > 1)
		rounds = atoi(argv[1]);
	for (int i = 0; i < 2; i++)
		pthread_mutex_init(&own[i].lock, NULL);
	pthread_barrier_init(&barrier, NULL, 2);
	if (pthread_create(&second, NULL, work, &own[1]) != 0)
		return 1;
	work(&own[0]);
	pthread_join(second, NULL);
	return 0;
}
