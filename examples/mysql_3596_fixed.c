/*
 * mysql_3596.c, repaired: proc_info has a lock and is read once. What it points to is
 * constant, so it may be used after the lock is gone.
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

static void connection_set(struct connection *c, const char *proc_info)
{
	pthread_mutex_lock(&c->lock);
	c->proc_info = proc_info;
	pthread_mutex_unlock(&c->lock);
}

static void print_connection(struct connection *c)
{
	const char *proc_info;

	pthread_mutex_lock(&c->lock);
	proc_info = c->proc_info;
	pthread_mutex_unlock(&c->lock);
	report_add("connection 1");
	if (proc_info) {
		report_add(" ");
		report_add(proc_info);
	}
	report_add("\n");
	reports++;
}

static void do_command(struct connection *c)
{
	connection_set(c, "Executing");
	pthread_mutex_lock(&c->lock);
	c->commands++;
	pthread_mutex_unlock(&c->lock);
	connection_set(c, NULL);
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
