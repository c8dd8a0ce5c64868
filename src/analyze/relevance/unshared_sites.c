#include "analyze/relevance/unshared_sites.h"

#include <string.h>

#include "analyze/context/access.h"

struct scan {
	struct unshared_sites *sites;
	const struct unshared *unshared;
	uint64_t key;			/* of the page looked up last; 0: none */
	const struct granule_bits *shared;	/* its shared granules; NULL: all are */
};

static bool is_unshared(struct scan *scan, uint64_t granule)
{
	const struct unshared_slot *s;

	if (scan->key != unshared_key(granule)) {
		scan->key = unshared_key(granule);
		s = unshared_slot(scan->unshared, scan->key);
		scan->shared = s->key ? &scan->unshared->shared[s->page] : NULL;
	}
	return scan->shared && !granule_bit(scan->shared, granule);
}

/* Callback of reader_accesses(). */
static bool on_accesses(void *ctx, uint32_t thread, const struct trace_record *r, size_t count,
		uint64_t size)
{
	const struct trace_record *end = r + count;
	struct scan *scan = ctx;
	uint64_t *shared = scan->sites->shared;

	(void)thread;
	(void)size;
	for (; r < end; r++) {
		uint64_t pc = r->site & TRACE_ADDR_MASK;

		if (!reader_has_site(shared, pc) && access_of(trace_site_kind(r->site)) &&
		    !is_unshared(scan, (r->addr & TRACE_ADDR_MASK) / 8))
			shared[reader_site(pc) / 64] |= 1ull << reader_site(pc) % 64;
	}
	return true;
}

void unshared_sites_prescan(struct unshared_sites *sites, const struct unshared *unshared,
			    struct reader *trace)
{
	struct scan scan = { .sites = sites, .unshared = unshared };
	struct err unused;

	memset(sites->shared, 0, sizeof(sites->shared));
	if (unshared->lost || reader_accesses(trace, on_accesses, &scan, &unused) < 0)
		memset(sites->shared, 0xff, sizeof(sites->shared));
}
