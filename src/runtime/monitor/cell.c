#include "runtime/monitor/cell.h"

#include <time.h>

#include "abi/mix.h"
#include "runtime/core/arena.h"
#include "runtime/core/sys.h"
#include "runtime/monitor/guard.h"

#define CELLS (1u << 16)	/* 8 MiB; the hash takes 16 bits */
#define SPINS 200	/* tries to lock a cell before sleeping */
#define NAP_NS 50000u	/* one sleep between two tries */

/*
 * Values of guard_cell.lock. CELL_STUCK: a thread waited for the cell until its time was up; other
 * threads do not wait for it.
 */
enum { CELL_FREE, CELL_LOCKED, CELL_STUCK };

static struct guard_cell *cells;

bool guard_cells_init(void)
{
	cells = arena_pages(CELLS * sizeof(*cells));
	return cells != NULL;
}

static inline struct guard_cell *cell_of(uint64_t tag)
{
	return &cells[mix_spread(tag) >> 48];
}

static bool try_lock(struct guard_cell *c)
{
	uint32_t free = CELL_FREE;

	return __atomic_load_n(&c->lock, __ATOMIC_RELAXED) == CELL_FREE &&
	       __atomic_compare_exchange_n(&c->lock, &free, CELL_LOCKED, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

static void clear(struct guard_cell *c, uint64_t tag)
{
	c->tag = tag;
	c->count = 0;
	c->touched = c->wrote = 0;
	sys_clear(&c->write, sizeof(c->write));
	sys_clear(c->read, sizeof(c->read));
	sys_clear(c->tx, sizeof(c->tx));
	guard_cell_changed(c);
}

/*
 * Waits for the cell, as long as a delay may take: the thread that holds it has lost the processor,
 * perhaps just before a change that the caller must see. If a handler jumped out of the monitor,
 * the cell is never unlocked, and the wait ends with CELL_STUCK.
 */
static bool wait_for(struct guard_cell *c)
{
	struct timespec nap = { .tv_nsec = NAP_NS };
	uint64_t began = sys_clock_ns(CLOCK_MONOTONIC), took = 0;
	uint32_t locked = CELL_LOCKED;
	bool got = false;

	while (__atomic_load_n(&c->lock, __ATOMIC_RELAXED) != CELL_STUCK && !monitor.log->off &&
	       !guard_over_budget(began) && !(got = try_lock(c)) && took < monitor.wait_ns) {
		sys_call(SYS_nanosleep, &nap, 0, 0);
		took = sys_clock_ns(CLOCK_MONOTONIC) - began;
	}
	monitor_count(&monitor.waited_ns, took);
	if (!got && took >= monitor.wait_ns)
		__atomic_compare_exchange_n(&c->lock, &locked, CELL_STUCK, false, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED);
	return got;
}

struct guard_cell *guard_cell_lock(uint64_t tag)
{
	struct guard_cell *c = cell_of(tag);
	bool got = false;

	for (int i = 0; i < SPINS && !(got = try_lock(c)); i++)
		sys_pause();
	if (!got && !wait_for(c)) {
		monitor_count(&monitor.log->lost_busy, 1);
		return NULL;
	}
	if (c->tag != tag) {
		if (c->tag)
			monitor_count(&monitor.log->lost_cells, 1);
		clear(c, tag);
	}
	return c;
}

void guard_cell_forget(uint64_t tag)
{
	struct guard_cell *c = cell_of(tag);

	if (__atomic_load_n(&c->tag, __ATOMIC_RELAXED) != tag || !try_lock(c))
		return;
	if (c->tag == tag)
		clear(c, 0);
	guard_cell_unlock(c);
}

/*
 * Threads that do not exist in the child may have locked some cells, so the child starts with
 * new ones.
 */
void guard_cells_forked(void)
{
	struct guard_cell *fresh = arena_pages(CELLS * sizeof(*cells));

	if (fresh)
		cells = fresh;
	else
		monitor.log->off = 1;
}
