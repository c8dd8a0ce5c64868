/*
 * setjmp and longjmp: a jump leaves functions without their exit hooks, so the
 * call stack has to be cut back to where it was at the setjmp.
 *
 * The assembly in front of setjmp (tail_x86_64.S) has us remember, per thread,
 * the buffer's address and the depth of the call stack. An entry is dead once
 * its function has returned, that is, when a later setjmp sees a call stack
 * less deep, or as deep with a higher stack pointer. A buffer that was copied is
 * not found; then nothing is cut.
 */
#include "runtime/control/control.h"
#include "runtime/core/arena.h"
#include "runtime/interpose/call.h"
#include "runtime/monitor/monitor.h"

#define FEW 8u

struct jump {
	uintptr_t buffer, stack;
	uint64_t depth;
	struct snarlrt_handler *handlers;
	uint32_t hidden;
};

struct jumps {
	uint32_t count, room;
	struct jump *entry;	/* NULL: `few` */
	struct jump few[FEW];
};

static __thread struct jumps jumps;

/* Under control the call stack belongs to the controlled thread. */
static void cut_controlled(struct snarlrt_tls *tls, uint64_t depth)
{
	struct snarlrt_frame *to = tls->control->frames + depth;

	if (to >= tls->frame)
		return;
	tls->frame = to;
	if (tls->told > to)
		tls->told = to;
}

uint64_t snarlrt_depth(void)
{
	struct snarlrt_tls *tls = &__snarl_tls;

	if (tls->control && tls->frame_end)
		return (uint64_t)(tls->frame - tls->control->frames);
	if (snarlrt.mode == SNARLRT_WATCH)
		return watch_self.depth;
	if (!tls->self || !tls->frame_end)
		return 0;
	return (uint64_t)(tls->frame - tls->self->frames) + tls->self->too_deep;
}

static void cut_frames(struct snarlrt_tls *tls, uint64_t depth)
{
	uint64_t room = (uint64_t)(tls->frame_end - tls->self->frames);
	struct snarlrt_frame *to;

	if (depth > (uint64_t)(tls->frame - tls->self->frames) + tls->self->too_deep)
		return;
	tls->self->too_deep = depth > room ? (uint32_t)(depth - room) : 0;
	to = tls->self->frames + (depth > room ? room : depth);
	tls->frame = to;
	if (tls->told > to)
		tls->told = to;
}

void snarlrt_cut(uint64_t depth, const void *pc)
{
	struct snarlrt_tls *tls = &__snarl_tls;
	struct snarlrt_thread *self;

	if (snarlrt.mode == SNARLRT_WATCH)
		watch_jumped(depth);
	snarlrt_note(TRACE_JUMP, 0, NULL, depth, 0, pc);
	if (tls->control && tls->frame_end)
		cut_controlled(tls, depth);
	if (!tls->self || !tls->frame_end)
		return;
	self = snarlrt_enter();		/* a signal handler must not see half of it */
	cut_frames(tls, depth);
	if (self)
		snarlrt_leave(self);
}

static struct jump *entries(void)
{
	return jumps.entry ? jumps.entry : jumps.few;
}

/* What was there is not given back: a handler may be looking at it. */
static bool grow(void)
{
	uint32_t room = jumps.entry ? jumps.room * 2 : FEW * 4;
	struct jump *more = arena_alloc(room * sizeof(*more));

	if (!more)
		return false;
	for (uint32_t i = 0; i < jumps.count; i++)
		more[i] = entries()[i];
	jumps.room = room;
	jumps.entry = more;
	return true;
}

static void remember(const struct jump *new)
{
	uint32_t n = jumps.count, at;

	while (n > 0) {
		struct jump *last = &entries()[n - 1];

		if (last->depth < new->depth ||
		    (last->depth == new->depth && last->stack >= new->stack))
			break;
		n--;
	}
	for (at = 0; at < n; at++)
		if (entries()[at].buffer == new->buffer)
			break;
	if (at < n) {	/* used again: it moves to the end */
		for (; at + 1 < n; at++)
			entries()[at] = entries()[at + 1];
		n--;
	}
	jumps.count = n;
	if (n == (jumps.entry ? jumps.room : FEW) && !grow()) {
		for (uint32_t i = 1; i < n; i++)
			entries()[i - 1] = entries()[i];
		n--;
	}
	entries()[n] = *new;
	jumps.count = n + 1;
}

/* From tail_x86_64.S, which then jumps to what we return. */
SNARLRT_HIDDEN void *snarlrt_setjmp_enter(const void *buffer, int which, uintptr_t stack);

void *snarlrt_setjmp_enter(const void *buffer, int which, uintptr_t stack)
{
	struct snarlrt_tls *tls = &__snarl_tls;
	bool held = tls->self && !tls->busy;
	int saved = errno;

	snarlrt_real_ready();
	if (snarlrt.mode != SNARLRT_OFF) {
		struct jump new = {
			.buffer = (uintptr_t)buffer,
			.stack = stack,
			.depth = snarlrt_depth(),
			.handlers = snarlrt_handlers,
			.hidden = tls->hidden,
		};

		/* A handler may come here too: it has to wait. */
		if (held)
			tls->busy = 1;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		remember(&new);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		if (held)
			tls->busy = 0;
		if (held && unlikely(tls->self->deferred_count))
			snarlrt_deliver_deferred(tls->self);
	}
	errno = saved;
	switch (which) {
	case 0: return (void *)REAL(setjmp);
	case 1: return (void *)REAL(_setjmp);
	default: return (void *)REAL(__sigsetjmp);
	}
}

static void jumping(const void *buffer, const void *pc)
{
	snarlrt_real_ready();
	if (snarlrt.mode == SNARLRT_OFF)
		return;
	for (uint32_t i = jumps.count; i-- > 0;) {
		struct jump *j = &entries()[i];

		if (j->buffer != (uintptr_t)buffer)
			continue;
		jumps.count = i + 1;	/* those above are being left */
		snarlrt_handlers_left(j->handlers);
		__snarl_tls.hidden = j->hidden;
		snarlrt_heap_pc = NULL;
		snarlrt_wait_end();
		snarlrt_cut(j->depth, pc);
		return;
	}
	snarlrt_note(TRACE_JUMP, 0, NULL, snarlrt_depth(), 0, pc);
}

#define JUMP_FN(name)                                                                     \
	SNARLRT_INTERPOSE void name(struct __jmp_buf_tag env[1], int value)               \
	{                                                                                 \
		jumping(env, SNARLRT_PC());                                               \
		REAL(name)(env, value);                                                   \
		__builtin_unreachable();                                                  \
	}

JUMP_FN(longjmp)
JUMP_FN(_longjmp)
JUMP_FN(siglongjmp)
JUMP_FN(__longjmp_chk)
