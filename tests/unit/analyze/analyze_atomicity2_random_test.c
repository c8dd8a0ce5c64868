/*
 * The analysis of two locations against an obvious one that tries all pairs of pairs of
 * a small random trace.
 */
#include "analyze_atomicity_util.h"

#define MAX_EVENTS 256
#define MAX_THREADS 5

struct touched {
	uint64_t index, addr, strong_epoch;
	uint64_t clock[MAX_THREADS];
	uint32_t thread, lockset;
	bool write;
};

/* A lockset a thread has after one of its events. */
struct step {
	uint64_t index;
	uint32_t thread, lockset;
};

/* One at a time, so that the test can look into it. */
static struct slow {
	struct locks *locks;
	struct touched at[MAX_EVENTS];
	size_t count;
	struct step step[2 * MAX_EVENTS];
	size_t steps;
} slow;

static void *slow_open(const struct analysis_context *ctx)
{
	memset(&slow, 0, sizeof(slow));
	slow.locks = ctx->locks;
	return &slow;
}

static void slow_event(void *state, const struct event *ev, const struct view *view,
		       struct findings *out)
{
	struct touched *t = &slow.at[slow.count];

	(void)state;
	(void)out;
	slow.step[slow.steps++] = (struct step){ view->index, view->thread, view->lockset };
	if (ev->kind == TRACE_MUTEX_UNLOCK)
		slow.step[slow.steps - 1].lockset =
			locks_release(slow.locks, view->lockset, ev->addr);
	if (!access_of(ev->kind))
		return;
	*t = (struct touched){ .index = view->index, .addr = ev->addr, .thread = view->thread,
			       .strong_epoch = view->strong_epoch, .lockset = view->lockset,
			       .write = ev->kind == TRACE_WRITE };
	for (uint32_t i = 0; i < MAX_THREADS; i++)
		t->clock[i] = vclock_get(view->strong, i);
	slow.count++;
}

static void slow_finish(void *state, struct findings *out)
{
	(void)state;
	(void)out;
}

static void slow_close(void *state)
{
	(void)state;
}

static const struct analysis analysis_slow = {
	.name = "slow", .summary = "", .open = slow_open, .event = slow_event,
	.finish = slow_finish, .close = slow_close,
};

static bool before(const struct touched *a, const struct touched *b)
{
	return a->strong_epoch <= b->clock[a->thread];
}

static bool go_together(uint32_t a, uint32_t b)
{
	return !locks_exclude(slow.locks, a, b) && locks_compatible(slow.locks, a, b);
}

static bool between(const struct step *s, const struct touched *a, const struct touched *b)
{
	return s->thread == a->thread && s->index >= a->index && s->index < b->index;
}

/* Some lockset between a1 and a2 goes with `set`. */
static bool lets(const struct touched *a1, const struct touched *a2, uint32_t set)
{
	for (size_t k = 0; k < slow.steps; k++)
		if (between(&slow.step[k], a1, a2) && go_together(slow.step[k].lockset, set))
			return true;
	return false;
}

/* Of all locksets between b1 and b2, one goes with one between a1 and a2. */
static bool lets_amid(const struct touched *a1, const struct touched *a2, const struct touched *b1,
		      const struct touched *b2)
{
	for (size_t k = 0; k < slow.steps; k++)
		if (between(&slow.step[k], b1, b2) && lets(a1, a2, slow.step[k].lockset))
			return true;
	return false;
}

/* No later access of the thread to the same place in the same direction before `second`. */
static bool is_couple(const struct touched *first, const struct touched *second)
{
	if (first->thread != second->thread || first->index >= second->index ||
	    first->addr == second->addr)
		return false;
	for (const struct touched *t = first + 1; t < second; t++)
		if (t->thread == first->thread && t->addr == first->addr && t->write == first->write)
			return false;
	return true;
}

/* The a before the b at x, the b before the a at y; b1 and b2 as their thread has them. */
static bool breaks(const struct touched *a1, const struct touched *a2, const struct touched *b1,
		   const struct touched *b2)
{
	bool crossing = b1->addr == a2->addr;
	const struct touched *bx = crossing ? b2 : b1, *by = crossing ? b1 : b2;

	if (a1->thread == b1->thread || bx->addr != a1->addr || by->addr != a2->addr ||
	    !(a1->write || bx->write) || !(a2->write || by->write))
		return false;
	if (before(bx, a1) || before(a2, by) || (before(a1, bx) && before(by, a2)))
		return false;
	if (crossing)
		return lets_amid(a1, a2, b1, b2);
	return lets(a1, a2, b1->lockset) && lets(a1, a2, b2->lockset);
}

static const struct touched *find(const struct candidate_event *e)
{
	for (size_t i = 0; i < slow.count; i++)
		if (slow.at[i].thread == e->thread && slow.at[i].index == e->index)
			return &slow.at[i];
	fail_msg("no such access");
	return NULL;
}

static bool any_breaks(void)
{
	for (size_t n = 0; n < slow.count * slow.count; n++) {
		const struct touched *a1 = &slow.at[n / slow.count], *a2 = &slow.at[n % slow.count];

		for (size_t m = 0; is_couple(a1, a2) && m < slow.count * slow.count; m++) {
			const struct touched *b1 = &slow.at[m / slow.count], *b2 = &slow.at[m % slow.count];

			if (is_couple(b1, b2) && breaks(a1, a2, b1, b2))
				return true;
		}
	}
	return false;
}

/*
 * Up to three places, of which one may be only read, and each thread's own, at sites of its own
 * or some that come to others, too. A thread's accesses are all near: no more than eight of place and
 * direction, two of a site.
 */
static void random_trace(uint64_t seed, struct buf *b)
{
	uint64_t rng = seed * 2654435761u + 88172645463325252ull;
	unsigned events = 4 + test_random(&rng) % 14, held[3] = { 0 };
	bool own = seed % 2, busy = seed / 2 % 2, read_only = seed / 4 % 2;

	buf_clear(b);
	buf_add_text(b, "0 create 0.1\n0 create 0.2\n");
	for (unsigned n = 0; n < events; n++) {
		unsigned t = 1 + (unsigned)(test_random(&rng) % 2), lock = (unsigned)(test_random(&rng) % 2);
		unsigned what = (unsigned)(test_random(&rng) % 10), site = (unsigned)(test_random(&rng) % 6);

		if (what < 4 && !((held[1] | held[2]) & 1u << lock)) {
			buf_addf(b, "0.%u lock m%u @l%u\n", t, lock, site);
			held[t] |= 1u << lock;
		} else if (what < 6 && (held[t] & 1u << lock)) {
			buf_addf(b, "0.%u unlock m%u\n", t, lock);
			held[t] &= ~(1u << lock);
		} else if (own && what == 9) {
			buf_addf(b, "0.%u %s own%u:8 @%s%u\n", t, site % 2 ? "write" : "read", t,
				 busy ? "s" : "o", site % 2);
		} else {
			site -= read_only && site == 5;
			buf_addf(b, "0.%u %s x%u:8 @s%u\n", t, site % 2 ? "write" : "read", site / 2, site);
		}
		if (n == events / 2 && test_random(&rng) % 2)
			buf_add_text(b, "0.1 sem-post s\n0.2 sem-wait s\n");
	}
}

static void test_random_traces(void **state)
{
	const struct analysis *which[] = { &analysis_slow, &analysis_atomicity2, NULL };
	size_t found = 0, none = 0;
	struct buf b = { 0 };

	(void)state;
	for (uint64_t seed = 1; seed <= 4000; seed++) {
		struct analyzed x;
		struct err err;

		random_trace(seed, &b);
		analyze(&x, buf_string(&b), &analysis_slow);
		assert_int_equal(analysis_run(x.reader, which, &x.ctx, x.out, NULL, &err), 0);
		for (size_t n = 0; n < findings_count(x.out); n++) {
			const struct candidate_event *e = findings_at(x.out, n)->event;

			if (!is_couple(find(&e[0]), find(&e[3])) || !is_couple(find(&e[1]), find(&e[2])) ||
			    !breaks(find(&e[0]), find(&e[3]), find(&e[1]), find(&e[2])))
				fail_msg("seed %llu: candidate %zu is none:\n%s", (unsigned long long)seed, n,
					 buf_string(&b));
		}
		if (any_breaks() != (findings_count(x.out) > 0))
			fail_msg("seed %llu: missed all of\n%s", (unsigned long long)seed, buf_string(&b));
		found += findings_count(x.out) > 0;
		none += findings_count(x.out) == 0;
		analyzed_free(&x);
	}
	/* Both happen often. */
	assert_true(found > 300 && none > 300);
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_traces),
	};

	return cmocka_run_group_tests(tests, test_setup, test_teardown);
}
