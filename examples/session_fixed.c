/*
 * session.c, repaired: whether it was the last user is decided under the lock.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

struct session {
	pthread_mutex_t *lock;	/* outlives the session */
	int users;
	int requests;
};

static pthread_mutex_t sessions_lock = PTHREAD_MUTEX_INITIALIZER;

static void session_put(struct session *s)
{
	pthread_mutex_t *lock = s->lock;
	bool last;

	pthread_mutex_lock(lock);
	last = --s->users == 0;
	pthread_mutex_unlock(lock);
	if (last)
		free(s);
}

static void *serve(void *arg)
{
	struct session *s = arg;

	pthread_mutex_lock(s->lock);
	s->requests++;
	pthread_mutex_unlock(s->lock);
	session_put(s);
	return NULL;
}

int main(void)
{
	struct session *s = calloc(1, sizeof(*s));
	pthread_t first, second;

	if (!s)
		return 1;
	s->lock = &sessions_lock;
	s->users = 2;
	pthread_create(&first, NULL, serve, s);
	pthread_create(&second, NULL, serve, s);
	pthread_join(first, NULL);
	pthread_join(second, NULL);
	printf("served\n");
	return 0;
}
