/*
 * Use after free. The last user of a session frees it, but the count is read again
 * after it was decremented: both threads may see 0 (double free), or one reads it from a
 * session that the other has just freed.
 *
 * Lesson: whether a thread was the last user must come from the decrement itself.
 */
#include <pthread.h>
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

	pthread_mutex_lock(lock);
	s->users--;
	pthread_mutex_unlock(lock);
	if (s->users == 0)
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
