/*
 * Calls that may block half-way, made in pieces that do not block.
 *
 * A blocking write of more bytes than there is room for blocks after it has written a part. Pipes
 * take PIPE_BUF bytes whenever poll() finds them writable, so a piece has that size. Each piece
 * has a point, whatever the descriptor is: output that goes to a pipe in one run may go to a
 * terminal in the next. A descriptor that is no pipe has the points of the pieces, and is then
 * written at once. Sockets are written with MSG_DONTWAIT, regular files with one point.
 */
#include <limits.h>
#include <sys/stat.h>

#include "runtime/control/model/external.h"
#include "runtime/core/sys.h"

static bool nonblocking(int fd)
{
	long flags = sys_call(SYS_fcntl, fd, F_GETFL, 0);

	return flags < 0 || flags & O_NONBLOCK;
}

/* The S_IFMT bits of the file's mode; 0: unknown. */
static mode_t type_of(int fd)
{
	struct stat st;
	int saved = errno;
	mode_t type = fstat(fd, &st) == 0 ? st.st_mode & S_IFMT : 0;

	errno = saved;
	return type;
}

/* The time-out that SO_RCVTIMEO or SO_SNDTIMEO sets. */
static uint64_t socket_deadline(int fd, short events)
{
	struct timeval limit = { 0 };
	socklen_t size = sizeof(limit);
	long got = sys_call6(SYS_getsockopt, fd, SOL_SOCKET,
			     events & POLLIN ? SO_RCVTIMEO : SO_SNDTIMEO, (long)&limit,
			     (long)&size, 0);

	if (got < 0 || (limit.tv_sec == 0 && limit.tv_usec == 0))
		return CTL_NEVER;
	return ctl_after((uint64_t)limit.tv_sec * 1000000000ull + (uint64_t)limit.tv_usec * 1000);
}

static bool await_ready(struct snarlrt_call *c, int fd, short events, uint64_t deadline, int late)
{
	struct pollfd one = { .fd = fd, .events = events };
	struct ctl_external_wait o = { .fds = &one, .count = 1 };

	switch (ctl_external_await(c, &o, deadline, deadline == CTL_NEVER)) {
	case CTL_WAIT_READY:
		ctl_outside_stale();
		return true;
	case CTL_WAIT_EXPIRED:
		errno = late;
		return false;
	default:
		errno = EINTR;
		return false;
	}
}

bool ctl_call_may(struct snarlrt_call *c, int fd, short events)
{
	if (fd < 0 || events == 0 || nonblocking(fd))
		return ctl_call_point(c);
	return await_ready(c, fd, events,
			 type_of(fd) == S_IFSOCK ? socket_deadline(fd, events) : CTL_NEVER, EAGAIN);
}

bool ctl_call_may_until(struct snarlrt_call *c, int fd, short events,
			const struct timespec *limit)
{
	if (fd < 0 || nonblocking(fd))
		return ctl_call_point(c);
	return await_ready(c, fd, events, ctl_deadline(CLOCK_REALTIME, limit), ETIMEDOUT);
}

size_t ctl_call_room(int fd, size_t n)
{
	return n <= PIPE_BUF || type_of(fd) == S_IFREG || nonblocking(fd) ? n : PIPE_BUF;
}

static size_t total_of(const struct iovec *v, size_t count)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		n += v[i].iov_len;
	return n;
}

/* Writes v[0..count), none empty, in pieces. Without `really` only makes their points. */
static ssize_t write_pieces(struct snarlrt_call *c, int fd, const struct iovec *v, size_t count,
			    bool really)
{
	size_t done = 0;

	for (size_t i = 0; i < count; i++) {
		size_t sent = 0;

		while (sent < v[i].iov_len) {
			size_t piece = v[i].iov_len - sent;
			ssize_t got;

			piece = piece < PIPE_BUF ? piece : PIPE_BUF;
			if (!ctl_call_may(c, fd, POLLOUT))
				return done ? (ssize_t)done : -1;
			got = really ? REAL(write)(fd, (char *)v[i].iov_base + sent, piece) :
				       (ssize_t)piece;
			if (got < 0)
				return done ? (ssize_t)done : -1;
			sent += (size_t)got;
			done += (size_t)got;
		}
	}
	return (ssize_t)done;
}

ssize_t ctl_call_write(struct snarlrt_call *c, int fd, const struct iovec *v, size_t count)
{
	mode_t type = type_of(fd);

	if (type == S_IFSOCK) {
		struct msghdr m = { .msg_iov = (struct iovec *)v, .msg_iovlen = count };

		return ctl_call_send(c, fd, &m, 0);
	}
	if (count > IOV_MAX || total_of(v, count) <= PIPE_BUF || nonblocking(fd) ||
	    (type == S_IFREG && fd > 2))
		return ctl_call_may(c, fd, POLLOUT) ? REAL(writev)(fd, v, (int)count) : -1;
	if (type == S_IFIFO)
		return write_pieces(c, fd, v, count, true);
	if (write_pieces(c, fd, v, count, false) < 0)
		return -1;
	return REAL(writev)(fd, v, (int)count);
}

/* Sends a message to a stream socket from byte `done` on. */
static ssize_t send_rest(struct snarlrt_call *c, int fd, const struct msghdr *m, int flags,
			 size_t done)
{
	size_t skip = done;

	for (size_t i = 0; i < m->msg_iovlen; i++) {
		const struct iovec *v = &m->msg_iov[i];

		while (skip < v->iov_len) {
			ssize_t got = -1;

			if (ctl_call_may(c, fd, POLLOUT))
				got = REAL(send)(fd, (char *)v->iov_base + skip,
						 v->iov_len - skip, flags | MSG_DONTWAIT);
			else
				return (ssize_t)done;
			if (got < 0 && errno == EAGAIN && ctl_call_retry(c))
				continue;
			if (got < 0)
				return (ssize_t)done;
			skip += (size_t)got;
			done += (size_t)got;
		}
		skip -= v->iov_len;
	}
	return (ssize_t)done;
}

ssize_t ctl_call_send(struct snarlrt_call *c, int fd, const struct msghdr *m, int flags)
{
	ssize_t sent;

	if (!ctl_call_may(c, fd, flags & MSG_DONTWAIT ? 0 : POLLOUT))
		return -1;
	if (flags & MSG_DONTWAIT || nonblocking(fd))
		return REAL(sendmsg)(fd, m, flags);
	/* The receiver's queue may be full though poll() finds a datagram socket writable. */
	while ((sent = REAL(sendmsg)(fd, m, flags | MSG_DONTWAIT)) < 0 && errno == EAGAIN)
		if (!ctl_call_retry(c))
			return -1;
	ctl_outside_stale();
	if (sent < 0 || (size_t)sent >= total_of(m->msg_iov, m->msg_iovlen))
		return sent;
	return send_rest(c, fd, m, flags, (size_t)sent);
}

/* A recv() with MSG_WAITALL is several receives, with a point before each. */
ssize_t ctl_call_recv_all(struct snarlrt_call *c, int fd, void *buf, size_t n, int flags)
{
	size_t done = 0;

	flags &= ~MSG_WAITALL;
	while (ctl_call_may(c, fd, POLLIN)) {
		ssize_t got = REAL(recv)(fd, (char *)buf + done, n - done, flags);

		if (got < 0)
			return done ? (ssize_t)done : -1;
		done += (size_t)got;
		if (got == 0 || done >= n || flags & (MSG_PEEK | MSG_DONTWAIT))
			return (ssize_t)done;
	}
	return done ? (ssize_t)done : -1;
}

static int connect_result(int fd)
{
	int error = 0;
	socklen_t size = sizeof(error);

	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
		return -1;
	if (error)
		errno = error;
	return error ? -1 : 0;
}

/* Makes a blocking socket non-blocking, connects, waits, and makes it blocking again. */
int ctl_call_connect(struct snarlrt_call *c, int fd, const void *to, socklen_t size)
{
	__CONST_SOCKADDR_ARG addr = { .__sockaddr__ = to };
	long flags = sys_call(SYS_fcntl, fd, F_GETFL, 0);
	bool may = true;
	int got;

	ctl_call_point(c);
	if (flags < 0 || flags & O_NONBLOCK)
		return REAL(connect)(fd, addr, size);
	for (;;) {
		int error;

		sys_call(SYS_fcntl, fd, F_SETFL, flags | O_NONBLOCK);
		got = REAL(connect)(fd, addr, size);
		error = errno;
		sys_call(SYS_fcntl, fd, F_SETFL, flags);
		errno = error;
		if (got == 0 || error != EAGAIN)	/* EAGAIN: the listener's queue is full */
			break;
		if (!ctl_call_retry(c))
			return -1;
	}
	if (got == 0 || errno != EINPROGRESS)
		return got;
	may = ctl_call_may(c, fd, POLLOUT);
	if (!may && errno == EAGAIN)
		errno = EINPROGRESS;
	return may ? connect_result(fd) : -1;
}

/*
 * Has a FIFO that was opened for reading seen a writer? A read to an invalid address takes
 * nothing. It fails with EFAULT if there is data and with EAGAIN if a writer may send some; it
 * returns 0 if there is no writer.
 */
static bool has_writer(void *arg)
{
	int fd = *(int *)arg;
	struct pollfd one = { .fd = fd, .events = POLLIN };
	struct timespec zero = { 0 };

	return sys_call6(SYS_ppoll, (long)&one, 1, (long)&zero, 0, 0, 0) > 0 ||
	       sys_call(SYS_read, fd, 4096, 1) != 0;
}

static int open_fifo(struct snarlrt_call *c, int dir, const char *path, int flags)
{
	struct ctl_external_wait o = { .probe = has_writer };
	int fd;

	/* ENXIO: the FIFO has no reader yet. */
	while ((fd = REAL(openat)(dir, path, flags | O_NONBLOCK)) < 0 && errno == ENXIO)
		if (!ctl_call_retry(c))
			return -1;
	if (fd < 0)
		return fd;
	ctl_outside_stale();
	o.arg = &fd;
	if ((flags & O_ACCMODE) == O_RDONLY &&
	    ctl_external_await(c, &o, CTL_NEVER, true) != CTL_WAIT_READY) {
		REAL(close)(fd);
		errno = EINTR;
		return -1;
	}
	sys_call(SYS_fcntl, fd, F_SETFL, sys_call(SYS_fcntl, fd, F_GETFL, 0) & ~O_NONBLOCK);
	return fd;
}

int ctl_call_open(struct snarlrt_call *c, int dir, const char *path, int flags, mode_t mode)
{
	int saved = errno, access = flags & O_ACCMODE;
	struct stat st;
	bool fifo;

	ctl_call_point(c);
	fifo = !(flags & (O_NONBLOCK | O_PATH)) && access != O_RDWR &&
	       fstatat(dir, path, &st, 0) == 0 && S_ISFIFO(st.st_mode);
	errno = saved;
	return fifo ? open_fifo(c, dir, path, flags) : REAL(openat)(dir, path, flags, mode);
}
