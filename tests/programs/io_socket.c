/* Sockets: connecting over loopback, and every form of send and receive on a pair. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int pair[2];

static void check(long wrong)
{
	if (wrong)
		exit(9);
}

static void meeting(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	socklen_t size = sizeof(at);
	int server = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
	int got;

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	check(bind(server, (struct sockaddr *)&at, size) != 0 || listen(server, 1) != 0);
	check(getsockname(server, (struct sockaddr *)&at, &size) != 0);
	check(connect(client, (struct sockaddr *)&at, size) != 0);
	got = accept(server, (struct sockaddr *)&at, &size);
	check(got < 0 || size != sizeof(at));
	check(accept4(-1, NULL, NULL, 0) != -1);
	close(got);
}

static void talking(void)
{
	char buf[8];
	struct iovec v = { buf, sizeof(buf) };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };
	struct mmsghdr mm = { .msg_hdr = m };

	check(send(pair[0], "abc", 3, 0) != 3);
	check(recv(pair[1], buf, 8, 0) != 3);
	check(sendto(pair[0], "abcd", 4, 0, NULL, 0) != 4);
	check(recvfrom(pair[1], buf, 8, 0, NULL, NULL) != 4);
	check(sendmsg(pair[0], &m, 0) != 8);
	check(recvmsg(pair[1], &m, 0) != 8);
	check(sendmmsg(pair[0], &mm, 1, 0) != 1 || mm.msg_len != 8);
	check(recvmmsg(pair[1], &mm, 1, 0, NULL) != 1);
	check(recv(pair[1], buf, 8, MSG_DONTWAIT) != -1);
}

int main(void)
{
	meeting();
	check(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) != 0);
	talking();
	return 0;
}
