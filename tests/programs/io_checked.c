/* flags: -O1 -pthread -fno-builtin */
/* The variants of calls that _FORTIFY_SOURCE uses, by their own names (see string_checked.c). */
#define _GNU_SOURCE
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define BARE __attribute__((no_sanitize("thread"), noinline))

ssize_t __read_chk(int fd, void *buf, size_t n, size_t room);
ssize_t __pread_chk(int fd, void *buf, size_t n, off_t at, size_t room);
ssize_t __pread64_chk(int fd, void *buf, size_t n, off64_t at, size_t room);
ssize_t __recv_chk(int fd, void *buf, size_t n, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void *buf, size_t n, size_t room, int flags,
		       struct sockaddr *from, socklen_t *size);
int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t room);
int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
		const sigset_t *mask, size_t room);
int __printf_chk(int flag, const char *format, ...);
int __fprintf_chk(FILE *f, int flag, const char *format, ...);
int __dprintf_chk(int fd, int flag, const char *format, ...);
int __sprintf_chk(char *s, int flag, size_t room, const char *format, ...);
int __snprintf_chk(char *s, size_t n, int flag, size_t room, const char *format, ...);
int __vprintf_chk(int flag, const char *format, va_list rest);
int __vfprintf_chk(FILE *f, int flag, const char *format, va_list rest);
int __vdprintf_chk(int fd, int flag, const char *format, va_list rest);
int __vsprintf_chk(char *s, int flag, size_t room, const char *format, va_list rest);
int __vsnprintf_chk(char *s, size_t n, int flag, size_t room, const char *format, va_list rest);

static char buf[64];
static struct pollfd ready;

BARE static void check(long wrong)
{
	if (wrong)
		exit(9);
}

BARE static void reading(void)
{
	int file = memfd_create("io_checked", 0), pair[2];
	struct timespec none = { 0 };

	check(file < 0 || write(file, "abcdefgh", 8) != 8 || lseek(file, 0, SEEK_SET) != 0);
	check(__read_chk(file, buf, 3, 64) != 3 || buf[2] != 'c');
	check(__pread_chk(file, buf + 8, 50, 2, 56) != 6 || buf[13] != 'h');
	check(__pread64_chk(file, buf + 16, 5, 8, 48) != 0);
	check(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) != 0);
	check(send(pair[0], "abc", 3, 0) != 3 || send(pair[0], "d", 1, 0) != 1);
	ready = (struct pollfd){ .fd = pair[1], .events = POLLIN };
	check(__poll_chk(&ready, 1, 0, sizeof(ready)) != 1);
	check(__recv_chk(pair[1], buf + 24, 8, 40, 0) != 3 || buf[26] != 'c');
	check(__recvfrom_chk(pair[1], buf + 32, 8, 32, 0, NULL, NULL) != 1);
	check(__ppoll_chk(&ready, 1, &none, NULL, sizeof(ready)) != 0);
}

BARE static void lists(int number, ...)
{
	va_list rest;

	va_start(rest, number);
	check(__vprintf_chk(1, "%d\n", rest) != 2);
	va_end(rest);
	va_start(rest, number);
	check(__vfprintf_chk(stdout, 1, "%d\n", rest) != 2 || fflush(stdout) != 0);
	va_end(rest);
	va_start(rest, number);
	check(__vdprintf_chk(1, 1, "%d\n", rest) != 2);
	va_end(rest);
	va_start(rest, number);
	check(__vsprintf_chk(buf, 1, 64, "%d,", rest) != 2);
	va_end(rest);
	va_start(rest, number);
	check(__vsnprintf_chk(buf + 8, 4, 1, 56, "long %d", rest) != 6);
	va_end(rest);
}

BARE static void printing(void)
{
	check(__printf_chk(1, "%d\n", 10) != 3);
	check(__fprintf_chk(stdout, 1, "%d\n", 10) != 3 || fflush(stdout) != 0);
	check(__dprintf_chk(1, 1, "%d\n", 10) != 3);
	check(__sprintf_chk(buf + 16, 1, 48, "%d", 10) != 2);
	check(__snprintf_chk(buf + 24, 3, 1, 40, "%d", 1000) != 4);
	lists(1, 7);
}

BARE int main(void)
{
	reading();
	printing();
	return 0;
}
