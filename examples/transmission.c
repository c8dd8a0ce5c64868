/*
 * After the shape of a bug of Transmission, a BitTorrent client: use before
 * initialisation. Main starts the threads of a session, declares it open, and then
 * initialises the bandwidth. The event thread's first pulse gives bandwidth to the
 * peers of an open session; if it is not open yet, there is nothing to do.
 *
 * Breaks when the event thread comes to bandwidth_allocate() after main has set
 * `open` and before it has come to the end of bandwidth_init(): the assertion about
 * `magic` fails. The twin initialises the bandwidth before it declares the session open.
 *
 * Lesson: what is declared open must be ready.
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
	pthread_mutex_lock(&s->lock);
	s->open = true;
	pthread_mutex_unlock(&s->lock);
	bandwidth_init(&s->bandwidth, LIMIT);
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
