/*
 * mozilla_7.c, repaired: the stream is set before the client connects.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>

struct stream {
	sem_t ready;
	int bytes;
};

struct connection {
	pthread_mutex_t lock;
	bool connected, gone;	/* the client is connected; the network is gone */
	struct stream *input;	/* NULL: the client does not read yet */
	struct stream stream;
};

/* Returns false if the network is gone. */
static bool client_connect(struct connection *c)
{
	bool online;

	pthread_mutex_lock(&c->lock);
	online = !c->gone;
	c->connected = online;
	pthread_mutex_unlock(&c->lock);
	return online;
}

static void *protocol(void *arg)
{
	struct connection *c = arg;
	bool online;

	c->input = &c->stream;
	online = client_connect(c);
	if (online)
		sem_wait(&c->stream.ready);
	return NULL;
}

static void *network(void *arg)
{
	struct connection *c = arg;
	struct stream *input;
	bool connected;

	pthread_mutex_lock(&c->lock);
	connected = c->connected;
	c->gone = !connected;
	pthread_mutex_unlock(&c->lock);
	if (!connected)
		return NULL;
	input = c->input;
	if (input) {
		input->bytes = 14;
		sem_post(&input->ready);
	}
	return NULL;
}

int main(void)
{
	static struct connection c = { .lock = PTHREAD_MUTEX_INITIALIZER };
	pthread_t client, server;

	sem_init(&c.stream.ready, 0, 0);
	pthread_create(&client, NULL, protocol, &c);
	pthread_create(&server, NULL, network, &c);
	pthread_join(client, NULL);
	pthread_join(server, NULL);
	printf("disconnected\n");
	return c.connected && c.stream.bytes != 14;
}
