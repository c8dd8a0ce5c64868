/*
 * Functions of process/ for rooms that may not include its headers. process/init.c sets the pointer
 * before it sets the mode.
 */
#ifndef RUNTIME_CORE_PROCESS_CALLS_H
#define RUNTIME_CORE_PROCESS_CALLS_H

#include "runtime/core/runtime.h"

struct process_calls {
	/* Looks for modules that were loaded or unmapped since the last call. */
	void (*modules_scan)(void);
	/*
	 * Before a fork (`begin`) takes the locks of process/; after it releases them, in parent
	 * and child.
	 */
	void (*fork)(bool begin);
	/* Called in a forked child that is recorded: its trace gets all modules again. */
	void (*forked)(void);
};

extern SNARLRT_HIDDEN const struct process_calls *snarlrt_process;

#endif
