/*
 * poll, select, epoll, wait, sigwait and pause under control. A call waits externally until it
 * would return or its virtual time-out comes. Then the real call is made without a time-out.
 */
#include "runtime/control/model/poll.h"
#include "runtime/core/sys.h"

static uint64_t mask_bits(const sigset_t *set)
{
	return *(const uint64_t *)set;
}

/* Waits with a different signal mask, as ppoll does. The wait is not restarted after a handler. */
static enum ctl_wait_result wait_masked(struct snarlrt_call *c, struct ctl_external_wait *o,
				   uint64_t deadline, const sigset_t *mask)
{
	uint64_t before = ctl_self()->sigmask;
	enum ctl_wait_result got;

	if (mask)
		ctl_sigmask_set(mask_bits(mask));
	got = ctl_external_await(c, o, deadline, false);
	if (mask)
		ctl_sigmask_set(before);
	return got;
}

/* If the deadline has passed, makes a point as any other call does and returns CTL_WAIT_EXPIRED. */
static enum ctl_wait_result wait_until(struct snarlrt_call *c, struct ctl_external_wait *o,
				  uint64_t deadline, const sigset_t *mask)
{
	if (deadline > ctl.now)
		return wait_masked(c, o, deadline, mask);
	ctl_call_point(c);
	return CTL_WAIT_EXPIRED;
}

static int interrupted(void)
{
	errno = EINTR;
	return -1;
}

int ctl_call_poll(struct snarlrt_call *c, struct pollfd *fds, nfds_t n, uint64_t deadline,
		  const sigset_t *mask)
{
	struct ctl_external_wait o = { .fds = fds, .count = (uint32_t)n };

	for (;;) {
		enum ctl_wait_result how = wait_until(c, &o, deadline, mask);
		int got;

		if (how == CTL_WAIT_INTERRUPTED)
			return interrupted();
		got = REAL(poll)(fds, n, 0);
		if (got != 0 || how == CTL_WAIT_EXPIRED)
			return got;
	}
}

int ctl_call_epoll(struct snarlrt_call *c, int fd, struct epoll_event *events, int max,
		   uint64_t deadline, const sigset_t *mask)
{
	struct pollfd one = { .fd = fd, .events = POLLIN };
	struct ctl_external_wait o = { .fds = &one, .count = 1, .epoll = true };

	for (;;) {
		enum ctl_wait_result how = wait_until(c, &o, deadline, mask);
		int got;

		if (how == CTL_WAIT_INTERRUPTED)
			return interrupted();
		/* The real epoll_wait() consumes the events of edge-triggered descriptors. */
		ctl_outside_stale();
		got = REAL(epoll_wait)(fd, events, max, 0);
		if (got != 0 || how == CTL_WAIT_EXPIRED)
			return got;
	}
}

static bool in_set(const fd_set *set, int fd)
{
	return set && FD_ISSET(fd, set);
}

/* Converts the sets to pollfd entries and returns their number. `to` NULL: counts only. */
static uint32_t sets_to_pollfds(int n, const fd_set *r, const fd_set *w, const fd_set *e,
			  struct pollfd *to)
{
	uint32_t count = 0;

	for (int fd = 0; fd < n; fd++) {
		short events =
			(short)((in_set(r, fd) ? POLLIN : 0) | (in_set(w, fd) ? POLLOUT : 0) |
				(in_set(e, fd) ? POLLPRI : 0));

		if (!events)
			continue;
		if (to)
			to[count] = (struct pollfd){ .fd = fd, .events = events };
		count++;
	}
	return count;
}

/* Calls select() without waiting. Changes the sets if a descriptor is ready, or with `keep`. */
static int select_now(int n, fd_set *r, fd_set *w, fd_set *e, bool keep)
{
	size_t bytes = ((size_t)n + 63) / 64 * 8;
	char copy[3][bytes + 8];
	fd_set *sets[] = { r, w, e }, *use[3];
	struct timeval zero = { 0 };
	int got;

	for (int i = 0; i < 3; i++) {
		use[i] = sets[i] ? (fd_set *)copy[i] : NULL;
		for (size_t k = 0; sets[i] && k < bytes; k++)
			copy[i][k] = ((char *)sets[i])[k];
	}
	got = REAL(select)(n, use[0], use[1], use[2], &zero);
	if (got < 0 || (got == 0 && !keep))
		return got;
	for (int i = 0; i < 3; i++)
		for (size_t k = 0; sets[i] && k < bytes; k++)
			((char *)sets[i])[k] = copy[i][k];
	return got;
}

int ctl_call_pselect(struct snarlrt_call *c, int n, fd_set *r, fd_set *w, fd_set *e,
		     uint64_t deadline, const sigset_t *mask)
{
	uint32_t count = n > 0 ? sets_to_pollfds(n, r, w, e, NULL) : 0;
	struct pollfd fds[count + 1];
	struct ctl_external_wait o = { .fds = fds, .count = count };

	if (n < 0) {
		errno = EINVAL;
		return -1;
	}
	sets_to_pollfds(n, r, w, e, fds);
	for (;;) {
		enum ctl_wait_result how = wait_until(c, &o, deadline, mask);
		int got;

		if (how == CTL_WAIT_INTERRUPTED)
			return interrupted();
		got = select_now(n, r, w, e, how == CTL_WAIT_EXPIRED);
		if (got != 0 || how == CTL_WAIT_EXPIRED)
			return got;
	}
}

/* Linux stores the remaining time in *timeout. */
int ctl_call_select(struct snarlrt_call *c, int n, fd_set *r, fd_set *w, fd_set *e,
		    struct timeval *timeout)
{
	uint64_t deadline = CTL_NEVER, left;
	int got;

	if (timeout && (timeout->tv_sec < 0 || timeout->tv_usec < 0)) {
		errno = EINVAL;
		return -1;
	}
	if (timeout)
		deadline = ctl_after((uint64_t)timeout->tv_sec * 1000000000ull +
				     (uint64_t)timeout->tv_usec * 1000);
	got = ctl_call_pselect(c, n, r, w, e, deadline, NULL);
	if (timeout) {
		left = deadline > ctl.now ? deadline - ctl.now : 0;
		*timeout = (struct timeval){ (time_t)(left / 1000000000ull),
					     (suseconds_t)(left % 1000000000ull / 1000) };
	}
	return got;
}

struct child {
	idtype_t type;
	id_t id;
	int options;
};

static bool child_is_waitable(void *arg)
{
	const struct child *child = arg;
	siginfo_t info = { .si_pid = 0 };

	return sys_call6(SYS_waitid, child->type, child->id, (long)&info,
			 child->options | WNOHANG | WNOWAIT, 0, 0) < 0 ||
	       info.si_pid != 0;
}

bool ctl_call_child(struct snarlrt_call *c, idtype_t type, id_t id, int options)
{
	struct child child = { type, id, options };
	struct ctl_external_wait o = { .probe = child_is_waitable, .arg = &child };

	if (options & WNOHANG)
		return ctl_call_point(c);
	if (ctl_external_await(c, &o, CTL_NEVER, true) == CTL_WAIT_READY)
		return true;
	errno = EINTR;
	return false;
}

static bool signal_is_pending(void *set)
{
	return ctl_signal_pending(ctl.threads[((const uint64_t *)set)[1]], *(const uint64_t *)set);
}

int ctl_call_sigtimedwait(struct snarlrt_call *c, const sigset_t *set, siginfo_t *info,
			  const struct timespec *timeout)
{
	uint64_t want[2] = { mask_bits(set), ctl_self()->number };
	struct ctl_external_wait o = { .probe = signal_is_pending, .arg = want, .signals = true };
	uint64_t deadline = ctl_deadline_in(timeout);
	siginfo_t mine;

	for (;;) {
		enum ctl_wait_result how = wait_until(c, &o, deadline, NULL);
		int got;

		if (how == CTL_WAIT_INTERRUPTED)
			return interrupted();
		got = ctl_signal_take(want[0], info ? info : &mine);
		if (got)
			return got;
		if (how == CTL_WAIT_EXPIRED) {
			errno = EAGAIN;
			return -1;
		}
	}
}

int ctl_call_sigwait(struct snarlrt_call *c, const sigset_t *set, int *sig)
{
	int saved = errno, got;

	while ((got = ctl_call_sigtimedwait(c, set, NULL, NULL)) < 0 && errno == EINTR)
		;
	*sig = got > 0 ? got : *sig;
	got = got > 0 ? 0 : errno;
	errno = saved;
	return got;
}

/* Only a signal handler ends a pause. */
int ctl_call_pause(struct snarlrt_call *c, const sigset_t *mask)
{
	struct ctl_external_wait o = { 0 };

	while (wait_masked(c, &o, CTL_NEVER, mask) != CTL_WAIT_INTERRUPTED)
		;
	return interrupted();
}
