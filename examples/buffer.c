/*
 * Two variables that belong together. text and length each have their lock, so
 * every single access is protected; but a reader between the two writes sees the
 * new length with the old text.
 *
 * Lesson: what must agree needs one lock.
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const char *text = "short";
static size_t length = 5;
static pthread_mutex_t text_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t length_lock = PTHREAD_MUTEX_INITIALIZER;

static void *writer(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&length_lock);
	length = 15;
	pthread_mutex_unlock(&length_lock);
	pthread_mutex_lock(&text_lock);
	text = "somewhat longer";
	pthread_mutex_unlock(&text_lock);
	return NULL;
}

static void *reader(void *arg)
{
	const char *t;
	size_t n;

	(void)arg;
	pthread_mutex_lock(&text_lock);
	t = text;
	pthread_mutex_unlock(&text_lock);
	pthread_mutex_lock(&length_lock);
	n = length;
	pthread_mutex_unlock(&length_lock);
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
