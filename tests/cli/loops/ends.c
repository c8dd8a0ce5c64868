/*
 * Short loops as compilers generate them, in random order: consecutive loops differ in their number
 * of iterations and in the kind of memory. The same in every run; prints a sum of the results.
 *
 *   ends hooks|ask|plain mixed|threads|signals
 *
 * The first argument says how loops are recorded: access by access, by __snarl_loop, or by inlined
 * loop ends.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#define LOOP __attribute__((noinline, noclone))
#define AGAIN for (int again = 0; again < 3; again++)	/* the first time, the call has to be
							 * recorded, too */
#define SIZE 65536
#define WORKERS 4

extern uint8_t __snarl_loops;

struct pair {
	double re, im;
};

struct triple {
	long key, value, rest;
};

struct record {
	double re, im;
	int flag, rest[13];
};

/* Another thread has accessed all of `ours`; it accesses blocks of `late` after their history
 * was cut. */
static _Alignas(4096) char ours[4 * SIZE], late[4 * SIZE];
static long table[256];
static double *signalled;
static volatile long handled;

static LOOP void row(double *c, const double *a, const double *b, long n)
{
	AGAIN for (long j = 0; j < n; j++)
		c[j] -= *a * b[j];
}

static LOOP void rotate(struct pair *x, const struct pair *y, long n)
{
	AGAIN for (long j = 0; j < n; j++) {
		double re = x[j].re;

		x[j].re = re * y[j].re - x[j].im;
		x[j].im = re + y[j].im;
	}
}

static LOOP void smooth(float *to, const float *from, long n)
{
	AGAIN for (long j = 0; j < n; j++)
		to[j] = from[j - 1] + from[j] + from[j + 1];
}

static LOOP double inner(const double *a, const double *b, double factor, long n)
{
	double sum = factor;

	AGAIN for (long j = 0; j < n; j++)
		sum += a[j] * b[j];
	return sum * factor;
}

static LOOP unsigned bytes(unsigned char *to, const unsigned char *from, long n)
{
	unsigned sum = 0;

	while (n-- > 0) {
		sum += *from;
		*to++ = (unsigned char)(*from++ + 1);
	}
	return sum;
}

static LOOP long keys(struct triple *t, const int *by, long n)
{
	long all = 0;

	AGAIN for (long j = 0; j < n; j++) {
		all ^= t[j].key += by[2 * j];
		table[j] += t[j].rest;
	}
	return all;
}

/* A column: the stride is a variable, and may be too large for a record. */
static LOOP void column(struct pair *to, const struct pair *from, long step, long n)
{
	AGAIN for (long j = 0; j < n; j++)
		to[j] = from[j * step];
}

static LOOP void scatter(int *to, const short *from, long step, long n)
{
	AGAIN for (long j = 0; j < n; j++)
		to[j * step] = from[j * step] + 1;
}

/* From the end to the start, with large strides. */
static LOOP double back(struct record *r, const double *by, long n)
{
	double sum = 0;

	AGAIN for (long j = n; j-- > 0;) {
		r[j].im = r[j].re + r[j].flag;
		sum += by[j];
	}
	return sum;
}

/* The inner of two loops, with accesses before it: each round starts a little further on, except
 * for one. */
static LOOP void rows(double *c, const double *a, const double *b, long by, long n, long rounds)
{
	for (long i = 0; i < rounds; i++) {
		double factor = a[i], other = a[2 * i];
		const double *from = &b[i == rounds / 2 ? 7 : i * by];

		for (long j = 0; j < n; j++)
			c[j] -= factor * from[j];
		c[n] += other;
	}
}

static LOOP void triangle(double *c, const double *a, long by, long n, long rounds)
{
	for (long i = 0; i < rounds; i++) {
		double factor = a[i];
		long iterations = i % 9 == 8 ? n + 1 : n;

		for (long j = 0; j < iterations; j++)
			c[i * by + j] *= factor;
	}
}

static LOOP void butterflies(struct pair *x, long half, long rounds)
{
	for (long i = 0; i < rounds; i++)
		for (long j = 0; j < half; j++) {
			struct pair *a = &x[2 * i * half + j], *b = a + half;
			double re = b->re, im = b->im;

			b->re = a->re - re;
			b->im = a->im - im;
			a->re += re;
			a->im += im;
		}
}

static uint32_t roll(uint32_t *seed, uint32_t below)
{
	*seed = *seed * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)*seed * below >> 32);
}

/* A stride for elements of `size` bytes: small, large, or so large that few fit. */
static long step(uint32_t *seed, long size, long *n)
{
	if (roll(seed, 8) == 0) {
		*n = *n % 2 + 1;
		return 33000 / size;
	}
	*n %= 150;
	return ((long)roll(seed, 400) - 200) / size;
}

/* The start index; the end of the array for negative strides. */
static long start(long step, long n)
{
	return step < 0 ? -step * n : 0;
}

/* An address in `ours` or `other`; in a quarter of all cases aligned less than doubles. */
static char *place(uint32_t *seed, char *other, unsigned align)
{
	char *from = roll(seed, 2) ? ours : other;

	return from + 8 + roll(seed, SIZE / 16) * 8 +
	       (roll(seed, 4) ? 0 : roll(seed, 8) / align * align);
}

static unsigned one(uint32_t *seed, char *other)
{
	long n = roll(seed, 8) ? 1 + roll(seed, 40) : 60 + roll(seed, 180);
	/* A hook checks only the granule in which its access begins: so no access crosses a
	 * granule in `late`. */
	unsigned align = other == late ? 8 : 4;
	char *a = place(seed, other, align), *b = place(seed, other, align),
	     *c = place(seed, other, 1);
	double sum;
	long by;

	switch (roll(seed, 12)) {
	case 0:
		row((double *)a, (const double *)b, (const double *)ours + roll(seed, 99), n);
		return 0;
	case 1:
		rotate((struct pair *)a, (const struct pair *)b, n);
		return 0;
	case 2:
		smooth((float *)a, (const float *)b, n);
		return 0;
	case 3:
		sum = inner((const double *)a, (const double *)b, (double)n, n);
		return sum == sum + 1;
	case 4:
		return bytes((unsigned char *)c, (const unsigned char *)a, n);
	case 5:
		by = step(seed, sizeof(struct pair), &n);
		column((struct pair *)a, (const struct pair *)b + start(by, n), by, n);
		return 0;
	case 6:
		by = step(seed, sizeof(int), &n);
		scatter((int *)a + start(by, n), (const short *)b + start(by, n), by, n);
		return 0;
	case 7:
		sum = back((struct record *)a, (const double *)b, n);
		return sum == sum + 1;
	case 8:
		rows((double *)a, (const double *)b, (const double *)ours + roll(seed, 99),
		     roll(seed, 30), n, 1 + roll(seed, 40));
		return 0;
	case 9:
		triangle((double *)a, (const double *)b, roll(seed, 30), n % 40 + 1,
			 1 + roll(seed, 40));
		return 0;
	case 10:
		butterflies((struct pair *)a, 1 + n % 30, 1 + roll(seed, 30));
		return 0;
	default:
		return (unsigned)keys((struct triple *)a, (const int *)b, n);
	}
}

static void *work(void *arg)
{
	unsigned *sum = arg;
	uint32_t seed = *sum;

	for (int i = 0; i < 1500; i++)
		*sum += one(&seed, ours + 2 * SIZE);
	return NULL;
}

static void *touch_ours(void *unused)
{
	memset(ours, 0, sizeof(ours));
	memset(table, 0, sizeof(table));
	memset(signalled, 0, 4096);
	return unused;
}

static void *touch_late(void *unused)
{
	for (size_t i = 0; i < SIZE; i += 1024) {
		memset(late + i, 1, 300);
		memset(late + i + 600 + i / 128 % 128, 1, 8);	/* one granule */
	}
	return unused;
}

static void in_thread(void *routine(void *), void *arg)
{
	pthread_t t;

	if (pthread_create(&t, NULL, routine, arg) || pthread_join(t, NULL))
		exit(3);
}

/* Loops over all of `late` with more iterations than a group holds, some before it is shared and
 * many after. */
static unsigned long_ones(void)
{
	float *floats = (float *)late;

	smooth(floats + 1, floats + 2, SIZE / 4 - 4);
	rotate((struct pair *)late, (const struct pair *)late + 90, SIZE / 16 - 90);
	row((double *)late + 75, (const double *)late, (const double *)late, SIZE / 8 - 75);
	back((struct record *)late, (const double *)late, SIZE / (long)sizeof(struct record));
	column((struct pair *)late, (const struct pair *)late, 20, SIZE / 16 / 20);
	return bytes((unsigned char *)late, (const unsigned char *)late + 320, SIZE - 320);
}

/* The history of all of `late` is cut, then some of it becomes shared. */
static void *mixed(void *arg)
{
	unsigned *sum = arg;
	uint32_t seed = 5;

	for (int i = 0; i < 6000; i++)
		row((double *)(late + i % 16 * (SIZE / 16)), (double *)late,
		    (double *)(late + i % 8 * (SIZE / 8)), SIZE / 64);
	in_thread(touch_late, NULL);
	for (int i = 0; i < 3000; i++)
		*sum += one(&seed, late);
	*sum += long_ones();
	return NULL;
}

static void threads(unsigned sum[WORKERS])
{
	pthread_t t[WORKERS];

	for (unsigned i = 0; i < WORKERS; i++)
		if (pthread_create(&t[i], NULL, work, &sum[i]))
			exit(3);
	for (unsigned i = 0; i < WORKERS; i++)
		pthread_join(t[i], NULL);
}

/* Only the handler's loop is recorded. */
__attribute__((no_sanitize("thread"))) static void handle(int number)
{
	(void)number;
	row(signalled, signalled + 100, signalled + 200, 20);
	handled++;
}

static void set_timer(long microseconds)
{
	struct itimerval every = { { 0, microseconds }, { 0, microseconds } };

	setitimer(ITIMER_REAL, &every, NULL);
}

/* Signals come at any instruction while the thread works, but not after its end event. */
static void *work_signalled(void *sum)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	for (int i = 0; i < 4; i++)
		work(sum);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	return NULL;
}

static void signals(unsigned *sum)
{
	sigset_t set;

	signal(SIGALRM, handle);
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	set_timer(50);
	in_thread(work_signalled, sum);
	set_timer(0);
	fprintf(stderr, "%ld handled\n", handled);
}

int main(int argc, char **argv)
{
	unsigned sum[WORKERS] = { 1, 2, 3, 4 };

	if (argc < 3 || !(signalled = malloc(4096)))
		return 3;
	if (strcmp(argv[1], "plain") != 0)
		__snarl_loops = strcmp(argv[1], "ask") == 0 ? 2 : 0;
	else if (__snarl_loops != 1)
		return 4;
	touch_ours(NULL);
	in_thread(touch_ours, NULL);
	if (strcmp(argv[2], "mixed") == 0)
		in_thread(mixed, &sum[0]);
	else if (strcmp(argv[2], "threads") == 0)
		threads(sum);
	else
		signals(&sum[0]);
	for (size_t i = 0; i < SIZE; i++)
		sum[0] = sum[0] * 31 + (unsigned char)late[i];
	printf("%u %u %u %u\n", sum[0], sum[1], sum[2], sum[3]);
	return 0;
}
