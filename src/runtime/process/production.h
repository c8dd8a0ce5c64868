/*
 * Production builds (snarl-cc --production): functions that exist plain and
 * instrumented, and are switched by a jump at the plain one's entry. abi/production_table.h has
 * the table they come with.
 *
 * Until something is switched on nothing of the runtime is in the way: plain code is
 * what the compiler made of it, and there is no shadow memory.
 *
 * A mode that wants to see only some places gives a chooser (dual_choose), which is asked
 * about each instrumented function once, when its module is loaded, and again whenever it
 * is given anew: does [start, end) hold a place that matters? Places are addresses of
 * instrumented code, as sites of traces are. The answer for an instrumented function
 * without an entry of its own (DUAL_INNER: an inlined or specialised part) goes
 * to all that call it. SNARL_OPTIONS=active=FILE is such a chooser, from a list of sites.
 *
 * A call that is under way stays in the version it began in; the next one takes the other.
 * Entries and exits that the hooks see are balanced, therefore.
 */
#ifndef RUNTIME_PROCESS_PRODUCTION_H
#define RUNTIME_PROCESS_PRODUCTION_H

#include "runtime/core/runtime.h"

/* `base` is the load bias of the module, `id` its build-id. */
struct dual_module_id {
	uint64_t base;
	uint32_t size;
	uint8_t id[64];
};

typedef bool dual_chooser(void *context, const struct dual_module_id *module, uint64_t start,
			  uint64_t end);

/* Is the executable a production build? */
SNARLRT_HIDDEN bool dual_program(void);

/* What active=… says, once the mode is on; `watching`: all, where nothing is said. */
SNARLRT_HIDDEN void dual_start(const char *active, bool watching);

/* Switches all functions of all modules, and of those to come, as the chooser says. */
SNARLRT_HIDDEN void dual_choose(dual_chooser *wanted, void *context);

SNARLRT_HIDDEN bool dual_choose_all(void *context, const struct dual_module_id *module,
				    uint64_t start, uint64_t end);
SNARLRT_HIDDEN bool dual_choose_none(void *context, const struct dual_module_id *module,
				     uint64_t start, uint64_t end);

/*
 * One function, by the address of its plain entry or any address in its instrumented
 * version; returns how many were switched, callers of an inner one counted each. The next
 * dual_choose forgets it.
 */
SNARLRT_HIDDEN unsigned dual_switch(const void *address, bool on);

SNARLRT_HIDDEN void dual_fork(bool begin);	/* around a fork */

/*
 * For programs that switch themselves, and tests: dual_switch; all (1) or none (0); and
 * how many functions are switched on, of how many.
 */
SNARLRT_EXPORT unsigned __snarl_dual_switch(const void *function, int on);
SNARLRT_EXPORT void __snarl_dual_all(int on);
SNARLRT_EXPORT unsigned __snarl_dual_count(unsigned *of);

/* Called by the constructor and the destructor of each module with a table. */
struct dual_record;
SNARLRT_EXPORT void __snarl_dual_module_init(const struct dual_record *start,
					     const struct dual_record *stop);
SNARLRT_EXPORT void __snarl_dual_module_fini(const struct dual_record *start,
					     const struct dual_record *stop);

#endif
