/*
 * read, write and their relatives on descriptors.
 *
 * What a read brought is noted as a write of the buffer after the call, as far
 * as it was filled; what a write takes is noted as a read of the buffer before.
 * Bytes that went out are an OUTPUT between the two ends of the call.
 */
#include "runtime/call.h"

/* Ends a call that filled a buffer. */
static inline ssize_t filled(struct snarlrt_call *c, void *buf, ssize_t got)
{
	if (c->open && got > 0)
		snarlrt_range(true, buf, (size_t)got, c->pc);
	return snarlrt_call_leave(c, got);
}

static inline ssize_t filled_vector(struct snarlrt_call *c, const struct iovec *v, int count,
				    ssize_t got)
{
	if (c->open && got > 0)
		snarlrt_range_vector(true, v, (size_t)count, (size_t)got, c->pc);
	return snarlrt_call_leave(c, got);
}

static inline void gives(struct snarlrt_call *c, const void *buf, size_t size)
{
	if (c->open)
		snarlrt_range(false, buf, size, c->pc);
}

static inline void gives_vector(struct snarlrt_call *c, const struct iovec *v, int count)
{
	if (c->open && count > 0)
		snarlrt_range_vector(false, v, (size_t)count, SIZE_MAX, c->pc);
}

static inline ssize_t given(struct snarlrt_call *c, int fd, ssize_t put)
{
	if (c->open)
		snarlrt_output(fd, put, c->pc);
	return snarlrt_call_leave(c, put);
}

#define READ_FN(name, params, args)                                                       \
	SNARLRT_INTERPOSE ssize_t name params                                             \
	{                                                                                 \
		SNARLRT_CALL(c, TRACE_CALL_READ, fd);                                     \
		return filled(&c, buf, REAL(name) args);                                  \
	}

#define READV_FN(name, params, args)                                                      \
	SNARLRT_INTERPOSE ssize_t name params                                             \
	{                                                                                 \
		SNARLRT_CALL(c, TRACE_CALL_READ, fd);                                     \
		return filled_vector(&c, v, count, REAL(name) args);                      \
	}

#define WRITE_FN(name, params, args)                                                      \
	SNARLRT_INTERPOSE ssize_t name params                                             \
	{                                                                                 \
		SNARLRT_CALL(c, TRACE_CALL_WRITE, fd);                                    \
		gives(&c, buf, n);                                                        \
		return given(&c, fd, REAL(name) args);                                    \
	}

#define WRITEV_FN(name, params, args)                                                     \
	SNARLRT_INTERPOSE ssize_t name params                                             \
	{                                                                                 \
		SNARLRT_CALL(c, TRACE_CALL_WRITE, fd);                                    \
		gives_vector(&c, v, count);                                               \
		return given(&c, fd, REAL(name) args);                                    \
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

WRITE_FN(write, (int fd, const void *buf, size_t n), (fd, buf, n))
WRITE_FN(pwrite, (int fd, const void *buf, size_t n, off_t at), (fd, buf, n, at))
WRITE_FN(pwrite64, (int fd, const void *buf, size_t n, off64_t at), (fd, buf, n, at))
WRITEV_FN(writev, (int fd, const struct iovec *v, int count), (fd, v, count))
WRITEV_FN(pwritev, (int fd, const struct iovec *v, int count, off_t at), (fd, v, count, at))
WRITEV_FN(pwritev64, (int fd, const struct iovec *v, int count, off64_t at), (fd, v, count, at))

SNARLRT_INTERPOSE int eventfd_read(int fd, eventfd_t *value)
{
	SNARLRT_CALL(c, TRACE_CALL_READ, fd);
	int got = REAL(eventfd_read)(fd, value);

	if (c.open && got == 0)
		snarlrt_range(true, value, sizeof(*value), c.pc);
	return (int)snarlrt_call_leave(&c, got);
}

SNARLRT_INTERPOSE int eventfd_write(int fd, eventfd_t value)
{
	SNARLRT_CALL(c, TRACE_CALL_WRITE, fd);
	int got = REAL(eventfd_write)(fd, value);

	if (c.open && got == 0)
		snarlrt_output(fd, sizeof(value), c.pc);
	return (int)snarlrt_call_leave(&c, got);
}

SNARLRT_INTERPOSE ssize_t sendfile(int to, int from, off_t *at, size_t n)
{
	SNARLRT_CALL(c, TRACE_CALL_WRITE, to);
	return given(&c, to, REAL(sendfile)(to, from, at, n));
}

SNARLRT_INTERPOSE ssize_t sendfile64(int to, int from, off64_t *at, size_t n)
{
	SNARLRT_CALL(c, TRACE_CALL_WRITE, to);
	return given(&c, to, REAL(sendfile64)(to, from, at, n));
}

SNARLRT_INTERPOSE ssize_t splice(int from, off64_t *from_at, int to, off64_t *to_at, size_t n,
				 unsigned flags)
{
	SNARLRT_CALL(c, TRACE_CALL_WRITE, to);
	return given(&c, to, REAL(splice)(from, from_at, to, to_at, n, flags));
}
