/*
 * Begins and ends nests (loop_nest.h). Further rounds are counted by loop_nest_x86_64.S. Compiled
 * without vector registers (Makefile), which hold values of the program.
 */
#include "runtime/hooks/loop_nest.h"

#include "runtime/hooks/loop.h"
#include "runtime/record/clock.h"
#include "runtime/record/ring.h"

/* Most events of a nest. A nest gets one time stamp, so this bounds the error of events' times. */
#define MAX_EVENTS 4096u
/* Most records of a nest. */
#define MAX_RECORDS (2 + NEST_BEFORE + NEST_ACCESSES + (NEST_BEFORE + NEST_ACCESSES + 3) / 4)

static bool is_shared(const struct trace_record *r)
{
	uint64_t addr = r->addr & TRACE_ADDR_MASK, last = addr + trace_site_size(r->site) - 1;

	return *(const volatile uint16_t *)shadow_of(addr) == SHADOW_SHARED &&
	       *(const volatile uint16_t *)shadow_of(last) == SHADOW_SHARED;
}

/* Sets what a round adds to an address, and the next address. False: 16 bits are too few. */
static bool find_add(uint64_t old, uint64_t new, struct nest_expected *e)
{
	e->add = new - old;
	e->addr = new + e->add;
	return e->add == (uint64_t)(int16_t)e->add;
}

/*
 * Compares the accesses before the group in the last round (`old`) with those in this one (`new`),
 * and sets what to expect in the next round. False if they cannot be part of a nest.
 */
static bool expect_before(struct snarlrt_nest *n, const struct trace_record *old,
			  const struct trace_record *new)
{
	for (unsigned i = 0; i < n->before; i++) {
		if (!trace_loop_is_access(&old[i]) || old[i].site != new[i].site ||
		    !is_shared(&old[i]) || !is_shared(&new[i]) ||
		    !find_add(old[i].addr, new[i].addr, &n->expected_before[i]))
			return false;
		n->site_before[i] = old[i].site;
	}
	return true;
}

/* Appends what each round adds to the i-th address. *to is the end of records, each for four. */
static void put_addend(uint64_t add, unsigned i, uint64_t site, struct trace_record **to)
{
	if (i % 4 == 0)
		*(*to)++ = (struct trace_record){ 0, TRACE_SITE(TRACE_LOOP, 0, site) };
	(*to)[-1].addr |= (add & 0xffff) << 16 * (i % 4);
}

/*
 * Makes a nest of two rounds in `nest`. From `old` on, the ring has the first round and the
 * accesses before the second group; `new` is the second group, of `records` records. Returns the
 * number of records in the nest, or 0 if it cannot be one.
 */
static unsigned make_nest(struct snarlrt_nest *n, const struct trace_record *old,
			  const struct trace_record *new, unsigned records,
			  struct trace_record nest[MAX_RECORDS])
{
	const struct trace_record *group = n->end - records;
	struct trace_record *to = nest;
	struct nest_expected e;

	*to++ = (struct trace_record){
		2, TRACE_SITE(TRACE_LOOP, TRACE_NEST | n->before, old->site)
	};
	for (const struct trace_record *r = old; r < n->end; r++)
		*to++ = *r;
	for (unsigned i = 0; i < n->before; i++)
		put_addend(n->expected_before[i].add, i, old->site, &to);
	for (unsigned i = 1; i < records; i++) {
		if (!find_add(group[i].addr, new[i].addr, &e))
			return 0;
		put_addend(e.add, n->before + i - 1, old->site, &to);
	}
	return (unsigned)(to - nest);
}

/*
 * Sets the addresses of the next round. The accesses of a look have fixed distances, so the address
 * of one suffices.
 */
static void expect_looks(struct snarlrt_nest *n, const struct trace_record *new, unsigned records)
{
	const struct trace_record *group = n->end - records;

	for (uint32_t bits = n->found; bits; bits &= bits - 1) {
		unsigned look = (unsigned)__builtin_ctz(bits);
		size_t i = (size_t)(n->first[look] - new);

		find_add(group[i].addr, new[i].addr, &n->look[look]);
	}
}

/*
 * Replaces the records from `at` to `end` by `nest`, and clears the rest. The first record becomes
 * valid last: should the program be killed meanwhile, the ring ends before it.
 */
static void replace(volatile struct trace_record *at, const struct trace_record *nest,
		    unsigned size, const struct trace_record *end)
{
	at->site = 0;
	for (unsigned i = size; i-- > 1;) {
		at[i].addr = nest[i].addr;
		at[i].site = nest[i].site;
	}
	for (volatile struct trace_record *r = at + size; r < end; r++)
		r->addr = r->site = 0;
	at->addr = nest->addr;
	at->site = nest->site;
}

/*
 * Makes a nest of the last group and the one from tls.cur to `end`, if the latter is the next
 * round. The nest takes no more room than two groups: instead of the second group, it has one
 * record for each four accesses.
 */
static bool begin_nest(struct snarlrt_thread *self, const struct trace_record *end)
{
	struct snarlrt_nest *n = &__snarl_nest;
	struct trace_record *start = __snarl_tls.cur, nest[MAX_RECORDS], *old;
	unsigned records = (unsigned)(end - start), size;
	unsigned events = (n->iterations + 1) * (records - 1);

	n->before = (uint32_t)(start - n->end);
	if (n->before && n->before != n->gap / sizeof(*start))
		return false;
	old = n->end - records - n->before;
	if (!expect_before(n, old, n->end))
		return false;
	size = make_nest(n, old, start, records, nest);
	if (!size)
		return false;
	expect_looks(n, start, records);
	replace(old, nest, size, end);
	n->head = old;
	n->end = old + size;
	n->next = n->end + n->before;
	n->events = events + n->before;
	/* above 0, since groups of LOOP_LONG events are not part of nests */
	n->left = MAX_EVENTS / n->events - 2;
	n->undecided = __snarl_tls.undecided;
	self->loop_excess += events - (uint32_t)(n->end - start);
	__snarl_tls.cur = n->end;
	return true;
}

void snarlrt_nest_second(struct trace_record *end, uint32_t last)
{
	struct trace_record *group = __snarl_tls.cur;
	struct snarlrt_nest *n = &__snarl_nest;
	unsigned accesses = (unsigned)(end - group) - 1;

	if (begin_nest(__snarl_tls.self, end))
		return;
	n->gap = (uint64_t)((char *)group - (char *)n->end);
	n->end = end;
	group->addr = last + 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	group->site = TRACE_SITE(TRACE_LOOP, accesses, group[1].site);	/* makes the group valid */
	__snarl_tls.cur = end;
	loop_count_events(__snarl_tls.self, group, accesses + 1, 0);
}

void snarlrt_nest_full(void)
{
	__snarl_nest.next = NEST_NONE;
	__snarl_nest.from = 0;
	if ((uintptr_t)__snarl_tls.cur % STAMP_BYTES)
		snarlrt_append_quick(clock_now(__snarl_tls.self), TRACE_SITE(TRACE_STAMP, 0, 0));
}
