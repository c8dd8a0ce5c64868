/*
 * Reference of the exposed iRoots of a run (coverage/fold/iroot_fold.h, "Exposed"; the idioms are
 * in abi/iroot.h).
 *
 * find_dependencies() finds dependencies byte by byte: for each access, a search backwards for the
 * last access to the byte. slow_one() joins a dependency with all earlier ones of the same variable
 * (idioms 2 and 3), slow_two() with the remembered ones of other variables (idioms 4 to 6). A run
 * has at most 512 steps.
 */
#ifndef REFERENCE_IROOTS_EXPOSED_H
#define REFERENCE_IROOTS_EXPOSED_H

#include "iroot_util.h"

/* A step. `counts`: an access or lock operation; `fresh`: an allocation; [lo, hi): its bytes. */
struct touch {
	bool counts, fresh, lock;
	uint64_t lo, hi, index;
	uint32_t thread;
	struct iroot_event event;
};

/* A dependency between two steps, in one granule; bytes: those that both access. */
struct dependency {
	size_t from, to;
	uint64_t var;
	uint8_t bytes;
	uint64_t granule;
};

/* The access of an iRoot event that stands for the operation of a step. */
static unsigned access_kind(unsigned op)
{
	return op == IROOT_OP_READ ? IROOT_READ : op == IROOT_OP_WRITE ? IROOT_WRITE :
	       op == IROOT_OP_ACQUIRE ? IROOT_ACQUIRE : IROOT_RELEASE;
}

static size_t expand(const struct iroot_step *steps, size_t count, struct touch *out)
{
	uint64_t index[8] = { 0 };

	for (size_t i = 0; i < count; i++) {
		const struct iroot_step *s = &steps[i];

		out[i] = (struct touch){ .lo = s->addr,
					 .hi = s->addr + s->size,
					 .thread = s->thread };
		out[i].fresh = s->op == IROOT_OP_FRESH;
		out[i].lock = s->op == IROOT_OP_ACQUIRE || s->op == IROOT_OP_RELEASE;
		out[i].counts = s->op == IROOT_OP_READ || s->op == IROOT_OP_WRITE || out[i].lock;
		if (out[i].lock)
			out[i].hi = out[i].lo + 1;
		if (out[i].counts)
			out[i].index = ++index[s->thread];
		out[i].event = (struct iroot_event){ s->site, access_kind(s->op) };
	}
	return count;
}

static bool touches(const struct touch *t, uint64_t byte, bool lock)
{
	return t->counts && t->lock == lock && t->lo <= byte && byte < t->hi;
}

/*
 * The last step before `to` that accesses the byte or lock; SIZE_MAX: none. `thread`: of this one
 * only; 0: of any.
 */
static size_t before(const struct touch *all, size_t to, uint64_t byte, bool lock, uint32_t thread)
{
	for (size_t i = to; i-- > 0;) {
		if (all[i].fresh && !lock && all[i].lo <= byte && byte < all[i].hi)
			return SIZE_MAX;
		if (touches(&all[i], byte, lock) && (!thread || all[i].thread == thread))
			return i;
	}
	return SIZE_MAX;
}

static bool depends(const struct touch *a, const struct touch *b)
{
	uint64_t x = a->event.access, y = b->event.access;

	if (a->thread == b->thread)
		return false;
	return a->lock ? x == IROOT_RELEASE && y == IROOT_ACQUIRE
		       : x == IROOT_WRITE || y == IROOT_WRITE;
}

/* How often the byte was allocated before step `at`. */
static uint64_t generation(const struct touch *all, size_t at, uint64_t byte)
{
	uint64_t n = 0;

	for (size_t i = 0; i < at; i++)
		n += all[i].fresh && all[i].lo <= byte && byte < all[i].hi;
	return n;
}

static size_t find_dependencies(const struct touch *all, size_t count, struct dependency *out)
{
	size_t n = 0;

	for (size_t to = 0; to < count; to++) {
		size_t first = n;

		for (uint64_t byte = all[to].lo; all[to].counts && byte < all[to].hi; byte++) {
			size_t from = before(all, to, byte, all[to].lock, 0), i;

			if (from == SIZE_MAX || !depends(&all[from], &all[to]))
				continue;
			for (i = first; i < n; i++)
				if (out[i].from == from && out[i].granule == byte / 8)
					break;
			if (i == n)
				out[n++] = (struct dependency){
					.from = from, .to = to, .granule = byte / 8,
					.var = byte | generation(all, to, byte) << 32 |
					       (uint64_t)all[to].lock << 63 };
			out[i].bytes |= (uint8_t)(1u << (byte & 7));
		}
	}
	return n;
}

static bool near(const struct touch *a, const struct touch *b, uint32_t window)
{
	return a->index < b->index && b->index - a->index <= window;
}

static void add_root(struct roots *out, uint64_t idiom, const struct touch *a,
		     const struct touch *b, const struct touch *c, const struct touch *d)
{
	struct iroot root = { .idiom = idiom, .event = { a->event, b->event } };

	if (c)
		root.event[2] = c->event;
	if (d)
		root.event[3] = d->event;
	roots_add(out, &root);
}

/* Adds the iRoots of idioms 2 and 3 that end with `d`. */
static void slow_one(const struct touch *all, const struct dependency *deps,
		     const struct dependency *d, uint32_t window, struct roots *out)
{
	const struct touch *c = &all[d->from], *e = &all[d->to];

	for (const struct dependency *f = deps; f < d; f++) {
		const struct touch *a = &all[f->from], *b = &all[f->to];
		bool found = false;

		if (a->thread != e->thread || b->thread != c->thread || a->lock != e->lock ||
		    f->granule != d->granule)
			continue;
		for (unsigned bit = 0; bit < 8; bit++)
			found |= (f->bytes & d->bytes & 1u << bit) &&
				 before(all, d->to, d->granule * 8 + bit, e->lock, e->thread) ==
					 f->from;
		if (!found || !near(a, e, window))
			continue;
		if (b == c)
			add_root(out, 2, a, b, e, NULL);
		else if (near(b, c, window))
			add_root(out, 3, a, b, c, e);
	}
}

/* Adds the iRoots of idioms 4 to 6 that `f` and then `d` make. */
static void slow_join(const struct touch *all, const struct dependency *f,
		      const struct dependency *d, uint32_t window, struct roots *out)
{
	const struct touch *a = &all[f->from], *b = &all[f->to], *c = &all[d->from],
			   *e = &all[d->to];

	if (f->var == d->var)
		return;
	if (a->thread == c->thread) {
		if (near(a, c, window) && near(b, e, window))
			add_root(out, 6, a, b, c, e);
		return;
	}
	if (near(a, e, window) && near(b, c, window))
		add_root(out, 4, a, b, c, e);
	if (near(a, e, window) && near(c, b, window))
		add_root(out, 5, a, b, c, e);
}

/* Do they have the same threads, sites and kinds of access? */
static bool same_kind(const struct touch *all, const struct dependency *x,
		      const struct dependency *y)
{
	return all[x->from].thread == all[y->from].thread &&
	       all[x->to].thread == all[y->to].thread &&
	       memcmp(&all[x->from].event, &all[y->from].event, sizeof(struct iroot_event)) == 0 &&
	       memcmp(&all[x->to].event, &all[y->to].event, sizeof(struct iroot_event)) == 0;
}

/*
 * Adds the iRoots of idioms 4 to 6 that end with `d`: with the last two dependencies of each kind
 * between the two threads, and the last one of another variable than the last.
 */
static void slow_two(const struct touch *all, const struct dependency *deps,
		     const struct dependency *d, uint32_t window, struct roots *out)
{
	for (const struct dependency *f = d; f-- > deps;) {
		bool is_last = true;
		uint32_t x = all[f->from].thread, y = all[f->to].thread;

		if (!(x == all[d->from].thread && y == all[d->to].thread) &&
		    !(y == all[d->from].thread && x == all[d->to].thread))
			continue;
		for (const struct dependency *g = f + 1; g < d; g++)
			is_last &= !same_kind(all, f, g);
		if (!is_last)
			continue;
		slow_join(all, f, d, window, out);
		for (const struct dependency *g = f; g-- > deps;)
			if (same_kind(all, f, g) && g->var != f->var) {
				slow_join(all, g, d, window, out);
				break;
			}
		for (const struct dependency *g = f; g-- > deps;)
			if (same_kind(all, f, g)) {
				slow_join(all, g, d, window, out);
				break;
			}
	}
}

static void slow_observe(const struct iroot_step *steps, size_t count, uint32_t window,
			 struct roots *out)
{
	static struct touch all[512];
	static struct dependency deps[4096];
	size_t n;

	expand(steps, count, all);
	n = find_dependencies(all, count, deps);
	for (size_t i = 0; i < n; i++) {
		add_root(out, 1, &all[deps[i].from], &all[deps[i].to], NULL, NULL);
		slow_one(all, deps, &deps[i], window, out);
		slow_two(all, deps, &deps[i], window, out);
	}
}

#endif
