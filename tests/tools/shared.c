/*
 * Prints every access to memory that two threads touch, thread by thread, with names that are the
 * same in every run of a deterministic program:
 *
 *   THREAD KIND SIZE OBJECT+OFFSET MODULE+PC
 *
 * A recording with the filter and one without must print the same: the filter may drop only
 * accesses to memory that no other thread touches. Memory is compared in granules of 8 bytes, as in
 * the runtime; an allocation, and the stack of a new thread, start a new life of their granules. A
 * heap block is named by the thread that allocated it and the number of its allocation, stack
 * memory by its distance from the highest shared granule.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "trace/read/kinds.h"
#include "trace/read/reader.h"

enum region_type { REGION_OTHER, REGION_HEAP, REGION_STACK, REGION_MODULE };

struct region {
	enum region_type type;
	uint64_t low, high;
	uint32_t thread;	/* heap: the thread that allocated it; stack: its thread */
	uint64_t nth;		/* heap: number of the thread's allocation; module: its index */
	uint64_t top;		/* highest shared granule in it */
};

struct granule {
	uint64_t addr;		/* divided by 8 */
	uint32_t region;
	uint32_t thread;	/* the first thread to access it */
	int shared;
};

struct access {
	uint64_t addr, size, pc;
	uint32_t thread, region;
	size_t granules, count;	/* into shared.touched */
	uint16_t kind;
	uint8_t detail;
};

struct shared {
	struct reader *trace;
	struct region *regions;		/* regions[0] stands for memory of no known region */
	size_t region_count, region_room;
	uint32_t *live;			/* indices of heap blocks in regions, by address */
	size_t live_count, live_room;
	uint32_t *stacks;		/* indices of stacks in regions, the latest last */
	size_t stack_count, stack_room;
	uint32_t modules;		/* index of the first module in regions */
	struct map allocations;		/* thread to its number of allocations */
	struct map current;		/* address / 8 to granule + 1 */
	struct granule *granules;
	size_t granule_count, granule_room;
	uint32_t *touched;
	size_t touched_count, touched_room;
	struct access *accesses;
	size_t access_count, access_room;
};

static void die(const char *path, const struct err *err)
{
	fprintf(stderr, "shared: %s: %s\n", path, err->text);
	exit(3);
}

static uint32_t region_new(struct shared *s, struct region region)
{
	s->regions = xgrow(s->regions, s->region_count, &s->region_room, sizeof(*s->regions));
	s->regions[s->region_count] = region;
	return (uint32_t)s->region_count++;
}

/* Number of live blocks that begin at or below addr. */
static size_t live_below(const struct shared *s, uint64_t addr)
{
	size_t low = 0, high = s->live_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (s->regions[s->live[middle]].low <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void block_drop(struct shared *s, uint64_t addr)
{
	size_t at = live_below(s, addr);

	if (at == 0 || s->regions[s->live[at - 1]].low != addr)
		return;
	memmove(&s->live[at - 1], &s->live[at], (s->live_count - at) * sizeof(*s->live));
	s->live_count--;
}

static void block_add(struct shared *s, const struct event *ev)
{
	uint64_t nth = (*map_put(&s->allocations, ev->thread, NULL))++;
	uint32_t region;
	size_t at;

	if (!ev->addr)
		return;
	block_drop(s, ev->addr);
	region = region_new(s, (struct region){ .type = REGION_HEAP, .low = ev->addr,
						.high = ev->addr + (ev->arg ? ev->arg : 1),
						.thread = ev->thread, .nth = nth });
	at = live_below(s, ev->addr);
	s->live = xgrow(s->live, s->live_count, &s->live_room, sizeof(*s->live));
	memmove(&s->live[at + 1], &s->live[at], (s->live_count - at) * sizeof(*s->live));
	s->live[at] = region;
	s->live_count++;
}

static void stack_add(struct shared *s, const struct event *ev)
{
	s->stacks = xgrow(s->stacks, s->stack_count, &s->stack_room, sizeof(*s->stacks));
	s->stacks[s->stack_count++] = region_new(s, (struct region){
		.type = REGION_STACK, .low = ev->extra[0], .high = ev->extra[1],
		.thread = ev->thread });
}

static int within(const struct region *r, uint64_t addr)
{
	return addr >= r->low && addr < r->high;
}

static uint32_t region_of(const struct shared *s, uint64_t addr)
{
	size_t at = live_below(s, addr);

	if (at > 0) {
		const struct region *r = &s->regions[s->live[at - 1]];

		/* A block reaches to the end of its last granule. */
		if (addr < ((r->high + 7) & ~7ull))
			return s->live[at - 1];
	}
	for (size_t i = s->stack_count; i > 0; i--)
		if (within(&s->regions[s->stacks[i - 1]], addr))
			return s->stacks[i - 1];
	for (uint32_t i = 0; i < reader_info(s->trace)->module_count; i++)
		if (within(&s->regions[s->modules + i], addr))
			return s->modules + i;
	return 0;
}

static uint32_t granule_touch(struct shared *s, uint64_t addr, uint32_t thread)
{
	uint32_t region = region_of(s, addr * 8);
	uint64_t *current = map_put(&s->current, addr, NULL);
	struct granule *g;

	if (*current == 0 || s->granules[*current - 1].region != region) {
		s->granules = xgrow(s->granules, s->granule_count, &s->granule_room,
				    sizeof(*s->granules));
		s->granules[s->granule_count] = (struct granule){
			.addr = addr, .region = region, .thread = thread };
		*current = ++s->granule_count;
	}
	g = &s->granules[*current - 1];
	if (g->thread != thread)
		g->shared = 1;
	return (uint32_t)(*current - 1);
}

static void access_add(struct shared *s, const struct event *ev)
{
	uint64_t first = ev->addr / 8, last = (ev->addr + (ev->size ? ev->size - 1 : 0)) / 8;
	struct access *a;

	s->accesses = xgrow(s->accesses, s->access_count, &s->access_room, sizeof(*s->accesses));
	a = &s->accesses[s->access_count++];
	*a = (struct access){ .addr = ev->addr, .size = ev->size, .pc = ev->pc,
			      .thread = ev->thread, .region = region_of(s, ev->addr),
			      .granules = s->touched_count, .count = last - first + 1,
			      .kind = ev->kind, .detail = ev->detail };
	for (uint64_t at = first; at <= last; at++) {
		s->touched = xgrow(s->touched, s->touched_count, &s->touched_room,
				   sizeof(*s->touched));
		s->touched[s->touched_count++] = granule_touch(s, at, ev->thread);
	}
}

static void event_see(struct shared *s, const struct event *ev)
{
	enum trace_class class = kind_class(ev->kind);

	if (ev->kind == TRACE_MALLOC || ev->kind == TRACE_MMAP)
		block_add(s, ev);
	else if (ev->kind == TRACE_FREE || ev->kind == TRACE_MUNMAP)
		block_drop(s, ev->addr);
	else if (ev->kind == TRACE_THREAD_START)
		stack_add(s, ev);
	else if (class == TRACE_CLASS_ACCESS || (class == TRACE_CLASS_ATOMIC && ev->addr))
		access_add(s, ev);
}

static int access_shared(const struct shared *s, const struct access *a)
{
	for (size_t i = 0; i < a->count; i++)
		if (s->granules[s->touched[a->granules + i]].shared)
			return 1;
	return 0;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void print_object(const struct shared *s, const struct access *a)
{
	const struct region *r = &s->regions[a->region];
	const struct reader_thread *t = r->thread ? reader_thread(s->trace, r->thread) : NULL;

	switch (r->type) {
	case REGION_HEAP:
		printf("heap(%s#%" PRIu64 ")+%" PRIu64, t ? t->name : "?", r->nth,
		       a->addr - r->low);
		break;
	case REGION_STACK:
		printf("stack(%s)%" PRId64, t ? t->name : "?", (int64_t)(a->addr - r->top * 8));
		break;
	case REGION_MODULE:
		printf("%s+%#" PRIx64, base_name(reader_info(s->trace)->modules[r->nth].path),
		       a->addr - reader_info(s->trace)->modules[r->nth].base);
		break;
	case REGION_OTHER:
		printf("other%" PRId64, (int64_t)(a->addr - r->top * 8));
		break;
	}
}

static void print_access(const struct shared *s, const struct access *a)
{
	const struct reader_info *info = reader_info(s->trace);
	const struct reader_thread *t = reader_thread(s->trace, a->thread);

	printf("%s %s/%u %" PRIu64 " ", t ? t->name : "?", kind_name(a->kind), a->detail, a->size);
	print_object(s, a);
	for (size_t i = 0; i < info->module_count; i++)
		if (a->pc >= info->modules[i].start && a->pc < info->modules[i].end) {
			printf(" %s+%#" PRIx64 "\n", base_name(info->modules[i].path),
			       a->pc - info->modules[i].base);
			return;
		}
	printf(" ?\n");
}

static void print_all(struct shared *s)
{
	const struct reader_info *info = reader_info(s->trace);
	char *keep = xmalloc(s->access_count + 1);

	for (size_t i = 0; i < s->granule_count; i++) {
		struct region *r = &s->regions[s->granules[i].region];

		if (s->granules[i].shared && s->granules[i].addr > r->top)
			r->top = s->granules[i].addr;
	}
	for (size_t i = 0; i < s->access_count; i++)
		keep[i] = (char)access_shared(s, &s->accesses[i]);
	for (size_t t = 0; t < info->thread_count; t++)
		for (size_t i = 0; i < s->access_count; i++)
			if (keep[i] && s->accesses[i].thread == info->threads[t].id)
				print_access(s, &s->accesses[i]);
	free(keep);
}

int main(int argc, char **argv)
{
	struct shared s = { 0 };
	struct err err;
	struct event ev;
	int got;

	if (argc != 2) {
		fprintf(stderr, "usage: shared TRACE\n");
		return 2;
	}
	s.trace = reader_open(argv[1], &err);
	if (!s.trace)
		die(argv[1], &err);
	/* All modules are known before the first event: reader_open() indexes all chunks. */
	region_new(&s, (struct region){ .type = REGION_OTHER });
	s.modules = (uint32_t)s.region_count;
	for (size_t i = 0; i < reader_info(s.trace)->module_count; i++) {
		const struct reader_module *m = &reader_info(s.trace)->modules[i];

		region_new(&s, (struct region){ .type = REGION_MODULE, .low = m->start,
						.high = m->end, .nth = i });
	}
	while ((got = reader_next(s.trace, &ev, &err)) > 0)
		event_see(&s, &ev);
	if (got < 0)
		die(argv[1], &err);
	print_all(&s);
	if (ferror(stdout) || fflush(stdout) != 0) {
		fprintf(stderr, "shared: cannot write\n");
		return 3;
	}
	return 0;	/* the kernel frees the memory */
}
