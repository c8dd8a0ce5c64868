/* Start of modes check and guard: reads the options, loads the rules, makes tables. */
#include <time.h>

#include "runtime/core/arena.h"
#include "runtime/core/sys.h"
#include "runtime/monitor/cell.h"
#include "runtime/monitor/check_cell.h"

/* Flags that make a site active under these options. */
static uint32_t wanted_flags(void)
{
	uint32_t flags = 0;

	if (monitor.check)
		return monitor.all ? UINT32_MAX : RULES_CHECK;
	if (!(monitor.pset | monitor.tx))
		return UINT32_MAX;
	if (monitor.pset)
		flags |= RULES_OPEN | RULES_SOURCE | RULES_LATE;
	if (monitor.tx)
		flags |= RULES_IN_TX | RULES_CUT | RULES_REMOTE | RULES_LOCK | RULES_CANCEL;
	return flags;
}

static bool load(const struct run_options *o)
{
	const char *trouble;
	long active;

	/* With noise, all sites are active, whatever else is monitored. */
	monitor.active = wanted_flags();
	active = rules_load(o->rules, monitor.noise ? UINT32_MAX : monitor.active, &trouble);

	if (active < 0) {
		sys_warn_about("the rules cannot be used, nothing is monitored: ", trouble,
			       o->rules);
		return false;
	}
	monitor.locks = (monitor.pset | monitor.tx) && rules_any(RULES_LOCK);
	monitor.log->rules_check = rules_header()->check;
	monitor.tails = arena_pages(rules_header()->sites);
	/*
	 * Without an active site, check goes on: then the hooks of all sites are switched off,
	 * and the program is fast.
	 */
	return (active > 0 || monitor.check) && monitor.tails;
}

bool monitor_start(const struct run_options *o)
{
	monitor.check = o->mode == RUN_MODE_CHECK;
	monitor.all = o->places == RUN_PLACES_ALL;
	monitor.pset = o->mode == RUN_MODE_GUARD && o->protect != RUN_PROTECT_TX;
	monitor.tx = o->mode == RUN_MODE_GUARD && o->protect != RUN_PROTECT_PSET;
	monitor.noise = (uint32_t)o->noise;
	monitor.nap_ns = (uint32_t)o->nap * 1000;
	monitor.seed = o->seed;
	monitor.started = sys_clock_ns(CLOCK_MONOTONIC);
	monitor.wait_ns = o->wait * 1000;
	monitor.shift = (uint32_t)o->granularity;
	/* The shadow has one owner for 8 bytes, so streaks need this granularity. */
	monitor.streaks = monitor.check && monitor.all && !monitor.noise && monitor.shift == 3;
	monitor.log = monitor_log_open(o->log);
	monitor.threads = arena_pages(MONITOR_THREADS * sizeof(*monitor.threads));
	if (!monitor.log || !monitor.threads)
		return false;
	if (!o->rules[0]) {
		monitor.everywhere = o->noise > 0;
		if (o->mode != RUN_MODE_OFF)
			sys_warn("SNARL_OPTIONS has no rules=FILE; nothing is monitored");
		monitor.check = monitor.pset = monitor.tx = false;
		return monitor.everywhere;
	}
	return load(o) && (monitor.check ? check_cells_init() : guard_cells_init());
}

void monitor_module(const uint8_t *id, uint32_t id_size, uint64_t base, const char *path)
{
	size_t count;
	int m = rules_header() ? rules_add_module(id, id_size, base) : -1;

	if (m < 0)
		return;
	rules_offsets(id, id_size, &count);
	__atomic_fetch_add(&monitor.log->places, (uint32_t)count, __ATOMIC_RELAXED);
	monitor_log_module((uint32_t)m, base, path);
}
