/*
 * Chunks that hold accesses to memory only one thread has touched so far.
 *
 * Whether such an access must be kept is known only when another thread comes,
 * or never does. The stash holds these chunks, oldest first, in a circular queue
 * in live memory. When it holds `window` records (a loop counts for all its accesses) the oldest is decided:
 * what became shared goes to the file, the rest is dropped and its memory marked
 * "cut", after which the owner's accesses to it cost one compare and leave nothing
 * behind. Should cut memory become shared later, its early history is missing:
 * that is counted (cut_locations) and shown. At exit everything left is decided.
 */
#include "abi/loop_group.h"
#include "abi/trace_roles.h"
#include "runtime/core/lock.h"
#include "runtime/core/sys.h"
#include "runtime/record/ring.h"
#include "runtime/record/shadow_decide.h"
#include "runtime/record/trace_file.h"

#define ALIGN 8u
#define PENDING 64u
#define AHEAD 16u	/* records: whose memory will be asked for */

static struct snarlrt_lock stash_lock;

/* For deciding, under the lock: a chunk, and what is kept of it. */
static struct trace_coder coder SNARLRT_BIG;
static struct trace_record raw[LIVE_RING_RECORDS + 3 + AHEAD] SNARLRT_BIG, kept[LIVE_RING_RECORDS + 3] SNARLRT_BIG;
static uint8_t decided[sizeof(struct trace_chunk) +
		       LIVE_RING_RECORDS * TRACE_RECORD_MAX + TRACE_SLACK]
	__attribute__((aligned(16)));

static struct shadow_decider decider SNARLRT_BIG;

struct filter {
	struct trace_record *kept;
	const struct trace_record *end;
	uint64_t dropped, in_loops;
	/* Told only if something kept follows: the calls around it, the last stamp. */
	struct trace_record entry[PENDING];
	unsigned entries;
	struct trace_record stamp;
	bool untimed;		/* something was kept since the last stamp */
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

/* All but plain accesses. */
static bool wanted(struct filter *f, const struct trace_record *r, unsigned kind)
{
	if (!(trace_roles(kind) & ROLE_RANGE) || shadow_decide(&decider, r->addr, r[1].site))
		return true;
	f->dropped++;
	return false;
}

/* Of a loop: these accesses, a bit each, in some turns. */
static void put_turns(struct filter *f, const struct trace_loop *l, uint32_t which, uint64_t from, uint64_t turns)
{
	struct trace_record *group = f->kept, *r = group + (turns > 1);
	unsigned count = 0;

	for (unsigned i = 0; i < l->accesses; i++)
		if (which >> i & 1) {
			r = trace_loop_put(r, (l->at[i].addr + from * l->stride[i]) & TRACE_ADDR_MASK,
					   turns > 1 ? l->stride[i] : 0, l->at[i].site);
			count++;
		}
	f->dropped += turns * (l->accesses - count);
	if (!count)
		return;
	if (turns > 1)
		trace_loop_head(group, turns, count);
	f->kept = r;
}

/* Which accesses of `some` are to be kept in one turn. */
static uint32_t wanted_in_turn(const struct trace_loop *l, uint32_t some, uint64_t turn)
{
	uint32_t which = 0;

	for (; some; some &= some - 1) {
		unsigned i = (unsigned)__builtin_ctz(some);
		uint64_t addr = (l->at[i].addr + turn * l->stride[i]) & TRACE_ADDR_MASK;

		if (shadow_decide_access(&decider, addr, access_size(&l->at[i])))
			which |= 1u << i;
	}
	return which;
}

/*
 * Accesses of `some` are to be kept in some turns: each run of turns of which the same is kept becomes a group,
 * as long as there is room for that before the records behind this one.
 */
static void split_loop(struct filter *f, const struct trace_loop *l, uint32_t all, uint32_t some, size_t size,
		       size_t behind)
{
	const struct trace_record *full = kept + LIVE_RING_RECORDS - behind - size;
	uint64_t from = 0;

	while (from < l->turns) {
		uint32_t which = all | wanted_in_turn(l, some, from);
		uint64_t to = from + 1;

		while (to < l->turns && (all | wanted_in_turn(l, some, to)) == which)
			to++;
		if (to < l->turns && f->kept + size > full) {
			which = all | some;
			to = l->turns;
		}
		put_turns(f, l, which, from, to - from);
		from = to;
	}
}

/* Of the loop's memory, any of it may be private. */
static void filter_loop(struct filter *f, const struct trace_record *r, size_t size)
{
	uint32_t keep = 0, drop = 0;
	struct trace_loop l;

	trace_loop_begin(&l, r);
	f->in_loops += l.turns * l.accesses - size;
	for (unsigned i = 0; i < l.accesses; i++) {
		unsigned found = shadow_decide_loop(&decider, l.at[i].addr, l.stride[i], l.turns,
						    access_size(&l.at[i]));

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
		put_turns(f, &l, keep, 0, l.turns);
}

/* What a nest stands for was shared when it was told. */
static void keep_nest(struct filter *f, const struct trace_record *r, size_t size)
{
	put_pending(f);
	f->untimed = true;
	f->in_loops += trace_loop_events(r) - size;
	for (size_t i = 0; i < size; i++)
		*f->kept++ = r[i];
}

static inline bool is_plain(const struct trace_record *r)
{
	return trace_site_kind(r->site) == TRACE_READ || trace_site_kind(r->site) == TRACE_WRITE;
}

/* Most events are plain accesses: looks at those that follow each other and returns the next event. */
static const struct trace_record *filter_plain(struct filter *f, const struct trace_record *r)
{
	struct trace_record *to = NULL;		/* … where what is kept goes: nothing is pending */
	uint64_t dropped = 0;

	for (; r < f->end && is_plain(r); r++) {
		shadow_prefetch(r[AHEAD].addr);
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

/* Looks at one event and returns the next. */
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
			*f->kept++ = *r;	/* it ends what is before it */
		else
			f->stamp = *r;
		f->untimed = false;
		return r + 1;
	}
	if (kind == TRACE_FUNC_ENTRY) {
		if (f->entries == PENDING)
			put_pending(f);
		f->entry[f->entries++] = *r;
		return r + 1;
	}
	if (kind == TRACE_FUNC_EXIT && f->entries) {
		f->entries--;
		return r + 1;
	}
	if (wanted(f, r, kind)) {
		put_pending(f);
		for (unsigned i = 0; i < count; i++)
			*f->kept++ = r[i];
		f->untimed = true;
	}
	return r + count;
}

/* Writes what is left of a chunk; an empty one too, so that numbers have no holes. Returns its events. */
static uint64_t decide(struct trace_chunk *chunk, bool cut)
{
	struct trace_chunk *out = (struct trace_chunk *)decided;
	const uint8_t *payload = (const uint8_t *)(chunk + 1);
	struct filter f = { .kept = kept };
	uint8_t *end;
	size_t count = 0;

	trace_coder_init(&coder, chunk->time);
	if (!trace_decode_many(&coder, payload, payload + chunk->stored, raw, ARRAY_SIZE(raw) - AHEAD,
			       &count))
		count = 0;
	f.end = raw + count;
	shadow_decider_init(&decider, chunk->thread, chunk->time, cut);
	for (const struct trace_record *r = raw; r < f.end;)
		r = is_plain(r) ? filter_plain(&f, r) : filter_event(&f, r);
	shadow_decider_end(&decider);
	/* Nothing to take out: it can go as it is. */
	if (f.dropped == 0 && count > 0) {
		snarlrt_chunk_write(chunk);
		return chunk->count + f.in_loops;
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
	return chunk->count + f.in_loops;
}

/* Only after the chunk is in the file may its place be used again. */
static void decide_oldest(bool cut)
{
	struct live_header *live = snarlrt.live;
	struct trace_chunk *chunk = (struct trace_chunk *)stash_at(live->stash_tail);
	uint64_t bytes = entry_bytes(chunk);

	if (chunk->type == TRACE_CHUNK_EVENTS)
		live->stash_records -= decide(chunk, cut);
	__atomic_store_n(&live->stash_tail, live->stash_tail + bytes, __ATOMIC_RELEASE);
}

static void make_room(uint64_t bytes)
{
	struct live_header *live = snarlrt.live;

	while (live->stash_head + bytes - live->stash_tail > live->stash_size ||
	       (live->stash_records > snarlrt.window && live->stash_tail < live->stash_head))
		decide_oldest(true);
}

/* A chunk does not wrap: fill the rest of the queue with an empty entry. */
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
	/* Room for a gap's header is left behind every entry. */
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
		snarlrt_chunk_write(chunk);	/* undecided as it is; if that fails it is counted */
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
