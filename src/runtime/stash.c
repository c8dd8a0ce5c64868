/*
 * Chunks that hold accesses to memory only one thread has touched so far.
 *
 * Whether such an access must be kept is known only when another thread comes,
 * or never does. The stash holds these chunks, oldest first, in a circular queue
 * in live memory. When it holds `window` records the oldest is decided:
 * what became shared goes to the file, the rest is dropped and its memory marked
 * "cut", after which the owner's accesses to it cost one compare and leave nothing
 * behind. Should cut memory become shared later, its early history is missing:
 * that is counted (cut_locations) and shown. At exit everything left is decided.
 */
#include "runtime/lock.h"
#include "runtime/process.h"
#include "runtime/rt.h"
#include "runtime/shadow.h"
#include "runtime/sys.h"

#define ALIGN 8u
#define PENDING 64u

static struct snarlrt_lock stash_lock;

/* For deciding, under the lock. */
static struct trace_coder decoder, encoder;
static uint8_t decided[sizeof(struct trace_chunk) +
		       LIVE_RING_RECORDS * TRACE_RECORD_MAX + TRACE_SLACK]
	__attribute__((aligned(16)));

struct filter {
	const struct trace_chunk *chunk;
	bool cut;
	uint8_t *out;
	uint32_t count;
	uint64_t dropped;
	/* Told only if something kept follows: the calls around it, the last stamp. */
	struct trace_record entry[PENDING];
	unsigned entries;
	struct trace_record stamp;
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

static void put(struct filter *f, const struct trace_record *records)
{
	const struct trace_record *in = records;

	f->out = trace_encode(&encoder, f->out, &in,
			      records + 1 + trace_extra(trace_site_kind(records->site)));
	f->count += (uint32_t)(in - records);
}

static void put_pending(struct filter *f)
{
	if (f->stamp.site)
		put(f, &f->stamp);
	f->stamp.site = 0;
	for (unsigned i = 0; i < f->entries; i++)
		put(f, &f->entry[i]);
	f->entries = 0;
}

static bool wanted(struct filter *f, const struct trace_record *r, unsigned kind)
{
	uint64_t size;

	switch (kind) {
	case TRACE_READ:
	case TRACE_WRITE: size = 1ull << (r->site >> 56 & TRACE_SIZE_MASK); break;
	case TRACE_READ_RANGE:
	case TRACE_WRITE_RANGE: size = r[1].site; break;
	default: return true;
	}
	if (shadow_decide(f->chunk->thread, f->chunk->time, r->addr, size, f->cut))
		return true;
	f->dropped++;
	return false;
}

static void filter_event(struct filter *f, const struct trace_record *r)
{
	unsigned kind = trace_site_kind(r->site);

	if (kind == TRACE_STAMP) {
		f->stamp = *r;
		return;
	}
	if (kind == TRACE_FUNC_ENTRY) {
		if (f->entries == PENDING)
			put_pending(f);
		f->entry[f->entries++] = *r;
		return;
	}
	if (kind == TRACE_FUNC_EXIT && f->entries) {
		f->entries--;
		return;
	}
	if (wanted(f, r, kind)) {
		put_pending(f);
		put(f, r);
	}
}

/* Writes what is left of a chunk; an empty one too, so that numbers have no holes. */
static void decide(struct trace_chunk *chunk, bool cut)
{
	struct trace_chunk *kept = (struct trace_chunk *)decided;
	const uint8_t *in = (const uint8_t *)(chunk + 1), *end = in + chunk->stored;
	struct filter f = { .chunk = chunk, .cut = cut, .out = (uint8_t *)(kept + 1) };
	struct trace_record r[3];
	unsigned count;

	trace_coder_init(&decoder, chunk->time);
	trace_coder_init(&encoder, chunk->time);
	while (in && (in < end || decoder.foretold)) {
		in = trace_decode(&decoder, in, end, r, &count);
		if (in)
			filter_event(&f, r);
	}
	put_pending(&f);
	f.out = trace_encode_end(&encoder, f.out);
	*kept = *chunk;
	kept->stored = (uint32_t)(f.out - (uint8_t *)(kept + 1));
	kept->count = f.count;
	snarlrt_chunk_write(kept);
	if (cut)
		snarlrt.live->cut_records += f.dropped;
}

/* Only after the chunk is in the file may its place be used again. */
static void decide_oldest(bool cut)
{
	struct live_header *live = snarlrt.live;
	struct trace_chunk *chunk = (struct trace_chunk *)stash_at(live->stash_tail);
	uint64_t bytes = entry_bytes(chunk);

	if (chunk->type == TRACE_CHUNK_EVENTS) {
		decide(chunk, cut);
		live->stash_records -= chunk->count;
	}
	__atomic_store_n(&live->stash_tail, live->stash_tail + bytes, __ATOMIC_RELEASE);
}

static void make_room(uint64_t bytes)
{
	struct live_header *live = snarlrt.live;

	while (live->stash_head + bytes - live->stash_tail > live->stash_size ||
	       live->stash_records > snarlrt.window)
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

void snarlrt_stash_push(struct trace_chunk *chunk)
{
	struct live_header *live = snarlrt.live;
	uint64_t bytes = entry_bytes(chunk);
	uint64_t *to, *from = (uint64_t *)chunk;

	chunk->magic = TRACE_CHUNK_MAGIC;
	chunk->size = chunk->stored;
	chunk->check = trace_check(chunk + 1, chunk->stored);
	chunk->header_check = trace_check(chunk, offsetof(struct trace_chunk, header_check));
	snarlrt_lock(&stash_lock);
	/* Room for a gap's header is left behind every entry. */
	skip_to_start(bytes + sizeof(*chunk));
	make_room(bytes + sizeof(*chunk));
	to = (uint64_t *)stash_at(live->stash_head);
	for (uint64_t i = 0; i < bytes / 8; i++)
		to[i] = from[i];
	__atomic_store_n(&live->stash_head, live->stash_head + bytes, __ATOMIC_RELEASE);
	live->stash_records += chunk->count;
	snarlrt_unlock(&stash_lock);
}

void snarlrt_stash_drain(void)
{
	struct live_header *live = snarlrt.live;
	struct snarlrt_thread *self = snarlrt_enter();

	snarlrt_lock(&stash_lock);
	while (live->stash_tail < live->stash_head)
		decide_oldest(false);
	snarlrt_unlock(&stash_lock);
	if (self)
		snarlrt_leave(self);
}

void snarlrt_stash_forked(void)
{
	stash_lock.state = 0;
}
