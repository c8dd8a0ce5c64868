/*
 * runs: 10
 * Sockets: a server on loopback with a thread per client, a socket pair, time-outs,
 * datagrams.
 */
#include "want.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define CLIENTS 3
#define BIG 300000

static struct sockaddr_in at;
static int listener, pair[2];
static char big[BIG], got[BIG];

static void *serves(void *fd)
{
	int s = (int)(long)fd, n;

	want(recv(s, &n, sizeof(n), MSG_WAITALL), sizeof(n));
	n *= n;
	want(send(s, &n, sizeof(n), 0), sizeof(n));
	close(s);
	return NULL;
}

static void *accepts(void *arg)
{
	pthread_t t[CLIENTS];

	for (int i = 0; i < CLIENTS; i++) {
		int s = accept(listener, NULL, NULL);

		want(s >= 0, 1);
		t[i] = start(serves, (void *)(long)s);
	}
	for (int i = 0; i < CLIENTS; i++)
		finish(t[i]);
	return arg;
}

static void *asks(void *number)
{
	int n = (int)(long)number, answer = 0, s = socket(AF_INET, SOCK_STREAM, 0);

	want(connect(s, (struct sockaddr *)&at, sizeof(at)), 0);
	want(write(s, &n, 2), 2);	/* the 4 bytes are sent in two halves */
	want(write(s, (char *)&n + 2, 2), 2);
	want(read(s, &answer, sizeof(answer)), sizeof(answer));
	want(answer, n * n);
	want(read(s, &answer, sizeof(answer)), 0);
	close(s);
	return NULL;
}

static void loopback(void)
{
	socklen_t size = sizeof(at);
	pthread_t t[CLIENTS + 1];

	listener = socket(AF_INET, SOCK_STREAM, 0);
	at.sin_family = AF_INET;
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	want(bind(listener, (struct sockaddr *)&at, size), 0);
	want(getsockname(listener, (struct sockaddr *)&at, &size), 0);
	want(listen(listener, 1), 0);
	t[CLIENTS] = start(accepts, NULL);
	for (long i = 0; i < CLIENTS; i++)
		t[i] = start(asks, (void *)(i + 2));
	for (int i = 0; i <= CLIENTS; i++)
		finish(t[i]);
	close(listener);
	int s = socket(AF_INET, SOCK_STREAM, 0);

	want_error(connect(s, (struct sockaddr *)&at, sizeof(at)), ECONNREFUSED);
	close(s);
}

static void *sends_big(void *arg)
{
	want(send(pair[0], big, BIG, 0), BIG);
	want(shutdown(pair[0], SHUT_WR), 0);
	return arg;
}

static void pairs(void)
{
	size_t n = 0;
	ssize_t r;
	pthread_t t;

	for (int i = 0; i < BIG; i++)
		big[i] = (char)(i * 3 + i / 255);
	want(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	t = start(sends_big, NULL);
	while ((r = recv(pair[1], got + n, BIG - n, 0)) > 0)
		n += (size_t)r;
	want(r, 0);
	want(n, BIG);
	want(memcmp(big, got, BIG), 0);
	finish(t);
	want_error(recv(pair[0], got, 1, MSG_DONTWAIT), EAGAIN);
	struct timeval limit = { .tv_usec = 2000 };

	want(setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)), 0);
	want_error(read(pair[0], got, 1), EAGAIN);
	close(pair[0]);
	close(pair[1]);
}

static void *sends_datagrams(void *arg)
{
	for (int i = 0; i < 40; i++)	/* more than the queue of the socket holds */
		want(send(pair[0], &i, sizeof(i), 0), sizeof(i));
	return arg;
}

static void datagrams(void)
{
	pthread_t t;
	int v;

	want(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), 0);
	t = start(sends_datagrams, NULL);
	for (int i = 0; i < 40; i++) {
		want(recvfrom(pair[1], &v, sizeof(v), 0, NULL, NULL), sizeof(v));
		want(v, i);
	}
	finish(t);
	close(pair[0]);
	close(pair[1]);
}

int main(void)
{
	loopback();
	pairs();
	datagrams();
	puts("ok");
	return 0;
}
