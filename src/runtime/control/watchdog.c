/*
 * Looks at threads that run without reaching a scheduling point.
 */
#include "runtime/control/watchdog.h"

#include <time.h>

#include "runtime/control/program_state.h"
#include "runtime/control/single_step.h"
#include "runtime/control/step.h"
#include "runtime/core/bounds.h"
#include "runtime/core/real.h"
#include "runtime/core/sys.h"

#define TICK_NS 8000000		/* CPU time; a step takes some 5 us */
#define STEPS_FIRST 1000u	/* instructions of the first look at a thread */
#define TICKS_FIRST 8u		/* ticks until the second look */
#define STEPS_DOUBLED 6u	/* times that the next look is twice as long and twice as late */
#define PATIENCE 25u		/* ticks after which a thread that computes lets others go first */
#define SAFE_STEPS 1000u	/* instructions until it is where it can be stopped */
#define MEMORY_MOST 6u		/* hashes of the whole memory in one look */
#define SYSCALL_INSTRUCTION 0x050f

/* The same state again, and again: the anchor of Brent's algorithm. */
static struct silent {
	uint64_t key, stack;	/* general registers; all registers and the innermost stack */
	uint64_t memory;	/* 0: not known */
	uint32_t period;	/* instructions until the state repeats; 0: not proven to spin */
	uint32_t looks;		/* number of looks that proved nothing */
} silent[SCHED_MAX_THREADS] SNARLRT_BIG;

static struct {
	const struct ctl_thread *thread;	/* which ran at the last tick */
	uint64_t at;		/* steps and records until then */
	uint32_t ticks;		/* since then */
	uint32_t next;		/* number of ticks for the next look */
	uint32_t patience;	/* number of ticks until others go first */
} watch;

/* The look that is under way. */
static struct {
	uint64_t stack_end;
	uint64_t at;
	uint32_t steps, most;	/* instructions */
	uint32_t length, limit;	/* since the anchor, and until it is replaced */
	uint32_t hashes;
	bool impatient;		/* if nothing is proven, others go first */
	uint64_t last;		/* program counter at the last step */
	uint32_t left;		/* proven: instructions left in which the lowest one is searched */
	uint64_t lowest, key;	/* proven: the lowest instruction of the cycle; registers there */
} look;

static struct {
	uint64_t low, high;
} libc;

static int timer = -1;

static uint64_t position(const struct ctl_thread *t)
{
	return t->steps + (uint64_t)(page_cursor(t) - t->processed);
}

/* Code that may hold a lock of libc must not be left for another thread. */
static bool is_in_program(uint64_t pc)
{
	return !bounds_has_code(pc) && pc - libc.low >= libc.high - libc.low;
}

/* Is it an instruction of the program itself? */
static bool counts(const struct state_at *at)
{
	return is_in_program((uint64_t)at->regs[REG_RIP]) &&
	       !(__snarl_tls.busy | __snarl_tls.hidden);
}

/* Is no append to the page under way? Its code keeps tls.cur in a register. */
static bool can_stop(const ucontext_t *uc)
{
	const greg_t *r = uc->uc_mcontext.gregs;
	uint64_t cur = (uint64_t)__snarl_tls.cur;

	if (!is_in_program((uint64_t)r[REG_RIP]) || __snarl_tls.busy | __snarl_tls.hidden)
		return false;
	for (int i = REG_R8; i <= REG_RCX; i++)
		if (cur && ((uint64_t)r[i] == cur ||
			    (uint64_t)r[i] == cur + sizeof(struct trace_record)))
			return false;
	return true;
}

static uint64_t key_of(const struct state_at *at)
{
	struct state_at general = *at;

	general.vectors = NULL;
	return state_registers(&general);
}

static uint64_t stack_of(const struct state_at *at)
{
	return state_registers(at) ^ state_stack(at, look.stack_end);
}

static void set_anchor(struct silent *s, const struct state_at *at, uint64_t key)
{
	s->key = key;
	s->stack = stack_of(at);
	s->memory = 0;
	look.length = 0;
	look.limit += look.limit / 2 + 1;
}

/* Does the state repeat, memory included, since it did so before? */
static bool repeats(struct silent *s, const struct state_at *at)
{
	uint64_t key = key_of(at), memory;

	look.length++;
	if (key != s->key) {
		if (look.length > look.limit)
			set_anchor(s, at, key);
		return false;
	}
	if (stack_of(at) != s->stack || ++look.hashes > MEMORY_MOST)
		return false;
	memory = state_memory(at);
	if (memory && memory == s->memory) {
		s->period = look.length;
		return true;
	}
	s->memory = memory;
	look.length = 0;
	return false;
}

static bool validate(ucontext_t *uc);

/* Lets others go first. Afterwards a thread that spins is stopped again after one round. */
static bool let_others_go(ucontext_t *uc, bool spins)
{
	struct ctl_thread *t = ctl.current;

	single_step_end();
	ctl_yield_silent((uint64_t)uc->uc_mcontext.gregs[REG_RIP] + 1, spins);
	watch.thread = NULL;
	if (!spins)
		return false;
	look.at = position(t);
	look.steps = 0;
	look.most = silent[t->number].period;
	look.stack_end = state_mapping_end((uint64_t)uc->uc_mcontext.gregs[REG_RSP]);
	single_step_after(validate, uc);
	return true;
}

/*
 * A thread is only stopped at a loop's first instruction: the lowest of the cycle, or one to which
 * it jumped backwards. A loop may have checked memory whose owner changes while others run, and not
 * accessed it yet; then it would depend on the instruction whether the access is an event.
 */
static bool goes_to_lowest(struct silent *s, ucontext_t *uc, const struct state_at *at)
{
	uint64_t pc = (uint64_t)at->regs[REG_RIP], key = key_of(at);

	if (look.left) {
		look.left--;
		if (!look.lowest || pc < look.lowest) {
			look.lowest = pc;
			look.key = key;
		}
		return true;
	}
	if (pc != look.lowest || key != look.key)
		return true;
	s->key = key;
	s->stack = stack_of(at);
	return let_others_go(uc, true);
}

/* After a round of its loop a thread that still spins has the same registers and stack. */
static bool validate(ucontext_t *uc)
{
	struct state_at at = state_interrupted(uc);
	struct silent *s = &silent[ctl.current->number];

	if (position(ctl.current) != look.at)
		return false;
	if (!counts(&at) || ++look.steps < look.most)
		return true;
	if (key_of(&at) == s->key && stack_of(&at) == s->stack)
		return let_others_go(uc, true);
	s->period = 0;
	return false;
}

static bool end_of_look(ucontext_t *uc, struct silent *s)
{
	uint64_t pc = (uint64_t)uc->uc_mcontext.gregs[REG_RIP];
	bool back = pc < look.last;

	if (is_in_program(pc))
		look.last = pc;
	if (look.steps == look.most)
		s->looks++;
	if (!look.impatient || look.steps > look.most + SAFE_STEPS)
		return false;
	return back && can_stop(uc) ? let_others_go(uc, false) : true;
}

static bool on_step(ucontext_t *uc)
{
	struct state_at at = state_interrupted(uc);
	uint64_t pc = (uint64_t)at.regs[REG_RIP];
	struct silent *s = &silent[ctl.current->number];

	if (position(ctl.current) != look.at)
		return false;
	if (look.lowest || look.left)
		return !counts(&at) || goes_to_lowest(s, uc, &at);
	if (++look.steps >= look.most)
		return end_of_look(uc, s);
	if (!counts(&at))
		return true;
	look.last = pc;
	if (*(const uint16_t *)pc == SYSCALL_INSTRUCTION)
		look.hashes = MEMORY_MOST;	/* the kernel is not part of the state */
	if (!repeats(s, &at))
		return true;
	s->looks = 0;
	ctl.silent_epoch++;
	look.left = s->period;
	return true;
}

static void begin_look(struct ctl_thread *t, ucontext_t *uc)
{
	struct silent *s = &silent[t->number];
	uint32_t doubled = s->looks < STEPS_DOUBLED ? s->looks : STEPS_DOUBLED;

	if (!libc.high)
		state_module((uint64_t)REAL(pthread_create), &libc.low, &libc.high);
	look.at = position(t);
	look.steps = look.length = look.limit = look.hashes = look.left = 0;
	look.lowest = look.last = 0;
	look.most = STEPS_FIRST << doubled;
	look.stack_end = state_mapping_end((uint64_t)uc->uc_mcontext.gregs[REG_RSP]);
	look.impatient = watch.ticks >= watch.patience;
	*s = (struct silent){ .looks = s->looks };
	watch.next = watch.ticks + (TICKS_FIRST << doubled);
	if (look.impatient)
		watch.patience = watch.ticks * 2;
	single_step_after(on_step, uc);
}

static void on_tick(int number, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	struct ctl_thread *t = ctl.current;

	(void)info;
	if (!ctl.begun || ctl.ended || ctl.private_child || !t)
		return;
	/* The kernel may choose any thread of the process. */
	if (ctl.kernel_threads && sys_call(SYS_gettid, 0, 0, 0) != t->tid) {
		sys_call(SYS_tgkill, sys_call(SYS_getpid, 0, 0, 0), t->tid, number);
		return;
	}
	if (bounds_has_code((uint64_t)uc->uc_mcontext.gregs[REG_RIP]) || single_step_active() ||
	    __snarl_tls.control != t || __snarl_tls.busy | __snarl_tls.hidden)
		return;
	if (watch.thread != t || watch.at != position(t)) {
		watch.thread = t;
		watch.at = position(t);
		watch.ticks = 0;
		watch.next = 1;
		/* It computed before, without a point since: it must not run for as long again. */
		watch.patience = t->silence == CTL_SILENT ? 1 : PATIENCE;
		return;
	}
	watch.ticks++;
	if (watch.ticks >= watch.next || watch.ticks >= watch.patience)
		begin_look(t, uc);
}

void ctl_watchdog_begin(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = CTL_TICK_SIGNAL };
	struct itimerspec every = { { 0, TICK_NS }, { 0, TICK_NS } };

	/* A debugger would stop at each signal, and uses single steps itself. */
	if (ctl.flags & CTL_DEBUG)
		return;
	single_step_handler(CTL_TICK_SIGNAL, on_tick, NULL);
	if (sys_call(SYS_timer_create, CLOCK_PROCESS_CPUTIME_ID, &event, &timer) == 0)
		sys_call6(SYS_timer_settime, timer, 0, (long)&every, 0, 0, 0);
}

void ctl_watchdog_end(void)
{
	if (timer >= 0)
		sys_call(SYS_timer_delete, timer, 0, 0);
	timer = -1;
}
