#include "analyze/relevance/unshared_sites.h"

#include <string.h>

#include "analyze/context/access.h"

struct look {
	struct idle *idle;
	const struct alone *alone;
	uint64_t key;			/* of the page asked for last; 0: none */
	const struct alone_bits *page;	/* NULL: nothing is alone there */
};

static bool is_alone(struct look *l, uint64_t granule)
{
	const struct alone_slot *s;

	if (l->key != alone_key(granule)) {
		l->key = alone_key(granule);
		s = alone_slot(l->alone, l->key);
		l->page = s->key ? &l->alone->shared[s->page] : NULL;
	}
	return l->page && !alone_bit(l->page, granule);
}

static bool see(void *ctx, uint32_t thread, const struct trace_record *r, size_t count, uint64_t size)
{
	const struct trace_record *end = r + count;
	struct look *l = ctx;
	uint64_t *busy = l->idle->busy;

	(void)thread;
	(void)size;
	for (; r < end; r++) {
		uint64_t pc = r->site & TRACE_ADDR_MASK;

		if (!reader_has_site(busy, pc) && access_of(trace_site_kind(r->site)) &&
		    !is_alone(l, (r->addr & TRACE_ADDR_MASK) / 8))
			busy[reader_site(pc) / 64] |= 1ull << reader_site(pc) % 64;
	}
	return true;
}

void idle_look(struct idle *i, const struct alone *alone, struct reader *trace)
{
	struct look l = { .idle = i, .alone = alone };
	struct err unused;

	memset(i->busy, 0, sizeof(i->busy));
	if (alone->lost || reader_accesses(trace, see, &l, &unused) < 0)
		memset(i->busy, 0xff, sizeof(i->busy));
}
