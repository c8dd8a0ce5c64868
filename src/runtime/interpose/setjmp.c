/*
 * setjmp and longjmp. A jump leaves functions without calling their exit hooks, so the call stack
 * is unwound to its depth at the setjmp.
 *
 * tail_call_x86_64.S calls snarlrt_setjmp_enter(), which stores per thread the buffer's address and
 * the depth of the call stack. An entry is dead once its function has returned; a later setjmp
 * notices that by a lower depth, or by the same depth with a higher stack pointer. A buffer that
 * the program copied is not found; then nothing is unwound.
 */
#include "runtime/core/arena.h"
#include "runtime/interpose/call.h"
#include "runtime/record/ring.h"

#define INLINE_JUMPS 8u	/* entries that need no allocation */

/* A call of setjmp to which the thread may jump back. */
struct jump {
	uintptr_t buffer;	/* address of the jmp_buf */
	uintptr_t stack;	/* the caller's stack pointer */
	uint64_t depth;		/* of the call stack */
	struct snarlrt_handler *handlers;	/* signal handlers that the thread was in */
	uint32_t hidden;	/* tls.hidden */
};

/* A thread's live calls of setjmp, oldest first. */
struct jumps {
	uint32_t count;
	uint32_t capacity;	/* length of `entry`, if not NULL */
	struct jump *entry;	/* NULL: entries are in `inline_entry` */
	struct jump inline_entry[INLINE_JUMPS];
};

static __thread struct jumps jumps;

uint64_t snarlrt_stack_depth(void)
{
	return snarlrt_ops->depth();
}

void snarlrt_unwind(uint64_t depth, const void *pc)
{
	snarlrt_note(TRACE_JUMP, 0, NULL, depth, 0, pc);
	snarlrt_ops->cut(depth);
}

static struct jump *jump_entries(void)
{
	return jumps.entry ? jumps.entry : jumps.inline_entry;
}

/* The old array is not freed: an interrupted call may still use it. */
static bool jumps_grow(void)
{
	uint32_t capacity = jumps.entry ? jumps.capacity * 2 : INLINE_JUMPS * 4;
	struct jump *more = arena_alloc(capacity * sizeof(*more));

	if (!more)
		return false;
	for (uint32_t i = 0; i < jumps.count; i++)
		more[i] = jump_entries()[i];
	jumps.capacity = capacity;
	jumps.entry = more;
	return true;
}

static void jumps_remember(const struct jump *new)
{
	uint32_t n = jumps.count, at;

	while (n > 0) {
		struct jump *last = &jump_entries()[n - 1];

		if (last->depth < new->depth ||
		    (last->depth == new->depth && last->stack >= new->stack))
			break;
		n--;
	}
	for (at = 0; at < n; at++)
		if (jump_entries()[at].buffer == new->buffer)
			break;
	if (at < n) {	/* buffer used again: its entry moves to the end */
		for (; at + 1 < n; at++)
			jump_entries()[at] = jump_entries()[at + 1];
		n--;
	}
	jumps.count = n;
	if (n == (jumps.entry ? jumps.capacity : INLINE_JUMPS) && !jumps_grow()) {
		for (uint32_t i = 1; i < n; i++)
			jump_entries()[i - 1] = jump_entries()[i];
		n--;
	}
	jump_entries()[n] = *new;
	jumps.count = n + 1;
}

/* Called by tail_call_x86_64.S, which jumps to the returned address. */
SNARLRT_HIDDEN void *snarlrt_setjmp_enter(const void *buffer, int which, uintptr_t stack);

void *snarlrt_setjmp_enter(const void *buffer, int which, uintptr_t stack)
{
	struct snarlrt_tls *tls = &__snarl_tls;
	bool set_busy = tls->self && !tls->busy;
	int saved = errno;

	snarlrt_real_ready();
	if (!mode_is_off()) {
		struct jump new = {
			.buffer = (uintptr_t)buffer,
			.stack = stack,
			.depth = snarlrt_stack_depth(),
			.handlers = snarlrt_handlers,
			.hidden = tls->hidden,
		};

		/* A signal handler that calls setjmp too must wait. */
		if (set_busy)
			tls->busy = 1;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		jumps_remember(&new);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		if (set_busy)
			tls->busy = 0;
		if (set_busy && unlikely(tls->self->deferred_count))
			snarlrt_deliver_deferred(tls->self);
	}
	errno = saved;
	switch (which) {
	case 0: return (void *)REAL(setjmp);
	case 1: return (void *)REAL(_setjmp);
	default: return (void *)REAL(__sigsetjmp);
	}
}

static void before_longjmp(const void *buffer, const void *pc)
{
	snarlrt_real_ready();
	if (mode_is_off())
		return;
	for (uint32_t i = jumps.count; i-- > 0;) {
		struct jump *j = &jump_entries()[i];

		if (j->buffer != (uintptr_t)buffer)
			continue;
		jumps.count = i + 1;	/* entries above belong to functions that the jump leaves */
		snarlrt_handlers_unwind(j->handlers);
		__snarl_tls.hidden = j->hidden;
		snarlrt_heap_pc = NULL;
		snarlrt_wait_end();
		snarlrt_unwind(j->depth, pc);
		return;
	}
	snarlrt_note(TRACE_JUMP, 0, NULL, snarlrt_stack_depth(), 0, pc);
}

#define JUMP_FN(name)                                                                              \
	SNARLRT_INTERPOSE void name(struct __jmp_buf_tag env[1], int value)                        \
	{                                                                                          \
		before_longjmp(env, SNARLRT_PC());                                                 \
		REAL(name)(env, value);                                                            \
		__builtin_unreachable();                                                           \
	}

JUMP_FN(longjmp)
JUMP_FN(_longjmp)
JUMP_FN(siglongjmp)
JUMP_FN(__longjmp_chk)
