/*
 * Traces that fuzzing starts with, and their numbers of events. They are generated, so they always
 * have the present format. tests/fuzz/corpus has text traces and inputs that were found.
 */
#ifndef FUZZ_SEEDS_H
#define FUZZ_SEEDS_H

#include <zstd.h>

#include "../unit/trace_util.h"
#include "abi/access_group_format.h"
#include "abi/live_memory.h"
#include "abi/loop_group.h"
#include "trace/write/writer.h"

struct fuzz_seed {
	const char *name;
	long events;
	void (*make)(struct buf *b);
};

static void seed_meta(struct buf *b)
{
	static const char pairs[] = "exe\0/bin/x\0thread:2\0" "0.1";

	raw_chunk(b, (struct trace_chunk){ .type = TRACE_CHUNK_META }, pairs, sizeof(pairs));
}

/* Of a killed run: no END, a chunk is missing, and another is truncated. */
static void seed_killed(struct buf *b)
{
	const struct trace_record first[] = {
		rec(TRACE_THREAD_START, 0, 0), extra(10, 0), extra(0x7000, 0x8000),
		rec(TRACE_FUNC_ENTRY, 0x400, 1), rec(TRACE_MUTEX_LOCK, 0x10, 2), extra(20, 0),
		rec(TRACE_WRITE, 0x20, 3), rec(TRACE_STAMP, 25, 0), rec(TRACE_READ, 0x20, 4),
	};
	const struct trace_record other[] = { rec(TRACE_MALLOC, 0x30, 5), extra(22, 64),
					      rec(TRACE_WRITE, 0x30, 6),
					      rec(TRACE_FUNC_EXIT, 0, 7) };

	raw_header(b, 0);
	seed_meta(b);
	raw_events(b, 1, 0, 10, first, ARRAY_SIZE(first));
	raw_events(b, 2, 0, 21, other, ARRAY_SIZE(other));
	raw_events(b, 2, 2, 40, other, ARRAY_SIZE(other));
	raw_events(b, 1, 1, 50, first, ARRAY_SIZE(first));
	b->size -= 5;
}

/* All tokens: runs, strides, sites that follow others by address, sites that do not. */
static void seed_tokens(struct buf *b)
{
	struct trace_record r[512];
	size_t n = 0;

	for (unsigned i = 0; i < 100; i++) {
		uint64_t node = 0x1000 + i * i % 37 * 0x100;

		r[n++] = rec(TRACE_READ, 0x8000 + 8 * i, 1);
		r[n++] = rec(TRACE_WRITE, 0x9000, 2);
		r[n++] = rec(TRACE_READ, node, 3);
		r[n++] = rec(TRACE_READ, node + 8, 4);
		if (i % 30 == 29) {
			r[n++] = rec(TRACE_ATOMIC_ADD, 0xa000, 5);
			r[n++] = extra(100 + i, i);
		}
		if (i % 45 == 44)
			r[n++] = rec(TRACE_STAMP, 110 + i, 0);
	}
	for (unsigned i = 0; i < 40; i++)
		r[n++] = rec(TRACE_WRITE, 0xb000 + 4 * i, 6);
	raw_header(b, TRACE_TOTAL_ORDER);
	raw_events(b, 1, 0, 1, r, n);
	raw_end(b);
}

/* Loops with short and long strides, as predicted records, with other records between them. */
static void seed_loops(struct buf *b)
{
	struct trace_record r[256];
	size_t n = 0;

	for (unsigned i = 0; i < 20; i++) {
		r[n++] = (struct trace_record){ 4, TRACE_SITE(TRACE_LOOP, 2, 1) };
		r[n++] = rec(TRACE_READ, (0x8000 + 32 * i) | 8ull << 48, 1);
		r[n++] = rec(TRACE_WRITE, (0x9000 - 4 * i) | 0xfffcull << 48, 2);
		if (i % 5 == 4) {
			r[n++] = (struct trace_record){ 3, TRACE_SITE(TRACE_LOOP, 2, 3) };
			r[n++] = (struct trace_record){ 0x10000 * i, TRACE_SITE(TRACE_LOOP, 0, 3) };
			r[n++] = rec(TRACE_READ, 0x1000, 3);
			r[n++] = rec(TRACE_READ, 0x2000, 4);
			r[n++] = rec(TRACE_STAMP, 110 + i, 0);
			r[n++] = rec(TRACE_ATOMIC_ADD, 0xa000, 5);
			r[n++] = extra(112 + i, i);
		}
	}
	raw_header(b, 0);
	raw_events(b, 1, 0, 100, r, n);
	raw_events(b, 1, 1, 200, r, 3);
	raw_end(b);
}

/* Nests with and without accesses before the loop, as predicted records. */
static void seed_nests(struct buf *b)
{
	struct trace_record r[256];
	size_t n = 0;

	for (unsigned i = 0; i < 20; i++) {
		r[n++] = (struct trace_record){ 3, TRACE_SITE(TRACE_LOOP, TRACE_NEST | i % 2, 1) };
		if (i % 2)
			r[n++] = rec(TRACE_READ, 0x7000 + 8 * i, 4);
		r[n++] = (struct trace_record){ 4, TRACE_SITE(TRACE_LOOP, 2, 1) };
		r[n++] = rec(TRACE_READ, (0x8000 + 32 * i) | 8ull << 48, 1);
		r[n++] = rec(TRACE_WRITE, (0x9000 - 4 * i) | 0xfffcull << 48, 2);
		r[n++] = (struct trace_record){ 0xfff000200008, TRACE_SITE(TRACE_LOOP, 0, 1) };
	}
	raw_header(b, 0);
	raw_events(b, 1, 0, 100, r, n);
	raw_end(b);
}

/*
 * Access groups: two descriptions, one of them replaced, predicted records, and a record without a
 * description.
 */
static void seed_access_groups(struct buf *b)
{
	const struct {
		uint64_t site;
		uint32_t count, reserved;
		struct trace_group_access access[3];
	} table[] = {
		{ 1,
		  3,
		  0,
		  { { 0, 0, TRACE_READ | 3 << 8 },
		    { 9, 8, TRACE_READ | 3 << 8 },
		    { 18, -8, TRACE_WRITE | 2 << 8 } } },
		{ 2, 3, 0, { { 0, 0, TRACE_READ }, { 9, 0, TRACE_WRITE }, { 18, 0, 0 } } },
	};
	struct trace_record r[256];
	size_t n = 0;

	for (unsigned i = 0; i < 20; i++) {
		r[n++] = (struct trace_record){ 0x8000 + 32 * i, TRACE_SITE(TRACE_BUNCH, 3, 1) };
		r[n++] = (struct trace_record){ 0x9000 - 4 * i, TRACE_SITE(TRACE_BUNCH, 3, 2) };
		r[n++] = rec(TRACE_WRITE, 0xa000, 3);
		if (i % 5 == 4)
			r[n++] = rec(TRACE_STAMP, 110 + i, 0);
	}
	r[n++] = (struct trace_record){ 0x8000, TRACE_SITE(TRACE_BUNCH, 2, 5) };
	raw_header(b, 0);
	raw_chunk(b,
		  (struct trace_chunk){ .type = TRACE_CHUNK_ACCESS_GROUPS, .count = 2, .time = 90 },
		  table, sizeof(table));
	raw_events(b, 1, 0, 100, r, n);
	raw_chunk(b,
		  (struct trace_chunk){ .type = TRACE_CHUNK_ACCESS_GROUPS, .count = 1,
					.time = 115 },
		  table, sizeof(table[0]));
}

/* finished: one chunk is compressed, the last one counts all before it */
static void seed_finished(struct buf *b)
{
	static const char trailer[] = "finished_chunks\0" "1";
	uint8_t plain[64 * TRACE_RECORD_MAX + TRACE_SLACK], packed[4096];
	struct trace_record r[64];
	size_t size, stored;

	for (unsigned i = 0; i < ARRAY_SIZE(r); i++)
		r[i] = rec(i % 3 ? TRACE_READ : TRACE_WRITE, 0x1000 + i * i % 61 * 64, 1 + i % 5);
	size = raw_encode(plain, 7, r, ARRAY_SIZE(r));
	stored = ZSTD_compress(packed, sizeof(packed), plain, size, 3);
	raw_header(b, TRACE_FINISHED);
	raw_chunk(b, (struct trace_chunk){ .type = TRACE_CHUNK_EVENTS, .flags = TRACE_CHUNK_ZSTD,
					   .thread = 1, .count = ARRAY_SIZE(r), .time = 7,
					   .size = (uint32_t)size }, packed, stored);
	raw_chunk(b, (struct trace_chunk){ .type = TRACE_CHUNK_END }, trailer, sizeof(trailer));
}

/* The text of the corpus as a trace. */
static void seed_total(struct buf *b)
{
	struct err err = { "" };
	struct reader *r = reader_open("tests/fuzz/corpus/hand.txt", &err);
	char path[] = "/tmp/snarl-seed-XXXXXX";
	int fd = mkstemp(path);

	if (!r || fd < 0 || writer_copy(r, path, 0, &err) < 0) {
		fprintf(stderr, "seeds: %s\n", err.text);
		exit(3);
	}
	reader_close(r);
	close(fd);
	*b = load(path);
	unlink(path);
}

/* Live memory in miniature: a ring, undecided chunks and an outbox of one chunk each, and two
 * slots. */
static void seed_live(struct buf *b)
{
	enum {
		RINGS = 256,
		STASH = 512,
		OUT = 768,
		SLOTS = 1024,
		SIZE = SLOTS + 2 * sizeof(struct live_slot)
	};
	const struct trace_record lock[] = { rec(TRACE_MUTEX_LOCK, 0x10, 1), extra(30, 0) };
	const struct trace_record unlock[] = { rec(TRACE_MUTEX_UNLOCK, 0x10, 2), extra(40, 0) };
	struct live_header h = {
		.magic = LIVE_MAGIC, .version = LIVE_VERSION, .pid = 3, .size = SIZE,
		.slots = SLOTS, .rings = RINGS, .stash = STASH, .stash_size = OUT - STASH,
		.out = OUT, .out_size = SLOTS - OUT, .lost_records = 2,
		.ticks_per_second = 1000000000,
	};
	const struct live_slot slot = { .thread = 1, .waiting_in = TRACE_MUTEX_LOCK, .seq = 2,
					.time = 50, .waiting_for = 0x10, .waiting_pc = 9 };
	const struct trace_record ring[] = { rec(TRACE_WRITE, 0x20, 3),
					     rec(TRACE_STAMP, 60, 0),
					     { 2, TRACE_SITE(TRACE_LOOP, 1, 4) },
					     rec(TRACE_READ, 0x20 | 8ull << 48, 4) };
	uint8_t memory[SIZE] = { 0 };
	struct buf chunk = { 0 };

	raw_events(&chunk, 1, 0, 30, lock, ARRAY_SIZE(lock));
	memcpy(memory + STASH, chunk.data, chunk.size);
	h.stash_head = (chunk.size + 7) & ~7ull;
	chunk.size = 0;
	raw_events(&chunk, 1, 1, 40, unlock, ARRAY_SIZE(unlock));
	memcpy(memory + OUT, chunk.data, chunk.size);
	h.out_used = chunk.size;
	buf_free(&chunk);
	memcpy(memory, &h, sizeof(h));
	memcpy(memory + SLOTS, &slot, sizeof(slot));
	memcpy(memory + RINGS, ring, sizeof(ring));
	buf_add(b, memory, sizeof(memory));
}

static const struct fuzz_seed fuzz_seeds[] = {
	{ "killed", 12, seed_killed },
	{ "tokens", 443, seed_tokens },
	{ "loops", 20 * 8 + 4 * 7 + 8, seed_loops },
	{ "nests", 20 * 24 + 30, seed_nests },
	{ "bunches", 20 * 6 + 1, seed_access_groups },
	{ "finished", 64, seed_finished },
	{ "total", 20, seed_total },
	{ "live", 6, seed_live },
};

#endif
