/*
 * mozilla_4.c, repaired: only the decision is stored, in one critical section.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>

#define CHUNKS 3
#define ROOM 2

struct stream {
	pthread_mutex_t lock;
	bool suspended;
	int queued;
	sem_t chunks;		/* ready for the listener */
	sem_t resume, resumed;	/* request of the listener, answer of the transport */
	int received;
};

static void set_suspended(struct stream *s, bool suspended)
{
	pthread_mutex_lock(&s->lock);
	s->suspended = suspended;
	pthread_mutex_unlock(&s->lock);
}

/* Returns false if the transport is suspended for lack of room. */
static bool transport_ready(struct stream *s)
{
	bool room;

	pthread_mutex_lock(&s->lock);
	room = s->queued < ROOM;
	s->suspended = !room;
	pthread_mutex_unlock(&s->lock);
	return room;
}

static void *transport(void *arg)
{
	struct stream *s = arg;

	for (int i = 0; i < CHUNKS; i++) {
		if (!transport_ready(s)) {
			sem_wait(&s->resume);
			set_suspended(s, false);
			sem_post(&s->resumed);
		}
		pthread_mutex_lock(&s->lock);
		s->queued++;
		pthread_mutex_unlock(&s->lock);
		sem_post(&s->chunks);
	}
	return NULL;
}

static void *listen_for_chunks(void *arg)
{
	struct stream *s = arg;
	bool suspended;

	for (int i = 0; i < CHUNKS; i++) {
		sem_wait(&s->chunks);
		pthread_mutex_lock(&s->lock);
		s->queued--;
		s->received++;
		suspended = s->suspended;
		pthread_mutex_unlock(&s->lock);
		if (suspended) {
			sem_post(&s->resume);
			sem_wait(&s->resumed);
		}
	}
	return NULL;
}

int main(void)
{
	static struct stream s = { .lock = PTHREAD_MUTEX_INITIALIZER };
	pthread_t transporter, listener;

	sem_init(&s.chunks, 0, 0);
	sem_init(&s.resume, 0, 0);
	sem_init(&s.resumed, 0, 0);
	pthread_create(&transporter, NULL, transport, &s);
	pthread_create(&listener, NULL, listen_for_chunks, &s);
	pthread_join(transporter, NULL);
	pthread_join(listener, NULL);
	printf("%d chunks received\n", s.received);
	return s.received != CHUNKS;
}
