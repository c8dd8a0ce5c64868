/*
 * Production builds (snarl-cc --production): functions exist in a plain and an instrumented
 * version. The runtime switches a function on by a jump at the entry of the plain version to the
 * instrumented one. abi/production_table.h describes the table of functions in the executable or
 * library.
 *
 * Until a function is switched on, the program runs the plain code and has no shadow memory.
 *
 * A mode that needs only some sites gives a chooser (dual_choose). The chooser is asked once for
 * each instrumented function when its module is loaded, and again when another chooser is set: does
 * [start, end) contain a site that matters? Sites are addresses in instrumented code, as in traces.
 * An instrumented function without an entry (DUAL_INNER: a specialised or outlined part) is reached
 * through its callers, so these are switched on instead. SNARL_OPTIONS=active=FILE installs a
 * chooser for a list of sites.
 *
 * A call under way stays in its version; the next call takes the other. So the entries and exits
 * that hooks see are balanced.
 */
#ifndef RUNTIME_PROCESS_PRODUCTION_H
#define RUNTIME_PROCESS_PRODUCTION_H

#include "runtime/core/runtime.h"

struct dual_module_id {
	uint64_t base;		/* load bias of the module */
	uint32_t size;		/* bytes of the build-id */
	uint8_t id[64];
};

/* Returns true if the function at [start, end) is to be switched on. */
typedef bool dual_chooser(void *context, const struct dual_module_id *module, uint64_t start,
			  uint64_t end);

/* True if the executable is a production build. */
SNARLRT_HIDDEN bool dual_is_program(void);

/*
 * Follows the option active=; called once the mode is set. If `active` is empty, all functions are
 * switched on if `observing`, else none.
 */
SNARLRT_HIDDEN void dual_start(const char *active, bool observing);

/* Switches the functions of all modules, also of those loaded later, as the chooser says. */
SNARLRT_HIDDEN void dual_choose(dual_chooser *chooser, void *context);

SNARLRT_HIDDEN bool dual_choose_all(void *context, const struct dual_module_id *module,
				    uint64_t start, uint64_t end);
SNARLRT_HIDDEN bool dual_choose_none(void *context, const struct dual_module_id *module,
				     uint64_t start, uint64_t end);

/*
 * Switches one function, named by the address of its plain entry or any address in its instrumented
 * version. Returns the number of functions switched: a DUAL_INNER one switches all its callers. The
 * next dual_choose() overrides it.
 */
SNARLRT_HIDDEN unsigned dual_switch(const void *address, bool on);

/* Takes the lock before a fork (`begin`); releases it after, in parent and child. */
SNARLRT_HIDDEN void dual_fork(bool begin);

/*
 * For programs that switch functions themselves, and for tests: dual_switch(); all functions (1) or
 * none (0); the number of functions that are on, with the number of all in *of.
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
