/*
 * Two threads read stdin, twenty lines of the form "line N" (tests/cli/control_programs.sh provides
 * them): every run reads from the beginning, and each line goes to one thread.
 */
#include "want.h"

#include <string.h>

static int seen[21];

static void *reads(void *arg)
{
	char line[32];
	long count = 0;
	int n;

	while (fgets(line, sizeof(line), stdin)) {
		want(sscanf(line, "line %d", &n), 1);
		want(n >= 1 && n <= 20, 1);
		want(seen[n]++, 0);
		count++;
	}
	(void)arg;
	return (void *)count;
}

int main(void)
{
	pthread_t a = start(reads, NULL), b = start(reads, NULL);
	long first = (long)finish(a), second = (long)finish(b);

	want(first + second, 20);
	printf("%ld %ld\n", first, second);
	return 0;
}
