/*
 * runs: 40
 * Pipes between threads: a line in each direction, a block larger than the pipe, readers that race
 * for tokens, a FIFO opened from both ends.
 */
#include "want.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define BIG 200000
#define TOKENS 8

static int there[2], back[2];
static char big[BIG], got[BIG];
static char fifo[64];

static void *answers(void *arg)
{
	char c;

	while (read(there[0], &c, 1) == 1) {
		c++;
		want(write(back[1], &c, 1), 1);
	}
	close(back[1]);
	return arg;
}

static void ping_pong(void)
{
	pthread_t t;
	char c = 'a';

	want(pipe(there), 0);
	want(pipe(back), 0);
	t = start(answers, NULL);
	for (int i = 0; i < 5; i++) {
		want(write(there[1], &c, 1), 1);
		want(read(back[0], &c, 1), 1);
	}
	want(c, 'f');
	close(there[1]);
	want(read(back[0], &c, 1), 0);
	finish(t);
	close(there[0]);
	close(back[0]);
}

static void *writes_big(void *arg)
{
	struct iovec v[3] = { { big, 10 }, { big + 10, BIG - 20 }, { big + BIG - 10, 10 } };

	want(writev(there[1], v, 3), BIG);
	close(there[1]);
	return arg;
}

static void more_than_fits(void)
{
	size_t n = 0;
	ssize_t r;
	pthread_t t;

	for (int i = 0; i < BIG; i++)
		big[i] = (char)(i * 7 + i / 251);
	want(pipe(there), 0);
	t = start(writes_big, NULL);
	while ((r = read(there[0], got + n, BIG - n)) > 0)
		n += (size_t)r;
	want(r, 0);
	want(n, BIG);
	want(memcmp(big, got, BIG), 0);
	finish(t);
	close(there[0]);
}

static void *takes_token(void *sum)
{
	unsigned char token;

	while (read(there[0], &token, 1) == 1 && token)
		*(int *)sum += token;
	return NULL;
}

static void tokens(void)
{
	int sum[2] = { 0, 0 };
	unsigned char token;
	pthread_t t[2];

	want(pipe(there), 0);
	t[0] = start(takes_token, &sum[0]);
	t[1] = start(takes_token, &sum[1]);
	for (int i = TOKENS; i >= -1; i--) {
		token = (unsigned char)(i > 0 ? i : 0);
		want(write(there[1], &token, 1), 1);
	}
	finish(t[0]);
	finish(t[1]);
	want(sum[0] + sum[1], TOKENS * (TOKENS + 1) / 2);
	close(there[0]);
	close(there[1]);
}

static void *opens_to_write(void *arg)
{
	int fd = open(fifo, O_WRONLY);

	want(fd >= 0, 1);
	want(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
	want(write(fd, "fifo", 4), 4);
	close(fd);
	return arg;
}

static void named(void)
{
	char text[8];
	pthread_t t;
	int fd;

	snprintf(fifo, sizeof(fifo), "/tmp/snarl-fifo-%d", (int)getpid());
	want(mkfifo(fifo, 0600), 0);
	t = start(opens_to_write, NULL);
	fd = open(fifo, O_RDONLY);
	want(fd >= 0, 1);
	want(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
	want(read(fd, text, sizeof(text)), 4);
	want(memcmp(text, "fifo", 4), 0);
	finish(t);
	want(read(fd, text, sizeof(text)), 0);
	close(fd);
	want(unlink(fifo), 0);
}

int main(void)
{
	ping_pong();
	more_than_fits();
	tokens();
	named();
	puts("ok");
	return 0;
}
