/*
 * Stores deferred signals, and sends them again by rt_tgsigqueueinfo, which keeps their siginfo.
 */
#include "runtime/core/deferred_signals.h"
#include "runtime/core/sys.h"

uint64_t snarlrt_signals_block(void)
{
	uint64_t all = ~0ull, before = 0;

	sys_call6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&before, sizeof(all), 0, 0);
	return before;
}

void snarlrt_signals_set(uint64_t mask)
{
	sys_call6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, sizeof(mask), 0, 0);
}

static bool caused_by_instruction(int number, const siginfo_t *info)
{
	return BIT(number) & BY_INSTRUCTION && info->si_code > 0;
}

/*
 * For a signal whose handler must run now, in the middle of the runtime: ends the runtime's section
 * and delivers the stored signals.
 */
static void abandon_runtime(struct snarlrt_thread *self, uint64_t *mask, uint64_t during)
{
	/* An atomic operation on a bad address: unlock its stripe, which other threads need. */
	if (self->held_stripe)
		__atomic_fetch_and(self->held_stripe, ~1ull, __ATOMIC_RELEASE);
	self->held_stripe = NULL;
	__snarl_tls.busy = 0;
	if (!self->deferred_count)
		return;
	snarlrt_signals_block();
	*mask = self->deferred->mask;
	snarlrt_send_deferred(self);
	snarlrt_signals_set(*mask | during);
}

bool snarlrt_defer_signal(int number, const siginfo_t *info, ucontext_t *interrupted,
			  uint64_t during)
{
	uint64_t *mask = (uint64_t *)&interrupted->uc_sigmask;
	struct snarlrt_tls *tls = &__snarl_tls;
	struct snarlrt_thread *self = tls->self;
	struct snarlrt_deferred *d;

	if (!tls->busy || !self)
		return false;
	if (caused_by_instruction(number, info)) {
		abandon_runtime(self, mask, during);
		return false;
	}
	d = self->deferred;
	/* A signal that is pending already is not queued twice, as in the kernel. */
	for (uint32_t i = 0; i < self->deferred_count; i++)
		if (d->info[i].si_signo == number)
			return true;
	if (self->deferred_count == 0)
		d->mask = *mask;
	d->info[self->deferred_count] = *info;
	d->info[self->deferred_count++].si_signo = number;
	*mask |= ~BY_INSTRUCTION;
	return true;
}

void snarlrt_send_deferred(struct snarlrt_thread *self)
{
	long pid = sys_call(SYS_getpid, 0, 0, 0), tid = sys_call(SYS_gettid, 0, 0, 0);

	/* The kernel allows any si_code only if a process sends the signal to itself. */
	for (uint32_t i = 0; i < self->deferred_count; i++)
		if (sys_call6(SYS_rt_tgsigqueueinfo, pid, tid, self->deferred->info[i].si_signo,
			      (long)&self->deferred->info[i], 0, 0) < 0)
			__atomic_fetch_add(&snarlrt.live->lost_signals, 1, __ATOMIC_RELAXED);
	self->deferred_count = 0;
}

/* Handlers run when the mask is set, and may leave by longjmp: no work may follow. */
void snarlrt_deliver_deferred(struct snarlrt_thread *self)
{
	uint64_t mask = self->deferred->mask;

	snarlrt_signals_block();
	snarlrt_send_deferred(self);
	snarlrt_signals_set(mask);
}
