#include "learn/learner_write.h"

/*
 * What one run adds, by numbers of the database. Several sites of a build may be one in the
 * source, and count only once per run.
 */
struct sums {
	struct map sites;	/* number to 1: reached; 3: its invariant was broken, too */
	struct map pairs;	/* P << 32 | M to enum store_pair_kind */
	struct map locals;	/* p << 32 | i to 1; 3: breakable */
	struct map between;
	struct map members;
	struct map locks;	/* two sites to enum store_lock_pair */
	struct map unblocked;	/* P << 32 | I */
	struct map visits;	/* P << 32 | R to bits 1: may come before I, 2: did */
	struct map orders;	/* P << 32 | I to enum lifetx_torn */
};

static void add_pairs(struct map *to, const struct learn_pairs *pairs,
		      const struct learner_site *stored, uint64_t bits)
{
	for (size_t i = 0; i < pairs->count; i++)
		*map_put(to,
			 (uint64_t)stored[pairs->items[i].first].id << 32 |
				 (uint64_t)stored[pairs->items[i].second].id,
			 NULL) |= bits;
}

static void sum_up_breakable(struct sums *s, const struct breakable *a,
			     const struct learner_site *stored)
{
	add_pairs(&s->locals, breakable_local_pairs(a), stored, 1);
	add_pairs(&s->locals, breakable_pairs(a), stored, 2);
	add_pairs(&s->between, breakable_between(a), stored, 1);
}

static void sum_up_sites(struct sums *s, const struct training_run *run,
			 const struct learner_site *stored)
{
	for (size_t i = 1; i < run->sites.count; i++)
		if (run->sites.items[i].access <= LEARN_WRITE)
			*map_put(&s->sites, (uint64_t)stored[i].id, NULL) |= 1;
	for (size_t i = 0; i < avio_count(run->avio); i++)
		*map_put(&s->sites, (uint64_t)stored[avio_at(run->avio, i)->i].id, NULL) |= 2;
}

static void sum_up(struct sums *s, const struct training_run *run,
		   const struct learner_site *stored)
{
	const struct learn_pairs *orders = lifetx_orders(run->lifetx);

	sum_up_sites(s, run, stored);
	add_pairs(&s->pairs, pset_pairs(run->pset), stored, STORE_SEEN);
	add_pairs(&s->pairs, &run->expected, stored, STORE_EXPECTED);
	add_pairs(&s->pairs, &run->conflicts, stored, STORE_CONFLICT);
	add_pairs(&s->pairs, &run->races, stored, STORE_RACE);
	add_pairs(&s->pairs, &run->lock_seen, stored, STORE_SEEN);
	add_pairs(&s->pairs, &run->lock_expected, stored, STORE_EXPECTED);
	add_pairs(&s->pairs, &run->first, stored, STORE_FIRST);
	add_pairs(&s->pairs, &run->after, stored, STORE_AFTER);
	add_pairs(&s->members, lifetx_members(run->lifetx), stored, 1);
	add_pairs(&s->members, lock_sites_members(run->lock_sites), stored, 1);
	add_pairs(&s->locks, lock_sites_outermost(run->lock_sites), stored, STORE_OUTERMOST);
	add_pairs(&s->locks, lock_sites_cycles(run->lock_sites), stored, STORE_CYCLE);
	add_pairs(&s->unblocked, interleaved_unblocked(run->interleaved), stored, 1);
	add_pairs(&s->visits, breakable_visits(run->breakable), stored, 1);
	add_pairs(&s->visits, interleaved_visits(run->interleaved), stored, 2);
	for (size_t i = 0; i < orders->count; i++)
		*map_put(&s->orders, (uint64_t)stored[orders->items[i].first].id << 32 |
				     (uint64_t)stored[orders->items[i].second].id, NULL) |=
			lifetx_torn(run->lifetx, orders->items[i].first, orders->items[i].second);
	sum_up_breakable(s, run->breakable, stored);
}

struct writing {
	struct learner *l;
	struct store_news *news;
	bool sure;		/* the order of accesses is exact */
	int result;
	struct err *err;
};

static void write_site(void *ctx, uint64_t id, uint64_t bits)
{
	struct writing *w = ctx;

	if (w->result == 0)
		w->result = store_passed(w->l->store, (int64_t)id, bits & 2, w->l->threshold,
					 w->news, w->err);
}

static void write_failed(void *ctx, uint64_t id, uint64_t bits)
{
	struct writing *w = ctx;

	if (w->result == 0)
		w->result = store_failed(w->l->store, (int64_t)id, bits & 2, w->err);
}

static void write_pair(void *ctx, uint64_t key, uint64_t bits)
{
	struct writing *w = ctx;

	if (w->result == 0)
		w->result = store_follows(w->l->store, (int64_t)(key >> 32),
					  (int64_t)(key & UINT32_MAX), (unsigned)bits, w->sure,
					  w->news, w->err);
}

static void write_local(void *ctx, uint64_t key, uint64_t bits)
{
	struct writing *w = ctx;

	if (w->result == 0)
		w->result = store_local(w->l->store, (int64_t)(key >> 32),
					(int64_t)(key & UINT32_MAX), bits & 2, w->err);
}

static void write_between(void *ctx, uint64_t key, uint64_t value)
{
	struct writing *w = ctx;

	(void)value;
	if (w->result == 0)
		w->result = store_between(w->l->store, (int64_t)(key >> 32),
					  (int64_t)(key & UINT32_MAX), w->err);
}

static void write_member(void *ctx, uint64_t key, uint64_t value)
{
	struct writing *w = ctx;

	(void)value;
	if (w->result == 0)
		w->result = store_member(w->l->store, (int64_t)(key >> 32),
					 (int64_t)(key & UINT32_MAX), w->news, w->err);
}

static void write_lock(void *ctx, uint64_t key, uint64_t bits)
{
	struct writing *w = ctx;

	if (w->result == 0)
		w->result = store_lock_pair(w->l->store, (int64_t)(key >> 32),
					    (int64_t)(key & UINT32_MAX), (unsigned)bits, w->err);
}

static void write_unblocked(void *ctx, uint64_t key, uint64_t value)
{
	struct writing *w = ctx;

	(void)value;
	if (w->result == 0)
		w->result = store_unblocked(w->l->store, (int64_t)(key >> 32),
					    (int64_t)(key & UINT32_MAX), w->err);
}

static void write_visit(void *ctx, uint64_t key, uint64_t bits)
{
	struct writing *w = ctx;

	if (w->result == 0)
		w->result =
			store_visit(w->l->store, (int64_t)(key >> 32), (int64_t)(key & UINT32_MAX),
				    bits & 1, bits & 2, w->news, w->err);
}

static void write_order(void *ctx, uint64_t key, uint64_t torn)
{
	struct writing *w = ctx;

	if (w->result == 0)
		w->result =
			store_order(w->l->store, (int64_t)(key >> 32), (int64_t)(key & UINT32_MAX),
				    (unsigned)torn, w->news, w->err);
}

/*
 * After new cuts, sites that earlier runs had in one transaction may be in two: only this run's
 * orders count.
 */
static int forget_orders(struct learner *l, const struct learn_pairs *conflicts,
			 const struct learner_site *stored, struct err *err)
{
	struct map sites = { 0 };
	int result = 0;

	for (size_t i = 0; i < conflicts->count; i++)
		map_put(&sites, (uint64_t)stored[conflicts->items[i].first].id, NULL);
	for (size_t i = 0; i < conflicts->count && result == 0; i++) {
		uint64_t *done = map_find(&sites, (uint64_t)stored[conflicts->items[i].first].id);

		if (!*done)
			result = store_forget_orders(l->store, &sites,
						     stored[conflicts->items[i].first].id, err);
		*done = 1;
	}
	map_free(&sites);
	return result;
}

/*
 * A cut counts only if two runs find it: a run that was interrupted there may have passed by luck,
 * and the order of racing accesses in a parallel run is not quite exact.
 */
static int write_cuts(struct learner *l, const struct training_run *run,
		      const struct learner_site *stored, struct store_news *news, struct err *err)
{
	for (uint32_t i = 1; i < run->sites.count; i++) {
		unsigned cuts = lifetx_cuts(run->lifetx, i) & ~stored[i].cuts;

		if (cuts && store_cut(l->store, stored[i].id, cuts, news, err) < 0)
			return -1;
	}
	return news->cuts ? forget_orders(l, &run->conflicts, stored, err) : 0;
}

static void free_sums(struct sums *s)
{
	map_free(&s->sites);
	map_free(&s->pairs);
	map_free(&s->locals);
	map_free(&s->between);
	map_free(&s->members);
	map_free(&s->locks);
	map_free(&s->unblocked);
	map_free(&s->visits);
	map_free(&s->orders);
}

static int write_triples(struct learner *l, const struct training_run *run,
			 const struct learner_site *stored, struct store_news *news,
			 struct err *err)
{
	int result = 0;

	for (size_t i = 0; i < avio_count(run->avio) && result == 0; i++) {
		const struct avio_triple *t = avio_at(run->avio, i);

		result = store_triple(l->store, stored[t->p].id, stored[t->r].id, stored[t->i].id,
				      t->pattern, news, err);
	}
	return result;
}

int learner_write(struct learner *l, const struct training_run *run,
		  const struct learner_site *stored, bool sure, struct store_news *news,
		  struct err *err)
{
	struct writing w = { .l = l, .news = news, .sure = sure, .err = err };
	struct sums s = { 0 };

	sum_up(&s, run, stored);
	w.result = write_cuts(l, run, stored, news, err);
	map_each(&s.sites, write_site, &w);
	map_each(&s.pairs, write_pair, &w);
	map_each(&s.locals, write_local, &w);
	map_each(&s.between, write_between, &w);
	map_each(&s.members, write_member, &w);
	map_each(&s.locks, write_lock, &w);
	map_each(&s.unblocked, write_unblocked, &w);
	map_each(&s.visits, write_visit, &w);
	map_each(&s.orders, write_order, &w);
	if (w.result == 0)
		w.result = write_triples(l, run, stored, news, err);
	free_sums(&s);
	return w.result;
}

int learner_write_probe(struct learner *l, const struct training_run *run,
			const struct learner_site *stored, bool passed, struct store_news *news,
			struct err *err)
{
	struct writing w = { .l = l, .news = news, .err = err };
	struct sums s = { 0 };

	sum_up_sites(&s, run, stored);
	sum_up_breakable(&s, run->breakable, stored);
	map_each(&s.sites, passed ? write_site : write_failed, &w);
	if (passed) {
		map_each(&s.locals, write_local, &w);
		map_each(&s.between, write_between, &w);
	}
	if (passed && w.result == 0)
		w.result = write_triples(l, run, stored, news, err);
	free_sums(&s);
	return w.result;
}
