/*
 * A server on loopback that polls, and three clients, all threads of one program; every answer is
 * checked. The last line of output has the order in which the clients were served.
 */
#include "want.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CLIENTS 3
#define ROUNDS 2

static struct sockaddr_in at;
static int listener;
static char served[CLIENTS * ROUNDS + 1];
static int count;

static int answer(int s)
{
	uint32_t n;

	if (recv(s, &n, sizeof(n), MSG_WAITALL) != sizeof(n))
		return 0;
	served[count++] = (char)('a' + n % 100);
	n *= 2;
	want(send(s, &n, sizeof(n), MSG_NOSIGNAL), sizeof(n));
	return 1;
}

static void *serves(void *arg)
{
	struct pollfd p[CLIENTS + 1] = { { .fd = listener, .events = POLLIN } };
	int known = 0, open = CLIENTS;

	while (open > 0) {
		want(poll(p, 1 + (nfds_t)known, -1) > 0, 1);
		for (int i = known; i > 0; i--)
			if (p[i].fd >= 0 && p[i].revents && !answer(p[i].fd)) {
				close(p[i].fd);
				p[i].fd = -1;
				open--;
			}
		if (p[0].revents) {
			p[++known] = (struct pollfd){ .fd = accept(listener, NULL, NULL),
						      .events = POLLIN };
			want(p[known].fd >= 0, 1);
			p[known].revents = 0;
			if (known == CLIENTS)
				p[0].fd = -1;
		}
	}
	return arg;
}

static void *asks(void *arg)
{
	int s = socket(AF_INET, SOCK_STREAM, 0);

	want(connect(s, (struct sockaddr *)&at, sizeof(at)), 0);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		uint32_t n = i * 100 + (uint32_t)(uintptr_t)arg, sent = n;

		want(write(s, &n, sizeof(n)), sizeof(n));
		want(read(s, &n, sizeof(n)), sizeof(n));
		want(n, 2 * sent);
	}
	close(s);
	return NULL;
}

int main(void)
{
	socklen_t size = sizeof(at);
	pthread_t server, t[CLIENTS];

	listener = socket(AF_INET, SOCK_STREAM, 0);
	at.sin_family = AF_INET;
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	want(bind(listener, (struct sockaddr *)&at, size), 0);
	want(listen(listener, 8), 0);
	want(getsockname(listener, (struct sockaddr *)&at, &size), 0);
	server = start(serves, NULL);
	for (long i = 0; i < CLIENTS; i++)
		t[i] = start(asks, (void *)i);
	for (int i = 0; i < CLIENTS; i++)
		finish(t[i]);
	finish(server);
	want(count, CLIENTS * ROUNDS);
	puts(served);
	return 0;
}
