/* Buffers of I/O are accesses: a read writes to memory as many bytes as it returned. */
#define _GNU_SOURCE
#include <poll.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#define BARE __attribute__((no_sanitize("thread"), noinline))

static char out[16] = "abcdefgh", in[16];
static int ends[2];
static struct iovec out_v[2] = { { out, 2 }, { out + 4, 2 } }, in_v[3] = {
	{ in, 1 }, { in + 8, 3 }, { in + 12, 4 }
};
static struct pollfd polled;

BARE static void check(long wrong)
{
	if (wrong)
		exit(9);
}

BARE static void transfer(void)
{
	check(write(ends[1], out, 8) != 8);
	check(read(ends[0], in, 16) != 8);
	check(writev(ends[1], out_v, 2) != 4);
	polled.fd = ends[0];
	polled.events = POLLIN;
	check(poll(&polled, 1, -1) != 1);
	check(readv(ends[0], in_v, 3) != 4);	/* the third part gets nothing */
	close(ends[1]);
	check(read(ends[0], in, 16) != 0);
}

int main(void)
{
	check(pipe(ends) != 0);
	transfer();
	return 0;
}
