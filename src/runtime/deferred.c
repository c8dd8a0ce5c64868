#include "runtime/deferred.h"
#include "runtime/arena.h"
#include "runtime/sys.h"

/* A thread has at most one of each standard signal pending; the rest is for real-time ones. */
#define DEFERRED_MAX 32u

static bool caused_by_instruction(int number, const siginfo_t *info)
{
	switch (number) {
	case SIGSEGV:
	case SIGBUS:
	case SIGFPE:
	case SIGILL:
	case SIGTRAP: return info->si_code > 0;
	}
	return false;
}

bool snarlrt_defer_signal(int number, const siginfo_t *info)
{
	struct snarlrt_tls *tls = &__snarl_tls;
	struct snarlrt_thread *self = tls->self;

	if (!tls->busy || !self)
		return false;
	if (caused_by_instruction(number, info)) {
		/* An atomic on a bad address: let the stripe go, later threads need it. */
		if (self->held_stripe)
			__atomic_fetch_and(self->held_stripe, ~1ull, __ATOMIC_RELEASE);
		self->held_stripe = NULL;
		tls->busy = 0;
		return false;
	}
	if (!self->deferred)
		self->deferred = arena_alloc(DEFERRED_MAX * sizeof(*self->deferred));
	if (!self->deferred || self->deferred_count == DEFERRED_MAX) {
		__atomic_fetch_add(&snarlrt.live->lost_signals, 1, __ATOMIC_RELAXED);
		return false;
	}
	self->deferred[self->deferred_count++] = *info;
	self->deferred[self->deferred_count - 1].si_signo = number;
	return true;
}

/* The kernel delivers them once more, now that nothing is in the way. */
void snarlrt_deliver_deferred(struct snarlrt_thread *self)
{
	long pid = sys_call(SYS_getpid, 0, 0, 0), tid = sys_call(SYS_gettid, 0, 0, 0);

	while (self->deferred_count) {
		siginfo_t info = self->deferred[--self->deferred_count];

		/* The kernel refuses a foreign si_code ≥ 0 except to ourselves, which this is. */
		sys_call6(SYS_rt_tgsigqueueinfo, pid, tid, info.si_signo, (long)&info, 0, 0);
	}
}
