/*
 * Production builds (snarl-cc --production): functions exist in a plain and an instrumented
 * version. The runtime switches a function on by a jump at the entry of the plain version to the
 * instrumented one. abi/production_table.h describes the table of functions in the executable or
 * library.
 *
 * Until a function is switched on, the program runs the plain code and has no shadow memory.
 *
 * A mode that needs only some sites sets a chooser (dual_choose). The runtime calls the chooser for
 * each instrumented function when its module is loaded, and again when another chooser is set. The
 * chooser returns whether [start, end) contains a site that the mode needs. Sites are addresses in
 * instrumented code, as in traces.
 *
 * An instrumented function without an entry (DUAL_INNER: a specialised or outlined part) is reached
 * through its callers, so these are switched on instead. SNARL_OPTIONS=active=FILE installs a
 * chooser for a list of sites.
 *
 * A call under way stays in its version; the next call uses the other one. So each function exit
 * that a hook records has its entry.
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
 * Applies the option active=; called after the mode was set. If `active` is empty, all functions
 * are switched on if `observing`, which means that the mode is not off; else none is.
 */
SNARLRT_HIDDEN void dual_start(const char *active, bool observing);

/* Sets the chooser, and switches the functions of all modules; later modules follow it, too. */
SNARLRT_HIDDEN void dual_choose(dual_chooser *chooser, void *context);

/* Choosers of all functions, and of none. */
SNARLRT_HIDDEN bool dual_choose_all(void *context, const struct dual_module_id *module,
				    uint64_t start, uint64_t end);
SNARLRT_HIDDEN bool dual_choose_none(void *context, const struct dual_module_id *module,
				     uint64_t start, uint64_t end);

/*
 * Switches one function, given by the address of its plain entry or any address in its instrumented
 * version. For a DUAL_INNER function, its callers are switched. Returns the number of functions
 * switched. The next dual_choose() overrides it.
 */
SNARLRT_HIDDEN unsigned dual_switch(const void *address, bool on);

/* Takes the lock before a fork (`begin`); releases it after, in parent and child. */
SNARLRT_HIDDEN void dual_fork(bool begin);

/* The next three are for programs that switch functions themselves, and for tests. */
/* dual_switch() */
SNARLRT_EXPORT unsigned __snarl_dual_switch(const void *function, int on);
/* Switches all functions on (1) or off (0). */
SNARLRT_EXPORT void __snarl_dual_all(int on);
/* Returns the number of functions that are on, and sets *of to the number of all. */
SNARLRT_EXPORT unsigned __snarl_dual_count(unsigned *of);

/* Called by the constructor and the destructor of each module with a table. */
struct dual_record;
SNARLRT_EXPORT void __snarl_dual_module_init(const struct dual_record *start,
					     const struct dual_record *stop);
SNARLRT_EXPORT void __snarl_dual_module_fini(const struct dual_record *start,
					     const struct dual_record *stop);

#endif
