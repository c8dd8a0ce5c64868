/*
 * Dependencies between sites, the feedback of a search.
 *
 * A table keeps the last access to each granule and lock. An access of another thread that
 * conflicts with it sets one bit of the block for the pair of sites, and one for this pair after
 * the thread's previous one. Table and bit set have a fixed size, so that a run pays for few
 * pages. Hash collisions lose some dependencies; no result relies on them.
 */
#include "abi/mix.h"
#include "abi/trace_roles.h"
#include "runtime/control/step.h"
#include "runtime/core/sys.h"

#define LAST_ACCESSES 4096u	/* entries of the table: granules whose last access is known */

static struct {
	uint64_t granule, site;	/* site as in a trace, with its kind */
	uint32_t thread;	/* number + 1; 0: empty entry */
	bool writes;
} last_access[LAST_ACCESSES] SNARLRT_BIG;

/* By thread number: hash of the thread's previous dependency. */
static uint32_t previous_dependency[SCHED_MAX_THREADS] SNARLRT_BIG;

static uint32_t dependency_hash(uint64_t a, uint64_t b)
{
	uint64_t h = (mix_spread(a) ^ b) * MIX_FACTOR;

	return (uint32_t)(h >> 32);
}

static void dependency_set(uint32_t hash)
{
	struct ctl_block *b = ctl.block;
	uint64_t bit = hash % (b->depends_size * 8);

	((uint8_t *)b + b->depends)[bit / 8] |= (uint8_t)(1u << bit % 8);
}

void ctl_depends_begin(void)
{
	sys_clear((char *)ctl.block + ctl.block->depends, ctl.block->depends_size);
}

/* Does the event read or write memory or a lock's state? Creation and destruction do not. */
static bool is_access(enum trace_kind kind, bool *writes)
{
	*writes = kind != TRACE_READ && kind != TRACE_READ_RANGE && kind != TRACE_ATOMIC_LOAD;
	return trace_roles(kind) & (ROLE_READ | ROLE_WRITE | ROLE_ACQUIRE | ROLE_RELEASE |
				    ROLE_WAIT_BEGIN | ROLE_WAIT_END | ROLE_NOTIFY);
}

void ctl_depends_event(uint64_t object, uint64_t site)
{
	uint64_t granule = (object & TRACE_ADDR_MASK) >> 3;
	uint32_t at = dependency_hash(granule, 0) % LAST_ACCESSES, thread = ctl.current->number + 1,
		 *previous;
	bool writes;

	if (!is_access(site >> 48 & 0xff, &writes) || ctl.private_child)
		return;
	if (last_access[at].granule == granule && last_access[at].thread &&
	    last_access[at].thread != thread && (writes || last_access[at].writes)) {
		uint32_t hash = dependency_hash(last_access[at].site, site);

		previous = &previous_dependency[thread - 1];
		dependency_set(hash);
		dependency_set(dependency_hash(*previous, hash));
		*previous = hash;
	}
	last_access[at].granule = granule;
	last_access[at].site = site;
	last_access[at].thread = thread;
	last_access[at].writes = writes;
}
