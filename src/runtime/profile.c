/*
 * Profiling without control: the program runs in parallel as when it is recorded, but what would go
 * to a trace is folded at once into the iRoots of the run (sched/iroot_profile.h), in the
 * tool's memory and under one lock. The order of the folds is taken for that of the run: locks,
 * conditions, atomics and the like are folded while they are held, so theirs is; of plain accesses
 * that race, another one may really have come first.
 *
 * Rings stay empty: at the start of one, the thunks ask C about every access that is not
 * known to be private (rt.h, shadow).
 *
 * While memory is one thread's alone, its first EARLY accesses to a granule are folded, then it
 * is cut, and they cost nothing any more. Should it become shared after that, what it was
 * used for before is forgotten, for the last one before is not known: dependencies on these are
 * lost, counted, and never made up. With filter=off nothing is cut.
 */
#include "runtime/profile.h"

#include "runtime/control.h"
#include "runtime/lock.h"
#include "trace/step.h"

#define EARLY 32u
#define COUNTS (1u << 16)

static struct {
	struct snarlrt_lock lock;
	struct iroot_profile *profile;	/* NULL: the run is over */
} own;
static uint8_t counts[COUNTS] SNARLRT_BIG;	/* by granule, of those that may be private; two may share one */

static inline uint8_t *count_of(uint64_t granule)
{
	return &counts[granule * 0x9e3779b97f4a7c15ull >> 48];
}

bool snarlrt_profile_begin(const char *path)
{
	struct ctl_block *b;

	if (!ctl_open(path, -1, true))
		return false;
	b = ctl.block;
	/* An image that this process became by exec, or a child: the profile is its predecessor's. */
	if (__atomic_exchange_n(&b->ready, 1, __ATOMIC_RELAXED) || !b->profile_size)
		return false;
	own.profile = iroot_profile_init((char *)b + b->profile, b->profile_size, IROOT_WINDOW);
	return own.profile;
}

void snarlrt_profile_end(void)
{
	snarlrt_lock(&own.lock);
	own.profile = NULL;
	snarlrt_unlock(&own.lock);
}

void snarlrt_profile_granule(uint64_t granule, bool cut)
{
	const struct iroot_step s = { .op = IROOT_OP_FRESH, .addr = granule * 8, .size = 8 };

	__atomic_store_n(count_of(granule), 0, __ATOMIC_RELAXED);
	if (!cut)
		return;
	snarlrt_lock(&own.lock);
	if (own.profile)
		iroot_profile_step(own.profile, &s);
	snarlrt_unlock(&own.lock);
}

/* Under the lock. */
static void cut_early(uint64_t addr, uint64_t size)
{
	const struct snarlrt_tls *tls = &__snarl_tls;

	if (!tls->own_uncut || addr > TRACE_ADDR_MASK >> 1 || size > TRACE_ADDR_MASK >> 1)
		return;
	for (uint64_t granule = addr / 8; granule <= (addr + size - 1) / 8; granule++) {
		uint16_t *s = (uint16_t *)(SHADOW_BASE + granule * 2), seen = tls->own_uncut;
		uint8_t *count = count_of(granule);

		if (__atomic_load_n(s, __ATOMIC_RELAXED) != seen ||
		    __atomic_add_fetch(count, 1, __ATOMIC_RELAXED) < EARLY)
			continue;
		__atomic_store_n(count, 0, __ATOMIC_RELAXED);
		__atomic_compare_exchange_n(s, &seen, tls->own, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	}
}

static unsigned steps_of(const struct snarlrt_thread *self, const struct trace_record *r, unsigned count,
			 struct iroot_step *out)
{
	unsigned kind = trace_site_kind(r->site);
	uint64_t arg = count > 1 ? r[1].site : 0;
	uint64_t size = 1ull << (r->site >> 56 & TRACE_SIZE_MASK);
	unsigned result = 0;

	if (kind == TRACE_THREAD_START) {
		/* The stack may have been another one's. */
		out[0] = (struct iroot_step){ .thread = self->id, .op = IROOT_OP_FRESH, .addr = self->stack_low,
					      .size = self->stack_high - self->stack_low };
		return arg >> 32 && self->stack_high > self->stack_low;
	}
	if (count > 1 && !(kind >= TRACE_ATOMIC_LOAD && kind <= TRACE_ATOMIC_CAS_FAIL)) {
		size = arg;
		result = (unsigned)(r->addr >> 48);
	}
	return trace_steps(out, self->id, kind, r->addr & TRACE_ADDR_MASK, size, arg, result,
			   r->site & TRACE_ADDR_MASK);
}

void snarlrt_profile_append(const struct snarlrt_thread *self, const struct trace_record *records,
			    unsigned count)
{
	struct iroot_step steps[TRACE_STEPS];
	unsigned some = steps_of(self, records, count, steps);

	if (!some)
		return;
	snarlrt_lock(&own.lock);
	for (unsigned i = 0; own.profile && i < some; i++) {
		iroot_profile_step(own.profile, &steps[i]);
		if (steps[i].op == IROOT_OP_READ || steps[i].op == IROOT_OP_WRITE)
			cut_early(steps[i].addr, steps[i].size);
	}
	snarlrt_unlock(&own.lock);
}
