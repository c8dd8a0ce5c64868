#include "runtime/bunch.h"

#include <sys/mman.h>

#include "runtime/arena.h"
#include "runtime/deferred.h"
#include "runtime/lock.h"
#include "runtime/sites.h"
#include "runtime/sys.h"

#define PAGE 4096ull
#define CHUNK_BYTES (1u << 20)	/* a longer table is several chunks */
#define JUMP_SIZE 5u

/* Bunches as the trace has them. Never changed but for the time, and never given back. */
struct table {
	struct table *next;
	uint32_t *slots;	/* while profiling: by hash of the site, where in the payload, plus 1 */
	uint32_t mask;
	struct trace_chunk chunk;	/* its time: when it was last told; the payload is behind it */
};

static struct table *tables;
static struct snarlrt_lock lock;

static uint64_t place(const int32_t *field)
{
	return (uint64_t)field + (uint64_t)(int64_t)*field;
}

static const struct bunch *next_of(const struct bunch *b)
{
	return (const struct bunch *)(bunch_check(b) + (b->silent ? 1 + b->silent : 0));
}

/* Is all of it there, as we know it? */
static bool is_whole(const struct bunch *b, const struct bunch *stop)
{
	return (size_t)((const char *)stop - (const char *)b) >= sizeof(*b) && b->count >= TRACE_BUNCH_LEAST &&
	       b->count <= TRACE_BUNCH_MOST && next_of(b) <= stop;
}

static char *payload(const struct table *t)
{
	return (char *)(&t->chunk + 1);
}

static void put(struct trace_bunch *to, const struct bunch *b)
{
	*to = (struct trace_bunch){ .site = b->silent ? place(bunch_check(b)) : place(&b->access[0].site), .count = b->count };
	for (unsigned i = 0; i < b->count; i++) {
		const struct bunch_access *a = &b->access[i];

		to->access[i] = (struct trace_bunch_access){
			.site = (int32_t)(place(&a->site) - to->site),
			.distance = a->distance,
			.op = snarlrt_sites_off(place(&a->site)) ? 0 : a->op,
		};
	}
}

static bool is_off(const struct bunch *b)
{
	for (unsigned i = 0; i < b->count; i++)
		if (!snarlrt_sites_off(place(&b->access[i].site)))
			return false;
	return true;
}

static bool is_silent(const struct bunch *b)
{
	for (unsigned i = 0; i < b->silent; i++)
		if (!snarlrt_sites_off(place(&bunch_check(b)[1 + i])))
			return false;
	return true;
}

/* Where it shall go, by the list; 0: as it is. */
static uint64_t way_of(const struct bunch *b)
{
	if (!is_silent(b))
		return 0;
	if (is_off(b))
		return place(&b->fast);
	return b->silent && snarlrt.mode == SNARLRT_RECORD ? place(bunch_check(b)) : 0;
}

static uint64_t jump_to(const uint8_t *code)
{
	uint32_t distance = 0;

	for (unsigned i = 0; i < sizeof(distance); i++)
		distance |= (uint32_t)code[1 + i] << 8 * i;
	return code[0] == 0xe9 ? (uint64_t)code + JUMP_SIZE + (uint64_t)(int32_t)distance : 0;
}

static void put_jump(uint8_t *code, uint64_t to)
{
	uint32_t distance = (uint32_t)(to - (uint64_t)code - JUMP_SIZE);

	code[0] = 0xe9;
	for (unsigned i = 0; i < sizeof(distance); i++)
		code[1 + i] = (uint8_t)(distance >> 8 * i);
}

/* Whether there may be records of it. */
static bool is_told(const struct bunch *b)
{
	return !b->silent || jump_to((const uint8_t *)place(&b->head)) == place(bunch_check(b));
}

/*
 * With a list of sites: code that nobody wants to hear of goes straight to its copy without hooks, and to the check where
 * all is off but what can be told. Where code cannot be changed the records of the former stand for nothing, and the latter has hooks.
 */
static void put_jumps(const struct bunch *start, const struct bunch *stop)
{
	uint64_t low = UINT64_MAX, high = 0, to;

	for (const struct bunch *b = start; is_whole(b, stop); b = next_of(b)) {
		uint64_t head = place(&b->head);

		if (!way_of(b))
			continue;
		low = head < low ? head & ~(PAGE - 1) : low;
		high = head + JUMP_SIZE > high ? head + JUMP_SIZE : high;
	}
	if (high == 0 || sys_call(SYS_mprotect, low, high - low, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
		return;
	for (const struct bunch *b = start; is_whole(b, stop); b = next_of(b)) {
		to = way_of(b);
		if (to)
			put_jump((uint8_t *)place(&b->head), to);
	}
	sys_call(SYS_mprotect, low, high - low, PROT_READ | PROT_EXEC);
}

static uint32_t hash(uint64_t site)
{
	return (uint32_t)(site * 0x9e3779b97f4a7c15ull >> 32);
}

/* So that bunch_find is quick. */
static void make_slots(struct table *t)
{
	uint32_t size = 2;

	while (size < 2 * t->chunk.count)
		size *= 2;
	t->mask = size - 1;
	t->slots = arena_pages(size * sizeof(*t->slots));
	for (uint32_t at = 0; t->slots && at < t->chunk.stored;) {
		const struct trace_bunch *b = (const struct trace_bunch *)(payload(t) + at);
		uint32_t slot = hash(b->site) & t->mask;

		while (t->slots[slot])
			slot = (slot + 1) & t->mask;
		t->slots[slot] = at + 1;
		at += (uint32_t)trace_bunch_size(b->count);
	}
}

static bool same(const struct table *a, const struct table *b)
{
	const uint64_t *p = (const uint64_t *)payload(a), *q = (const uint64_t *)payload(b);

	if (a->chunk.stored != b->chunk.stored)
		return false;
	for (uint32_t i = 0; i < a->chunk.stored / 8; i++)
		if (p[i] != q[i])
			return false;
	return true;
}

/* A library that was closed and opened again needs no second copy. */
static void table_add(struct table *t, size_t size)
{
	struct table *known = tables;

	while (known && !same(known, t))
		known = known->next;
	if (known) {
		known->chunk.time = t->chunk.time;
		sys_call(SYS_munmap, t, size, 0);
		snarlrt_chunk_write(&known->chunk);
		return;
	}
	snarlrt_chunk_write(&t->chunk);
	if (snarlrt.profiling)
		make_slots(t);
	t->next = tables;
	/* Pairs with the load of bunch_find. */
	__atomic_store_n(&tables, t, __ATOMIC_RELEASE);
}

/* As many as fit into a chunk, from `b` on; returns the first that is left. */
static const struct bunch *take(const struct bunch *b, const struct bunch *stop)
{
	const struct bunch *end = b;
	uint32_t count = 0, bytes = 0;
	struct table *t;
	char *to;

	for (; is_whole(end, stop) && bytes < CHUNK_BYTES; end = next_of(end)) {
		if (!is_told(end))
			continue;
		bytes += (uint32_t)trace_bunch_size(end->count);
		count++;
	}
	if (count == 0)
		return stop;
	t = arena_pages(sizeof(*t) + bytes);
	if (!t) {
		__atomic_fetch_add(&snarlrt.live->lost_records, count, __ATOMIC_RELAXED);
		return end;
	}
	t->chunk = (struct trace_chunk){ .type = TRACE_CHUNK_BUNCHES, .count = count, .stored = bytes,
					 .time = sys_ticks() & ~1ull };
	for (to = payload(t); b < end; b = next_of(b)) {
		if (!is_told(b))
			continue;
		put((struct trace_bunch *)to, b);
		to += trace_bunch_size(b->count);
	}
	table_add(t, sizeof(*t) + bytes);
	return end;
}

void __snarl_bunches(const struct bunch *start, const struct bunch *stop)
{
	uint64_t mask;

	snarlrt_init();
	if (snarlrt.mode != SNARLRT_RECORD && snarlrt.mode != SNARLRT_WATCH)
		return;
	snarlrt_modules_scan();		/* its sites are switched off first */
	if (snarlrt_sites_listed())
		put_jumps(start, stop);
	if (snarlrt.mode != SNARLRT_RECORD)
		return;
	mask = snarlrt_signals_block();
	snarlrt_lock(&lock);
	while (start < stop)
		start = take(start, stop);
	snarlrt_unlock(&lock);
	snarlrt_signals_set(mask);
	snarlrt_stamp();		/* what its place meant before was before */
}

static const struct trace_bunch *find_in(const struct table *t, uint64_t site)
{
	if (!t->slots)
		return NULL;
	for (uint32_t i = hash(site) & t->mask; t->slots[i]; i = (i + 1) & t->mask) {
		const struct trace_bunch *b = (const struct trace_bunch *)(payload(t) + t->slots[i] - 1);

		if (b->site == site)
			return b;
	}
	return NULL;
}

const struct trace_bunch *bunch_find(uint64_t site)
{
	const struct trace_bunch *found = NULL;
	uint64_t time = 0;

	for (const struct table *t = __atomic_load_n(&tables, __ATOMIC_ACQUIRE); t; t = t->next) {
		const struct trace_bunch *b = find_in(t, site & TRACE_ADDR_MASK);

		/* Of two that came to lie in the same place, the later one. */
		if (b && b->count == trace_bunch_count(site) && t->chunk.time >= time) {
			found = b;
			time = t->chunk.time;
		}
	}
	return found;
}

void bunch_fork(bool begin)
{
	if (begin)
		snarlrt_lock(&lock);
	else
		snarlrt_unlock(&lock);
}

/* With the times they had: none of the child's is earlier. */
void bunch_forked(void)
{
	for (struct table *t = tables; t; t = t->next)
		snarlrt_chunk_write(&t->chunk);
}
