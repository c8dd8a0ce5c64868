/*
 * A made-up trace is a number of threads that run in bursts. A burst is a call of a function in
 * which a few sites work on a structure: a record's field is always accessed by the same sites, as
 * in programs. Only in `mixed` does any of 8 sites access any memory.
 */
#include "analyze_make.h"

#include <stdio.h>
#include <stdlib.h>

#include "trace/write/writer.h"

#define PC 0x555555555000ull
#define HEAP 0x602000000000ull
#define PRIVATE (HEAP + 0x1000000000ull)	/* PRIVATE_SPAN for each thread */
#define PRIVATE_SPAN (1ull << 30)
#define LOCK (HEAP + 0x20000000)
#define COUNTER (HEAP + 0x30000000)
#define SEMAPHORE (HEAP + 0x40000000)
#define MAX_THREADS 256u

struct maker {
	struct writer *w;
	const struct shape *shape;
	uint64_t time, made, random, events;
	uint64_t cursor[MAX_THREADS + 2];	/* position within its own memory */
	uint64_t waiting[MAX_THREADS + 2];	/* handover: blocks in the thread's queue */
	uint64_t block[MAX_THREADS + 2][4];
};

static uint64_t random_next(struct maker *m)
{
	m->random ^= m->random << 13;
	m->random ^= m->random >> 7;
	m->random ^= m->random << 17;
	return m->random;
}

static void put(struct maker *m, uint32_t thread, unsigned kind, uint64_t addr, unsigned detail,
		uint64_t arg, unsigned site)
{
	struct event ev = { .time = ++m->time,
			    .thread = thread,
			    .kind = (uint16_t)kind,
			    .addr = addr,
			    .detail = (uint8_t)detail,
			    .arg = arg,
			    .pc = PC + 16 * site };

	writer_event(m->w, &ev);
	m->made++;
}

static void put_access(struct maker *m, uint32_t thread, unsigned kind, uint64_t addr,
		       unsigned site)
{
	put(m, thread, kind, addr, 3, 0, site);
}

static void enter(struct maker *m, uint32_t thread, unsigned function)
{
	put(m, thread, TRACE_FUNC_ENTRY, PC + 0x10000 + function * 16, 0, 0, 1);
}

static void leave(struct maker *m, uint32_t thread)
{
	put(m, thread, TRACE_FUNC_EXIT, 0, 0, 0, 2);
}

static void count(struct maker *m, uint32_t thread)
{
	put(m, thread, TRACE_ATOMIC_ADD, COUNTER, 3 | __ATOMIC_RELAXED << TRACE_ORDER_SHIFT, 1, 32);
}

/* A walk through the thread's own array of `bytes`; records of 4 fields, one of them written. */
static void walk(struct maker *m, uint32_t thread, unsigned steps, uint64_t bytes)
{
	uint64_t base = PRIVATE + thread * PRIVATE_SPAN, at;

	for (unsigned i = 0; i < steps; i++) {
		at = m->cursor[thread] = (m->cursor[thread] + 8) % bytes;
		put_access(m, thread, at / 8 % 4 == 3 ? TRACE_WRITE : TRACE_READ, base + at,
			   10 + at / 8 % 4);
	}
}

/* A record of 8 fields: some are read, two of them are read and then written. */
static void use_record(struct maker *m, uint32_t thread, uint64_t record, unsigned site)
{
	for (unsigned i = 0; i < 8; i++) {
		put_access(m, thread, TRACE_READ, record + 8 * i, site + 2 * i);
		if (i % 4 == 3)
			put_access(m, thread, TRACE_WRITE, record + 8 * i, site + 2 * i + 1);
	}
}

/* Private work at rotating sites, then a shared record under its lock, sometimes without. */
static void burst_mixed(struct maker *m, uint32_t thread)
{
	uint64_t pick = random_next(m), lock = pick % 16;
	uint64_t base = PRIVATE + thread * PRIVATE_SPAN;
	uint64_t record = HEAP + 0x10000000 + lock * 0x10000 + random_next(m) % 1024 * 64;
	bool locked = pick >> 20 & 255;

	enter(m, thread, pick % 7);
	for (unsigned i = 0; i < 40 + pick % 32; i++) {
		m->cursor[thread] = (m->cursor[thread] + 8) % 65536;
		put_access(m, thread, i % 3 == 2 ? TRACE_WRITE : TRACE_READ,
			   base + m->cursor[thread], 10 + i % 8);
	}
	if (locked)
		put(m, thread, TRACE_MUTEX_LOCK, LOCK + lock * 64, 0, 0, 30);
	for (unsigned i = 0; i < 8; i++)
		put_access(m, thread, i % 4 == 3 ? TRACE_WRITE : TRACE_READ, record + 8 * i,
			   (locked ? 40 : 60) + i);
	if (locked)
		put(m, thread, TRACE_MUTEX_UNLOCK, LOCK + lock * 64, 0, 0, 31);
	count(m, thread);
	leave(m, thread);
}

/* Four accesses per critical section; sometimes one lock inside another. */
static void burst_locks(struct maker *m, uint32_t thread)
{
	enter(m, thread, 1);
	for (unsigned i = 0; i < 8; i++) {
		uint64_t pick = random_next(m), lock = pick % 64, inner = pick >> 8 & 15;
		uint64_t item = HEAP + lock * 4096 + (pick >> 12) % 32 * 16;
		bool nested = !(pick >> 30 & 7);

		put(m, thread, TRACE_MUTEX_LOCK, LOCK + lock * 64, 0, 0, 70);
		put_access(m, thread, TRACE_READ, item, 71);
		put_access(m, thread, TRACE_WRITE, item, 72);
		if (nested) {
			put(m, thread, TRACE_MUTEX_LOCK, LOCK + 8192 + inner * 64, 0, 0, 73);
			put_access(m, thread, TRACE_WRITE, HEAP + 0x100000 + inner * 64, 74);
			put(m, thread, TRACE_MUTEX_UNLOCK, LOCK + 8192 + inner * 64, 0, 0, 75);
		}
		put_access(m, thread, TRACE_READ, item + 8, 76);
		put_access(m, thread, TRACE_WRITE, item + 8, 77);
		put(m, thread, TRACE_MUTEX_UNLOCK, LOCK + lock * 64, 0, 0, 78);
	}
	leave(m, thread);
}

/* Private memory, 1 MiB and the stack; a shared counter at the end. */
static void burst_private(struct maker *m, uint32_t thread)
{
	uint64_t stack = PRIVATE + thread * PRIVATE_SPAN + PRIVATE_SPAN / 2;

	enter(m, thread, 2);
	for (unsigned i = 0; i < 16; i++) {
		walk(m, thread, 12, 1 << 20);
		put_access(m, thread, TRACE_READ, stack + i % 4 * 8, 20 + i % 4);
		put_access(m, thread, TRACE_WRITE, stack + i % 4 * 8, 24 + i % 4);
	}
	count(m, thread);
	leave(m, thread);
}

/* A table of 4 MiB that all threads read; every 64th call writes a record under a lock. */
static void burst_readers(struct maker *m, uint32_t thread)
{
	uint64_t pick = random_next(m), record = HEAP + pick % 65536 * 64;

	enter(m, thread, 3);
	if (!(pick >> 32 & 63)) {
		put(m, thread, TRACE_MUTEX_LOCK, LOCK, 0, 0, 80);
		use_record(m, thread, record, 100);
		put(m, thread, TRACE_MUTEX_UNLOCK, LOCK, 0, 0, 81);
	} else {
		for (unsigned i = 0; i < 16; i++)
			put_access(m, thread, TRACE_READ, record + i % 8 * 8, 120 + i % 8);
	}
	leave(m, thread);
}

/* Records of a table under the locks of its 64 parts; few of them are busy. */
static void burst_shared(struct maker *m, uint32_t thread)
{
	uint64_t pick = random_next(m), record = pick % 8 ? pick >> 8 & 255 : pick >> 8 & 16383;
	uint64_t lock = record % 64;

	enter(m, thread, 4);
	walk(m, thread, 16, 1 << 14);
	put(m, thread, TRACE_MUTEX_LOCK, LOCK + lock * 64, 0, 0, 82);
	use_record(m, thread, HEAP + record * 64, 140);
	put(m, thread, TRACE_MUTEX_UNLOCK, LOCK + lock * 64, 0, 0, 83);
	leave(m, thread);
}

/* Each location is accessed a few times and then never again: the trace's memory grows. */
static void burst_places(struct maker *m, uint32_t thread)
{
	uint64_t record = PRIVATE + thread * PRIVATE_SPAN + m->cursor[thread];
	uint64_t old = PRIVATE + (2 + random_next(m) % m->shape->threads) * PRIVATE_SPAN;

	enter(m, thread, 5);
	m->cursor[thread] = (m->cursor[thread] + 64) % PRIVATE_SPAN;
	use_record(m, thread, record, 160);
	old += random_next(m) % (m->cursor[thread] + 64) / 64 * 64;
	use_record(m, thread, old, 180);
	leave(m, thread);
}

/*
 * Blocks are passed from thread to thread by semaphores: each access has a clock of its own. The
 * first thread allocates them, the last frees them.
 */
static void burst_handover(struct maker *m, uint32_t thread)
{
	uint32_t last = m->shape->threads + 1;
	uint64_t block, *queue;

	if (thread > 2 && !m->waiting[thread])
		thread = 2;
	while (thread < last && m->waiting[thread + 1] == 4)
		thread++;
	enter(m, thread, 6);
	if (thread == 2) {
		block = HEAP + m->cursor[2] % 4096 * 256;
		m->cursor[2]++;
		put(m, thread, TRACE_MALLOC, block, 0, 256, 200);
	} else {
		put(m, thread, TRACE_SEM_WAIT, SEMAPHORE + thread * 64, 0, 0, 201);
		queue = m->block[thread];
		block = queue[0];
		for (unsigned i = 1; i < m->waiting[thread]; i++)
			queue[i - 1] = queue[i];
		m->waiting[thread]--;
	}
	use_record(m, thread, block, 210);
	use_record(m, thread, block + 128, 230);
	count(m, thread);
	if (thread == last) {
		put(m, thread, TRACE_FREE, block, 0, 0, 202);
	} else {
		m->block[thread + 1][m->waiting[thread + 1]++] = block;
		put(m, thread, TRACE_SEM_POST, SEMAPHORE + (thread + 1) * 64, 0, 0, 203);
	}
	leave(m, thread);
}

const struct shape shapes[] = {
	{ "mixed", "own memory and a shared table under locks, sites at random", 8, burst_mixed },
	{ "locks", "short critical sections, nested ones", 8, burst_locks },
	{ "private", "mostly own memory", 8, burst_private },
	{ "readers", "a table that all read, written now and then", 8, burst_readers },
	{ "shared", "records under locks, some of them busy", 8, burst_shared },
	{ "threads", "the same with 200 threads", 200, burst_shared },
	{ "places", "memory that grows with the trace", 8, burst_places },
	{ "handover", "blocks handed from thread to thread", 8, burst_handover },
	{ 0 },
};

void make(const char *path, const struct shape *shape, uint64_t events)
{
	struct maker *m = calloc(1, sizeof(*m));
	struct err err = { 0 };

	if (!m || !(m->w = writer_open(path, TRACE_TOTAL_ORDER, &err)))
		goto fail;
	m->shape = shape;
	m->random = 88172645463325252ull;
	put(m, 1, TRACE_THREAD_START, 0, 0, 0, 0);
	for (uint32_t i = 2; i < shape->threads + 2; i++) {
		put(m, 1, TRACE_THREAD_CREATE, i, 0, i, 3);
		put(m, i, TRACE_THREAD_START, 0, 0, 1ull << 32 | (i - 1), 4);
	}
	while (m->made + 2 * shape->threads < events)
		shape->burst(m, 2 + (uint32_t)(random_next(m) >> 13) % shape->threads);
	for (uint32_t i = 2; i < shape->threads + 2; i++) {
		put(m, i, TRACE_THREAD_EXIT, i, 0, 0, 5);
		put(m, 1, TRACE_THREAD_JOIN, i, 0, i, 6);
	}
	if (writer_close(m->w, &err) < 0)
		goto fail;
	free(m);
	return;
fail:
	fprintf(stderr, "analyze: %s\n", err.text);
	exit(3);
}
