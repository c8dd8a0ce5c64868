/*
 * mysql_791.c, repaired: the check whether the log is open holds its lock.
 */
#include <pthread.h>
#include <stdio.h>

#define FILES 3
#define INSERTS 3

enum log_type { LOG_CLOSED, LOG_NORMAL };

static enum log_type log_type = LOG_NORMAL;
static int file;
static int entries[FILES];
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;

/* The index: names of all log files. */
static int indexed;
static pthread_mutex_t index_lock = PTHREAD_MUTEX_INITIALIZER;

static void index_add(void)
{
	pthread_mutex_lock(&index_lock);
	indexed++;
	pthread_mutex_unlock(&index_lock);
}

static void log_rotate(void)
{
	pthread_mutex_lock(&log_lock);
	log_type = LOG_CLOSED;
	index_add();
	file++;
	log_type = LOG_NORMAL;
	pthread_mutex_unlock(&log_lock);
}

static void log_write(void)
{
	pthread_mutex_lock(&log_lock);
	if (log_type != LOG_CLOSED)
		entries[file]++;
	pthread_mutex_unlock(&log_lock);
}

static void *inserter(void *arg)
{
	(void)arg;
	for (int i = 1; i < INSERTS; i++)
		log_write();
	return NULL;
}

static void *rotator(void *arg)
{
	(void)arg;
	for (int i = 1; i < FILES; i++)
		log_rotate();
	return NULL;
}

int main(void)
{
	pthread_t inserting, rotating;
	int logged = 0;

	log_write();
	pthread_create(&inserting, NULL, inserter, NULL);
	pthread_create(&rotating, NULL, rotator, NULL);
	pthread_join(inserting, NULL);
	pthread_join(rotating, NULL);
	for (int i = 0; i < FILES; i++)
		logged += entries[i];
	if (logged != INSERTS) {
		fprintf(stderr, "%d of %d inserts logged\n", logged, INSERTS);
		return 1;
	}
	printf("%d inserts in %d files\n", logged, indexed + 1);
	return 0;
}
