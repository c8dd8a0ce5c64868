/*
 * runs: 40
 * Message queues: full and empty ones make threads wait; an operation that fails because of its
 * size fails at once, even if no thread will ever fill or empty the queue.
 */
#include "want.h"

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <stdio.h>
#include <unistd.h>

#define MESSAGES 6

static mqd_t queue;

static void *sends(void *arg)
{
	for (char i = 0; i < MESSAGES; i++)
		want(mq_send(queue, &i, 1, 0), 0);
	return arg;
}

static void refused(void)
{
	const struct timespec past = { 0, 0 };
	char big[9] = "too long";

	want(mq_receive(queue, big, 7, NULL), -1);
	want(errno, EMSGSIZE);
	want(mq_timedreceive(queue, big, 7, NULL, &past), -1);
	want(errno, EMSGSIZE);
	want(mq_timedreceive(queue, big, 8, NULL, &past), -1);
	want(errno, ETIMEDOUT);
	want(mq_send(queue, big, 1, 0), 0);
	want(mq_send(queue, big, 1, 0), 0);
	want(mq_send(queue, big, 9, 0), -1);
	want(errno, EMSGSIZE);
	want(mq_timedsend(queue, big, 9, 0, &past), -1);
	want(errno, EMSGSIZE);
	want(mq_timedsend(queue, big, 8, 0, &past), -1);
	want(errno, ETIMEDOUT);
	want(mq_receive(queue, big, 8, NULL), 1);
	want(mq_receive(queue, big, 8, NULL), 1);
	want(mq_receive(-1, big, 8, NULL), -1);
	want(errno, EBADF);
}

int main(void)
{
	struct mq_attr sizes = { .mq_maxmsg = 2, .mq_msgsize = 8 };
	char name[64], got[8];
	pthread_t t;

	snprintf(name, sizeof(name), "/snarl-test-%ld", (long)getpid());
	queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &sizes);
	want(queue < 0, 0);
	want(mq_unlink(name), 0);
	refused();
	t = start(sends, NULL);
	for (char i = 0; i < MESSAGES; i++) {
		want(mq_receive(queue, got, 8, NULL), 1);
		want(got[0], i);
	}
	finish(t);
	return mq_close(queue);
}
