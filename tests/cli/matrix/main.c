/*
 * Two workers, one after the other and then at once. Every access is made once and by a function
 * that is not inlined, so that no optimisation can merge or split it; a thread's events do not
 * depend on the other thread.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib.h"

#ifdef DLOPEN
static void (*add)(long *value, long amount);
static long (*get)(const long *value);
static void (*account)(long amount);
#else
#define add lib_add
#define get lib_get
#define account lib_account
#endif

struct pair {
	long first, second;
};

/* Not static: otherwise the compiler knows all their uses. */
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_barrier_t barrier;
long counter, flag;
struct pair pair;
unsigned char byte;
long slots[2];
long *block;

static void load(void)
{
#ifdef DLOPEN
	void *library = dlopen("./libmatrix.so", RTLD_NOW);

	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	add = (void (*)(long *, long))dlsym(library, "lib_add");
	get = (long (*)(const long *))dlsym(library, "lib_get");
	account = (void (*)(long))dlsym(library, "lib_account");
#endif
}

/* Before a second thread exists; must be in the trace all the same. */
static __attribute__((noinline)) void prepare(void)
{
	counter = 5;
	byte = 1;
}

static __attribute__((noinline)) void write_block(long value)
{
	block[1] = value;
}

static __attribute__((noinline)) void write_pair(long value)
{
	pair.second = value;
}

static __attribute__((noinline)) unsigned read_byte(void)
{
	return byte;
}

static void *worker(void *arg)
{
	long self = (long)arg;

	pthread_mutex_lock(&lock);
	add(&counter, self);
	account(2);
	pthread_mutex_unlock(&lock);
	add(&slots[self], (long)read_byte());
	__atomic_fetch_add(&flag, 1, __ATOMIC_ACQ_REL);
	pthread_barrier_wait(&barrier);
	if (self == 1) {
		write_pair(7);
		write_block(8);
	}
	return NULL;
}

static __attribute__((noinline)) long check(const long *last)
{
	long sum = get(&counter);

	sum += get(&slots[0]);
	sum += get(&slots[1]);
	sum += get(&pair.second);
	return sum + get(last);
}

int main(void)
{
	pthread_t threads[2];
	long sum;

	load();
	prepare();
	block = (long *)calloc(4, sizeof(*block));
	pthread_barrier_init(&barrier, NULL, 2);
	for (long i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, worker, (void *)i);
	for (long i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	sum = check(&block[1]);
	return sum == 5 + 1 + 1 + 1 + 7 + 8 && __atomic_load_n(&flag, __ATOMIC_ACQUIRE) == 2 ? 0
											     : 1;
}
