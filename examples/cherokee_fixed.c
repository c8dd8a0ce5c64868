/*
 * cherokee.c, repaired: appending locks.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define CONNECTIONS 2
#define REQUESTS 2
#define LINE 8
#define LINES (CONNECTIONS * REQUESTS)

static const char opened[LINE + 1] = "opened.\n";

static const char lines[CONNECTIONS][REQUESTS][LINE + 1] = {
	{ "GET /a1\n", "GET /a2\n" },
	{ "GET /b1\n", "GET /b2\n" },
};

struct buffer {
	pthread_mutex_t lock;
	char *data;	/* points to one of the two buffers below */
	size_t length, size;
	char small[2 * LINE], large[2 * (LINES + 1) * LINE];
};

struct connection {
	struct buffer *log;
	int number;
};

static void buffer_add(struct buffer *b, const char *text, size_t length)
{
	pthread_mutex_lock(&b->lock);
	if (b->length + length > b->size) {
		memcpy(b->large, b->small, sizeof(b->small));
		b->data = b->large;
		b->size = sizeof(b->large);
	}
	memcpy(b->data + b->length, text, length);
	b->length += length;
	pthread_mutex_unlock(&b->lock);
}

static void *serve(void *arg)
{
	struct connection *c = arg;

	for (int i = 0; i < REQUESTS; i++)
		buffer_add(c->log, lines[c->number][i], LINE);
	return NULL;
}

static int buffer_has(const struct buffer *b, const char *line)
{
	int times = 0;

	for (size_t at = 0; at + LINE <= b->length; at += LINE)
		times += memcmp(b->data + at, line, LINE) == 0;
	return times == 1;
}

int main(void)
{
	static struct buffer log = {
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.data = log.small,
		.size = sizeof(log.small),
	};
	static struct connection connections[CONNECTIONS] = { { &log, 0 }, { &log, 1 } };
	pthread_t threads[CONNECTIONS];
	int intact = 0;

	buffer_add(&log, opened, LINE);
	for (int i = 0; i < CONNECTIONS; i++)
		pthread_create(&threads[i], NULL, serve, &connections[i]);
	for (int i = 0; i < CONNECTIONS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < LINES; i++)
		intact += buffer_has(&log, lines[i / REQUESTS][i % REQUESTS]);
	printf("%d of %d lines in the log\n", intact, LINES);
	return intact != LINES;
}
