/*
 * The state of the program as hashes: the registers of a thread at one instruction, its stack, and
 * the memory. If all are the same at two instants, the program has made no progress
 * between them.
 *
 * What the runtime changes by itself is left out: its own variables, and the stack below the stack
 * pointer. Hashes are valid within one process only.
 */
#ifndef RUNTIME_CONTROL_PROGRAM_STATE_H
#define RUNTIME_CONTROL_PROGRAM_STATE_H

#include <ucontext.h>

#include "runtime/control/control.h"

/* Which registers hold values of the program at the instruction. */
enum state_live {
	STATE_ALL,		/* all: it is any instruction */
	STATE_AFTER_ACCESS,	/* all but rax, rcx and the flags: the hook of an access returned */
	STATE_AFTER_CALL,	/* those that a function keeps: a call returned */
};

/* A thread at an instruction. */
struct state_at {
	const greg_t *regs;		/* indexed by REG_RIP and so on */
	const void *vectors;		/* an fxsave area; NULL: there are no vector registers */
	uint32_t extended;		/* bytes of the xsave area that begins with it, or 0 */
	enum state_live live;
};

/* The instruction that a signal interrupted. */
static inline struct state_at state_interrupted(const ucontext_t *uc)
{
	const uint32_t *area = (const uint32_t *)uc->uc_mcontext.fpregs;
	/* The kernel leaves a magic number and the size of the area in unused bytes. */
	bool extended = area && area[464 / 4] == 0x46505853u;

	return (struct state_at){ uc->uc_mcontext.gregs, area, extended ? area[468 / 4] : 0,
				  STATE_ALL };
}

SNARLRT_HIDDEN uint64_t state_registers(const struct state_at *at);

/* The stack up to `high`, but at most its innermost 64 KiB. */
SNARLRT_HIDDEN uint64_t state_stack(const struct state_at *at, uint64_t high);

/* The end of the mapping that holds `addr`; 0: unknown. */
SNARLRT_HIDDEN uint64_t state_mapping_end(uint64_t addr);

/* The addresses of the library or program that has the code at `addr`; both 0: unknown. */
SNARLRT_HIDDEN void state_module(uint64_t addr, uint64_t *low, uint64_t *high);

/*
 * All writable memory of the program. The stacks of other runnable threads are left out: they
 * belong to the states of those threads. Returns 0 if the memory cannot be read completely.
 */
SNARLRT_HIDDEN uint64_t state_memory(const struct state_at *at);

#endif
