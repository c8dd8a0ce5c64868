/*
 * Thread-specific data: the calls, their errors, a key that is deleted and created again, and the
 * rounds of destructors at a thread's end. Passes under every schedule.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(what)                                                                       \
	do {                                                                              \
		if (!(what)) {                                                            \
			printf("line %d: not so: %s\n", __LINE__, #what);                 \
			exit(1);                                                          \
		}                                                                         \
	} while (0)

static pthread_key_t again_key, once_key, deleted_key, silent_key;
static int again, once, never;

static void set_again(void *value)
{
	again++;
	CHECK(pthread_getspecific(again_key) == NULL);
	CHECK(pthread_setspecific(again_key, value) == 0);
}

static void count_once(void *value)
{
	once++;
	CHECK(value == (void *)2);
}

static void count_never(void *value)
{
	(void)value;
	never++;
}

static void *worker(void *leave)
{
	CHECK(!pthread_getspecific(again_key) && !pthread_getspecific(once_key));
	CHECK(pthread_setspecific(again_key, (void *)1) == 0);
	CHECK(pthread_setspecific(once_key, (void *)2) == 0);
	CHECK(pthread_setspecific(deleted_key, (void *)3) == 0);
	CHECK(pthread_setspecific(silent_key, (void *)4) == 0);
	CHECK(pthread_getspecific(once_key) == (void *)2);
	CHECK(pthread_key_delete(deleted_key) == 0);
	if (leave)
		pthread_exit(NULL);
	return NULL;
}

static void limits(void)
{
	static pthread_key_t key[PTHREAD_KEYS_MAX + 1];
	int n = 0, error = 0;

	while (n <= PTHREAD_KEYS_MAX && !(error = pthread_key_create(&key[n], NULL)))
		n++;
	CHECK(error == EAGAIN && n > 900 && n <= PTHREAD_KEYS_MAX);
	CHECK(pthread_setspecific(key[n - 1], &n) == 0 && pthread_getspecific(key[n - 1]) == &n);
	for (int i = 0; i < n; i++)
		CHECK(pthread_key_delete(key[i]) == 0);
	CHECK(pthread_setspecific(key[0], &n) == EINVAL);
	CHECK(pthread_key_delete(key[0]) == EINVAL);
	CHECK(pthread_key_delete(PTHREAD_KEYS_MAX) == EINVAL);
	CHECK(pthread_getspecific(key[n - 1]) == NULL);
	CHECK(pthread_key_create(&key[1], NULL) == 0);
	CHECK(pthread_getspecific(key[1]) == NULL);	/* the value of the deleted key is gone */
	CHECK(pthread_key_delete(key[1]) == 0);
}

int main(void)
{
	CHECK(pthread_key_create(&again_key, set_again) == 0);
	CHECK(pthread_key_create(&once_key, count_once) == 0);
	CHECK(pthread_key_create(&silent_key, NULL) == 0);
	limits();
	CHECK(pthread_setspecific(once_key, (void *)7) == 0);
	for (int i = 1; i <= 2; i++) {
		pthread_t t;

		CHECK(pthread_key_create(&deleted_key, count_never) == 0);
		CHECK(pthread_create(&t, NULL, worker, i == 1 ? NULL : &t) == 0);
		CHECK(pthread_join(t, NULL) == 0);
		CHECK(again == i * PTHREAD_DESTRUCTOR_ITERATIONS && once == i && never == 0);
	}
	CHECK(pthread_getspecific(once_key) == (void *)7);
	puts("ok");
	return 0;	/* exit runs no destructors of keys: count_once would complain */
}
