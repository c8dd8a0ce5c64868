/*
 * After the shape of a bug of Mozilla's HTTP client (Mozilla-8, 90196): an order
 * violation. A connection hands its request to the transport thread and, when that
 * call has returned, turns to waiting for headers. The headers are expected to come
 * after that. A transport that finds no request closes; later ones are refused.
 *
 * Breaks when the transport calls headers_available() before the connection thread
 * has come from async_write() to `state = WAITING`: the assertion fails. Every
 * access is locked. The twin is waiting before it writes.
 *
 * Lesson: an asynchronous call may be answered before it returns.
 */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

enum state { IDLE, WAITING, ANSWERED };

struct connection {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	enum state state;
};

struct transport {
	pthread_mutex_t lock;
	bool closed;
	struct connection *client;	/* the one with a request to be sent, or NULL */
};

struct browser {
	struct connection connection;
	struct transport transport;
};

/* Returns false if the request is refused. */
static bool async_write(struct transport *t, struct connection *c)
{
	bool taken;

	pthread_mutex_lock(&t->lock);
	taken = !t->closed;
	t->client = c;
	pthread_mutex_unlock(&t->lock);
	return taken;
}

static void headers_available(struct connection *c)
{
	pthread_mutex_lock(&c->lock);
	assert(c->state == WAITING);
	c->state = ANSWERED;
	pthread_cond_signal(&c->changed);
	pthread_mutex_unlock(&c->lock);
}

static void *ask(void *arg)
{
	struct browser *b = arg;
	struct connection *c = &b->connection;
	bool taken;

	taken = async_write(&b->transport, c);
	pthread_mutex_lock(&c->lock);
	c->state = WAITING;
	while (taken && c->state == WAITING)
		pthread_cond_wait(&c->changed, &c->lock);
	c->state = IDLE;
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

static void *transport(void *arg)
{
	struct browser *b = arg;
	struct transport *t = &b->transport;
	struct connection *c;

	pthread_mutex_lock(&t->lock);
	c = t->client;
	t->closed = !c;
	pthread_mutex_unlock(&t->lock);
	if (c)
		headers_available(c);
	return NULL;
}

int main(void)
{
	static struct browser b = {
		{ .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER },
		{ .lock = PTHREAD_MUTEX_INITIALIZER },
	};
	pthread_t page, socket;

	pthread_create(&page, NULL, ask, &b);
	pthread_create(&socket, NULL, transport, &b);
	pthread_join(page, NULL);
	pthread_join(socket, NULL);
	printf("page closed\n");
	return b.connection.state != IDLE;
}
