/*
 * MySQL bug 3596: a pointer checked, then used. The monitor prints what a connection
 * is doing if it does anything: it looks at proc_info (a), prints a space, and reads
 * proc_info again to print it (c). The connection sets it to NULL (b) when a command is
 * done, with no lock.
 *
 * With (b) between (a) and (c) the monitor prints NULL: a crash. A data race.
 *
 * The repaired twin reads the pointer once, under a lock.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define COMMANDS 3
#define REPORTS 3

struct connection {
	const char *proc_info;	/* NULL when idle */
	int commands;
	pthread_mutex_t lock;
};

static struct connection connection = { .lock = PTHREAD_MUTEX_INITIALIZER };
static char report[128];
static size_t report_length;
static int reports;
static pthread_mutex_t report_lock = PTHREAD_MUTEX_INITIALIZER;

static void report_add(const char *text)
{
	size_t length = strlen(text);

	pthread_mutex_lock(&report_lock);
	memcpy(report + report_length, text, length);
	report_length += length;
	pthread_mutex_unlock(&report_lock);
}

static void print_connection(struct connection *c)
{
	report_add("connection 1");
	if (c->proc_info) {			/* (a) */
		report_add(" ");
		report_add(c->proc_info);	/* (c) */
	}
	report_add("\n");
	reports++;
}

static void do_command(struct connection *c)
{
	c->proc_info = "Executing";
	pthread_mutex_lock(&c->lock);
	c->commands++;
	pthread_mutex_unlock(&c->lock);
	c->proc_info = NULL;			/* (b) */
}

static void *client(void *arg)
{
	for (int i = 1; i < COMMANDS; i++)
		do_command(arg);
	return NULL;
}

static void *monitor(void *arg)
{
	for (int i = 1; i < REPORTS; i++)
		print_connection(arg);
	return NULL;
}

int main(void)
{
	pthread_t working, watching;

	do_command(&connection);
	print_connection(&connection);
	pthread_create(&working, NULL, client, &connection);
	pthread_create(&watching, NULL, monitor, &connection);
	pthread_join(working, NULL);
	pthread_join(watching, NULL);
	printf("%d commands, %d reports\n", connection.commands, reports);
	return 0;
}
