/*
 * The stash: chunks with undecided accesses, whose memory only one thread has accessed so far.
 *
 * Such an access matters only if another thread accesses the memory later. So these chunks wait in
 * a circular queue in live memory, oldest first. When the queue holds more than `window` records,
 * where a loop group counts as all its accesses, the oldest chunk is decided. Accesses to memory
 * that became shared go to the trace. The others are dropped and their memory is marked "cut": the
 * owner's further accesses to it cost one compare and are not recorded. If cut memory becomes
 * shared later, the trace lacks its early history, which is counted (cut_locations) and reported.
 * At exit all chunks are decided, and nothing is cut.
 */
#include "abi/loop_group.h"
#include "abi/trace_roles.h"
#include "runtime/core/lock.h"
#include "runtime/core/sys.h"
#include "runtime/record/ring.h"
#include "runtime/record/shadow_decide.h"
#include "runtime/record/trace_file.h"

#define ALIGN 8u
#define PENDING_ENTRIES 64u	/* function entries that a filter can hold back */
#define PREFETCH_AHEAD 16u	/* the shadow of the access this many records ahead is prefetched */

static struct snarlrt_lock stash_lock;

/* Buffers for deciding a chunk, used under stash_lock: its records, and those that are kept. */
static struct trace_coder coder SNARLRT_BIG;
static struct trace_record raw[LIVE_RING_RECORDS + 3 + PREFETCH_AHEAD] SNARLRT_BIG,
	kept[LIVE_RING_RECORDS + 3] SNARLRT_BIG;
static uint8_t filtered_chunk[sizeof(struct trace_chunk) +
		       LIVE_RING_RECORDS * TRACE_RECORD_MAX + TRACE_SLACK]
	__attribute__((aligned(16)));

static struct shadow_decider decider SNARLRT_BIG;

/* State of deciding a chunk. */
struct filter {
	struct trace_record *kept;	/* where the next kept record goes */
	const struct trace_record *end;	/* of the chunk's records */
	uint64_t dropped;	/* number of accesses dropped */
	uint64_t loop_excess;	/* loop excess of the chunk */
	/*
	 * Records that are kept only if a kept event follows: the function entries around it, and
	 * the last stamp.
	 */
	struct trace_record entry[PENDING_ENTRIES];
	unsigned entries;
	struct trace_record stamp;
	/* An event was kept since the last stamp: the next stamp bounds its time. */
	bool untimed;
};

static uint8_t *stash_at(uint64_t position)
{
	struct live_header *live = snarlrt.live;

	return (uint8_t *)live + live->stash + position % live->stash_size;
}

static uint64_t entry_bytes(const struct trace_chunk *chunk)
{
	return (sizeof(*chunk) + chunk->stored + ALIGN - 1) & ~(uint64_t)(ALIGN - 1);
}

/* Keeps the pending records: an event that follows them is kept. */
static void put_pending(struct filter *f)
{
	if (f->stamp.site)
		*f->kept++ = f->stamp;
	f->stamp.site = 0;
	for (unsigned i = 0; i < f->entries; i++)
		*f->kept++ = f->entry[i];
	f->entries = 0;
}

static uint64_t access_size(const struct trace_record *r)
{
	return 1ull << (r->site >> 56 & TRACE_SIZE_MASK);
}

/* Decides an event other than a plain access: a range may be dropped, all others are kept. */
static bool is_kept(struct filter *f, const struct trace_record *r, unsigned kind)
{
	if (!(trace_roles(kind) & ROLE_RANGE) || shadow_decide(&decider, r->addr, r[1].site))
		return true;
	f->dropped++;
	return false;
}

/* Keeps some accesses of a loop, by bits of `which`, in `iterations` iterations from `from` on. */
static void put_iterations(struct filter *f, const struct trace_loop *l, uint32_t which,
			   uint64_t from, uint64_t iterations)
{
	struct trace_record *group = f->kept, *r = group + (iterations > 1);
	unsigned count = 0;

	for (unsigned i = 0; i < l->accesses; i++)
		if (which >> i & 1) {
			r = trace_loop_put(r,
					   (l->at[i].addr + from * l->stride[i]) & TRACE_ADDR_MASK,
					   iterations > 1 ? l->stride[i] : 0, l->at[i].site);
			count++;
		}
	f->dropped += iterations * (l->accesses - count);
	if (!count)
		return;
	if (iterations > 1)
		trace_loop_head(group, iterations, count);
	f->kept = r;
}

/* Decides the accesses `some` in one iteration. Returns those that are kept. */
static uint32_t kept_in_iteration(const struct trace_loop *l, uint32_t some, uint64_t iteration)
{
	uint32_t which = 0;

	for (; some; some &= some - 1) {
		unsigned i = (unsigned)__builtin_ctz(some);
		uint64_t addr = (l->at[i].addr + iteration * l->stride[i]) & TRACE_ADDR_MASK;

		if (shadow_decide_access(&decider, addr, access_size(&l->at[i])))
			which |= 1u << i;
	}
	return which;
}

/*
 * Splits a loop: the accesses `all` are kept in all iterations, the accesses `some` in some of
 * them. Successive iterations that keep the same accesses become one group. If there is no room for
 * another group and the `behind` records that follow, all remaining iterations keep `some`, too.
 */
static void split_loop(struct filter *f, const struct trace_loop *l, uint32_t all, uint32_t some,
		       size_t size, size_t behind)
{
	const struct trace_record *full = kept + LIVE_RING_RECORDS - behind - size;
	uint64_t from = 0;

	while (from < l->iterations) {
		uint32_t which = all | kept_in_iteration(l, some, from);
		uint64_t to = from + 1;

		while (to < l->iterations && (all | kept_in_iteration(l, some, to)) == which)
			to++;
		if (to < l->iterations && f->kept + size > full) {
			which = all | some;
			to = l->iterations;
		}
		put_iterations(f, l, which, from, to - from);
		from = to;
	}
}

/* Decides a loop group. Some of its accesses may be kept, others dropped. */
static void filter_loop(struct filter *f, const struct trace_record *r, size_t size)
{
	uint32_t keep = 0, drop = 0;
	struct trace_loop l;

	trace_loop_begin(&l, r);
	f->loop_excess += l.iterations * l.accesses - size;
	for (unsigned i = 0; i < l.accesses; i++) {
		unsigned found = shadow_decide_loop(&decider, l.at[i].addr, l.stride[i],
						    l.iterations, access_size(&l.at[i]));

		keep |= (found & SHADOW_SOME_KEEP ? 1u : 0) << i;
		drop |= (found & SHADOW_SOME_DROP ? 1u : 0) << i;
	}
	if (keep) {
		put_pending(f);
		f->untimed = true;
	}
	if (keep & drop)
		split_loop(f, &l, keep & ~drop, keep & drop, size, (size_t)(f->end - r) - size);
	else
		put_iterations(f, &l, keep, 0, l.iterations);
}

/* Keeps a nest: all its memory was shared when it was recorded. */
static void keep_nest(struct filter *f, const struct trace_record *r, size_t size)
{
	put_pending(f);
	f->untimed = true;
	f->loop_excess += trace_loop_events(r) - size;
	for (size_t i = 0; i < size; i++)
		*f->kept++ = r[i];
}

static inline bool is_plain(const struct trace_record *r)
{
	return trace_site_kind(r->site) == TRACE_READ || trace_site_kind(r->site) == TRACE_WRITE;
}

/* Decides a row of plain accesses, which most events are. Returns the event behind them. */
static const struct trace_record *filter_plain(struct filter *f, const struct trace_record *r)
{
	/* Where the next kept record goes; NULL: records may be pending. */
	struct trace_record *to = NULL;
	uint64_t dropped = 0;

	for (; r < f->end && is_plain(r); r++) {
		shadow_prefetch(r[PREFETCH_AHEAD].addr);
		if (!shadow_decide_access(&decider, r->addr, access_size(r))) {
			dropped++;
			continue;
		}
		if (!to) {
			put_pending(f);
			to = f->kept;
			f->untimed = true;
		}
		*to++ = *r;
	}
	if (to)
		f->kept = to;
	f->dropped += dropped;
	return r;
}

/* Decides one event and returns the next one. */
static const struct trace_record *filter_event(struct filter *f, const struct trace_record *r)
{
	unsigned kind = trace_site_kind(r->site), count = 1 + trace_extra(kind);
	size_t loop = kind == TRACE_LOOP ? trace_loop_size(r, (size_t)(f->end - r)) : 0;

	if (loop) {
		(trace_loop_is_nest(r) ? keep_nest : filter_loop)(f, r, loop);
		return r + loop;
	}
	if (kind == TRACE_STAMP) {
		if (f->untimed)
			*f->kept++ = *r;	/* it bounds the time of the events before it */
		else
			f->stamp = *r;
		f->untimed = false;
		return r + 1;
	}
	if (kind == TRACE_FUNC_ENTRY) {
		if (f->entries == PENDING_ENTRIES)
			put_pending(f);
		f->entry[f->entries++] = *r;
		return r + 1;
	}
	if (kind == TRACE_FUNC_EXIT && f->entries) {
		f->entries--;
		return r + 1;
	}
	if (is_kept(f, r, kind)) {
		put_pending(f);
		for (unsigned i = 0; i < count; i++)
			*f->kept++ = r[i];
		f->untimed = true;
	}
	return r + count;
}

/*
 * Decides a chunk and writes the records that are kept. A chunk without records is written, too, so
 * that the numbers of chunks have no gaps. Returns the number of records for which the chunk
 * counted in the window.
 */
static uint64_t decide(struct trace_chunk *chunk, bool cut)
{
	struct trace_chunk *out = (struct trace_chunk *)filtered_chunk;
	const uint8_t *payload = (const uint8_t *)(chunk + 1);
	struct filter f = { .kept = kept };
	uint8_t *end;
	size_t count = 0;

	trace_coder_init(&coder, chunk->time);
	if (!trace_decode_many(&coder, payload, payload + chunk->stored, raw,
			       ARRAY_SIZE(raw) - PREFETCH_AHEAD, &count))
		count = 0;
	f.end = raw + count;
	shadow_decider_init(&decider, chunk->thread, chunk->time, cut);
	for (const struct trace_record *r = raw; r < f.end;)
		r = is_plain(r) ? filter_plain(&f, r) : filter_event(&f, r);
	shadow_decider_end(&decider);
	/* nothing was dropped: the chunk is written as it is */
	if (f.dropped == 0 && count > 0) {
		snarlrt_chunk_write(chunk);
		return chunk->count + f.loop_excess;
	}
	put_pending(&f);
	*out = *chunk;
	out->count = (uint32_t)(f.kept - kept);
	trace_coder_init(&coder, chunk->time);
	end = trace_encode(&coder, (uint8_t *)(out + 1), kept, f.kept);
	end = trace_encode_end(&coder, end);
	out->stored = (uint32_t)(end - (uint8_t *)(out + 1));
	snarlrt_chunk_write(out);
	if (cut)
		snarlrt.live->cut_records += f.dropped;
	return chunk->count + f.loop_excess;
}

/*
 * Decides the oldest chunk. It leaves the queue after it was written, so that a killed process does
 * not lose it.
 */
static void decide_oldest(bool cut)
{
	struct live_header *live = snarlrt.live;
	struct trace_chunk *chunk = (struct trace_chunk *)stash_at(live->stash_tail);
	uint64_t bytes = entry_bytes(chunk);

	if (chunk->type == TRACE_CHUNK_EVENTS)
		live->stash_records -= decide(chunk, cut);
	__atomic_store_n(&live->stash_tail, live->stash_tail + bytes, __ATOMIC_RELEASE);
}

/* Decides chunks until `bytes` fit into the queue and the window is not exceeded. */
static void make_room(uint64_t bytes)
{
	struct live_header *live = snarlrt.live;

	while (live->stash_head + bytes - live->stash_tail > live->stash_size ||
	       (live->stash_records > snarlrt.window && live->stash_tail < live->stash_head))
		decide_oldest(true);
}

/*
 * A chunk does not wrap around: if it does not fit at the end of the queue's memory, fills that
 * with an empty entry.
 */
static void skip_to_start(uint64_t bytes)
{
	struct live_header *live = snarlrt.live;
	uint64_t left = live->stash_size - live->stash_head % live->stash_size;
	struct trace_chunk *gap;

	if (left >= bytes)
		return;
	make_room(left);
	gap = (struct trace_chunk *)stash_at(live->stash_head);
	*gap = (struct trace_chunk){ .magic = TRACE_CHUNK_MAGIC,
				     .stored = (uint32_t)(left - sizeof(*gap)) };
	gap->header_check = trace_check(gap, offsetof(struct trace_chunk, header_check));
	__atomic_store_n(&live->stash_head, live->stash_head + left, __ATOMIC_RELEASE);
}

void snarlrt_stash_push(struct trace_chunk *chunk, uint64_t events)
{
	struct live_header *live = snarlrt.live;
	uint64_t bytes = entry_bytes(chunk);
	uint64_t *to, *from = (uint64_t *)chunk;
	bool room;

	chunk->magic = TRACE_CHUNK_MAGIC;
	chunk->size = chunk->stored;
	chunk->check = trace_check(chunk + 1, chunk->stored);
	chunk->header_check = trace_check(chunk, offsetof(struct trace_chunk, header_check));
	snarlrt_lock(&stash_lock);
	/* leave room for the header of an empty entry behind every chunk */
	skip_to_start(bytes + sizeof(*chunk));
	make_room(bytes + sizeof(*chunk));
	to = (uint64_t *)stash_at(live->stash_head);
	room = snarlrt_live_room(to, bytes + sizeof(*chunk));
	for (uint64_t i = 0; room && i < bytes / 8; i++)
		to[i] = from[i];
	if (room) {
		__atomic_store_n(&live->stash_head, live->stash_head + bytes, __ATOMIC_RELEASE);
		live->stash_records += events;
	}
	snarlrt_unlock(&stash_lock);
	if (!room)
		/* Keep all its accesses; a failed write is counted as loss. */
		snarlrt_chunk_write(chunk);
}

void snarlrt_stash_drain(void)
{
	struct live_header *live = snarlrt.live;
	struct snarlrt_thread *self = snarlrt_enter();

	snarlrt_lock(&stash_lock);
	while (live->stash_tail < live->stash_head)
		decide_oldest(false);
	snarlrt_unlock(&stash_lock);
	snarlrt_outbox_flush();
	if (self)
		snarlrt_leave(self);
}

void snarlrt_stash_forked(void)
{
	stash_lock.state = 0;
}
