/*
 * MySQL bug 169: a table and the log from which a slave repeats what was done to it.
 * Both statements change the table in one critical section and write the log in
 * another, under another lock.
 *
 * If a row is inserted and logged (b, c) after the table was emptied (a) and before
 * that is logged (d), the log has the two statements in the wrong order, and a slave
 * ends with another table than its master. The same may happen the other way round.
 * No data race; two variables that must agree. The exit code is 1.
 *
 * The repaired twin writes the log before it lets go of the table.
 */
#include <pthread.h>
#include <stdio.h>

#define INSERTS 3

enum statement { INSERT, EMPTY };

static int rows;
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static enum statement logged[INSERTS + 1];
static int log_length;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;

static void log_write(enum statement statement)
{
	pthread_mutex_lock(&log_lock);
	logged[log_length++] = statement;
	pthread_mutex_unlock(&log_lock);
}

static void table_insert(void)
{
	pthread_mutex_lock(&table_lock);
	rows++;				/* (b) */
	pthread_mutex_unlock(&table_lock);
	log_write(INSERT);		/* (c) */
}

static void table_empty(void)
{
	pthread_mutex_lock(&table_lock);
	rows = 0;			/* (a) */
	pthread_mutex_unlock(&table_lock);
	log_write(EMPTY);		/* (d) */
}

static void *inserter(void *arg)
{
	(void)arg;
	for (int i = 1; i < INSERTS; i++)
		table_insert();
	return NULL;
}

static void *emptier(void *arg)
{
	(void)arg;
	table_empty();
	return NULL;
}

static int slave_replay(void)
{
	int count = 0;

	for (int i = 0; i < log_length; i++)
		count = logged[i] == INSERT ? count + 1 : 0;
	return count;
}

int main(void)
{
	pthread_t inserting, emptying;

	table_insert();
	pthread_create(&inserting, NULL, inserter, NULL);
	pthread_create(&emptying, NULL, emptier, NULL);
	pthread_join(inserting, NULL);
	pthread_join(emptying, NULL);
	if (slave_replay() != rows) {
		fprintf(stderr, "master has %d rows, slave %d\n", rows, slave_replay());
		return 1;
	}
	printf("master and slave agree\n");
	return 0;
}
