/*
 * Runs a program of csmith in a second thread, after the first thread has read all memory that the
 * program may use.
 */
#include <pthread.h>
#include <stddef.h>

int program_main(int argc, char **argv);

extern char __data_start[], _end[];
volatile unsigned compile_sum;

static void *run(void *arg)
{
	char name[] = "program", *argv[] = { name, NULL };

	(void)arg;
	program_main(1, argv);
	return NULL;
}

int main(void)
{
	unsigned sum = 0;
	pthread_t thread;

	for (volatile char *at = __data_start; at < _end; at += 8)
		sum += (unsigned)*at;
	compile_sum = sum;
	if (pthread_create(&thread, NULL, run, NULL) != 0)
		return 3;
	pthread_join(thread, NULL);
	return 0;
}
