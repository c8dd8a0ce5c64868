/* read and write in all their forms over a pipe and a file, with accesses to the buffers. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define BARE __attribute__((no_sanitize("thread"), noinline))

static char out[16] = "abcdefgh", in[16];
static int ends[2];
static char name[] = "/tmp/snarl_io_XXXXXX";
static struct iovec out_v[2] = { { out, 2 }, { out + 4, 2 } },
		    in_v[2] = { { in, 1 }, { in + 8, 8 } };

BARE static void check(long wrong)
{
	if (wrong)
		exit(9);
}

BARE static void piped(void)
{
	check(write(ends[1], out, 8) != 8);
	check(read(ends[0], in, 16) != 8);
	check(writev(ends[1], out_v, 2) != 4);
	check(readv(ends[0], in_v, 2) != 4);
	check(memcmp(in, "a", 1) != 0 || memcmp(in + 8, "bef", 3) != 0);
}

BARE static void placed(void)
{
	int fd = mkstemp(name);

	check(fd < 0);
	check(pwrite(fd, out, 4, 4) != 4);
	check(pread(fd, in, 16, 4) != 4);
	check(pwritev(fd, out_v, 2, 0) != 4);
	check(preadv(fd, in_v, 1, 0) != 1);
	check(close(fd) != 0);
	unlink(name);
}

BARE static void failing(void)
{
	errno = 0;
	check(read(-1, in, 1) != -1 || errno != EBADF);
	check(write(-1, out, 1) != -1 || errno != EBADF);
	check(close(ends[1]) != 0);
	check(read(ends[0], in, 1) != 0);
	check(close(ends[0]) != 0);
}

int main(void)
{
	check(pipe(ends) != 0);
	piped();
	placed();
	failing();
	return 0;
}
