/*
 * Start and end of threads, their names and their slots in live memory.
 *
 * A thread's name is its path in the creation tree. Its first event, THREAD_START, gives its parent
 * and its ordinal among the parent's children. Ids are never reused, because shadow words with the
 * id remain when the thread has ended. Slots are reused.
 */
#include <pthread.h>

#include "abi/mix.h"
#include "runtime/core/arena.h"
#include "runtime/core/lock.h"
#include "runtime/core/thread_end.h"
#include "runtime/record/clock.h"
#include "runtime/record/nest.h"
#include "runtime/record/record_mode.h"
#include "runtime/record/ring.h"
#include "runtime/record/thread.h"
#include "runtime/record/trace_file.h"

/* Bytes of address space for the call stack; only its used part is touched. */
#define FRAMES_BYTES (16u << 20)
#define HANDLES 65536u	/* size of the table of handles */
#define OUT_BYTES (sizeof(struct trace_chunk) + LIVE_RING_RECORDS * TRACE_RECORD_MAX + TRACE_SLACK)

static struct snarlrt_lock thread_lock;
static struct snarlrt_thread *free_threads;

/*
 * Hash table from pthread_t to id, for join, with open addressing. An entry is overwritten when its
 * handle is reused, or when the table is full.
 */
static struct {
	uintptr_t handle;
	uint32_t id;
} *handles;

static uint32_t handle_slot(uintptr_t handle)
{
	uint32_t i = (uint32_t)(mix_spread(handle) >> 48);

	for (uint32_t n = 0; n < HANDLES; n++, i = (i + 1) % HANDLES)
		if (handles[i].handle == handle || handles[i].handle == 0)
			return i;
	return (uint32_t)(mix_spread(handle) >> 48);
}

void snarlrt_handle_set(uintptr_t handle, uint32_t id)
{
	uint64_t mask = snarlrt_signals_block();
	uint32_t i;

	snarlrt_lock(&thread_lock);
	if (!handles)
		handles = arena_pages(HANDLES * sizeof(*handles));
	if (handles) {
		i = handle_slot(handle);
		/* Parent and child both store it; a later thread may have the handle by then. */
		if (handles[i].handle != handle || handles[i].id < id)
			handles[i].id = id;
		handles[i].handle = handle;
	}
	snarlrt_unlock(&thread_lock);
	snarlrt_signals_set(mask);
}

uint32_t snarlrt_handle_get(uintptr_t handle)
{
	uint64_t mask;
	uint32_t id = 0, i;

	if (!__atomic_load_n(&handles, __ATOMIC_ACQUIRE))
		return 0;
	mask = snarlrt_signals_block();
	snarlrt_lock(&thread_lock);
	i = handle_slot(handle);
	if (handles[i].handle == handle)
		id = handles[i].id;
	snarlrt_unlock(&thread_lock);
	snarlrt_signals_set(mask);
	return id;
}

uint32_t snarlrt_thread_new_id(void)
{
	return __atomic_add_fetch(&snarlrt.next_thread, 1, __ATOMIC_RELAXED);
}

static struct live_slot *slots(void)
{
	return (struct live_slot *)((char *)snarlrt.live + snarlrt.live->slots);
}

static struct trace_record *ring_of(uint32_t slot)
{
	return (struct trace_record *)((char *)snarlrt.live + snarlrt.live->rings +
				       (size_t)slot * LIVE_RING_BYTES);
}

/* Takes the first free slot, so that no more rings are touched than threads are alive. */
static bool take_slot(struct snarlrt_thread *t)
{
	for (uint32_t i = 0; i < LIVE_SLOTS; i++) {
		uint32_t free = 0;

		if (__atomic_load_n(&slots()[i].thread, __ATOMIC_RELAXED) == 0 &&
		    __atomic_compare_exchange_n(&slots()[i].thread, &free, t->id, false,
						__ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
			t->slot = i;
			if (snarlrt_live_room(ring_of(i), LIVE_RING_BYTES))
				return true;
			__atomic_store_n(&slots()[i].thread, 0, __ATOMIC_RELEASE);
			return false;
		}
	}
	return false;
}

static struct snarlrt_thread *thread_alloc(void)
{
	struct snarlrt_thread *t;

	snarlrt_lock(&thread_lock);
	t = free_threads;
	if (t)
		free_threads = t->next_free;
	snarlrt_unlock(&thread_lock);
	if (t)
		return t;
	t = arena_alloc(sizeof(*t));
	if (!t)
		return NULL;
	t->frames = arena_pages(FRAMES_BYTES);
	t->out = arena_alloc(OUT_BYTES);
	t->coder = arena_pages(sizeof(*t->coder));	/* its slots are aligned to cache lines */
	t->deferred = arena_alloc(sizeof(*t->deferred));
	t->empty_calls = arena_pages(SNARLRT_EMPTY_CALLS);
	return t->frames && t->out && t->coder && t->deferred && t->empty_calls ? t : NULL;
}

static void thread_free(struct snarlrt_thread *t)
{
	snarlrt_lock(&thread_lock);
	t->next_free = free_threads;
	free_threads = t;
	snarlrt_unlock(&thread_lock);
}

/*
 * Finds the thread's stack. Foreign threads attach at their first hook, where libc functions that
 * allocate must not be called, so their stacks stay unknown.
 */
static void find_stack(struct snarlrt_thread *t, uint32_t parent, uint32_t ordinal,
		       const struct snarlrt_stack *known)
{
	pthread_attr_t attr;
	void *low;
	size_t size;

	t->stack_low = ordinal == 0 ? snarlrt.main_stack_low : 0;
	t->stack_high = ordinal == 0 ? snarlrt.main_stack_high : 0;
	if (known) {
		t->stack_low = known->low;
		t->stack_high = known->high;
	}
	if (!parent || known)
		return;
	snarlrt_hide();
	if (pthread_getattr_np(pthread_self(), &attr) == 0) {
		if (pthread_attr_getstack(&attr, &low, &size) == 0) {
			t->stack_low = (uint64_t)low;
			t->stack_high = (uint64_t)low + size;
		}
		pthread_attr_destroy(&attr);
	}
	snarlrt_unhide();
}

void snarlrt_thread_set_slot(struct snarlrt_thread *t, uint64_t seq)
{
	struct snarlrt_tls *tls = &__snarl_tls;
	uint32_t own = t->id <= SHADOW_MAX_ID ? t->id * 2 : 0;

	t->live = &slots()[t->slot];
	t->ring = ring_of(t->slot);
	t->ring_end = t->ring + LIVE_RING_RECORDS;
	t->live->waiting_in = 0;
	t->live->seq = seq;
	t->live->time = clock_now(t);
	tls->cur = t->ring;
	tls->undecided = 0;
	t->loop_excess = t->undecided_more = 0;
	nest_forget();
	/* No shadow word is ever 1. With filter=off `own` is 1 and matches none: all is kept. */
	snarlrt_set_own(tls, snarlrt.filter && own ? (uint16_t)(own + 1) : 1);
	tls->own_uncut = snarlrt.filter ? (uint16_t)own : 0;
}

void snarlrt_thread_start_event(struct snarlrt_thread *t, uint32_t parent, uint32_t ordinal,
				const void *routine)
{
	/* The event's site is the routine, plus 1, as a pc is the address after an instruction. */
	uint64_t pc = routine ? (uint64_t)routine + 1 : 0;
	struct trace_record r[3] = {
		{ (uint64_t)routine & TRACE_ADDR_MASK, TRACE_SITE(TRACE_THREAD_START, 0, pc) },
		{ clock_now(t), (uint64_t)parent << 32 | ordinal },
		{ t->stack_low, t->stack_high },
	};

	t->parent = parent;
	t->ordinal = ordinal;
	snarlrt_append(t, r, 3);
}

struct snarlrt_thread *snarlrt_thread_attach(uint32_t id, uint32_t parent, uint32_t ordinal,
					     const void *routine, const struct snarlrt_stack *stack)
{
	struct snarlrt_tls *tls = &__snarl_tls;
	uint64_t mask = snarlrt_signals_block();	/* the thread cannot defer signals yet */
	struct snarlrt_thread *t;

	tls->busy = 1;
	t = thread_alloc();
	if (t) {
		t->id = id;
		if (!take_slot(t)) {
			thread_free(t);
			t = NULL;
		}
	}
	if (!t) {
		__atomic_fetch_add(&snarlrt.live->lost_threads, 1, __ATOMIC_RELAXED);
		tls->ended = 1;
		tls->busy = 0;
		snarlrt_signals_set(mask);
		return NULL;
	}
	t->children = 0;
	t->too_deep = 0;
	t->last_time = 0;
	t->deferred_count = 0;
	t->claims = 0;
	for (unsigned i = 0; i < SNARLRT_CLAIMS; i++)
		t->claim[i].size = 0;	/* left over from an earlier thread */
	for (unsigned i = 0; i < SNARLRT_AHEADS; i++)
		t->ahead[i].stripe = NULL;
	t->held = 0;
	t->tid = (uint32_t)sys_call(SYS_gettid, 0, 0, 0);
	t->held_stripe = NULL;
	find_stack(t, parent, ordinal, stack);
	tls->self = t;
	tls->frame = tls->emitted = t->frames;
	tls->frame_end = t->frames + FRAMES_BYTES / sizeof(*t->frames);
	tls->frame_first = t->frames;
	tls->empty_calls = t->empty_calls;
	tls->eager_end = mode_records() ? tls->frame_end - 1 : NULL;
	snarlrt_thread_set_slot(t, 0);
	snarlrt_thread_start_event(t, parent, ordinal, routine);
	tls->busy = 0;
	snarlrt_signals_set(mask);
	/* The stack may have been an ended thread's. Memory above this frame is in use already. */
	if (parent && t->stack_low && mode_records())
		record_fresh((void *)t->stack_low,
			      (uint64_t)__builtin_frame_address(0) - t->stack_low - 4096);
	return t;
}

struct snarlrt_thread *snarlrt_enter_slow(void)
{
	struct snarlrt_tls *tls = &__snarl_tls;

	if (tls->busy || tls->hidden || tls->ended || !mode_records())
		return NULL;
	if (!tls->self) {
		uint32_t n = __atomic_add_fetch(&snarlrt.next_foreign, 1, __ATOMIC_RELAXED);

		snarlrt.threaded = true;
		if (!snarlrt_thread_attach(snarlrt_thread_new_id(), 0, n, NULL, NULL))
			return NULL;
		snarlrt_thread_arm_exit();
	}
	tls->busy = 1;
	if (!tls->cur)
		tls->cur = tls->saved;
	return tls->self;
}

void record_thread_begin(const struct mode_thread *t)
{
	if (!__snarl_tls.self &&
	    snarlrt_thread_attach(t->id, t->parent, t->ordinal, t->routine, NULL))
		snarlrt_thread_arm_exit();
}

void snarlrt_thread_exit(void)
{
	struct snarlrt_tls *tls = &__snarl_tls;
	struct snarlrt_thread *self = tls->self;
	uint64_t mask;

	if (!self)
		return;
	tls->hidden = 0;
	snarlrt_note(TRACE_THREAD_EXIT, 0, NULL, 0, 0, NULL);
	mask = snarlrt_signals_block();
	if (!snarlrt_enter()) {
		snarlrt_signals_set(mask);
		return;
	}
	snarlrt_flush(self);
	tls->ended = 1;
	snarlrt_set_own(tls, 0);
	tls->own_uncut = 0;
	tls->cur = tls->saved = NULL;
	tls->self = NULL;
	tls->frame = tls->frame_end = tls->frame_first = tls->eager_end = NULL;
	tls->emitted = (struct snarlrt_frame *)-1;
	__atomic_store_n(&self->live->thread, 0, __ATOMIC_RELEASE);
	thread_free(self);
	tls->busy = 0;
	snarlrt_signals_set(mask);
}

void snarlrt_thread_fork(bool begin)
{
	if (begin)
		snarlrt_lock(&thread_lock);
	else
		snarlrt_unlock(&thread_lock);
}

/* In a forked child: no other thread exists, so no atomic operation is under way. */
bool snarlrt_thread_forked(void)
{
	for (uint32_t i = 0; i < CLOCK_STRIPES; i++)
		snarlrt_stripes[i].time &= ~1ull;
	__snarl_tls.self->slot = 0;
	__snarl_tls.self->tid = (uint32_t)sys_call(SYS_gettid, 0, 0, 0);
	slots()[0].thread = __snarl_tls.self->id;
	return snarlrt_live_room(ring_of(0), LIVE_RING_BYTES);
}
