/*
 * The state that all rooms share, the choice of the mode, and mode off.
 */
#include "runtime/core/mode.h"

#include "abi/run_options.h"
#include "runtime/core/process_calls.h"

struct snarlrt snarlrt;
bool snarlrt_timed;
uint8_t __snarl_loops;
const struct process_calls *snarlrt_process;

/* The thread has no call stack yet: all ones send __tsan_func_exit to its slow path. */
__thread struct snarlrt_tls __snarl_tls = { .emitted = (struct snarlrt_frame *)-1 };

static void off_access(uint64_t addr, uint64_t site)
{
	(void)addr;
	(void)site;
}

static void off_range(uint64_t addr, uint64_t size, uint64_t site)
{
	(void)addr;
	(void)size;
	(void)site;
}

void mode_no_atomic(struct mode_atomic *op)
{
	(void)op;
}

void mode_no_entry(uint64_t caller, uint64_t pc)
{
	(void)caller;
	(void)pc;
}

static void off_exit(uint64_t pc)
{
	(void)pc;
}

static void off_note(enum trace_kind kind, unsigned detail, const void *object, uint64_t arg,
		     int result, const void *pc)
{
	(void)kind;
	(void)detail;
	(void)object;
	(void)arg;
	(void)result;
	(void)pc;
}

void mode_no_wait(enum trace_kind kind, const void *object, const void *pc)
{
	(void)kind;
	(void)object;
	(void)pc;
}

static void off_fresh(const void *addr, size_t size)
{
	(void)addr;
	(void)size;
}

static uint64_t off_depth(void)
{
	return 0;
}

static void off_unwind(uint64_t depth)
{
	(void)depth;
}

void mode_no_thread(const struct mode_thread *t)
{
	(void)t;
}

void mode_nothing(void)
{
}

const struct mode mode_off = {
	.name = "off",
	.id = SNARLRT_OFF,
	.access = off_access,
	.range = off_range,
	.atomic_begin = mode_no_atomic,
	.atomic_end = mode_no_atomic,
	.entry = mode_no_entry,
	.exit = off_exit,
	.note = off_note,
	.wait_begin = mode_no_wait,
	.fresh = off_fresh,
	.depth = off_depth,
	.cut = off_unwind,
	.thread_begin = mode_no_thread,
	.thread_end = mode_nothing,
	.forked = mode_nothing,
};

const struct mode *snarlrt_ops = &mode_off;

/*
 * The value of __snarl_loops. Loops run without hooks in mode off, and in mode record with the
 * filter on. Otherwise each access needs its hook: for a scheduling point, a time of its own, a
 * rule, or the coverage fold.
 */
static uint8_t loops_of(const struct mode *m)
{
	if (m->id == SNARLRT_OFF)
		return LOOPS_ASK;
	if (m->id == SNARLRT_RECORD && !m->folds && snarlrt.filter && !snarlrt_timed &&
	    !(snarlrt.without & RUN_WITHOUT_LOOPS))
		return LOOPS_PLAIN;
	return 0;
}

void mode_set(const struct mode *m)
{
	snarlrt_ops = m;
	snarlrt.profiling = m->folds;
	snarlrt.mode = m->id;
	__snarl_loops = loops_of(m);
}
