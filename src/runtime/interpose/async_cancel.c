/*
 * Asynchronous cancellation in modes record and profile.
 *
 * libc cancels a thread asynchronously by a signal whose handler unwinds the stack at once. Inside
 * the runtime that would leave locks held and a ring half written. snarlrt_cancel_prepare()
 * therefore replaces libc's handler by one that defers the signal (core/deferred_signals.h) or
 * calls libc's.
 *
 * libc installs its handler in the first pthread_cancel() and sends the signal in the same call. To
 * replace the handler before that, the runtime first cancels a thread that it creates for this
 * purpose.
 */
#include "runtime/core/deferred_signals.h"
#include "runtime/core/lock.h"
#include "runtime/core/sys.h"
#include "runtime/interpose/call.h"
#include "runtime/interpose/thread_create.h"

#define CANCEL_SIGNAL 32	/* SIGCANCEL of libc, whose sigaction() refuses it */

/* The kernel's struct sigaction; libc's has another layout. */
struct kernel_sigaction {
	void (*handler)(int, siginfo_t *, void *);
	uint64_t flags;
	void (*restorer)(void);
	uint64_t mask;
};

static struct kernel_sigaction libc_action;
static struct snarlrt_lock install_lock;
static bool installed;

static void on_cancel(int number, siginfo_t *info, void *context)
{
	if (!snarlrt_defer_signal(number, info, context, 0))
		libc_action.handler(number, info, context);
}

static void *wait_until_cancelled(void *done)
{
	/* A system call of the runtime is no cancellation point: the thread ends by returning. */
	while (__atomic_load_n((uint32_t *)done, __ATOMIC_ACQUIRE) == 0)
		sys_call6(SYS_futex, (long)done, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0);
	return NULL;
}

/*
 * Makes libc install its handler. If no thread can be created, nothing happens: the program's own
 * pthread_cancel() installs it, and the next one finds it here.
 */
static void make_libc_install_handler(void)
{
	uint32_t done = 0;
	pthread_t thread;

	if (REAL(pthread_create)(&thread, NULL, wait_until_cancelled, &done) != 0)
		return;
	REAL(pthread_cancel)(thread);
	__atomic_store_n(&done, 1, __ATOMIC_RELEASE);
	sys_call6(SYS_futex, (long)&done, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
	REAL(pthread_join)(thread, NULL);
}

static bool read_libc_handler(void)
{
	return sys_call6(SYS_rt_sigaction, CANCEL_SIGNAL, 0, (long)&libc_action,
			 sizeof(libc_action.mask), 0, 0) >= 0 &&
	       (uintptr_t)libc_action.handler > 1; /* neither SIG_DFL nor SIG_IGN */
}

static bool install_handler(void)
{
	struct kernel_sigaction mine = libc_action;

	mine.handler = on_cancel;
	return sys_call6(SYS_rt_sigaction, CANCEL_SIGNAL, (long)&mine, 0, sizeof(mine.mask), 0,
			 0) >= 0;
}

void snarlrt_cancel_prepare(void)
{
	int saved = errno, state;
	uint64_t mask;

	if (!mode_records() || __atomic_load_n(&installed, __ATOMIC_ACQUIRE))
		return;
	mask = snarlrt_signals_block();
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	snarlrt_hide();
	snarlrt_lock(&install_lock);
	if (!installed && !read_libc_handler())
		make_libc_install_handler();
	if (!installed && read_libc_handler())
		__atomic_store_n(&installed, install_handler(), __ATOMIC_RELEASE);
	snarlrt_unlock(&install_lock);
	snarlrt_unhide();
	pthread_setcancelstate(state, NULL);
	snarlrt_signals_set(mask);
	errno = saved;
}
