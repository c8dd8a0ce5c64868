/*
 * StringBuffer: appending one locked string to another. Each string has a lock, and every
 * function takes it. append holds that of the destination, but gets the length (a) and the
 * characters (c) of the source in two calls, each of which locks by itself.
 *
 * If another thread empties the source (b) in between, append asks for characters that no
 * longer exist. No data race. The assertion in string_copy() fails, where
 * the original throws an exception.
 *
 * The repaired twin holds the source's lock over both calls.
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define ROOM 32
#define APPENDS 2

struct string {
	pthread_mutex_t lock;
	size_t length;
	char text[ROOM];
};

static struct string target = { .lock = PTHREAD_MUTEX_INITIALIZER };
static struct string source = { PTHREAD_MUTEX_INITIALIZER, 6, "snarl " };

static size_t string_length(struct string *s)
{
	size_t length;

	pthread_mutex_lock(&s->lock);
	length = s->length;
	pthread_mutex_unlock(&s->lock);
	return length;
}

static void string_copy(struct string *s, size_t length, char *to)
{
	pthread_mutex_lock(&s->lock);
	assert(length <= s->length);
	memcpy(to, s->text, length);
	pthread_mutex_unlock(&s->lock);
}

static void string_clear(struct string *s)
{
	pthread_mutex_lock(&s->lock);
	s->length = 0;						/* (b) */
	s->text[0] = '\0';
	pthread_mutex_unlock(&s->lock);
}

static void string_append(struct string *s, struct string *more)
{
	size_t length;

	pthread_mutex_lock(&s->lock);
	length = string_length(more);				/* (a) */
	assert(s->length + length <= ROOM);
	string_copy(more, length, s->text + s->length);		/* (c) */
	s->length += length;
	pthread_mutex_unlock(&s->lock);
}

static void *appender(void *arg)
{
	(void)arg;
	for (int i = 0; i < APPENDS; i++)
		string_append(&target, &source);
	return NULL;
}

static void *eraser(void *arg)
{
	(void)arg;
	string_clear(&source);
	return NULL;
}

int main(void)
{
	pthread_t appending, erasing;

	string_append(&target, &source);
	pthread_create(&appending, NULL, appender, NULL);
	pthread_create(&erasing, NULL, eraser, NULL);
	pthread_join(appending, NULL);
	pthread_join(erasing, NULL);
	assert(target.length % 6 == 0 && source.length == 0);
	printf("whole words only\n");
	return 0;
}
