/*
 * Two threads that each write a shared word N times: every write is a scheduling
 * point. Prints the CPU time of a write in ns. getrusage(2) is asked because clocks
 * are virtual under control.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

static volatile long word;
static long count;

static void *writer(void *arg)
{
	for (long i = 0; i < count; i++)
		word = i;
	return arg;
}

static double cpu_ns(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e9 +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e3;
}

static void both(long n)
{
	pthread_t threads[2];

	count = n;
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, writer, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1000000;
	double began;

	both(1000);	/* from now on the word is known to be shared */
	began = cpu_ns();
	both(n);
	printf("%.2f\n", (cpu_ns() - began) / (2.0 * (double)n));
	return 0;
}
