/* races */
/*
 * A value that every thread may compute; a late thread computes and stores the same value again.
 * Broken: a flag beside the value says that the value is there.
 */
#include <assert.h>
#include <pthread.h>

struct text {
	const char *chars;
	volatile unsigned hash;		/* 0: not computed yet */
	volatile int known;
};

static struct text text = { .chars = "a tangle of threads" };

static unsigned work_out(const char *s)
{
	unsigned hash = 5381;

	while (*s)
		hash = hash * 33 + (unsigned char)*s++;
	return hash;
}

static unsigned hash_of(struct text *t)
{
	unsigned hash;

#ifdef BROKEN
	if (t->known)
		return t->hash;
	t->known = 1;
	hash = work_out(t->chars);
	t->hash = hash;
#else
	hash = t->hash;
	if (hash == 0) {
		hash = work_out(t->chars);
		t->hash = hash;
	}
#endif
	return hash;
}

static void *worker(void *arg)
{
	assert(hash_of(&text) == work_out(text.chars));
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, worker, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert(text.hash == work_out(text.chars));
	return 0;
}
