/*
 * SNARL_OPTIONS, as interface.h describes it.
 */
#ifndef RUNTIME_CORE_OPTIONS_H
#define RUNTIME_CORE_OPTIONS_H

#include "runtime/core/runtime.h"

struct snarlrt_options {
	bool record, control, profile, kernel_threads;
	bool check, guard, no_pset, no_tx;
	bool all;		/* places=all: check watches every known one */
	uint32_t noise;		/* per mille */
	uint32_t nap_us;	/* of noise, the longest */
	uint32_t granularity;	/* log2 of bytes */
	uint64_t seed, wait_us;
	int server;		/* descriptor, or -1 */
	bool fork_off, no_filter, timed, quiet, values;
	uint64_t window;
	uint64_t room;			/* bytes of the trace at most; 0: any number */
	char trace[3072];	/* absolute once parsed */
	char live[512];
	char block[512];	/* control= */
	char sites[3072];
	char rules[3072];
	char log[512];
	char active[3072];	/* "": not said */
};

/* Unknown keys and bad values get a warning each and are otherwise ignored. */
SNARLRT_HIDDEN void snarlrt_options_parse(struct snarlrt_options *o, const char *text);

#endif
