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

	if (watch.check)
		return watch.all ? UINT32_MAX : RULES_CHECK;
	if (!(watch.pset | watch.tx))
		return UINT32_MAX;
	if (watch.pset)
		flags |= RULES_OPEN | RULES_SOURCE | RULES_LATE;
	if (watch.tx)
		flags |= RULES_IN_TX | RULES_CUT | RULES_REMOTE | RULES_LOCK | RULES_CANCEL;
	return flags;
}

static bool load(const struct run_options *o)
{
	const char *trouble;
	long active;

	/* With noise, all sites are active, whatever else is monitored. */
	watch.active = wanted_flags();
	active = rules_load(o->rules, watch.noise ? UINT32_MAX : watch.active, &trouble);

	if (active < 0) {
		sys_warn_about("the rules cannot be used, nothing is monitored: ", trouble,
			       o->rules);
		return false;
	}
	watch.locks = (watch.pset | watch.tx) && rules_any(RULES_LOCK);
	watch.log->rules_check = rules_header()->check;
	watch.tails = arena_pages(rules_header()->sites);
	/*
	 * Without an active site, check goes on: then the hooks of all sites are switched off,
	 * and the program is fast.
	 */
	return (active > 0 || watch.check) && watch.tails;
}

bool watch_start(const struct run_options *o)
{
	watch.check = o->mode == RUN_MODE_CHECK;
	watch.all = o->places == RUN_PLACES_ALL;
	watch.pset = o->mode == RUN_MODE_GUARD && o->protect != RUN_PROTECT_TX;
	watch.tx = o->mode == RUN_MODE_GUARD && o->protect != RUN_PROTECT_PSET;
	watch.noise = (uint32_t)o->noise;
	watch.nap_ns = (uint32_t)o->nap * 1000;
	watch.seed = o->seed;
	watch.started = sys_clock_ns(CLOCK_MONOTONIC);
	watch.wait_ns = o->wait * 1000;
	watch.shift = (uint32_t)o->granularity;
	/* The shadow has one owner for 8 bytes, so streaks need this granularity. */
	watch.streaks = watch.check && watch.all && !watch.noise && watch.shift == 3;
	watch.log = monitor_log_open(o->log);
	watch.threads = arena_pages(MONITOR_THREADS * sizeof(*watch.threads));
	if (!watch.log || !watch.threads)
		return false;
	if (!o->rules[0]) {
		watch.everywhere = o->noise > 0;
		if (o->mode != RUN_MODE_OFF)
			sys_warn("SNARL_OPTIONS has no rules=FILE; nothing is monitored");
		watch.check = watch.pset = watch.tx = false;
		return watch.everywhere;
	}
	return load(o) && (watch.check ? check_cells_init() : guard_cells_init());
}

void watch_module(const uint8_t *id, uint32_t id_size, uint64_t base, const char *path)
{
	size_t count;
	int m = rules_header() ? rules_add_module(id, id_size, base) : -1;

	if (m < 0)
		return;
	rules_offsets(id, id_size, &count);
	__atomic_fetch_add(&watch.log->places, (uint32_t)count, __ATOMIC_RELAXED);
	monitor_log_module((uint32_t)m, base, path);
}
