/*
 * Waiting for other processes and the kernel; external.h has the rule.
 *
 * Descriptors are polled together. Child processes, file locks and blocked signals cannot be
 * polled: the wait for them is repeated naps, from 50 us doubling to 10 ms.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/control/model/external.h"
#include "runtime/core/deferred_signals.h"
#include "runtime/core/sys.h"

#define POLL_MAX 4096u		/* descriptors in one poll; other waiters are polled singly */
#define OWN_PIPES_MAX 256u	/* pipe ends known to be private; others count as external */
#define NAP_MIN 50000ull	/* ns */
#define NAP_MAX 10000000ull	/* ns */
#define NAP_RETRY 1000000ull	/* ns; a nap this long lets ctl_call_retry() return */

static struct pollfd polled[POLL_MAX] SNARLRT_BIG;
static bool probe_needed;	/* the program made system calls since the last probe */
/* Number of changes of the outside world: system calls of the program, and long naps. */
static uint64_t generation;

static struct {
	dev_t dev;
	ino_t ino;
} own_pipes[OWN_PIPES_MAX] SNARLRT_BIG;
static uint32_t own_pipe_count;
static bool had_children;

void ctl_outside_stale(void)
{
	probe_needed = true;
	generation++;
	ctl.outside_calls++;
	ctl_fast_path_end();
}

static long poll_now(struct pollfd *fds, uint32_t count, const struct timespec *limit,
		     const uint64_t *mask)
{
	/* The kernel writes the remaining time back. */
	struct timespec left = limit ? *limit : (struct timespec){ 0 };

	return sys_call6(SYS_ppoll, (long)fds, count, limit ? (long)&left : 0, (long)mask,
			 mask ? sizeof(*mask) : 0, 0);
}

static bool is_ready_now(const struct ctl_external_wait *o)
{
	const struct timespec zero = { 0 };

	if (o->probe && o->probe(o->arg))
		return true;
	for (uint32_t at = 0; at < o->count; at += POLL_MAX) {
		uint32_t n = o->count - at < POLL_MAX ? o->count - at : POLL_MAX;

		for (uint32_t i = 0; i < n; i++)
			polled[i] = o->fds[at + i];
		if (poll_now(polled, n, &zero, NULL) != 0)
			return true;
	}
	return false;
}

static struct ctl_external_wait *external_wait_of(uint32_t thread)
{
	const struct ctl_thread *t = ctl.threads[thread];

	return t && t->state == CTL_LIVE && t->wait && t->wait->external ? t->wait->arg : NULL;
}

/* Identified by inode: the program may close and reuse descriptors unseen. */
void ctl_outside_own(const int fds[2])
{
	struct stat st;
	int saved = errno;

	for (int i = 0;
	     i < 2 && own_pipe_count < OWN_PIPES_MAX && !had_children && fstat(fds[i], &st) == 0;
	     i++) {
		own_pipes[own_pipe_count].dev = st.st_dev;
		own_pipes[own_pipe_count++].ino = st.st_ino;
	}
	errno = saved;
}

static bool is_own_pipe(int fd)
{
	struct stat st;
	int saved = errno;
	bool got = false;

	if (fd >= 0 && own_pipe_count && !had_children && fstat(fd, &st) == 0)
		for (uint32_t i = 0; i < own_pipe_count && !got; i++)
			got = own_pipes[i].ino == st.st_ino && own_pipes[i].dev == st.st_dev;
	errno = saved;
	return got;
}

void ctl_outside_child(void)
{
	had_children = true;
}

bool ctl_external_child_lives(void)
{
	siginfo_t info = { .si_pid = 0 };

	return had_children &&
	       sys_call6(SYS_waitid, P_ALL, 0, (long)&info, WEXITED | WNOHANG | WNOWAIT | __WALL,
			 0, 0) == 0 &&
	       info.si_pid == 0;
}

/* Writes "/proc/self/fdinfo/FD"; `to` has room for it. */
static void fdinfo_path(char *to, int fd)
{
	static const char folder[] = "/proc/self/fdinfo/";
	char digits[12];
	int n = 0;

	for (const char *p = folder; *p; p++)
		*to++ = *p;
	do
		digits[n++] = (char)('0' + fd % 10);
	while (fd /= 10);
	while (n > 0)
		*to++ = digits[--n];
	*to = 0;
}

/* Is it an epoll instance that watches no descriptor? The kernel lists each as "tfd: N". */
static bool is_empty_epoll(int fd)
{
	static const char key[] = "tfd:";
	char path[40], text[256];
	size_t at = 0;
	long info, n;

	fdinfo_path(path, fd);
	info = sys_call6(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
	if (info < 0)
		return false;
	while ((n = sys_call(SYS_read, info, text, sizeof(text))) > 0 && key[at])
		for (long i = 0; i < n && key[at]; i++)
			at = text[i] == key[at] ? at + 1 : text[i] == key[0];
	sys_call(SYS_close, info, 0, 0);
	return key[at] != 0;
}

static bool watches_nothing(const struct ctl_external_wait *o)
{
	if (o->epoll)
		return is_empty_epoll(o->fds[0].fd);
	for (uint32_t i = 0; i < o->count; i++)
		if (o->fds[i].fd >= 0)
			return false;
	return !o->probe;
}

static enum ctl_outside waits_for(const struct ctl_wait *w)
{
	const struct ctl_external_wait *o = w->arg;

	if (watches_nothing(o))
		return w->deadline == CTL_NEVER ? CTL_OUTSIDE_SIGNAL : CTL_OUTSIDE_NOTHING;
	if (o->probe)
		return o->signals ? CTL_OUTSIDE_SIGNAL : CTL_OUTSIDE_WORLD;
	for (uint32_t i = 0; i < o->count; i++)
		if (o->fds[i].fd >= 0 && !is_own_pipe(o->fds[i].fd))
			return CTL_OUTSIDE_WORLD;
	return CTL_OUTSIDE_NOTHING;
}

enum ctl_outside ctl_external_waiters(void)
{
	enum ctl_outside most = CTL_OUTSIDE_NOTHING;

	for (uint32_t i = 0; i < ctl.count; i++) {
		enum ctl_outside what = external_wait_of(i) ? waits_for(ctl.threads[i]->wait) :
							      CTL_OUTSIDE_NOTHING;

		most = what > most ? what : most;
	}
	return most;
}

bool ctl_external_any_waiter(void)
{
	return ctl_external_waiters() != CTL_OUTSIDE_NOTHING;
}

/*
 * Copies the descriptors of all external waiters, or of those not ready, into `polled`. Sets *rest
 * if some did not fit or a waiter cannot be polled.
 */
static uint32_t collect_descriptors(bool all_of_them, bool *rest)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < ctl.count; i++) {
		const struct ctl_external_wait *o = external_wait_of(i);

		if (!o || (o->ready && !all_of_them))
			continue;
		*rest |= o->probe != NULL || o->count > POLL_MAX - n;
		for (uint32_t k = 0; o->count <= POLL_MAX - n && k < o->count; k++)
			polled[n + k] = o->fds[k];
		n += o->count <= POLL_MAX - n ? o->count : 0;
	}
	return n;
}

static bool any_ready(const struct pollfd *fds, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (fds[i].revents)
			return true;
	return false;
}

/* Updates `ready` of all external waiters by one poll. Returns true if one became ready. */
static bool probe_all(void)
{
	const struct timespec zero = { 0 };
	bool any = false, rest = false, now[SCHED_MAX_THREADS];
	uint32_t n = collect_descriptors(true, &rest), at = 0;

	for (uint32_t i = 0; i < n; i++)
		polled[i].revents = 0;
	if (n > 0)
		poll_now(polled, n, &zero, NULL);
	for (uint32_t i = 0; i < ctl.count; i++) {
		const struct ctl_external_wait *o = external_wait_of(i);
		bool fits = o && o->count <= POLL_MAX - at;

		now[i] = fits && any_ready(polled + at, o->count);
		at += fits ? o->count : 0;
	}
	/* A loop of its own, since is_ready_now() overwrites `polled`. */
	for (uint32_t i = 0; i < ctl.count; i++) {
		struct ctl_external_wait *o = external_wait_of(i);

		if (!o)
			continue;
		if (rest && !now[i])
			now[i] = is_ready_now(o);
		any |= now[i] && !o->ready;
		if (now[i] != o->ready) {
			o->ready = now[i];
			ctl_changed(o);
		}
	}
	return any;
}

void ctl_external_probe(void)
{
	if (!probe_needed)
		return;
	probe_needed = false;
	probe_all();
}

/* Unblocks signals only during the sleep, so that none comes between the check and the sleep. */
static void sleep_in_kernel(uint64_t ns)
{
	struct ctl_thread *target;
	struct timespec limit = ctl_timespec(ns);
	bool rest = false;
	uint64_t mask = snarlrt_signals_block();
	uint32_t n = collect_descriptors(false, &rest);

	if (!ctl_signal_arrived(&target))
		poll_now(polled, n, ns == CTL_NEVER ? NULL : &limit, &mask);
	snarlrt_signals_set(mask);
}

/* Must the sleep be short? With kernel threads a signal may reach another thread. */
static bool must_nap(void)
{
	bool rest = ctl.kernel_threads;

	collect_descriptors(false, &rest);
	return rest;
}

bool ctl_external_block(uint64_t ns)
{
	uint64_t now = sys_clock_ns(CLOCK_MONOTONIC), nap = NAP_MIN;
	uint64_t until = ns > CTL_NEVER - now ? CTL_NEVER : now + ns;
	bool child = ctl_external_child_lives();
	struct ctl_thread *target;

	probe_needed = false;
	for (;;) {
		uint64_t limit = until == CTL_NEVER ? CTL_NEVER : until - now;

		if (probe_all() || ctl_signal_arrived(&target))
			return true;
		if (now >= until)
			return false;
		if (child && !ctl_external_child_lives())
			return true;
		if ((child || must_nap()) && nap < limit)
			limit = nap;
		sleep_in_kernel(limit);
		if (nap >= NAP_RETRY)
			generation++;
		nap = nap * 2 < NAP_MAX ? nap * 2 : NAP_MAX;
		now = sys_clock_ns(CLOCK_MONOTONIC);
	}
}

static bool is_ready(const struct ctl_wait *w)
{
	return ((const struct ctl_external_wait *)w->arg)->ready;
}

enum ctl_wait_result ctl_external_await(struct snarlrt_call *c, struct ctl_external_wait *o,
					uint64_t deadline, bool restart)
{
	for (;;) {
		struct ctl_wait w = CTL_WAIT(SCHED_OP_CALL, c->object, is_ready, c->pc);
		uint64_t before = generation;
		bool was_ready;

		w.arg = o;
		w.second_object = o;
		w.deadline = deadline;
		w.external = w.cancel_point = w.interruptible = true;
		w.interrupted = ctl_signal_due(ctl_self());
		o->ready = was_ready = is_ready_now(o);
		ctl_wait(&w);
		if (w.cancelled)
			ctl_cancel_act();
		if (w.expired)
			return CTL_WAIT_EXPIRED;
		/* Another thread or process may have taken what this one waited for. */
		if ((was_ready && generation == before) || is_ready_now(o))
			return CTL_WAIT_READY;
		if (w.interrupted && ctl_signal_ends_call(restart))
			return CTL_WAIT_INTERRUPTED;
	}
}

void ctl_outside_result(const char *call, const void *pc)
{
	struct ctl_report *r = &ctl.block->report;

	if (ctl.private_child)
		return;
	r->outside_pc = (uint64_t)(uintptr_t)pc;
	r->outside_thread = ctl_self()->number;
	for (size_t i = 0; i < sizeof(r->outside_call); i++) {
		r->outside_call[i] = *call;
		call += *call != 0;
	}
}

/* The calls that bring something in, by name. NULL: its result does not depend on the outside. */
static const char *source_name(unsigned call)
{
	static const char *const names[] = {
#define TRACE_CALL(name, text) [TRACE_CALL_##name] = text,
#include "abi/calls.def"
#undef TRACE_CALL
	};

	switch (call) {
	case TRACE_CALL_READ: case TRACE_CALL_ACCEPT: case TRACE_CALL_CONNECT: case TRACE_CALL_RECV:
	case TRACE_CALL_POLL: case TRACE_CALL_SELECT: case TRACE_CALL_EPOLL: case TRACE_CALL_WAIT:
	case TRACE_CALL_SIGWAIT: case TRACE_CALL_MSG: case TRACE_CALL_SYSCALL:
		return names[call];
	default:
		return NULL;
	}
}

void ctl_outside_call(const struct snarlrt_call *c)
{
	const char *name = source_name(c->what);
	int fd = (int)(intptr_t)c->object;

	/* Every run reads the same stdin. */
	if (name && !(c->what == TRACE_CALL_READ && fd == STDIN_FILENO) && !is_own_pipe(fd))
		ctl_outside_result(name, c->pc);
}

bool ctl_call_point(struct snarlrt_call *c)
{
	ctl_point(SCHED_OP_CALL, c->object, c->pc);
	ctl_outside_stale();
	return true;
}

void ctl_source_point(int fd, const void *pc)
{
	ctl_point(SCHED_OP_CALL, snarlrt_fd(fd), pc);
	ctl_outside_stale();
}

static bool generation_changed(void *seen)
{
	return generation != *(uint64_t *)seen;
}

bool ctl_call_retry(struct snarlrt_call *c)
{
	uint64_t seen = generation;
	struct ctl_external_wait o = { .probe = generation_changed, .arg = &seen };

	if (ctl_external_await(c, &o, CTL_NEVER, true) == CTL_WAIT_READY)
		return true;
	errno = EINTR;
	return false;
}
