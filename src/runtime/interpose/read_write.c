/*
 * read, write and related calls on descriptors.
 *
 * A read notes a write of the buffer after the call, as far as it was filled. A write notes a read
 * of the buffer before the call, and after it OUTPUT with the number of bytes written. Both are
 * between CALL_ENTER and CALL_LEAVE.
 */
#include "runtime/control/model/external.h"
#include "runtime/interpose/call.h"

/* Ends a call that filled a buffer. */
static inline ssize_t leave_read(struct snarlrt_call *c, void *buf, ssize_t got)
{
	if (c->open && got > 0)
		snarlrt_range(true, buf, (size_t)got, c->pc);
	return snarlrt_call_leave(c, got);
}

static inline ssize_t leave_readv(struct snarlrt_call *c, const struct iovec *v, int count,
				  ssize_t got)
{
	if (c->open && got > 0)
		snarlrt_range_vector(true, v, (size_t)count, (size_t)got, c->pc);
	return snarlrt_call_leave(c, got);
}

static inline void note_source(struct snarlrt_call *c, const void *buf, size_t size)
{
	if (c->open)
		snarlrt_range(false, buf, size, c->pc);
}

static inline void note_source_vector(struct snarlrt_call *c, const struct iovec *v, int count)
{
	if (c->open && count > 0)
		snarlrt_range_vector(false, v, (size_t)count, SIZE_MAX, c->pc);
}

static inline ssize_t leave_write(struct snarlrt_call *c, int fd, ssize_t put)
{
	if (c->open)
		snarlrt_note_output(fd, put, c->pc);
	return snarlrt_call_leave(c, put);
}

#define READ_FN(name, params, args)                                                                \
	SNARLRT_INTERPOSE ssize_t name params                                                      \
	{                                                                                          \
		SNARLRT_CALL(c, TRACE_CALL_READ, fd);                                              \
		return leave_read(                                                                 \
			&c, buf, snarlrt_call_await_ready(&c, fd, POLLIN) ? REAL(name) args : -1); \
	}

#define READV_FN(name, params, args)                                                               \
	SNARLRT_INTERPOSE ssize_t name params                                                      \
	{                                                                                          \
		SNARLRT_CALL(c, TRACE_CALL_READ, fd);                                              \
		return leave_readv(&c, v, count,                                                   \
				   snarlrt_call_await_ready(&c, fd, POLLIN) ? REAL(name) args      \
									    : -1);                 \
	}

#define WRITE_FN(name, params, args)                                                               \
	SNARLRT_INTERPOSE ssize_t name params                                                      \
	{                                                                                          \
		SNARLRT_CALL(c, TRACE_CALL_WRITE, fd);                                             \
		note_source(&c, buf, n);                                                           \
		return leave_write(                                                                \
			&c, fd, snarlrt_call_await_ready(&c, fd, POLLOUT) ? REAL(name) args : -1); \
	}

#define WRITEV_FN(name, params, args)                                                              \
	SNARLRT_INTERPOSE ssize_t name params                                                      \
	{                                                                                          \
		SNARLRT_CALL(c, TRACE_CALL_WRITE, fd);                                             \
		note_source_vector(&c, v, count);                                                  \
		return leave_write(                                                                \
			&c, fd, snarlrt_call_await_ready(&c, fd, POLLOUT) ? REAL(name) args : -1); \
	}

READ_FN(read, (int fd, void *buf, size_t n), (fd, buf, n))
READ_FN(__read_chk, (int fd, void *buf, size_t n, size_t room), (fd, buf, n, room))
READ_FN(pread, (int fd, void *buf, size_t n, off_t at), (fd, buf, n, at))
READ_FN(pread64, (int fd, void *buf, size_t n, off64_t at), (fd, buf, n, at))
READ_FN(__pread_chk, (int fd, void *buf, size_t n, off_t at, size_t room), (fd, buf, n, at, room))
READ_FN(__pread64_chk, (int fd, void *buf, size_t n, off64_t at, size_t room),
	(fd, buf, n, at, room))
READV_FN(readv, (int fd, const struct iovec *v, int count), (fd, v, count))
READV_FN(preadv, (int fd, const struct iovec *v, int count, off_t at), (fd, v, count, at))
READV_FN(preadv64, (int fd, const struct iovec *v, int count, off64_t at), (fd, v, count, at))

/*
 * write() and writev() may block after writing a part: in mode control they write pieces that fit.
 */
SNARLRT_INTERPOSE ssize_t write(int fd, const void *buf, size_t n)
{
	SNARLRT_CALL(c, TRACE_CALL_WRITE, fd);
	struct iovec one = { (void *)buf, n };

	note_source(&c, buf, n);
	return leave_write(&c, fd,
			   c.control ? ctl_call_write(&c, fd, &one, 1) : REAL(write)(fd, buf, n));
}

SNARLRT_INTERPOSE ssize_t writev(int fd, const struct iovec *v, int count)
{
	SNARLRT_CALL(c, TRACE_CALL_WRITE, fd);
	note_source_vector(&c, v, count);
	return leave_write(&c, fd,
			   c.control && count > 0 ? ctl_call_write(&c, fd, v, (size_t)count)
						  : REAL(writev)(fd, v, count));
}

WRITE_FN(pwrite, (int fd, const void *buf, size_t n, off_t at), (fd, buf, n, at))
WRITE_FN(pwrite64, (int fd, const void *buf, size_t n, off64_t at), (fd, buf, n, at))
WRITEV_FN(pwritev, (int fd, const struct iovec *v, int count, off_t at), (fd, v, count, at))
WRITEV_FN(pwritev64, (int fd, const struct iovec *v, int count, off64_t at), (fd, v, count, at))

SNARLRT_INTERPOSE int eventfd_read(int fd, eventfd_t *value)
{
	SNARLRT_CALL(c, TRACE_CALL_READ, fd);
	int got = snarlrt_call_await_ready(&c, fd, POLLIN) ? REAL(eventfd_read)(fd, value) : -1;

	if (c.open && got == 0)
		snarlrt_range(true, value, sizeof(*value), c.pc);
	return (int)snarlrt_call_leave(&c, got);
}

SNARLRT_INTERPOSE int eventfd_write(int fd, eventfd_t value)
{
	SNARLRT_CALL(c, TRACE_CALL_WRITE, fd);
	int got = snarlrt_call_await_ready(&c, fd, POLLOUT) ? REAL(eventfd_write)(fd, value) : -1;

	if (c.open && got == 0)
		snarlrt_note_output(fd, sizeof(value), c.pc);
	return (int)snarlrt_call_leave(&c, got);
}

/*
 * sendfile() and splice() may transfer less than asked for: in mode control they get the size that
 * surely fits.
 */
static inline size_t max_write(struct snarlrt_call *c, int fd, size_t n)
{
	return c->control ? ctl_call_room(fd, n) : n;
}

SNARLRT_INTERPOSE ssize_t sendfile(int to, int from, off_t *at, size_t n)
{
	SNARLRT_CALL(c, TRACE_CALL_WRITE, to);
	return leave_write(&c, to,
			   snarlrt_call_await_ready(&c, to, POLLOUT)
				   ? REAL(sendfile)(to, from, at, max_write(&c, to, n))
				   : -1);
}

SNARLRT_INTERPOSE ssize_t sendfile64(int to, int from, off64_t *at, size_t n)
{
	SNARLRT_CALL(c, TRACE_CALL_WRITE, to);
	return leave_write(&c, to,
			   snarlrt_call_await_ready(&c, to, POLLOUT)
				   ? REAL(sendfile64)(to, from, at, max_write(&c, to, n))
				   : -1);
}

SNARLRT_INTERPOSE ssize_t splice(int from, off64_t *from_at, int to, off64_t *to_at, size_t n,
				 unsigned flags)
{
	SNARLRT_CALL(c, TRACE_CALL_WRITE, to);
	ssize_t put = -1;

	if (snarlrt_call_await_ready(&c, from, POLLIN) && snarlrt_call_await_ready(&c, to, POLLOUT))
		put = REAL(splice)(from, from_at, to, to_at, max_write(&c, to, n), flags);
	return leave_write(&c, to, put);
}

/*
 * Creates descriptors whose two ends this process has; mode control treats waits for them as
 * internal.
 */
#define PAIR_FN(name, params, args)                                                                \
	SNARLRT_INTERPOSE int name params                                                          \
	{                                                                                          \
		int got;                                                                           \
                                                                                                   \
		snarlrt_real_ready();                                                              \
		if (unlikely(ctl_on()))                                                            \
			ctl_point(SCHED_OP_CALL, NULL, SNARLRT_PC());                              \
		got = REAL(name) args;                                                             \
		if (unlikely(ctl_on()) && got == 0)                                                \
			ctl_outside_own(fds);                                                      \
		return got;                                                                        \
	}

PAIR_FN(pipe, (int fds[2]), (fds))
PAIR_FN(pipe2, (int fds[2], int flags), (fds, flags))
PAIR_FN(socketpair, (int domain, int type, int protocol, int fds[2]), (domain, type, protocol, fds))
