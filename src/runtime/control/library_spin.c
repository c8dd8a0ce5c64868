/*
 * Loops in a library's code that wait for other threads and have no event: no system call, no
 * pause, no call of libc. libomp waits for tasks like that.
 *
 * While a thread is in a call that may contain such a loop, a timer signals it. Two signals inside
 * the library, with SPIN_NS of CPU time but no event in between, mean that the thread waits: it
 * yields. The yield is the same event whenever the signals come, because nothing changes in
 * between: the thread has come to where only another thread can help.
 */
#include <time.h>
#include <ucontext.h>

#include "runtime/control/library_waits.h"
#include "runtime/control/model/external.h"
#include "runtime/control/step.h"
#include "runtime/core/sys.h"

#define TICK_NS 1000000		/* between two signals */
#define SPIN_NS 500000		/* more than such a call computes between two events */
#define TICK_SIGNAL 60		/* programs seldom use it; 61 is the watchdog's */
#define SA_RESTORER 0x04000000ull

/* The kernel's struct sigaction and struct sigevent. */
struct kernel_sigaction {
	void (*handler)(int, siginfo_t *, void *);
	uint64_t flags;
	void (*restorer)(void);
	uint64_t mask;
};

struct kernel_sigevent {
	uint64_t value;
	int32_t signal, notify, thread;
	int32_t unused[11];
};

#define NOTIFY_THREAD 4		/* SIGEV_THREAD_ID */

/* The calls that this thread is in, and what was the case at the last signal. */
static __thread struct {
	uint32_t depth;
	int32_t timer;		/* with kernel threads */
	uint64_t steps, cpu;
	const void *cur;
} wait_calls;

static uint32_t waiters;	/* user-level threads in such calls */
static int32_t shared_timer;	/* for all of them: they run on one kernel thread */

SNARLRT_HIDDEN void snarlrt_tick_return(void);
__asm__(".text\n"
	".hidden snarlrt_tick_return\n"
	"snarlrt_tick_return:\n"
	"	mov $15, %eax\n"	/* rt_sigreturn */
	"	syscall\n");

static void on_tick(int number, siginfo_t *info, void *context)
{
	ucontext_t *interrupted = context;
	const void *pc = (const void *)interrupted->uc_mcontext.gregs[REG_RIP];
	const void *cur = __snarl_tls.cur;
	uint64_t now;

	(void)number, (void)info;
	if (!wait_calls.depth || !ctl_on() || __snarl_tls.control != ctl.current)
		return;
	if (!ctl_library_has((uint64_t)pc)) {
		wait_calls.cur = NULL;
		return;
	}
	now = sys_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	if (wait_calls.cur == cur && wait_calls.steps == ctl.steps) {
		if (now - wait_calls.cpu < SPIN_NS)
			return;
		/* It spins for sure: the scheduler need not see SPIN_EVENTS yields. */
		ctl.current->unchanged_events = SPIN_EVENTS;
		ctl_fast_path_end();
		ctl_library_yield(interrupted, NULL);
	}
	wait_calls.cur = __snarl_tls.cur;
	wait_calls.steps = ctl.steps;
	wait_calls.cpu = sys_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void install(void)
{
	struct kernel_sigaction action = {
		.handler = on_tick,
		.flags = SA_SIGINFO | SA_NODEFER | SA_RESTART | SA_RESTORER,
		.restorer = snarlrt_tick_return,
	};
	uint64_t set = 1ull << (TICK_SIGNAL - 1);

	sys_call6(SYS_rt_sigaction, TICK_SIGNAL, (long)&action, 0, sizeof(action.mask), 0, 0);
	sys_call6(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&set, 0, sizeof(set), 0, 0);
}

static int32_t timer_start(void)
{
	struct kernel_sigevent event = { .signal = TICK_SIGNAL, .notify = NOTIFY_THREAD };
	struct itimerspec often = { { 0, TICK_NS }, { 0, TICK_NS } };
	int32_t timer;

	install();
	event.thread = (int32_t)sys_call(SYS_gettid, 0, 0, 0);
	if (sys_call(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer) != 0)
		return -1;
	sys_call6(SYS_timer_settime, timer, 0, (long)&often, 0, 0, 0);
	return timer;
}

static void timer_stop(int32_t timer)
{
	if (timer >= 0)
		sys_call(SYS_timer_delete, timer, 0, 0);
}

void ctl_library_call_begin(void)
{
	if (!ctl_on() || wait_calls.depth++)
		return;
	wait_calls.cur = NULL;
	if (ctl.kernel_threads)
		wait_calls.timer = timer_start();
	else if (waiters++ == 0)
		shared_timer = timer_start();
}

void ctl_library_call_end(void)
{
	if (!wait_calls.depth || --wait_calls.depth)
		return;
	if (ctl.kernel_threads)
		timer_stop(wait_calls.timer);
	else if (--waiters == 0)
		timer_stop(shared_timer);
}

void ctl_library_continue(void)
{
	if (waiters)
		shared_timer = timer_start();
}
