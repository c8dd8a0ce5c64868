/*
 * The atomicity analysis against an obvious one that keeps every access of a small
 * random trace and tries all triples.
 */
#include "analyze_atomicity_util.h"

#define MAX_EVENTS 512
#define MAX_TRIPLES 65536
#define MAX_THREADS 5

struct touched {
	uint64_t index, time, granule, pc;
	uint64_t taken[4];	/* pcs of the locks held, outermost first */
	uint64_t lock[4];
	uint64_t strong_epoch;
	uint64_t clock[MAX_THREADS];
	uint32_t thread, lockset, locks, releases;
	unsigned access;
	uint8_t bytes;
	bool own;
};

/* A lockset a thread has after one of its events. */
struct step {
	uint64_t index;
	uint32_t thread, lockset;
};

struct triple {
	uint32_t thread, other;
	uint64_t p, r, i;		/* indices */
	uint64_t unit[3], pc[3];
	bool told;
};

/* One at a time, so that the test can look into it. */
static struct slow {
	struct locks *locks;
	struct touched access[2 * MAX_EVENTS];
	size_t accesses;
	struct step step[2 * MAX_EVENTS];
	size_t steps;
	uint32_t releases[MAX_THREADS];
	struct triple triple[MAX_TRIPLES];
	size_t triples;
} slow;

static void *slow_open(const struct analysis_context *ctx)
{
	memset(&slow, 0, sizeof(slow));
	slow.locks = ctx->locks;
	return &slow;
}

static void slow_step(const struct view *view, uint64_t index, uint32_t lockset)
{
	slow.step[slow.steps++] = (struct step){ index, view->thread, lockset };
}

static void slow_access(const struct event *ev, const struct view *view, uint64_t granule,
			uint8_t bytes)
{
	struct touched *a = &slow.access[slow.accesses++];
	struct locks_held held;

	*a = (struct touched){ .index = view->index, .time = ev->time, .granule = granule,
			      .pc = ev->pc, .strong_epoch = view->strong_epoch,
			      .thread = view->thread, .lockset = view->lockset,
			      .locks = (uint32_t)locks_count(slow.locks, view->lockset),
			      .releases = slow.releases[view->thread],
			      .access = access_of(ev->kind), .bytes = bytes };
	for (uint32_t i = 0; i < a->locks; i++) {
		locks_at(slow.locks, view->lockset, i, &held);
		a->taken[i] = held.acquired_pc;
		a->lock[i] = held.lock;
	}
	for (uint32_t i = 0; i < MAX_THREADS; i++)
		a->clock[i] = vclock_get(view->strong, i);
}

static void slow_event(void *state, const struct event *ev, const struct view *view,
		       struct findings *out)
{
	(void)state;
	(void)out;
	slow_step(view, view->index, view->lockset);
	if (ev->kind == TRACE_MUTEX_UNLOCK) {
		slow.releases[view->thread]++;
		slow_step(view, view->index, locks_release(slow.locks, view->lockset, ev->addr));
	}
	for (uint64_t b = 0; access_of(ev->kind) && b < ev->size;) {
		uint64_t addr = ev->addr + b, granule = addr / 8;
		uint8_t bytes = 0;

		for (; b < ev->size && (ev->addr + b) / 8 == granule; b++)
			bytes |= (uint8_t)(1u << (ev->addr + b) % 8);
		slow_access(ev, view, granule, bytes);
	}
}

static bool before(const struct touched *a, const struct touched *b)
{
	return a->strong_epoch <= b->clock[a->thread];
}

static bool can_meet(const struct touched *p, const struct touched *i, const struct touched *r)
{
	for (size_t k = 0; k < slow.steps; k++) {
		const struct step *s = &slow.step[k];

		if (s->thread == p->thread && s->index >= p->index && s->index < i->index &&
		    !locks_exclude(slow.locks, s->lockset, r->lockset) &&
		    locks_compatible(slow.locks, s->lockset, r->lockset))
			return true;
	}
	return false;
}

static bool needs(uint32_t set, uint64_t lock)
{
	struct locks_held held;

	for (size_t i = 0; i < locks_count(slow.locks, set); i++) {
		locks_at(slow.locks, set, i, &held);
		if (held.lock == lock)
			return true;
		for (size_t k = 0; k < held.history_count; k++)
			if (held.history[k] == lock)
				return true;
	}
	return false;
}

static uint64_t unit(const struct touched *a, const struct touched *meets)
{
	for (uint32_t i = 0; i < a->locks; i++)
		if (needs(meets->lockset, a->lock[i]))
			return a->taken[i];
	return a->pc;
}

static void slow_try(const struct touched *p, const struct touched *i, const struct touched *r, bool wide)
{
	bool writes = (r->access & ACCESS_WRITE) && !wide;
	bool read = (p->access & ACCESS_WRITE) && (i->access & ACCESS_WRITE) &&
		    (r->access & ACCESS_READ);

	if (r->thread == p->thread || r->granule != p->granule ||
	    !(r->bytes & p->bytes & i->bytes) || !(writes || read))
		return;
	if (before(r, p) || before(i, r) || (before(p, r) && before(r, i)) || !can_meet(p, i, r))
		return;
	if (!writes && r->own && locks_exclude(slow.locks, p->lockset, r->lockset))
		return;
	assert_true(slow.triples < MAX_TRIPLES);
	slow.triple[slow.triples++] = (struct triple){
		p->thread, r->thread, p->index, r->index, i->index,
		{ unit(p, r), unit(r, p), unit(i, r) }, { p->pc, r->pc, i->pc }, false,
	};
}

/* The thread's access before number `n` that touches some of the same bytes. */
static const struct touched *last_before(size_t n, uint8_t bytes, bool exact, bool write)
{
	const struct touched *i = &slow.access[n];

	while (n-- > 0) {
		const struct touched *a = &slow.access[n];

		if (a->thread == i->thread && a->granule == i->granule &&
		    (exact ? a->bytes == bytes : a->bytes & bytes) &&
		    (!write || (a->access & ACCESS_WRITE)))
			return a;
	}
	return NULL;
}

static void slow_finish(void *state, struct findings *out)
{
	const struct touched *p, *w;

	(void)state;
	(void)out;
	for (size_t n = 0; n < slow.accesses; n++) {
		struct touched *r = &slow.access[n];

		p = last_before(n, r->bytes, false, false);
		r->own = p && r->locks && !(r->access & ACCESS_WRITE) && p->locks &&
			 p->releases == r->releases && (p->own || (p->access & ACCESS_WRITE));
	}
	for (size_t n = 0; n < slow.accesses; n++) {
		const struct touched *i = &slow.access[n];

		p = last_before(n, i->bytes, false, false);
		if (!p)
			continue;
		w = last_before(n, p->bytes, true, true);
		for (size_t k = 0; k < slow.accesses; k++) {
			slow_try(p, i, &slow.access[k], false);
			if (w && !(p->access & ACCESS_WRITE) && (i->access & ACCESS_WRITE))
				slow_try(w, i, &slow.access[k], true);
		}
	}
}

static void slow_close(void *state)
{
	(void)state;
}

static const struct analysis analysis_slow = {
	.name = "slow", .summary = "", .open = slow_open, .event = slow_event,
	.finish = slow_finish, .close = slow_close,
};

/* Locks nest or overlap as they come; a site has one kind, but any place. */
static void random_trace(uint64_t seed, struct buf *b)
{
	static const char *const kinds[] = { "read", "write", "read", "write", "atomic-add", "atomic-load" };
	static const char *const places[] = { "x:8", "x:4", "x+4:4", "y:2", "x+6:4" };
	uint64_t rng = seed * 2654435761u + 88172645463325252ull;
	unsigned threads = 2 + test_random(&rng) % 2, events = 8 + test_random(&rng) % 24;
	unsigned held[4] = { 0 };

	buf_clear(b);
	for (unsigned t = 1; t <= threads; t++)
		buf_addf(b, "0 create 0.%u\n", t);
	for (unsigned n = 0; n < events; n++) {
		unsigned t = 1 + (unsigned)(test_random(&rng) % threads);
		unsigned what = (unsigned)(test_random(&rng) % 10), lock = (unsigned)(test_random(&rng) % 2);

		if (what < 4 && !(held[t] & 1u << lock) && !(held[1] & 1u << lock) &&
		    !(held[2] & 1u << lock) && !(held[3] & 1u << lock)) {
			buf_addf(b, "0.%u lock m%u @l%llu\n", t, lock,
				 (unsigned long long)(test_random(&rng) % 6));
			held[t] |= 1u << lock;
		} else if (what < 6 && (held[t] & 1u << lock)) {
			buf_addf(b, "0.%u unlock m%u\n", t, lock);
			held[t] &= ~(1u << lock);
		} else {
			unsigned site = (unsigned)(test_random(&rng) % 6);

			buf_addf(b, "0.%u %s %s @s%u\n", t, kinds[site],
				 places[test_random(&rng) % 5], site);
		}
		if (n == events / 2 && test_random(&rng) % 2)
			buf_addf(b, "0.1 sem-post s\n0.2 sem-wait s\n");
	}
	if (test_random(&rng) % 2)
		buf_addf(b, "0.1 end\n0 join 0.1\n0 read x:8 @s0\n0 write x:8 @s1\n");
}

/* One candidate stands for both: the same sections, or the same sites. */
static bool told_as_one(const struct triple *a, const struct triple *b)
{
	return memcmp(a->unit, b->unit, sizeof(a->unit)) == 0 ||
	       memcmp(a->pc, b->pc, sizeof(a->pc)) == 0;
}

static void spread(void)
{
	bool more = true;

	while (more) {
		more = false;
		for (size_t a = 0; a < slow.triples; a++)
			for (size_t b = 0; slow.triple[a].told && b < slow.triples; b++)
				if (!slow.triple[b].told &&
				    told_as_one(&slow.triple[a], &slow.triple[b]))
					slow.triple[b].told = more = true;
	}
}

/* Each candidate is one of the triples, and each schedule of a triple has a candidate. */
static void compare(struct analyzed *x, const char *text, uint64_t seed)
{
	for (size_t n = 0; n < findings_count(x->out); n++) {
		const struct candidate_event *e = findings_at(x->out, n)->event;
		struct triple *found = NULL;

		for (size_t k = 0; k < slow.triples && !found; k++) {
			struct triple *t = &slow.triple[k];

			if (t->thread == e[0].thread && t->other == e[1].thread && t->p == e[0].index &&
			    t->r == e[1].index && t->i == e[2].index)
				found = t;
		}
		if (!found)
			fail_msg("seed %llu: candidate %u:%llu %u:%llu %llu is none:\n%s",
				 (unsigned long long)seed, e[0].thread, (unsigned long long)e[0].index,
				 e[1].thread, (unsigned long long)e[1].index,
				 (unsigned long long)e[2].index, text);
		found->told = true;
	}
	spread();
	for (size_t k = 0; k < slow.triples; k++)
		if (!slow.triple[k].told)
			fail_msg("seed %llu: missed %u:%llu %u:%llu %llu in\n%s",
				 (unsigned long long)seed, slow.triple[k].thread,
				 (unsigned long long)slow.triple[k].p, slow.triple[k].other,
				 (unsigned long long)slow.triple[k].r,
				 (unsigned long long)slow.triple[k].i, text);
}

static void test_random_traces(void **state)
{
	const struct analysis *which[] = { &analysis_slow, &analysis_atomicity, NULL };
	size_t candidates = 0, triples = 0;
	struct buf b = { 0 };

	(void)state;
	for (uint64_t seed = 1; seed <= 2000; seed++) {
		struct analyzed x;
		struct err err;

		random_trace(seed, &b);
		analyze(&x, buf_string(&b), &analysis_slow);
		assert_int_equal(analysis_run(x.reader, which, &x.ctx, x.out, NULL, &err), 0);
		compare(&x, buf_string(&b), seed);
		candidates += findings_count(x.out);
		triples += slow.triples;
		analyzed_free(&x);
	}
	/* The traces are such that there is something to find, and to merge. */
	assert_true(candidates > 5000);
	assert_true(triples > candidates + candidates / 4);
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_traces),
	};

	return cmocka_run_group_tests(tests, test_setup, test_teardown);
}
