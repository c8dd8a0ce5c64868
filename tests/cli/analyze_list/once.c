/* floor 0; bug: race|atomicity|order table|ready */
/*
 * A table that the first thread to need it makes, under a mutex.
 * BROKEN: threads look whether it is there before they take the mutex.
 */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int *table;	/* not static: compilers would split it */
static int made, sums[3];

static int *get_table(void)
{
	int *t;

#ifdef BROKEN
	if (table)	/* bug */
		return table;
#endif
	pthread_mutex_lock(&lock);
	if (!table) {
		table = malloc(4 * sizeof(*table));
		for (int i = 0; i < 4; i++)
			table[i] = i;
		made++;
	}
	t = table;
	pthread_mutex_unlock(&lock);
	return t;
}

static void *user(void *arg)
{
	int *sum = arg;

	for (int round = 0; round < 3; round++)
		for (int i = 0; i < 4; i++)
			*sum += get_table()[i];
	return NULL;
}

int main(void)
{
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, user, &sums[i]);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
#ifdef BROKEN
	return 0;
#else
	return made != 1 || sums[0] + sums[1] + sums[2] != 54;
#endif
}
