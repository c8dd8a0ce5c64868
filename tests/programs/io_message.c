/*
 * Message queues, POSIX's and System V's: a sent message is read, a received one written, up to its
 * actual size; and calls that fail.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mqueue.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <unistd.h>

#define BARE __attribute__((no_sanitize("thread"), noinline))

static struct {
	long type;
	char text[24];
} out = { 1, "hello" }, in;

BARE static void check(long wrong)
{
	if (wrong)
		exit(9);
}

BARE static void posix(void)
{
	struct mq_attr sizes = { .mq_maxmsg = 1, .mq_msgsize = 24 };
	struct timespec past = { 0 };
	char name[] = "/snarl-test-0000000000";
	mqd_t q;

	for (long rest = getpid(), i = sizeof(name) - 2; rest; rest /= 10)
		name[i--] = (char)('0' + rest % 10);
	q = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &sizes);
	check(q < 0 || mq_unlink(name) != 0);
	check(mq_send(q, out.text, 6, 3) != 0);
	check(mq_timedsend(q, out.text, 3, 0, &past) != -1);
	check(mq_receive(q, in.text, 24, NULL) != 6 || in.text[4] != 'o');
	check(mq_timedreceive(q, in.text, 24, NULL, &past) != -1);
	check(mq_timedsend(q, out.text, 5, 0, &past) != 0);
	check(mq_receive(q, in.text, 1, NULL) != -1);
	check(mq_timedreceive(q, in.text, 24, NULL, &past) != 5);
	check(mq_close(q) != 0);
}

BARE static void system_v(void)
{
	int first = msgget(IPC_PRIVATE, 0600), q = msgget(IPC_PRIVATE, 0600);

	/* One of the ids may be 0, which is no object in a trace. */
	check(first < 0 || q <= 0 || msgctl(first, IPC_RMID, NULL) != 0);
	check(msgsnd(q, &out, 6, 0) != 0);
	check(msgrcv(q, &in, 24, 2, IPC_NOWAIT) != -1);
	check(msgrcv(q, &in, 24, 0, 0) != 6 || in.text[4] != 'o');
	check(msgctl(q, IPC_RMID, NULL) != 0);
	check(msgsnd(q, &out, 6, 0) != -1);
}

BARE int main(void)
{
	posix();
	system_v();
	return 0;
}
