/*
 * The different things that happened last, the newest first.
 */
#include "sched/iroot_internal.h"

static bool is_same(const struct iroot_recent *r, uint32_t first, uint32_t second, uint32_t direction)
{
	return r->event[0] == first && r->event[1] == second && r->direction == direction;
}

static void restart(struct iroot_recent *r, uint32_t first, uint32_t second, uint32_t direction)
{
	r->event[0] = first;
	r->event[1] = second;
	r->direction = direction;
	r->instance[0].var = r->instance[1].var = 0;
}

struct iroot_recent *iroot_recent_touch(struct iroot_profile *p, struct iroot_recents *list,
					uint32_t first, uint32_t second, uint32_t direction)
{
	uint32_t *link = &list->first, *last = link, ref;
	struct iroot_recent *r;

	while (*link && !is_same(iroot_at(p, *link), first, second, direction)) {
		last = link;
		link = &((struct iroot_recent *)iroot_at(p, *link))->next;
	}
	if (!*link && list->count < IROOT_RECENT) {
		*link = iroot_alloc(p, sizeof(*r));
		if (!*link)
			return NULL;
		restart(iroot_at(p, *link), first, second, direction);
		list->count++;
	} else if (!*link) {	/* the oldest gives way */
		link = last;
		restart(iroot_at(p, *link), first, second, direction);
	}
	ref = *link;
	r = iroot_at(p, ref);
	*link = r->next;
	r->next = list->first;
	list->first = ref;
	return r;
}

void iroot_recent_set(struct iroot_recent *r, const struct iroot_instance *instance)
{
	if (r->instance[0].var && r->instance[0].var != instance->var)
		r->instance[1] = r->instance[0];
	r->instance[0] = *instance;
}
