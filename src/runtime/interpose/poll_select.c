/*
 * Calls that wait for events: of descriptors, of child processes, of signals.
 */
#include "runtime/control/model/poll.h"
#include "runtime/interpose/call.h"

/* The kernel reads the whole array and writes the answers into it. */
static inline void note_pollfds(struct snarlrt_call *c, const struct pollfd *fds, nfds_t n)
{
	if (c->open)
		snarlrt_range(false, fds, n * sizeof(*fds), c->pc);
}

static inline int leave_poll(struct snarlrt_call *c, struct pollfd *fds, nfds_t n, int got)
{
	if (c->open && got >= 0)
		snarlrt_range(true, fds, n * sizeof(*fds), c->pc);
	return (int)snarlrt_call_leave(c, got);
}

/*
 * `deadline` (in virtual time) and `set` (the signal mask during the call, or NULL) are for mode
 * control.
 */
#define POLL_FN(name, deadline, set, params, args)                                                 \
	SNARLRT_INTERPOSE int name params                                                          \
	{                                                                                          \
		SNARLRT_CALL(c, TRACE_CALL_POLL, SNARLRT_NO_FD);                                   \
		note_pollfds(&c, fds, n);                                                          \
		return leave_poll(&c, fds, n,                                                      \
				  c.control ? ctl_call_poll(&c, fds, n, deadline, set)             \
					    : REAL(name) args);                                    \
	}

POLL_FN(poll, ctl_deadline_ms(timeout), NULL, (struct pollfd *fds, nfds_t n, int timeout),
	(fds, n, timeout))
POLL_FN(__poll_chk, ctl_deadline_ms(timeout), NULL,
	(struct pollfd *fds, nfds_t n, int timeout, size_t room), (fds, n, timeout, room))
POLL_FN(ppoll, ctl_deadline_in(timeout), mask,
	(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask),
	(fds, n, timeout, mask))
POLL_FN(__ppoll_chk, ctl_deadline_in(timeout), mask,
	(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask,
	 size_t room),
	(fds, n, timeout, mask, room))

static void note_sets(struct snarlrt_call *c, bool write, int n, fd_set *r, fd_set *w, fd_set *e)
{
	fd_set *sets[] = { r, w, e };
	size_t size = n > 0 ? ((size_t)n + 63) / 64 * 8 : 0;

	for (int i = 0; c->open && i < 3; i++)
		if (sets[i])
			snarlrt_range(write, sets[i], size, c->pc);
}

SNARLRT_INTERPOSE int select(int n, fd_set *r, fd_set *w, fd_set *e, struct timeval *timeout)
{
	SNARLRT_CALL(c, TRACE_CALL_SELECT, SNARLRT_NO_FD);
	int got;

	note_sets(&c, false, n, r, w, e);
	got = c.control ? ctl_call_select(&c, n, r, w, e, timeout)
			: REAL(select)(n, r, w, e, timeout);
	if (got >= 0)
		note_sets(&c, true, n, r, w, e);
	return (int)snarlrt_call_leave(&c, got);
}

SNARLRT_INTERPOSE int pselect(int n, fd_set *r, fd_set *w, fd_set *e,
			      const struct timespec *timeout, const sigset_t *mask)
{
	SNARLRT_CALL(c, TRACE_CALL_SELECT, SNARLRT_NO_FD);
	int got;

	note_sets(&c, false, n, r, w, e);
	got = c.control ? ctl_call_pselect(&c, n, r, w, e, ctl_deadline_in(timeout), mask) :
			  REAL(pselect)(n, r, w, e, timeout, mask);
	if (got >= 0)
		note_sets(&c, true, n, r, w, e);
	return (int)snarlrt_call_leave(&c, got);
}

#define EPOLL_FN(name, deadline, set, params, args)                                       \
	SNARLRT_INTERPOSE int name params                                                 \
	{                                                                                 \
		SNARLRT_CALL(c, TRACE_CALL_EPOLL, fd);                                    \
		int got = c.control ? ctl_call_epoll(&c, fd, events, max, deadline, set) : \
				      REAL(name) args;                                    \
                                                                                          \
		if (c.open && got > 0)                                                    \
			snarlrt_range(true, events, (size_t)got * sizeof(*events), c.pc); \
		return (int)snarlrt_call_leave(&c, got);                                  \
	}

EPOLL_FN(epoll_wait, ctl_deadline_ms(timeout), NULL,
	 (int fd, struct epoll_event *events, int max, int timeout), (fd, events, max, timeout))
EPOLL_FN(epoll_pwait, ctl_deadline_ms(timeout), mask,
	 (int fd, struct epoll_event *events, int max, int timeout, const sigset_t *mask),
	 (fd, events, max, timeout, mask))
EPOLL_FN(epoll_pwait2, ctl_deadline_in(timeout), mask,
	 (int fd, struct epoll_event *events, int max, const struct timespec *timeout,
	  const sigset_t *mask),
	 (fd, events, max, timeout, mask))

/* `type`, `id`, `flags`: arguments with which waitid() would wait for the same children. */
#define WAIT_FN(name, out, type, id, flags, params, args)                                 \
	SNARLRT_INTERPOSE pid_t name params                                               \
	{                                                                                 \
		SNARLRT_CALL(c, TRACE_CALL_WAIT, SNARLRT_NO_FD);                          \
		pid_t got = !c.control || ctl_call_child(&c, type, id, flags) ?           \
				    REAL(name) args :                                     \
				    -1;                                                   \
                                                                                          \
		if (c.open && got > 0 && out)                                             \
			snarlrt_range(true, out, sizeof(*out), c.pc);                     \
		return (pid_t)snarlrt_call_leave(&c, got);                                \
	}

static inline idtype_t child_type(pid_t pid)
{
	return pid > 0 ? P_PID : pid == -1 ? P_ALL : P_PGID;
}

static inline id_t child_id(pid_t pid)
{
	return (id_t)(pid > 0 ? pid : pid < -1 ? -pid : 0);
}

WAIT_FN(wait, status, P_ALL, 0, WEXITED, (int *status), (status))
WAIT_FN(waitpid, status, child_type(pid), child_id(pid), options | WEXITED,
	(pid_t pid, int *status, int options), (pid, status, options))
WAIT_FN(wait3, status, P_ALL, 0, options | WEXITED,
	(int *status, int options, struct rusage *usage), (status, options, usage))
WAIT_FN(wait4, status, child_type(pid), child_id(pid), options | WEXITED,
	(pid_t pid, int *status, int options, struct rusage *usage), (pid, status, options, usage))

SNARLRT_INTERPOSE int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	SNARLRT_CALL(c, TRACE_CALL_WAIT, SNARLRT_NO_FD);
	int got = !c.control || ctl_call_child(&c, type, id, options) ?
			  REAL(waitid)(type, id, info, options) :
			  -1;

	if (c.open && got == 0 && info)
		snarlrt_range(true, info, sizeof(*info), c.pc);
	return (int)snarlrt_call_leave(&c, got);
}

SNARLRT_INTERPOSE int sigwait(const sigset_t *set, int *sig)
{
	SNARLRT_CALL(c, TRACE_CALL_SIGWAIT, SNARLRT_NO_FD);
	int error = c.control ? ctl_call_sigwait(&c, set, sig) : REAL(sigwait)(set, sig);

	if (c.open && error == 0)
		snarlrt_range(true, sig, sizeof(*sig), c.pc);
	return snarlrt_call_leave_error(&c, error);
}

SNARLRT_INTERPOSE int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	SNARLRT_CALL(c, TRACE_CALL_SIGWAIT, SNARLRT_NO_FD);
	int got = c.control ? ctl_call_sigtimedwait(&c, set, info, NULL) :
			      REAL(sigwaitinfo)(set, info);

	if (c.open && got > 0 && info)
		snarlrt_range(true, info, sizeof(*info), c.pc);
	return (int)snarlrt_call_leave(&c, got);
}

SNARLRT_INTERPOSE int sigtimedwait(const sigset_t *set, siginfo_t *info,
				   const struct timespec *timeout)
{
	SNARLRT_CALL(c, TRACE_CALL_SIGWAIT, SNARLRT_NO_FD);
	int got = c.control ? ctl_call_sigtimedwait(&c, set, info, timeout) :
			      REAL(sigtimedwait)(set, info, timeout);

	if (c.open && got > 0 && info)
		snarlrt_range(true, info, sizeof(*info), c.pc);
	return (int)snarlrt_call_leave(&c, got);
}

SNARLRT_INTERPOSE int sigsuspend(const sigset_t *mask)
{
	SNARLRT_CALL(c, TRACE_CALL_PAUSE, SNARLRT_NO_FD);
	return (int)snarlrt_call_leave(&c, c.control ? ctl_call_pause(&c, mask) :
						       REAL(sigsuspend)(mask));
}

SNARLRT_INTERPOSE int pause(void)
{
	SNARLRT_CALL(c, TRACE_CALL_PAUSE, SNARLRT_NO_FD);
	return (int)snarlrt_call_leave(&c, c.control ? ctl_call_pause(&c, NULL) : REAL(pause)());
}
