/* flags: -O2 -pthread */
/*
 * Copies of a constant size, which compilers like to inline instead of calling memcpy: they must be
 * recorded all the same.
 */
#include <pthread.h>
#include <string.h>

struct record {
	long a, b, c;
};

struct record from, to;
char big_from[128], big_to[128];

static void *other(void *arg)
{
	memcpy(&to, &from, sizeof(to));
	memcpy(big_to, big_from, sizeof(big_to));
	memset(&from, 1, sizeof(from));
	memset(big_from, 2, sizeof(big_from));
	return arg;
}

int main(void)
{
	pthread_t t;

	memset(&from, 3, sizeof(from));
	memset(&to, 4, sizeof(to));
	memset(big_from, 5, sizeof(big_from));
	memset(big_to, 6, sizeof(big_to));
	pthread_create(&t, NULL, other, NULL);
	pthread_join(t, NULL);
	return 0;
}
