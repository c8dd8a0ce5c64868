/*
 * What lower rooms ask of process/: its loaded modules and its production switch. Set before the mode.
 */
#ifndef RUNTIME_CORE_PROCESS_CALLS_H
#define RUNTIME_CORE_PROCESS_CALLS_H

#include "runtime/core/runtime.h"

struct process_calls {
	void (*modules_scan)(void);	/* looks for modules that were loaded or unmapped */
	void (*fork)(bool begin);	/* around a fork: locks and unlocks what the child needs whole */
	void (*forked)(void);		/* in the child, which is recorded: it tells all modules anew */
};

extern SNARLRT_HIDDEN const struct process_calls *snarlrt_process;

#endif
