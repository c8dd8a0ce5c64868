/*
 * transmission.c, repaired: the bandwidth is initialised before the session is open.
 */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#define MAGIC 43143
#define LIMIT 50
#define PEERS 3

struct bandwidth {
	int magic;	/* MAGIC when it is initialised */
	int limit;
};

struct session {
	pthread_mutex_t lock;
	bool open;
	int peers;
	struct bandwidth bandwidth;
};

static void bandwidth_init(struct bandwidth *b, int limit)
{
	b->limit = limit;
	b->magic = MAGIC;
}

static int bandwidth_allocate(const struct bandwidth *b)
{
	assert(b->magic == MAGIC);
	return b->limit;
}

static void *find_peers(void *arg)
{
	struct session *s = arg;

	for (int i = 0; i < PEERS; i++) {
		pthread_mutex_lock(&s->lock);
		s->peers++;
		pthread_mutex_unlock(&s->lock);
	}
	return NULL;
}

static void *handle_events(void *arg)
{
	struct session *s = arg;
	bool open;

	pthread_mutex_lock(&s->lock);
	open = s->open;
	pthread_mutex_unlock(&s->lock);
	if (open)
		assert(bandwidth_allocate(&s->bandwidth) == LIMIT);
	return NULL;
}

static void session_open(struct session *s)
{
	bandwidth_init(&s->bandwidth, LIMIT);
	pthread_mutex_lock(&s->lock);
	s->open = true;
	pthread_mutex_unlock(&s->lock);
}

int main(void)
{
	static struct session session = { .lock = PTHREAD_MUTEX_INITIALIZER };
	pthread_t peers, events;

	pthread_create(&peers, NULL, find_peers, &session);
	pthread_create(&events, NULL, handle_events, &session);
	session_open(&session);
	pthread_join(peers, NULL);
	pthread_join(events, NULL);
	printf("%d peers\n", session.peers);
	return session.peers != PEERS;
}
