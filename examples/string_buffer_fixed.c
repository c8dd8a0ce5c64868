/*
 * string_buffer.c, repaired: append holds the locks of both strings. It is the only one
 * to hold two, so their order does not matter here; two appends in opposite directions
 * would need one.
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

/* Called with the lock of s held, as is string_copy(). */
static size_t string_length(struct string *s)
{
	return s->length;
}

static void string_copy(struct string *s, size_t length, char *to)
{
	assert(length <= s->length);
	memcpy(to, s->text, length);
}

static void string_clear(struct string *s)
{
	pthread_mutex_lock(&s->lock);
	s->length = 0;
	s->text[0] = '\0';
	pthread_mutex_unlock(&s->lock);
}

static void string_append(struct string *s, struct string *more)
{
	size_t length;

	pthread_mutex_lock(&s->lock);
	pthread_mutex_lock(&more->lock);
	length = string_length(more);
	assert(s->length + length <= ROOM);
	string_copy(more, length, s->text + s->length);
	pthread_mutex_unlock(&more->lock);
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
