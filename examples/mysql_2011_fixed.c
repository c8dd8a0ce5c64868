/*
 * mysql_2011.c, repaired: file and length are read in one critical section.
 */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#define FILES 2
#define ROOM 4
#define READS 2

static int events[FILES][ROOM];
static int closed_length[FILES];

/* The file that is being written, and its length. */
static int log_file;
static int log_length;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Position of the reader, and the last event that it read. */
static int at_file;
static int at_event;
static int seen;

static void log_write(int event)
{
	pthread_mutex_lock(&lock);
	events[log_file][log_length++] = event;
	pthread_mutex_unlock(&lock);
}

static void log_rotate(void)
{
	pthread_mutex_lock(&lock);
	closed_length[log_file] = log_length;
	log_file++;
	log_length = 0;
	pthread_mutex_unlock(&lock);
}

static void log_state(int *file, int *length)
{
	pthread_mutex_lock(&lock);
	*file = log_file;
	*length = log_length;
	pthread_mutex_unlock(&lock);
}

/* Returns 0 if there is no event at the moment. */
static int next_event(void)
{
	int file, length;

	log_state(&file, &length);
	if (at_file < file && at_event == closed_length[at_file]) {
		at_file++;
		at_event = 0;
	}
	if (at_file < file)
		length = closed_length[at_file];
	assert(at_event <= length);
	return at_event < length ? events[at_file][at_event++] : 0;
}

/* Returns whether there was an event. */
static bool event_read(void)
{
	int event = next_event();

	if (event)
		assert(event == ++seen);
	return event;
}

static void *reader(void *arg)
{
	(void)arg;
	for (int i = 0; i < READS; i++)
		event_read();
	return NULL;
}

static void *writer(void *arg)
{
	(void)arg;
	log_rotate();
	log_write(3);
	return NULL;
}

int main(void)
{
	pthread_t reading, writing;

	log_write(1);
	log_write(2);
	event_read();
	pthread_create(&reading, NULL, reader, NULL);
	pthread_create(&writing, NULL, writer, NULL);
	pthread_join(reading, NULL);
	pthread_join(writing, NULL);
	while (event_read())
		;
	assert(seen == 3);
	printf("%d events read\n", seen);
	return 0;
}
