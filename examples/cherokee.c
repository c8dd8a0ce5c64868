/*
 * After the shape of a bug of Cherokee, a web server: all connections append to the
 * same buffer of the access log, and appending does not lock.
 *
 * Breaks when buffer_add() of one thread runs between the reading of `length` and its
 * writing in the other's (read, remote write, write): lines overwrite each other, or
 * go to where the buffer was before it grew. The twin locks in buffer_add().
 *
 * Lesson: a function that many threads call on one object must say whether it locks.
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
	if (b->length + length > b->size) {
		memcpy(b->large, b->small, sizeof(b->small));
		b->data = b->large;
		b->size = sizeof(b->large);
	}
	memcpy(b->data + b->length, text, length);
	b->length += length;
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
	static struct buffer log = { .data = log.small, .size = sizeof(log.small) };
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
