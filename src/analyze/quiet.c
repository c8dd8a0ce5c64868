#include "analyze/quiet.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"

#define SOME 64u	/* events read at once */
#define LITTLE 16u	/* one part in so many of what is used */
#define FOUGHT 60u	/* of 64 accesses are to what is not alone: it saves nothing */

struct quiet {
	struct alone *alone;
	struct reader *trace;
	struct map blocks;	/* heap: address to size */
	size_t used, left;	/* granules that somebody used; of them, so many are quiet as far as is known */
};

/* By whom the granule may be given back without anybody caring; MANY: by nobody. */
static bool is_theirs(uint16_t users, uint32_t thread)
{
	return (users & ALONE_MANY) == thread || !users;
}

static void stir_page(struct quiet *d, uint32_t page, uint64_t from, uint64_t to, uint32_t thread)
{
	const uint16_t *users = d->alone->users[page].granule;
	uint64_t *bits = d->alone->stirred[page].granule;

	for (uint64_t i = from; i < to; i++) {
		bool stirred = !is_theirs(users[i], thread);

		d->left -= stirred && !(bits[i / 64] >> i % 64 & 1);
		bits[i / 64] |= (uint64_t)stirred << i % 64;
	}
}

/* The thread gives it back. */
static void give_back(struct quiet *d, uint64_t addr, uint64_t size, uint32_t thread)
{
	const struct alone *a = d->alone;
	uint64_t last = size > UINT64_MAX - addr ? UINT64_MAX : addr + size - 1;
	uint64_t first = addr / 8, end = last / 8 + 1;
	uint64_t from = first / ALONE_GRANULES, to = (end - 1) / ALONE_GRANULES;
	bool all = to - from >= a->slot_count;

	/* Threads above have no number of their own. */
	if (thread >= ALONE_MANY)
		thread = ALONE_MANY + 1;
	for (uint64_t i = all ? 0 : from; i <= (all ? a->slot_count - 1 : to); i++) {
		const struct alone_slot *s = all ? &a->slots[i] : alone_slot(a, i + 1);
		uint64_t base = (s->key - 1) * ALONE_GRANULES;

		if (s->key && s->key > from && s->key <= to + 1)
			stir_page(d, s->page, first > base ? first - base : 0,
				  end < base + ALONE_GRANULES ? end - base : ALONE_GRANULES, thread);
	}
}

/* As track.c has it. */
static void see(struct quiet *d, const struct event *ev)
{
	const struct reader_thread *thread;
	uint64_t *size;

	switch (ev->kind) {
	case TRACE_MALLOC:
		if (ev->result == 0)
			*map_put(&d->blocks, ev->addr, NULL) = ev->arg;
		return;
	case TRACE_FREE:
		size = map_find(&d->blocks, ev->addr);
		if (size && *size) {
			give_back(d, ev->addr, *size, ev->thread);
			*size = 0;
		}
		return;
	case TRACE_MUNMAP:
		if (ev->result == 0 && ev->arg)
			give_back(d, ev->addr, ev->arg, ev->thread);
		return;
	case TRACE_THREAD_EXIT:
		thread = reader_thread(d->trace, ev->thread);
		if (thread && thread->stack_high > thread->stack_low)
			give_back(d, thread->stack_low, thread->stack_high - thread->stack_low, ev->thread);
		return;
	}
}

static void count(struct quiet *d)
{
	for (size_t i = 0; i < d->alone->page_count; i++)
		for (unsigned k = 0; k < ALONE_GRANULES; k++) {
			d->used += d->alone->users[i].granule[k] != 0;
			d->left += d->alone->users[i].granule[k] && !alone_bit(&d->alone->shared[i], k);
		}
}

static bool is_little_left(const struct quiet *d)
{
	return d->left < d->used / LITTLE;
}

/* False: the trace is damaged, or it is given up. */
static bool look(struct quiet *d)
{
	uint64_t nowhere[READER_SITES] = { 0 };
	struct reader_wanted wanted = { .sites = nowhere };
	struct event some[SOME];
	struct err unused;
	uint32_t thread;
	int got = 1;

	count(d);
	while (got > 0 && !is_little_left(d)) {
		while (reader_pass(d->trace, &wanted, UINT64_MAX, &thread) > 0)
			;
		got = reader_some(d->trace, some, SOME, &wanted, &unused);
		for (int i = 0; i < got; i++)
			see(d, &some[i]);
	}
	return got == 0;
}

void quiet_look(struct alone *a, struct reader *trace)
{
	struct quiet d = { .alone = a, .trace = trace };
	struct err unused;

	/* Of a short trace it is not known. */
	if (!a->page_count || (a->fought > FOUGHT && a->fought < 64))
		return;
	a->stirred = xmalloc((a->page_count + 1) * sizeof(*a->stirred));
	memcpy(a->stirred, a->shared, a->page_count * sizeof(*a->stirred));
	if (!look(&d)) {
		free(a->stirred);
		a->stirred = NULL;
	}
	map_free(&d.blocks);
	reader_rewind(trace, &unused);	/* if it cannot, reading says so */
}
