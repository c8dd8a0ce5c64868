/*
 * apache_25520.c, repaired: lines are written under a lock.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define LINE 8
#define LINES 3		/* of each thread */
#define TOTAL (1 + 2 * LINES)
#define FULL (4 * LINE)

static char buffer[FULL];
static size_t used;
static char file[16 * FULL];
static size_t file_length;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void log_flush(void)
{
	memcpy(file + file_length, buffer, used);
	file_length += used;
	used = 0;
}

static __attribute__((noinline)) void log_write(const char *line)
{
	pthread_mutex_lock(&lock);
	if (used + LINE > FULL)
		log_flush();
	memcpy(buffer + used, line, LINE);
	used += LINE;
	pthread_mutex_unlock(&lock);
}

static void line_make(char *line, int thread, int number)
{
	memcpy(line, "GET /00\n", LINE);
	line[5] += thread;
	line[6] += number;
}

static void *serve(void *arg)
{
	char line[LINE];

	for (int i = 0; i < LINES; i++) {
		line_make(line, *(int *)arg, i);
		log_write(line);
	}
	return NULL;
}

static int line_count(const char *line)
{
	int count = 0;

	for (size_t at = 0; at < file_length; at += LINE)
		count += !memcmp(file + at, line, LINE);
	return count;
}

int main(void)
{
	int numbers[2] = { 0, 1 };
	pthread_t threads[2];
	char line[LINE];

	log_write("started\n");
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, serve, &numbers[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	log_flush();
	for (int i = 0; i < 2 * LINES; i++) {
		line_make(line, i / LINES, i % LINES);
		if (file_length != TOTAL * LINE || line_count(line) != 1) {
			fprintf(stderr, "the access log is garbled\n");
			return 1;
		}
	}
	printf("%d lines logged\n", TOTAL);
	return 0;
}
