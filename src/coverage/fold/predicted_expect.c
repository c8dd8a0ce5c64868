/*
 * Predicted dependencies, part 2: the history of each thread at each location, and the comparison
 * of a new entry with those of other threads.
 */
#include "abi/mix.h"
#include "coverage/fold/fold_internal.h"

static inline bool happens_before(const struct iroot_profile *p, const struct iroot_thread *first,
				  uint32_t epoch, uint32_t clock)
{
	return clock && iroot_clock_get(p, iroot_at(p, clock), first->own) >= epoch;
}

/* Of each lock that both hold, `first` is the last access of its section and `second` the first. */
static bool locks_allow(const struct iroot_profile *p, const struct iroot_entry *first,
			const struct iroot_entry *second)
{
	const struct iroot_lockset *a = iroot_at(p, first->locks), *b = iroot_at(p, second->locks);

	for (uint32_t i = 0; i < a->count && i < IROOT_HELD; i++)
		for (uint32_t k = 0; k < b->count && k < IROOT_HELD; k++)
			if (a->at[i].lock == b->at[k].lock &&
			    !(a->at[i].shared && b->at[k].shared) &&
			    !(a->at[i].last && b->at[k].first))
				return false;
	return true;
}

/*
 * Adds the predicted dependency first -> second: as iRoot of idiom 1, and as edge for compound.c
 * unless the two sites have IROOT_EDGE_VARIABLES edges already.
 */
static void edge_add(struct iroot_profile *p, const struct iroot_node_id *first,
		     const struct iroot_node_id *second)
{
	uint64_t threads = (uint64_t)first->thread << 32 | second->thread;
	uint64_t sites = (uint64_t)first->event << 32 | second->event;
	uint32_t *count, *ref, from, to, out, in;
	struct iroot_node *a, *b;
	struct iroot_edge *e;
	bool added;

	count = iroot_table_put(p, &p->edge_sites, mix_add_small(threads, sites), &added);
	if (!count || *count >= IROOT_EDGE_VARIABLES)
		return;
	if (!*count)
		iroot_found_add(p, IROOT_PREDICTED, 1, first->event, second->event, 0, 0);
	ref = iroot_table_put(p, &p->edges, iroot_pair_key(first->key, second->key), &added);
	if (!ref || !added)
		return;
	(*count)++;
	from = iroot_node(p, first);
	to = iroot_node(p, second);
	out = iroot_alloc(p, sizeof(*e));
	in = iroot_alloc(p, sizeof(*e));
	if (!from || !to || !out || !in)
		return;
	*ref = out;
	a = iroot_at(p, from);
	b = iroot_at(p, to);
	e = iroot_at(p, out);
	e->node = to;
	e->next = a->successors;
	a->successors = out;
	e = iroot_at(p, in);
	e->node = from;
	e->next = b->predecessors;
	b->predecessors = in;
}

/* Does strong order allow first -> second, with no other access of threads a and b in between? */
static inline bool order_allows(const struct iroot_profile *p, const struct iroot_thread *a,
				const struct iroot_entry *first, const struct iroot_thread *b,
				const struct iroot_entry *second)
{
	return !happens_before(p, b, second->epoch, first->clock) &&
	       !(first->after && happens_before(p, a, first->after, second->clock)) &&
	       !happens_before(p, a, first->epoch, second->before);
}

static void check_pair(struct iroot_profile *p, const struct iroot_location *loc,
		       const struct iroot_thread *a, const struct iroot_entry *first,
		       const struct iroot_thread *b, const struct iroot_entry *second)
{
	struct iroot_node_id one, two;

	if (!iroot_conflict(first->access, second->access) || (first->shared && second->shared) ||
	    !order_allows(p, a, first, b, second) || !locks_allow(p, first, second))
		return;
	one = iroot_node_id(iroot_var(loc, first->mask), a->own, first->event);
	two = iroot_node_id(iroot_var(loc, second->mask), b->own, second->event);
	edge_add(p, &one, &two);
}

/* The entries of a history, and their number. */
static struct iroot_entry *entries_of(const struct iroot_profile *p, const struct iroot_history *h,
				      uint32_t *count)
{
	*count = h->entries && h->count <= IROOT_HISTORY ? h->count : 0;
	return *count ? iroot_at(p, h->entries) : NULL;
}

/*
 * Compares the new entry `e` with all entries of other threads, in both directions. The clock
 * components tested here rule out most pairs before check_pair().
 */
static void check_against_others(struct iroot_profile *p, const struct iroot_location *loc,
				 const struct iroot_history *h, const struct iroot_entry *e)
{
	const struct iroot_thread *self = iroot_at(p, h->thread);

	for (uint32_t ref = loc->histories; ref;) {
		const struct iroot_history *other = iroot_at(p, ref);
		const struct iroot_thread *thread = iroot_at(p, other->thread);
		uint32_t count, clock = iroot_clock_get(p, iroot_at(p, e->clock), thread->own);
		uint32_t before = e->before ? iroot_clock_get(p, iroot_at(p, e->before),
							      thread->own) : 0;
		const struct iroot_entry *f = entries_of(p, other, &count);
		const struct iroot_entry *end = count ? f + count : f;

		for (f = other != h ? f : end; f < end; f++) {
			if (!(f->mask & e->mask))
				continue;
			if (clock < f->epoch)
				check_pair(p, loc, self, e, thread, f);
			if (before < f->epoch && !(f->after && clock >= f->after))
				check_pair(p, loc, thread, f, self, e);
		}
		ref = iroot_next_older(p, ref, other->next);
	}
}

/* Can a pending access of another thread make a dependency with the entry? */
static bool fits_pending(const struct iroot_profile *p, const struct iroot_location *loc,
			 const struct iroot_thread *self, const struct iroot_entry *e)
{
	for (uint32_t ref = loc->histories; ref;) {
		const struct iroot_history *h = iroot_at(p, ref);
		const struct iroot_thread *t = iroot_at(p, h->thread);
		unsigned left = 8;

		for (uint32_t i = t != self ? h->pending : 0; i && left-- > 0;) {
			const struct iroot_pending *w = iroot_at(p, i);

			if (order_allows(p, self, e, t, &w->entry) ||
			    order_allows(p, t, &w->entry, self, e))
				return true;
			i = w->next;
		}
		ref = iroot_next_older(p, ref, h->next);
	}
	return false;
}

/*
 * True if no later access can make a dependency with the entry: all other threads are strongly
 * after the access of its thread that follows the entry.
 */
static bool is_obsolete(const struct iroot_profile *p, const struct iroot_location *loc,
			const struct iroot_thread *self, const struct iroot_entry *e)
{
	if (!e->after)
		return false;
	for (uint32_t ref = p->all_threads; ref;) {
		const struct iroot_thread *t = iroot_at(p, ref);

		if (t != self && !t->ended && !happens_before(p, self, e->after, t->clock))
			return false;
		ref = iroot_next_older(p, ref, t->next);
	}
	return !fits_pending(p, loc, self, e);
}

static void drop_obsolete(struct iroot_profile *p, const struct iroot_location *loc,
			  struct iroot_history *h)
{
	const struct iroot_thread *self = iroot_at(p, h->thread);
	uint32_t count, kept = 0;
	struct iroot_entry *e = entries_of(p, h, &count);

	for (uint32_t i = 0; i < count; i++)
		if (!is_obsolete(p, loc, self, &e[i]))
			e[kept++] = e[i];
	h->count = kept;
}

static unsigned size_class(uint32_t room)
{
	return room >= IROOT_HISTORY_MIN ?
	       (unsigned)__builtin_ctz(room / IROOT_HISTORY_MIN) % IROOT_HISTORY_SIZES : 0;
}

void iroot_history_clear(struct iroot_profile *p, struct iroot_history *h)
{
	if (h->entries) {
		*(uint32_t *)iroot_at(p, h->entries) = p->free_entries[size_class(h->capacity)];
		p->free_entries[size_class(h->capacity)] = h->entries;
	}
	h->entries = h->capacity = h->count = 0;
}

static bool history_grow(struct iroot_profile *p, struct iroot_history *h)
{
	uint32_t room = h->entries ? h->capacity * 2 : IROOT_HISTORY_MIN,
			*free = &p->free_entries[size_class(room)];
	uint32_t ref = *free ? *free : iroot_alloc(p, room * sizeof(struct iroot_entry)), count;
	const struct iroot_entry *from = entries_of(p, h, &count);
	struct iroot_entry *to;

	if (!ref)
		return false;
	to = iroot_at(p, ref);
	if (*free)
		*free = *(const uint32_t *)to;
	for (uint32_t i = 0; i < count; i++)
		to[i] = from[i];
	iroot_history_clear(p, h);
	h->entries = ref;
	h->capacity = room;
	h->count = count;
	return true;
}

/*
 * Returns room for a new entry; NULL: no memory is left. A full history first drops obsolete
 * entries, because each new entry is compared with all of them; then it grows. Threads without a
 * CREATE step come after nothing, so no entry is obsolete for them: with such threads a history
 * drops entries only at its largest size. If it is still full, the oldest entry is replaced.
 */
static struct iroot_entry *entry_new(struct iroot_profile *p, const struct iroot_location *loc,
				     struct iroot_history *h)
{
	struct iroot_entry *e;
	uint32_t count;

	if (h->count > IROOT_HISTORY || h->capacity > IROOT_HISTORY)
		return iroot_bad_ref(p, 1);	/* damaged */
	if (h->count >= h->capacity) {
		if (h->capacity && (!p->uncreated_threads || h->capacity == IROOT_HISTORY))
			drop_obsolete(p, loc, h);
		if ((h->count > h->capacity / 2 || !h->capacity) && h->capacity < IROOT_HISTORY &&
		    !history_grow(p, h))
			return NULL;
	}
	e = entries_of(p, h, &count);
	if (count == IROOT_HISTORY) {
		p->lost++;
		for (uint32_t i = 1; i < count; i++)
			e[i - 1] = e[i];
		h->count--;
	}
	return (struct iroot_entry *)iroot_at(p, h->entries) + h->count++;
}

void iroot_history_add(struct iroot_profile *p, const struct iroot_location *loc,
		       struct iroot_history *h, const struct iroot_entry *entry)
{
	struct iroot_entry *e = entry_new(p, loc, h);

	if (!e)
		return;
	*e = *entry;
	p->entry_count++;
	check_against_others(p, loc, h, e);
}
