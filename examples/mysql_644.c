/*
 * MySQL bug 644: a cache sized in one pass over shared marks and filled in another.
 * join_init_cache() counts the fields in use (a), then goes over them again and notes
 * each (c); afterwards it follows as many pointers as it has counted. fix_fields(), of
 * another statement on the same table, changes the marks (b).
 *
 * Every pass locks, but if the marks change between the two, fewer fields are noted
 * than were counted, and the last pointer is NULL: a crash. No data race.
 *
 * The repaired twin counts and notes in one critical section.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#define FIELDS 4

struct field {
	bool used;
	int length;
};

static struct field fields[FIELDS] = { { false, 8 }, { false, 4 }, { false, 16 }, { false, 2 } };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int cache_bytes;

static int fields_count(void)
{
	int count = 0;

	pthread_mutex_lock(&lock);
	for (int i = 0; i < FIELDS; i++)
		count += fields[i].used;	/* (a) */
	pthread_mutex_unlock(&lock);
	return count;
}

static void fields_note(struct field **noted)
{
	pthread_mutex_lock(&lock);
	for (int i = 0; i < FIELDS; i++)
		if (fields[i].used)		/* (c) */
			*noted++ = &fields[i];
	pthread_mutex_unlock(&lock);
}

static void fields_mark(const bool used[FIELDS])
{
	pthread_mutex_lock(&lock);
	for (int i = 0; i < FIELDS; i++)
		fields[i].used = used[i];	/* (b) */
	pthread_mutex_unlock(&lock);
}

static void *join_init_cache(void *arg)
{
	struct field *noted[FIELDS] = { NULL };
	int count;

	(void)arg;
	count = fields_count();
	fields_note(noted);
	for (int i = 0; i < count; i++)
		cache_bytes += noted[i]->length;
	return NULL;
}

static void *fix_fields(void *arg)
{
	fields_mark(arg);
	return NULL;
}

int main(void)
{
	bool before[FIELDS] = { true, true, true, false };
	bool after[FIELDS] = { true, false, false, true };
	pthread_t join, fix;

	fields_mark(before);
	pthread_create(&join, NULL, join_init_cache, NULL);
	pthread_create(&fix, NULL, fix_fields, after);
	pthread_join(join, NULL);
	pthread_join(fix, NULL);
	if (cache_bytes != 28 && cache_bytes != 10) {
		fprintf(stderr, "a cache of %d bytes fits no statement\n", cache_bytes);
		return 1;
	}
	printf("cache ready\n");
	return 0;
}
