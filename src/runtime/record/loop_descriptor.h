/*
 * What snarl-cc writes about a loop without hooks (hooks/loop.h): its accesses, as data behind the loop's code.
 */
#ifndef RUNTIME_RECORD_LOOP_DESCRIPTOR_H
#define RUNTIME_RECORD_LOOP_DESCRIPTOR_H

#include "abi/loop_group.h"

/* factor times the value of a register (0 to 15, as instructions number them) or slot (16 + s). */
struct loop_term {
	uint8_t place;
	int8_t factor;		/* 0: there is no term */
};

/*
 * The address in turn t is base + terms + t * (stride + stride_term). Where the latter has no factor its place is not 0
 * if so many accesses before there is one of the same memory: then it need not be looked at again.
 */
struct loop_access {
	uint64_t site;			/* of its records: pc, as the hook has it, below `op` */
	uint64_t base;
	int64_t stride;
	uint16_t op;			/* kind | detail << 8 */
	struct loop_term term[2];
	struct loop_term stride_term;
};

/* wrap/loops/loops_find.c writes it as data. */
struct loop {
	uint32_t accesses;		/* 1 to TRACE_LOOP_ACCESSES */
	uint8_t counter;		/* register that tells the turns: */
	uint8_t counter_slot;		/* … slot of its value at the start */
	uint16_t silent;		/* accesses that are not told: the loop has hooks unless all of them are switched off */
	int64_t step;			/* … what each turn adds */
	struct loop_access access[];	/* in the order of the program */
};

/* Behind the accesses: the pcs of the silent ones and, if there are any, where the jump is that leads to the loop with hooks. */
static inline const uint64_t *loop_silent(const struct loop *l)
{
	return (const uint64_t *)(const void *)&l->access[l->accesses];
}

#endif
