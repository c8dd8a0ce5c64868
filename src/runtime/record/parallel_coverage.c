/*
 * Folds a parallel run into the iRoots that it exposes (coverage/fold/iroot_fold.h). Threads fill
 * their rings as when the program is recorded, but the rings go to the fold in the tool's memory,
 * not to a trace.
 *
 * A thread moves its records from the ring to a queue (coverage/fold/queue.h) when a page of the
 * ring is full, and at each event other than an acquisition or malloc. It does so before other
 * threads can notice the event. So an event is in the queue before all events that it happens
 * before. The order of the queue is exact for locks, conditions and atomics, and for plain accesses
 * that these order. A racing access takes the position of its thread's next move.
 *
 * When the queue is long enough, the next thread that moves its records folds the queue, unless
 * another thread does so already.
 *
 * While a granule is private, its first CUT_AFTER accesses are folded, and those up to the next
 * move. Then it is cut, and accesses cost nothing. If it becomes shared later, the fold forgets its
 * earlier accesses, since the last one is not known. Dependencies on them are lost and counted,
 * never invented. With filter=off nothing is cut.
 */
#include "runtime/record/parallel_coverage.h"

#include "abi/trace_roles.h"
#include "coverage/fold/queue.h"
#include "runtime/core/lock.h"
#include "runtime/core/sys.h"
#include "runtime/core/tool_block.h"
#include "runtime/record/ring.h"

#define CUT_AFTER 32u		/* accesses to a private granule after which it is cut */
#define ACCESS_COUNTS (1u << 16)	/* size of a table that is hashed by granule */
/* Number of records in the queue from which on it is folded. */
#define FOLD_FROM (TRACE_QUEUE_RECORDS / 4)
/* How often the end of the process yields to a thread that is moving its records. */
#define END_WAITS 1000u

static struct {
	struct snarlrt_lock lock;	/* held by the thread that folds */
	struct iroot_profile *profile;	/* NULL: the run has ended */
	struct trace_queue *queue;
} coverage;
/* Accesses to private granules, by a hash of the granule. */
static uint8_t access_counts[ACCESS_COUNTS] SNARLRT_BIG;

/*
 * For each slot, the mover of the ring's records: none, the slot's thread, or, for good, the end of
 * the process.
 */
enum { MOVER_NONE, MOVER_THREAD, MOVER_END };
static uint8_t movers[LIVE_SLOTS] SNARLRT_BIG;

static bool mover_take(uint32_t slot, uint8_t mover)
{
	uint8_t none = MOVER_NONE;

	return __atomic_compare_exchange_n(&movers[slot], &none, mover, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

bool snarlrt_profile_begin(const char *path)
{
	struct ctl_block *b = tool_block_map(path);
	char *memory;

	if (!b)
		return false;
	memory = (char *)b + b->profile;
	/* After exec, or in a child, the profile belongs to the process that began it. */
	if (__atomic_exchange_n(&b->ready, 1, __ATOMIC_RELAXED) ||
	    b->profile_size < sizeof(struct trace_queue))
		return false;
	coverage.queue = trace_queue_of(memory, b->profile_size);
	coverage.queue->magic = TRACE_QUEUE_MAGIC;
	coverage.profile = tool_block_profile(b, b->profile_size - sizeof(*coverage.queue));
	return coverage.profile;
}

/*
 * Folds the queue if it is long enough and no other thread does. Called between enter and leave,
 * and never while the thread holds a lock that other threads spin for.
 */
void snarlrt_profile_fold(void)
{
	const struct trace_queue *q = coverage.queue;
	uint32_t free = 0;

	if (__atomic_load_n(&q->tail, __ATOMIC_RELAXED) -
			__atomic_load_n(&q->head, __ATOMIC_RELAXED) < FOLD_FROM ||
	    !__atomic_compare_exchange_n(&coverage.lock.state, &free, 1, false, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED))
		return;
	trace_queue_fold(coverage.queue, coverage.profile);
	snarlrt_unlock(&coverage.lock);
}

/*
 * Waits until the queue has room up to position `end`: folds it as far as possible. Threads that
 * reserved earlier positions may not have written them yet.
 */
static void wait_for_room(uint64_t end)
{
	while (end - __atomic_load_n(&coverage.queue->head, __ATOMIC_ACQUIRE) >
	       TRACE_QUEUE_RECORDS) {
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

/* Appends a thread's records to the queue, as one entry. */
static void queue_put(uint32_t thread, const struct trace_record *from, uint32_t count)
{
	uint64_t at = __atomic_fetch_add(&coverage.queue->tail, count + 1, __ATOMIC_ACQ_REL);
	struct trace_record *first = trace_queue_at(coverage.queue, at);

	wait_for_room(at + count + 1);
	for (uint32_t i = 0; i < count; i++)
		*trace_queue_at(coverage.queue, at + 1 + i) = from[i];
	first->addr = (uint64_t)thread << 32 | count;
	/* pairs with the load of the folding thread (coverage/fold/queue.h) */
	__atomic_store_n(&first->site, trace_queue_mark(at), __ATOMIC_RELEASE);
}

/* Counts an access to a private granule, and cuts it if it had many. */
static void cut_granule(uint64_t granule, uint16_t uncut)
{
	uint16_t *s = (uint16_t *)(SHADOW_BASE + granule * 2), seen = uncut;
	uint8_t *count = &access_counts[granule % ACCESS_COUNTS];

	/* Only the owner counts. If two granules share a counter, some accesses are not counted. */
	if (__atomic_load_n(s, __ATOMIC_RELAXED) != uncut)
		return;
	__atomic_store_n(count, __atomic_load_n(count, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
	if (__atomic_load_n(count, __ATOMIC_RELAXED) < CUT_AFTER)
		return;
	__atomic_store_n(count, 0, __ATOMIC_RELAXED);
	__atomic_compare_exchange_n(s, &seen, uncut | 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* Counts the accesses of these records to private granules. */
static void cut_early(const struct trace_record *r, const struct trace_record *end)
{
	uint16_t uncut = __snarl_tls.own_uncut;

	for (; uncut && r < end; r += 1 + trace_extra(trace_site_kind(r->site))) {
		unsigned kind = trace_site_kind(r->site);
		uint64_t addr = r->addr & TRACE_ADDR_MASK, size = trace_site_size(r->site);

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

/* The ring's first record is never used: at the start of a page, compiled code would call C. */
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
		return;		/* the run has ended */
	queue_put(self->id, from, (uint32_t)(end - from));
	while (end > from)
		(--end)->site = 0;	/* fold_rest() finds the end of the records by this */
	__atomic_store_n(&movers[self->slot], MOVER_NONE, __ATOMIC_RELEASE);
}

/* Folds the records in the ring of a thread that still runs or waits. */
static void fold_rest(uint32_t slot)
{
	struct live_header *live = snarlrt.live;
	const struct live_slot *s =
		(const struct live_slot *)(void *)((char *)live + live->slots) + slot;
	const struct trace_record *r =
		(const struct trace_record *)(void *)((char *)live + live->rings +
						      (size_t)slot * LIVE_RING_BYTES) + 1;
	const struct trace_record *end = r + LIVE_RING_RECORDS - 4;
	uint32_t thread = __atomic_load_n(&s->thread, __ATOMIC_ACQUIRE);

	while (thread && r < end) {
		struct trace_record first = { r->addr,
					      __atomic_load_n(&r->site, __ATOMIC_ACQUIRE) };
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
				     __atomic_load_n(&movers[slot], __ATOMIC_RELAXED) != MOVER_END;
		     i++)
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

/* An event MMAP makes the fold forget the granule. */
void snarlrt_profile_shared(struct snarlrt_thread *self, uint64_t granule)
{
	const struct trace_record r[2] = { { granule * 8, TRACE_SITE(TRACE_MMAP, 0, 0) },
					   { 0, 8 } };

	snarlrt_append(self, r, 2);
}

void snarlrt_profile_fresh(uint64_t granule, uint64_t count)
{
	uint64_t first = granule % ACCESS_COUNTS;

	if (count > ACCESS_COUNTS - first) {
		sys_clear(access_counts, count - (ACCESS_COUNTS - first) < ACCESS_COUNTS
						 ? count - (ACCESS_COUNTS - first)
						 : ACCESS_COUNTS);
		count = ACCESS_COUNTS - first;
	}
	sys_clear(access_counts + first, count);
}
