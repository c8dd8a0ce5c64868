/*
 * Sockets and message queues. Buffers are noted as in read_write.c.
 */
#include "runtime/control/model/external.h"
#include "runtime/core/sys.h"
#include "runtime/interpose/call.h"

static inline ssize_t leave_recv(struct snarlrt_call *c, void *buf, size_t n, ssize_t got)
{
	/* With MSG_TRUNC the result may exceed the buffer's size. */
	if (c->open && got > 0)
		snarlrt_range(true, buf, (size_t)got < n ? (size_t)got : n, c->pc);
	return snarlrt_call_leave(c, got);
}

static inline ssize_t leave_send(struct snarlrt_call *c, int fd, ssize_t put)
{
	if (c->open)
		snarlrt_note_output(fd, put, c->pc);
	return snarlrt_call_leave(c, put);
}

static inline void note_source(struct snarlrt_call *c, const void *buf, size_t n)
{
	if (c->open)
		snarlrt_range(false, buf, n, c->pc);
}

/*
 * Notes the write of a peer's address. The kernel writes at most `room` bytes and sets *size to the
 * full length.
 */
static inline void note_address(struct snarlrt_call *c, void *name, const socklen_t *size,
				socklen_t room)
{
	if (!c->open || !name || !size)
		return;
	snarlrt_range(true, name, *size < room ? *size : room, c->pc);
	snarlrt_range(true, size, sizeof(*size), c->pc);
}

static inline bool recv_await_ready(struct snarlrt_call *c, int fd, int flags)
{
	return flags & (MSG_DONTWAIT | MSG_ERRQUEUE) ? snarlrt_call_point(c)
						     : snarlrt_call_await_ready(c, fd, POLLIN);
}

#define ACCEPT_FN(name, params, args)                                                              \
	SNARLRT_INTERPOSE int name params                                                          \
	{                                                                                          \
		SNARLRT_CALL(c, TRACE_CALL_ACCEPT, fd);                                            \
		struct sockaddr *peer_addr = peer.__sockaddr__;                                    \
		socklen_t room = peer_addr && size ? *size : 0;                                    \
		int got = snarlrt_call_await_ready(&c, fd, POLLIN) ? REAL(name) args : -1;         \
                                                                                                   \
		if (got >= 0)                                                                      \
			note_address(&c, peer_addr, size, room);                                   \
		return (int)snarlrt_call_leave(&c, got);                                           \
	}

ACCEPT_FN(accept, (int fd, __SOCKADDR_ARG peer, socklen_t *size), (fd, peer, size))
ACCEPT_FN(accept4, (int fd, __SOCKADDR_ARG peer, socklen_t *size, int flags),
	  (fd, peer, size, flags))

SNARLRT_INTERPOSE int connect(int fd, __CONST_SOCKADDR_ARG to, socklen_t size)
{
	SNARLRT_CALL(c, TRACE_CALL_CONNECT, fd);
	note_source(&c, to.__sockaddr__, size);
	return (int)snarlrt_call_leave(&c, c.control ?
						   ctl_call_connect(&c, fd, to.__sockaddr__, size) :
						   REAL(connect)(fd, to, size));
}

SNARLRT_INTERPOSE ssize_t recv(int fd, void *buf, size_t n, int flags)
{
	SNARLRT_CALL(c, TRACE_CALL_RECV, fd);
	if (c.control && flags & MSG_WAITALL)
		return leave_recv(&c, buf, n, ctl_call_recv_all(&c, fd, buf, n, flags));
	return leave_recv(&c, buf, n,
			  recv_await_ready(&c, fd, flags) ? REAL(recv)(fd, buf, n, flags) : -1);
}

SNARLRT_INTERPOSE ssize_t __recv_chk(int fd, void *buf, size_t n, size_t room, int flags)
{
	SNARLRT_CALL(c, TRACE_CALL_RECV, fd);
	if (c.control && flags & MSG_WAITALL && n <= room)
		return leave_recv(&c, buf, n, ctl_call_recv_all(&c, fd, buf, n, flags));
	return leave_recv(
		&c, buf, n,
		recv_await_ready(&c, fd, flags) ? REAL(__recv_chk)(fd, buf, n, room, flags) : -1);
}

SNARLRT_INTERPOSE ssize_t recvfrom(int fd, void *buf, size_t n, int flags, __SOCKADDR_ARG from,
				   socklen_t *size)
{
	SNARLRT_CALL(c, TRACE_CALL_RECV, fd);
	struct sockaddr *name = from.__sockaddr__;
	socklen_t room = name && size ? *size : 0;
	ssize_t got = recv_await_ready(&c, fd, flags)
			      ? REAL(recvfrom)(fd, buf, n, flags, from, size)
			      : -1;

	if (got >= 0)
		note_address(&c, name, size, room);
	return leave_recv(&c, buf, n, got);
}

SNARLRT_INTERPOSE ssize_t __recvfrom_chk(int fd, void *buf, size_t n, size_t limit, int flags,
					 struct sockaddr *from, socklen_t *size)
{
	SNARLRT_CALL(c, TRACE_CALL_RECV, fd);
	socklen_t room = from && size ? *size : 0;
	ssize_t got = -1;

	if (recv_await_ready(&c, fd, flags))
		got = REAL(__recvfrom_chk)(fd, buf, n, limit, flags, from, size);

	if (got >= 0)
		note_address(&c, from, size, room);
	return leave_recv(&c, buf, n, got);
}

/* The peer's address is not noted: the call overwrote the size of its buffer. */
static void note_message(struct snarlrt_call *c, struct msghdr *m, size_t got)
{
	snarlrt_range_vector(true, m->msg_iov, m->msg_iovlen, got, c->pc);
	if (m->msg_control)
		snarlrt_range(true, m->msg_control, m->msg_controllen, c->pc);
}

SNARLRT_INTERPOSE ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
	SNARLRT_CALL(c, TRACE_CALL_RECV, fd);
	ssize_t got = recv_await_ready(&c, fd, flags) ? REAL(recvmsg)(fd, m, flags) : -1;

	if (c.open && got >= 0)
		note_message(&c, m, (size_t)got);
	return snarlrt_call_leave(&c, got);
}

SNARLRT_INTERPOSE int recvmmsg(int fd, struct mmsghdr *m, unsigned count, int flags,
			       struct timespec *timeout)
{
	SNARLRT_CALL(c, TRACE_CALL_RECV, fd);
	int got = -1;

	if (recv_await_ready(&c, fd, flags))	/* MSG_WAITFORONE: only messages that are there */
		got = REAL(recvmmsg)(fd, m, count, c.control ? flags | MSG_WAITFORONE : flags,
				     timeout);

	for (int i = 0; c.open && i < got; i++)
		note_message(&c, &m[i].msg_hdr, m[i].msg_len);
	return (int)snarlrt_call_leave(&c, got);
}

SNARLRT_INTERPOSE ssize_t send(int fd, const void *buf, size_t n, int flags)
{
	SNARLRT_CALL(c, TRACE_CALL_SEND, fd);
	note_source(&c, buf, n);
	struct iovec one = { (void *)buf, n };
	struct msghdr m = { .msg_iov = &one, .msg_iovlen = 1 };

	return leave_send(&c, fd,
			  c.control ? ctl_call_send(&c, fd, &m, flags)
				    : REAL(send)(fd, buf, n, flags));
}

SNARLRT_INTERPOSE ssize_t sendto(int fd, const void *buf, size_t n, int flags,
				 __CONST_SOCKADDR_ARG to, socklen_t size)
{
	SNARLRT_CALL(c, TRACE_CALL_SEND, fd);
	note_source(&c, buf, n);
	struct iovec one = { (void *)buf, n };
	struct msghdr m = { (void *)to.__sockaddr__, size, &one, 1, NULL, 0, 0 };

	return leave_send(&c, fd,
			  c.control ? ctl_call_send(&c, fd, &m, flags)
				    : REAL(sendto)(fd, buf, n, flags, to, size));
}

SNARLRT_INTERPOSE ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
	SNARLRT_CALL(c, TRACE_CALL_SEND, fd);
	if (c.open)
		snarlrt_range_vector(false, m->msg_iov, m->msg_iovlen, SIZE_MAX, c.pc);
	return leave_send(
		&c, fd, c.control ? ctl_call_send(&c, fd, m, flags) : REAL(sendmsg)(fd, m, flags));
}

/* Sends one message at a time, since each may have to wait. */
static int send_each(struct snarlrt_call *c, int fd, struct mmsghdr *m, unsigned count, int flags)
{
	unsigned i = 0;

	for (; i < count; i++) {
		ssize_t put = ctl_call_send(c, fd, &m[i].msg_hdr, flags);

		if (put < 0)
			return i ? (int)i : -1;
		m[i].msg_len = (unsigned)put;
	}
	return (int)i;
}

SNARLRT_INTERPOSE int sendmmsg(int fd, struct mmsghdr *m, unsigned count, int flags)
{
	SNARLRT_CALL(c, TRACE_CALL_SEND, fd);
	long bytes = 0;
	int put;

	for (unsigned i = 0; c.open && i < count; i++)
		snarlrt_range_vector(false, m[i].msg_hdr.msg_iov, m[i].msg_hdr.msg_iovlen, SIZE_MAX,
				     c.pc);
	put = c.control ? send_each(&c, fd, m, count, flags) : REAL(sendmmsg)(fd, m, count, flags);
	for (int i = 0; c.open && i < put; i++)
		bytes += m[i].msg_len;
	if (c.open)
		snarlrt_note_output(fd, bytes, c.pc);
	return (int)snarlrt_call_leave(&c, put);
}

/*
 * True if the kernel refuses a message or a buffer for its size, whether the queue is full or not.
 */
static bool mq_refuses(mqd_t q, size_t n, bool sending)
{
	struct mq_attr a;

	if (sys_call(SYS_mq_getsetattr, q, NULL, &a) < 0)
		return true;
	return sending ? n > (size_t)a.mq_msgsize : n < (size_t)a.mq_msgsize;
}

static bool mq_await_ready(struct snarlrt_call *c, mqd_t q, size_t n, short events)
{
	if (likely(!c->control))
		return true;
	return mq_refuses(q, n, events == POLLOUT) ? ctl_call_point(c) : ctl_call_may(c, q, events);
}

static bool mq_await_ready_until(struct snarlrt_call *c, mqd_t q, size_t n, short events,
				 const struct timespec *limit)
{
	if (likely(!c->control))
		return true;
	return mq_refuses(q, n, events == POLLOUT) ? ctl_call_point(c) :
						     ctl_call_may_until(c, q, events, limit);
}

SNARLRT_INTERPOSE int mq_send(mqd_t q, const char *buf, size_t n, unsigned priority)
{
	SNARLRT_CALL(c, TRACE_CALL_MSG, q);
	note_source(&c, buf, n);
	return (int)snarlrt_call_leave(
		&c, mq_await_ready(&c, q, n, POLLOUT) ? REAL(mq_send)(q, buf, n, priority) : -1);
}

SNARLRT_INTERPOSE int mq_timedsend(mqd_t q, const char *buf, size_t n, unsigned priority,
				   const struct timespec *limit)
{
	SNARLRT_CALL(c, TRACE_CALL_MSG, q);
	note_source(&c, buf, n);
	return (int)snarlrt_call_leave(&c, mq_await_ready_until(&c, q, n, POLLOUT, limit)
						   ? REAL(mq_timedsend)(q, buf, n, priority, limit)
						   : -1);
}

SNARLRT_INTERPOSE ssize_t mq_receive(mqd_t q, char *buf, size_t n, unsigned *priority)
{
	SNARLRT_CALL(c, TRACE_CALL_MSG, q);
	return leave_recv(&c, buf, n,
			  mq_await_ready(&c, q, n, POLLIN) ? REAL(mq_receive)(q, buf, n, priority)
							   : -1);
}

SNARLRT_INTERPOSE ssize_t mq_timedreceive(mqd_t q, char *restrict buf, size_t n,
					  unsigned *restrict priority,
					  const struct timespec *restrict limit)
{
	SNARLRT_CALL(c, TRACE_CALL_MSG, q);
	return leave_recv(&c, buf, n,
			  mq_await_ready_until(&c, q, n, POLLIN, limit)
				  ? REAL(mq_timedreceive)(q, buf, n, priority, limit)
				  : -1);
}

/* A message is its type, a long, followed by `n` bytes of text. */
SNARLRT_INTERPOSE int msgsnd(int q, const void *message, size_t n, int flags)
{
	SNARLRT_CALL(c, TRACE_CALL_MSG, q);
	int put;

	note_source(&c, message, sizeof(long) + n);
	snarlrt_call_point(&c);
	do
		put = REAL(msgsnd)(q, message, n, c.control ? flags | IPC_NOWAIT : flags);
	while (put < 0 && c.control && errno == EAGAIN && !(flags & IPC_NOWAIT) &&
	       ctl_call_retry(&c));
	if (c.control && put == 0)
		ctl_outside_stale();
	return (int)snarlrt_call_leave(&c, put);
}

SNARLRT_INTERPOSE ssize_t msgrcv(int q, void *message, size_t n, long type, int flags)
{
	SNARLRT_CALL(c, TRACE_CALL_MSG, q);
	ssize_t got;

	snarlrt_call_point(&c);
	do
		got = REAL(msgrcv)(q, message, n, type, c.control ? flags | IPC_NOWAIT : flags);
	while (got < 0 && c.control && errno == ENOMSG && !(flags & IPC_NOWAIT) &&
	       ctl_call_retry(&c));
	if (c.control && got >= 0)
		ctl_outside_stale();

	if (c.open && got >= 0)
		snarlrt_range(true, message, sizeof(long) + (size_t)got, c.pc);
	return snarlrt_call_leave(&c, got);
}

SNARLRT_INTERPOSE int shutdown(int fd, int how)
{
	snarlrt_real_ready();
	if (unlikely(ctl_on()))
		ctl_source_point(fd, SNARLRT_PC());
	return REAL(shutdown)(fd, how);
}
