/*
 * Asynchronous cancellation: libc sends a signal whose handler unwinds the stack
 * at once. Inside the runtime that would leave locks held and a ring torn, so
 * our handler goes in front of libc's and puts it off like any other signal.
 *
 * libc installs its handler in the first pthread_cancel() and sends at once. To be
 * there before, a thread made for nothing else is cancelled first.
 */
#include "runtime/core/deferred_signals.h"
#include "runtime/core/lock.h"
#include "runtime/core/sys.h"
#include "runtime/interpose/call.h"
#include "runtime/interpose/thread_create.h"

#define CANCEL_SIGNAL 32	/* libc's own; its sigaction() refuses it */

/* As the kernel has it. */
struct action {
	void (*handler)(int, siginfo_t *, void *);
	uint64_t flags;
	void (*restorer)(void);
	uint64_t mask;
};

static struct action real;
static struct snarlrt_lock guard_lock;
static bool guarded;

static void on_cancel(int number, siginfo_t *info, void *context)
{
	if (!snarlrt_defer_signal(number, info, context, 0))
		real.handler(number, info, context);
}

static void *wait_for_it(void *leave)
{
	/* Not to be cancelled, only to be marked. */
	while (__atomic_load_n((uint32_t *)leave, __ATOMIC_ACQUIRE) == 0)
		sys_call6(SYS_futex, (long)leave, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0);
	return NULL;
}

/* If no thread can be had, the program's own call does it, and the next one guards. */
static void make_libc_install(void)
{
	uint32_t leave = 0;
	pthread_t thread;

	if (REAL(pthread_create)(&thread, NULL, wait_for_it, &leave) != 0)
		return;
	REAL(pthread_cancel)(thread);
	__atomic_store_n(&leave, 1, __ATOMIC_RELEASE);
	sys_call6(SYS_futex, (long)&leave, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
	REAL(pthread_join)(thread, NULL);
}

static bool libc_has_one(void)
{
	return sys_call6(SYS_rt_sigaction, CANCEL_SIGNAL, 0, (long)&real, sizeof(real.mask), 0,
			 0) >= 0 &&
	       (uintptr_t)real.handler > 1;	/* neither SIG_DFL nor SIG_IGN */
}

static bool go_in_front(void)
{
	struct action mine = real;

	mine.handler = on_cancel;
	return sys_call6(SYS_rt_sigaction, CANCEL_SIGNAL, (long)&mine, 0, sizeof(mine.mask), 0, 0) >= 0;
}

void snarlrt_cancel_guard(void)
{
	int saved = errno, state;
	uint64_t mask;

	if (!mode_records() || __atomic_load_n(&guarded, __ATOMIC_ACQUIRE))
		return;
	mask = snarlrt_signals_block();
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	snarlrt_hide();
	snarlrt_lock(&guard_lock);
	if (!guarded && !libc_has_one())
		make_libc_install();
	if (!guarded && libc_has_one())
		__atomic_store_n(&guarded, go_in_front(), __ATOMIC_RELEASE);
	snarlrt_unlock(&guard_lock);
	snarlrt_unhide();
	pthread_setcancelstate(state, NULL);
	snarlrt_signals_set(mask);
	errno = saved;
}
