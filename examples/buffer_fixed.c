/*
 * buffer.c, repaired: one lock for text and length.
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const char *text = "short";
static size_t length = 5;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *writer(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&lock);
	length = 15;
	text = "somewhat longer";
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void *reader(void *arg)
{
	const char *t;
	size_t n;

	(void)arg;
	pthread_mutex_lock(&lock);
	t = text;
	n = length;
	pthread_mutex_unlock(&lock);
	assert(strlen(t) == n);
	return NULL;
}

int main(void)
{
	pthread_t w, r;

	pthread_create(&w, NULL, writer, NULL);
	pthread_create(&r, NULL, reader, NULL);
	pthread_join(w, NULL);
	pthread_join(r, NULL);
	printf("%.*s\n", (int)length, text);
	return 0;
}
