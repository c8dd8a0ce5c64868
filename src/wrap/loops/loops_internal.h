/*
 * What the steps of loops_transform() share. For each loop:
 *   1. loops_find.c walks through the body and collects the hooked accesses
 *   2. loops_qualify.c computes what the descriptor says
 *   3. loops_write.c writes both copies and the descriptor. loops_spills.c and loops_constants.c
 *	give values of memory a register, and dead_code.h drops instructions that served hooks.
 *	loops_end.c writes the code that records common cases without a call.
 *
 * A *slot* is 8 bytes below %rsp in which the loop's code passes a value to the runtime
 * (abi/layout.h). A *stack slot* is 8 bytes of the function's frame.
 */
#ifndef WRAP_LOOPS_LOOPS_INTERNAL_H
#define WRAP_LOOPS_LOOPS_INTERNAL_H

#include "abi/layout.h"
#include "base/buf.h"
#include "wrap/asm/linear.h"
#include "wrap/hooks/hook.h"
#include "wrap/loops/dead_code.h"

struct loops_access {
	uint32_t line;			/* line of the hook */
	struct asmtext_word site;	/* label behind the hook; empty: loops_write.c adds one */
	unsigned op;			/* of the record: kind | detail << 8 */
	struct linear at;		/* address, by the values at the iteration's start */
	struct linear stride;		/* what each iteration adds to the address */
};

struct loops_loop {
	uint32_t head, jump;		/* lines of the label and of the jump back to it */
	uint32_t access_count, silent_count;
	struct loops_access access[TRACE_LOOP_ACCESSES];	/* those in the descriptor */
	struct loops_access silent[TRACE_LOOP_ACCESSES];	/* those with other addresses */
	uint8_t counter;		/* register by which iterations are counted */
	int64_t step;			/* what each iteration adds to the counter */
	uint8_t slot_count;
	uint8_t slot[LOOP_SLOTS];	/* the variable whose value before the loop is there */
	/* The flags of the jump back come from the comparison of these two values. */
	struct linear compared[2];
	unsigned moving;		/* index of the compared value that iterations change */
	int64_t bound_step;		/* what each iteration adds to that value */
	bool assumed;			/* the other value is constant by assumption only */
	int compared_at[2];		/* register that holds each value, or -1 */
	const struct linear_state *state;	/* at an iteration's end */
	unsigned without;		/* set of enum loops_without */
};

#define LOOPS_SPILLS 12		/* there are 8 vector and 4 general registers for stack slots */

/* A stack slot of 8 bytes that the loop uses (loops_spills.c). */
struct loops_spill {
	int64_t at;		/* offset from %rsp */
	bool vector;		/* vector registers are loaded and stored there */
	bool refused;		/* it cannot be in a register */
	bool set_first;		/* each iteration writes it before reading it */
	bool set;		/* some instruction writes it */
	const char *reg;	/* its register in the copy without hooks; NULL: it has none */
};

#define LOOPS_CONSTANTS 4	/* constants that may get a register */

/* A floating-point constant in read-only memory (loops_constants.c). */
struct loops_constant {
	struct asmtext_word at;	/* text of the memory operand */
	const char *load;	/* instruction that loads it */
	const char *reg;	/* its register in the copy without hooks */
};

struct loops_spills {
	unsigned count, constant_count;
	struct loops_spill spill[LOOPS_SPILLS];
	struct loops_constant constant[LOOPS_CONSTANTS];
};

/* Adds a hooked access. False: the loop has too many, or the access is volatile. */
bool loops_add_access(struct loops_loop *l, uint32_t line, const struct hook *hook,
		      const struct linear_state *state);

/*
 * Notes what an instruction compares, in case the jump back depends on its flags. `state` is the
 * state behind the instruction, whose line is `text`.
 */
void loops_note_flags(struct loops_loop *l, struct linear_state *state, struct asmtext_word text,
		      const struct insn *in);

/*
 * Computes what the descriptor needs, from the accesses and from l->state at an iteration's end.
 * False: the loop does not qualify.
 */
bool loops_qualify(struct loops_loop *l);

/* Whether the code from this line on sets each flag before it uses it. */
bool loops_flags_are_dead(const struct asmtext *t, size_t line);

/*
 * Where the runtime finds the variable's value before the loop (struct loop_term): the register's
 * number if the loop does not change it, or LOOP_FIRST_SLOT + the number of a slot; -1: nowhere.
 */
int loops_source(const struct loops_loop *l, unsigned variable);

/* Writes what replaces the lines behind head up to jump; `number` makes its labels unique. */
void loops_write(const struct asmtext *t, const struct loops_loop *l, bool pic, size_t number,
		 struct buf *out);

/* Names of the general registers, without the %. */
extern const char *const loops_registers[INSN_REGISTERS];

/* The access whose hook is that line, described or silent; NULL: the line is no hook. */
const struct loops_access *loops_hook(const struct loops_loop *l, uint32_t line);

/* Chooses registers for stack slots and constants in the copy without hooks. */
void loops_spills_find(struct loops_spills *s, const struct loops_loop *l, const struct asmtext *t);

/* Writes the loads of these stack slots before the loop (`load`), or the stores behind it. */
void loops_spills_write(const struct loops_spills *s, bool load, struct buf *out);

/* Adds the registers that were chosen. */
void loops_spills_add_live(const struct loops_spills *s, struct dead_code_live *live);

/* Writes the line with a register in place of a stack slot; false, and no output: it has none. */
bool loops_spills_replace(const struct loops_spills *s, struct asmtext_word line, struct buf *out);

/*
 * The next vector register from *next on that the loop does not name, or NULL. It is free only in a
 * loop whose hooks are calls, since calls preserve no vector register.
 */
const char *loops_free_vector(const struct loops_loop *l, const struct asmtext *t, unsigned *next);

/* Chooses registers for constants, in a loop whose hooks are calls; `next`: loops_free_vector(). */
void loops_constants_find(struct loops_spills *s, const struct loops_loop *l,
			  const struct asmtext *t, unsigned *next);

/* Writes the loads of these constants before the loop. */
void loops_constants_write(const struct loops_spills *s, struct buf *out);

/* Writes the line with a register in place of a constant; false, and no output: it has none. */
bool loops_constants_replace(const struct loops_spills *s, const struct asmtext *t,
			     struct asmtext_word line, struct buf *out);

/* Whether loops_end_write() supports the loop. */
bool loops_end_possible(const struct loops_loop *l);

/*
 * Writes code that records the loop in common cases and jumps to its end. In all other cases it
 * falls through to the call of __snarl_loop.
 */
void loops_end_write(const struct loops_loop *l, bool pic, size_t number, struct buf *out);

#endif
