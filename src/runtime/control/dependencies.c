/*
 * Which places depend on which, as a feedback for searches: of each granule and lock the last
 * access is kept, and one of another thread that conflicts with it sets a bit of the block.
 * Collisions lose something, and nothing depends on them: a table and a set of bits of fixed
 * size, so that a run pays for few pages only.
 */
#include "abi/mix.h"
#include "abi/trace_roles.h"
#include "runtime/control/step.h"
#include "runtime/core/sys.h"

#define LAST_ACCESSES 4096u	/* granules remembered */

static struct {
	uint64_t granule, site;	/* as in a trace, with its kind */
	uint32_t thread;	/* number, plus 1 */
	bool writes;
} last_access[LAST_ACCESSES] SNARLRT_BIG;

static uint32_t previous_dependency[SCHED_MAX_THREADS] SNARLRT_BIG;	/* each thread's dependency before */

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

/* What is read and what is written; creation and destruction tell nothing. */
static bool is_access(enum trace_kind kind, bool *writes)
{
	*writes = kind != TRACE_READ && kind != TRACE_READ_RANGE && kind != TRACE_ATOMIC_LOAD;
	return trace_roles(kind) & (ROLE_READ | ROLE_WRITE | ROLE_ACQUIRE | ROLE_RELEASE | ROLE_WAIT_BEGIN |
				    ROLE_WAIT_END | ROLE_NOTIFY);
}

void ctl_depends_event(uint64_t object, uint64_t site)
{
	uint64_t granule = (object & TRACE_ADDR_MASK) >> 3;
	uint32_t at = dependency_hash(granule, 0) % LAST_ACCESSES, thread = ctl.current->number + 1, *previous;
	bool writes;

	if (!is_access(site >> 48 & 0xff, &writes) || ctl.private_child)
		return;
	if (last_access[at].granule == granule && last_access[at].thread && last_access[at].thread != thread &&
	    (writes || last_access[at].writes)) {
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
