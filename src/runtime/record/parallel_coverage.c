/*
 * Profiling without control: the program runs in parallel as when it is recorded, and its threads fill
 * their rings in the same way. But these do not go to a trace: they are folded into the iRoots of the
 * run (coverage/fold/iroot_fold.h), in the tool's memory.
 *
 * A ring goes to a queue (coverage/fold/queue.h) when a page of it is full, and whenever its thread notes anything
 * but that it got a lock or memory. Such notes are made before others can know of what they tell. So all
 * that a thread did is in the queue before what follows on it by synchronization, and the order of the
 * queue is the real one: of locks, conditions, atomics and the like, and of plain accesses that
 * these order. One that races is as if done when its thread next notes something, or its page is full.
 *
 * When there is enough in the queue, the next one who comes folds it, if nobody else does.
 *
 * While memory is one thread's alone, its first CUT_AFTER accesses to a granule are folded, and those up to the
 * next time that the ring goes to the queue; then it is cut, and they cost nothing any more. Should it
 * become shared after that, what it was used for before is forgotten, for the last one before is not
 * known: dependencies on these are lost, counted, and never made up. With filter=off nothing is cut.
 */
#include "runtime/record/parallel_coverage.h"

#include "abi/trace_roles.h"
#include "coverage/fold/queue.h"
#include "runtime/core/lock.h"
#include "runtime/core/sys.h"
#include "runtime/core/tool_block.h"
#include "runtime/record/ring.h"

#define CUT_AFTER 32u
#define ACCESS_COUNTS (1u << 16)
#define FOLD_FROM (TRACE_QUEUE_RECORDS / 4)	/* records in the queue */
#define END_WAITS 1000u	/* times that the end waits for a thread */

static struct {
	struct snarlrt_lock lock;	/* of who folds */
	struct iroot_profile *profile;	/* NULL: the run is over */
	struct trace_queue *queue;
} coverage;
static uint8_t access_counts[ACCESS_COUNTS] SNARLRT_BIG;	/* by granule, of those that may be private; two may share one */

/* Who moves the records of a slot's ring: nobody, its thread, or the end, for good. */
enum { MOVER_NONE, MOVER_THREAD, MOVER_END };
static uint8_t movers[LIVE_SLOTS] SNARLRT_BIG;

static bool mover_take(uint32_t slot, uint8_t who)
{
	uint8_t none = MOVER_NONE;

	return __atomic_compare_exchange_n(&movers[slot], &none, who, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

bool snarlrt_profile_begin(const char *path)
{
	struct ctl_block *b = tool_block_map(path);
	char *memory;

	if (!b)
		return false;
	memory = (char *)b + b->profile;
	/* An image that this process became by exec, or a child: the profile is its predecessor's. */
	if (__atomic_exchange_n(&b->ready, 1, __ATOMIC_RELAXED) || b->profile_size < sizeof(struct trace_queue))
		return false;
	coverage.queue = trace_queue_of(memory, b->profile_size);
	coverage.queue->magic = TRACE_QUEUE_MAGIC;
	coverage.profile = tool_block_profile(b, b->profile_size - sizeof(*coverage.queue));
	return coverage.profile;
}

/* Between enter and leave, but not while something is held that others spin for. */
void snarlrt_profile_fold(void)
{
	const struct trace_queue *q = coverage.queue;
	uint32_t free = 0;

	if (__atomic_load_n(&q->tail, __ATOMIC_RELAXED) - __atomic_load_n(&q->head, __ATOMIC_RELAXED) < FOLD_FROM ||
	    !__atomic_compare_exchange_n(&coverage.lock.state, &free, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	trace_queue_fold(coverage.queue, coverage.profile);
	snarlrt_unlock(&coverage.lock);
}

/* Room for what lies before `end`. Others who took their places before may not be done. */
static void wait_for_room(uint64_t end)
{
	while (end - __atomic_load_n(&coverage.queue->head, __ATOMIC_ACQUIRE) > TRACE_QUEUE_RECORDS) {
		uint64_t head;

		snarlrt_lock(&coverage.lock);
		head = coverage.queue->head;
		trace_queue_fold(coverage.queue, coverage.profile);
		head -= coverage.queue->head;
		snarlrt_unlock(&coverage.lock);
		if (!head)
			sys_call(SYS_sched_yield, 0, 0, 0);
	}
}

static void queue_put(uint32_t thread, const struct trace_record *from, uint32_t count)
{
	uint64_t at = __atomic_fetch_add(&coverage.queue->tail, count + 1, __ATOMIC_ACQ_REL);
	struct trace_record *first = trace_queue_at(coverage.queue, at);

	wait_for_room(at + count + 1);
	for (uint32_t i = 0; i < count; i++)
		*trace_queue_at(coverage.queue, at + 1 + i) = from[i];
	first->addr = (uint64_t)thread << 32 | count;
	/* Pairs with the load of who folds. */
	__atomic_store_n(&first->site, trace_queue_mark(at), __ATOMIC_RELEASE);
}

static void cut_granule(uint64_t granule, uint16_t uncut)
{
	uint16_t *s = (uint16_t *)(SHADOW_BASE + granule * 2), seen = uncut;
	uint8_t *count = &access_counts[granule % ACCESS_COUNTS];

	/* Who access_counts owns the granule: should another thread use the same count, they may miss some. */
	if (__atomic_load_n(s, __ATOMIC_RELAXED) != uncut)
		return;
	__atomic_store_n(count, __atomic_load_n(count, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
	if (__atomic_load_n(count, __ATOMIC_RELAXED) < CUT_AFTER)
		return;
	__atomic_store_n(count, 0, __ATOMIC_RELAXED);
	__atomic_compare_exchange_n(s, &seen, uncut | 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* What is private and used often. */
static void cut_early(const struct trace_record *r, const struct trace_record *end)
{
	uint16_t uncut = __snarl_tls.own_uncut;

	for (; uncut && r < end; r += 1 + trace_extra(trace_site_kind(r->site))) {
		unsigned kind = trace_site_kind(r->site);
		uint64_t addr = r->addr & TRACE_ADDR_MASK, size = 1ull << (r->site >> 56 & TRACE_SIZE_MASK);

		if (trace_roles(kind) & ROLE_RANGE)
			size = r[1].site;
		else if (kind != TRACE_READ && kind != TRACE_WRITE)
			continue;
		if (addr > TRACE_ADDR_MASK >> 1 || size > TRACE_ADDR_MASK >> 1)
			continue;
		for (uint64_t granule = addr / 8; granule <= (addr + size - 1) / 8; granule++)
			cut_granule(granule, uncut);
	}
}

/* The first record of a ring is never used: at the start of a page the thunks would ask C. */
void snarlrt_profile_flush(struct snarlrt_thread *self)
{
	struct snarlrt_tls *tls = &__snarl_tls;
	struct trace_record *from = self->ring + 1, *end = tls->cur;

	tls->cur = from;
	if (end <= from)
		return;
	if (tls->undecided)
		cut_early(from, end);
	tls->undecided = 0;
	if (!mover_take(self->slot, MOVER_THREAD))
		return;		/* it is over */
	queue_put(self->id, from, (uint32_t)(end - from));
	while (end > from)
		(--end)->site = 0;	/* as fold_rest knows the end */
	__atomic_store_n(&movers[self->slot], MOVER_NONE, __ATOMIC_RELEASE);
}

/* What a thread that still runs, or waits, did since its ring last went to the queue. */
static void fold_rest(uint32_t slot)
{
	struct live_header *live = snarlrt.live;
	const struct live_slot *s = (const struct live_slot *)(void *)((char *)live + live->slots) + slot;
	const struct trace_record *r = (const struct trace_record *)(void *)((char *)live + live->rings +
									      (size_t)slot * LIVE_RING_BYTES) + 1;
	const struct trace_record *end = r + LIVE_RING_RECORDS - 4;
	uint32_t thread = __atomic_load_n(&s->thread, __ATOMIC_ACQUIRE);

	while (thread && r < end) {
		struct trace_record first = { r->addr, __atomic_load_n(&r->site, __ATOMIC_ACQUIRE) };
		unsigned extra = trace_extra(trace_site_kind(first.site));

		if (!trace_site_kind(first.site))
			return;
		trace_queue_event(coverage.profile, thread, extra ? r : &first);
		r += 1 + extra;
	}
}

void snarlrt_profile_end(void)
{
	for (uint32_t slot = 0; slot < LIVE_SLOTS; slot++)
		for (uint32_t i = 0; i < END_WAITS && !mover_take(slot, MOVER_END) &&
				     __atomic_load_n(&movers[slot], __ATOMIC_RELAXED) != MOVER_END; i++)
			sys_call(SYS_sched_yield, 0, 0, 0);
	snarlrt_lock(&coverage.lock);
	if (coverage.profile) {
		trace_queue_fold(coverage.queue, coverage.profile);
		for (uint32_t slot = 0; slot < LIVE_SLOTS; slot++)
			if (movers[slot] == MOVER_END)
				fold_rest(slot);
	}
	coverage.profile = NULL;
	snarlrt_unlock(&coverage.lock);
}

void snarlrt_profile_shared(struct snarlrt_thread *self, uint64_t granule)
{
	const struct trace_record r[2] = { { granule * 8, TRACE_SITE(TRACE_MMAP, 0, 0) }, { 0, 8 } };

	snarlrt_append(self, r, 2);
}

void snarlrt_profile_fresh(uint64_t granule, uint64_t count)
{
	uint64_t first = granule % ACCESS_COUNTS;

	if (count > ACCESS_COUNTS - first) {
		sys_clear(access_counts, count - (ACCESS_COUNTS - first) < ACCESS_COUNTS ? count - (ACCESS_COUNTS - first) : ACCESS_COUNTS);
		count = ACCESS_COUNTS - first;
	}
	sys_clear(access_counts + first, count);
}
