/*
 * Between the two halves of loops_transform: a loop is found (loops_find.c), and written
 * (loops_write.c).
 */
#ifndef WRAP_LOOPS_LOOPS_INTERNAL_H
#define WRAP_LOOPS_LOOPS_INTERNAL_H

#include "abi/layout.h"
#include "base/buf.h"
#include "wrap/asm/linear.h"
#include "wrap/hooks/hook.h"
#include "wrap/loops/dead_code.h"

struct loops_access {
	uint32_t line;			/* of the hook */
	struct asmtext_word site;	/* its label; empty: one has to be put behind the line */
	unsigned op;
	struct linear at, stride;
};

struct loops_loop {
	uint32_t head, jump;		/* lines: the label, the jump back */
	uint32_t access_count, silent_count;
	struct loops_access access[TRACE_LOOP_ACCESSES];
	struct loops_access silent[TRACE_LOOP_ACCESSES];	/* cannot be told: no copy is used unless a list switches them off */
	uint8_t counter;		/* a register that changes by `step` each turn */
	int64_t step;
	uint8_t slot_count;
	uint8_t slot[LOOP_SLOTS];	/* variables whose value at the start is needed */
	struct linear compared[2];	/* what the flags are of that the jump back depends on: */
	unsigned moving;		/* this one changes by bound_step each turn, the other stays */
	int64_t bound_step;
	bool assumed;			/* … or so it seems */
	int compared_at[2];		/* the registers that they are in, or -1 */
	const struct linear_state *state;	/* the stack variables' places */
};

#define LOOPS_SPILLS 12

struct loops_spill {
	int64_t at;		/* eight bytes, so far from %rsp */
	bool vector, refused;
	bool set_first;		/* in each turn, before it is read */
	bool set;
	const char *reg;	/* has them in the copy without hooks; NULL: they stay */
};

#define LOOPS_CONSTANTS 4

/* A number in memory that nobody writes (loops_constants.c). */
struct loops_constant {
	struct asmtext_word at;	/* the operand */
	const char *load;	/* the instruction that reads as much */
	const char *reg;	/* has it in the copy without hooks */
};

struct loops_spills {
	unsigned count, constant_count;
	struct loops_spill spill[LOOPS_SPILLS];
	struct loops_constant constant[LOOPS_CONSTANTS];
};

void loops_spills_find(struct loops_spills *s, const struct loops_loop *l, const struct asmtext *t);

/* Before the first turn, and after the last. */
void loops_spills_write(const struct loops_spills *s, bool load, struct buf *out);

/* The next vector register from *next on that the loop does not name, or NULL. Free only if calls keep none. */
const char *loops_free_vector(const struct loops_loop *l, const struct asmtext *t, unsigned *next);

/* The loop's hooks are calls. Registers from *next on. */
void loops_constants_find(struct loops_spills *s, const struct loops_loop *l, const struct asmtext *t, unsigned *next);
void loops_constants_write(const struct loops_spills *s, struct buf *out);

/* As loops_spills_replace. */
bool loops_constants_replace(const struct loops_spills *s, const struct asmtext *t, struct asmtext_word line, struct buf *out);

/* The registers that it has found, for either. */
void loops_spills_add_live(const struct loops_spills *s, struct dead_code_live *live);

/* False: the line needs no change, and is not written. */
bool loops_spills_replace(const struct loops_spills *s, struct asmtext_word line, struct buf *out);

/* False: there are too many, or it must be seen by itself. */
bool loops_add_access(struct loops_loop *l, uint32_t line, const struct hook *hook, const struct linear_state *state);

/* An instruction that may be the last one to set flags in a turn; `turn` is what is known behind it. */
void loops_note_flags(struct loops_loop *l, struct linear_state *state, struct asmtext_word text, const struct insn *in);

/* Of the accesses, and of l->turn at the end of a turn, all that is needed to tell the loop. False: it cannot be told. */
bool loops_qualify(struct loops_loop *l);

/* Whether no flag is used before it is set, from this line on. */
bool loops_flags_are_dead(const struct asmtext *t, size_t line);

/* Writes what takes the place of the lines from behind head to jump. */
void loops_write(const struct asmtext *t, const struct loops_loop *l, bool pic, size_t number,
		 struct buf *out);

extern const char *const loops_registers[INSN_REGISTERS];

/* The access whose hook is in that line, told or silent; NULL: it is none. */
const struct loops_access *loops_hook(const struct loops_loop *l, uint32_t line);

/* Whether its end can be written out, and that: __snarl_loop is called behind it where it leaves the loop to it. */
bool loops_end_possible(const struct loops_loop *l);
void loops_end_write(const struct loops_loop *l, bool pic, size_t number, struct buf *out);

/* The number under which the descriptor names the variable, or -1. */
int loops_place(const struct loops_loop *l, unsigned variable);

#endif
