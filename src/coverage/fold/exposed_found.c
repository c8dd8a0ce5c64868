/*
 * The tables of static events and of iRoots, each of which is stored once.
 */
#include "abi/mix.h"
#include "coverage/fold/fold_internal.h"

uint32_t iroot_event_number(struct iroot_profile *p, uint64_t site, uint32_t access)
{
	uint64_t key = (site << 2 | access) + 1;
	struct iroot_cache_slot *cached = iroot_cache_slot(p->event_cache, key);
	struct iroot_event *e;
	uint32_t *number;
	bool added;

	if (cached->key == key)
		return cached->ref;
	number = iroot_table_put(p, &p->events, mix_add_small(site, access), &added);
	if (!number)
		return 0;
	if (added) {
		*number = iroot_alloc(p, sizeof(*e));
		if (!*number)
			return 0;
		e = iroot_at(p, *number);
		e->site = site;
		e->access = access;
	}
	*cached = (struct iroot_cache_slot){ key, *number, 0 };
	return *number;
}

const struct iroot_event *iroot_event_at(const struct iroot_profile *p, uint32_t number)
{
	return iroot_at(p, number);
}

/* Orders static events, to normalise idiom 5, which is symmetric in its two threads. */
static bool is_later(const struct iroot_profile *p, uint32_t a, uint32_t b)
{
	const struct iroot_event *x = iroot_at(p, a), *y = iroot_at(p, b);

	return x->site != y->site ? x->site > y->site : x->access > y->access;
}

void iroot_found_add(struct iroot_profile *p, uint32_t flag, uint32_t idiom, uint32_t a, uint32_t b,
		     uint32_t c, uint32_t d)
{
	struct iroot_found *f;
	uint32_t *number;
	bool added;

	if (idiom == 5 && (is_later(p, a, c) || (a == c && is_later(p, b, d)))) {
		uint32_t first = a, second = b;

		a = c, b = d;
		c = first, d = second;
	}
	number = iroot_table_put(p, &p->found, mix_add_small(mix_add_small(idiom,
									   (uint64_t)a << 32 | b),
							     (uint64_t)c << 32 | d), &added);
	if (!number)
		return;
	if (added) {
		*number = iroot_alloc(p, sizeof(*f));
		if (!*number)
			return;
		f = iroot_at(p, *number);
		f->idiom = idiom;
		f->event[0] = a, f->event[1] = b, f->event[2] = c, f->event[3] = d;
		if (p->last_found)
			((struct iroot_found *)iroot_at(p, p->last_found))->next = *number;
		else
			p->all_found = *number;
		p->last_found = *number;
		p->found_count++;
	}
	if (*number)
		((struct iroot_found *)iroot_at(p, *number))->flags |= flag;
}
