/*
 * LogProcSweep: two threads use a shared log, and only one of them locks it. The processor
 * opens the log if there is none and adds records; the sweeper collects the records and
 * sets the pointer to NULL, so that the next record opens a new log.
 *
 * The processor checks the pointer under the lock (a) but uses it without (c). A sweep (b)
 * in between sets it to NULL, and the program crashes. If the compiler
 * reads the pointer once, a sweep in the middle of (c) loses or doubles a record, and
 * the assertion at the end fails.
 *
 * The repaired twin holds the lock from the check until the record is added.
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

#define RECORDS 4
#define SWEEPS 2

struct log {
	int count;
	int records[RECORDS];
};

static struct log storage;
static struct log *current;
static int swept;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void log_need(void)
{
	if (!current) {
		storage.count = 0;
		current = &storage;
	}
}

static void log_add(int record)
{
	pthread_mutex_lock(&lock);
	log_need();					/* (a) */
	pthread_mutex_unlock(&lock);
	current->records[current->count] = record;	/* (c) */
	current->count++;
}

static void *processor(void *arg)
{
	(void)arg;
	for (int i = 1; i < RECORDS; i++)
		log_add(i);
	return NULL;
}

static void *sweeper(void *arg)
{
	(void)arg;
	for (int i = 0; i < SWEEPS; i++) {
		pthread_mutex_lock(&lock);
		if (current) {
			swept += current->count;
			current = NULL;				/* (b) */
		}
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(void)
{
	pthread_t processing, sweeping;

	log_add(0);
	pthread_create(&processing, NULL, processor, NULL);
	pthread_create(&sweeping, NULL, sweeper, NULL);
	pthread_join(processing, NULL);
	pthread_join(sweeping, NULL);
	if (current)
		swept += current->count;
	assert(swept == RECORDS);
	printf("%d records\n", swept);
	return 0;
}
