/*
 * Layouts that compiled code, the runtime's assembly and its C code share: the shadow, a thread's
 * hot state, and the descriptors of loops and nests. Assembly gets these numbers from
 * layout_asm.h, which the build makes of runtime/hooks/layout_asm.c.
 *
 * Shadow: each granule, which is 8 aligned bytes of memory, has one 16-bit shadow word. The word of
 * the granule at address A lies at SHADOW_BASE + A / 8 * 2. It says who accessed the granule:
 *   0              no thread
 *   id * 2         thread `id` only; its accesses are recorded for now ("undecided")
 *   id * 2 + 1     thread `id` only, and its recorded accesses were dropped ("cut"): new accesses
 *                  of this thread are not recorded
 *   SHADOW_SHARED  several threads: every access is recorded
 *   SHADOW_TIMED   several threads, and every access is recorded with a time of its own
 *
 * Example: a variable at 0x601040 is in granule 0x601040 / 8 = 0xc0208. Its shadow word is at
 * 0x7fff8000 + 0xc0208 * 2 = 0x80178410.
 *   word    event
 *   0       the memory is fresh
 *   2       thread 1 writes the variable, and the write goes to the thread's ring
 *   3       the runtime drops that write, as no other thread has accessed the variable
 *           thread 1 writes again: 3 is its snarlrt_tls.own, so compiled code skips the hook
 *   0xffff  thread 2 reads: its own is 5, so the hook runs and the granule becomes shared
 *           thread 1 writes again: 0xffff is not 3, so compiled code records the write
 */
#ifndef ABI_LAYOUT_H
#define ABI_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "abi/loop_group.h"
#include "abi/trace_format.h"

#define SHADOW_BASE 0x7fff8000ull
#define SHADOW_GRANULE_SHIFT 3	/* log2 of a granule's bytes */
#define SHADOW_USER_BITS 47	/* an address of the program has no bit above these */
#define SHADOW_USER_END (1ull << SHADOW_USER_BITS)
#define SHADOW_BYTES ((SHADOW_USER_END >> SHADOW_GRANULE_SHIFT) * sizeof(uint16_t))
#define SHADOW_SHARED 0xffffu	/* all bits: compiled code compares with -1 of any width */
#define SHADOW_TIMED 0xfffeu	/* replaces SHADOW_SHARED with times=all; no fast path knows it */
#define SHADOW_MAX_ID 0x7ffeu	/* memory that a thread with a greater id accesses is shared */
#define SHADOW_FOUR 0x0001000100010001ull	/* times a shadow word: four words of that value */
#define SHADOW_TWO 0x00010001u			/* times a shadow word: two words of that value */

/* The shadow word of the granule that holds the byte at `addr`. */
static inline uint16_t *shadow_of(uint64_t addr)
{
	return (uint16_t *)(SHADOW_BASE + (addr >> SHADOW_GRANULE_SHIFT) * sizeof(uint16_t));
}

/* The start of the granule that has this shadow word. */
static inline uint64_t shadow_memory(const uint16_t *word)
{
	return ((uint64_t)word - SHADOW_BASE) / sizeof(uint16_t) << SHADOW_GRANULE_SHIFT;
}

/*
 * A ring gets a time stamp at least every STAMP_BYTES. An append first tests snarlrt_tls.cur. If it
 * is a multiple of STAMP_BYTES, or NULL, the runtime's C code appends, and adds the stamp if one is
 * due.
 */
#define STAMP_BYTES 4096u

/* Kind and detail are the upper 16 bits of trace_record.site: code writes them with one store. */
#define RECORD_OP_SHIFT __builtin_ctzll(TRACE_SITE(1, 0, 0))
#define RECORD_OP (offsetof(struct trace_record, site) + RECORD_OP_SHIFT / 8)

/* A record of a loop's access has the stride above this many bits of the address. */
#define RECORD_ADDR_BITS __builtin_popcountll(TRACE_ADDR_MASK)

/* In %eax above kind and detail when __snarl_access is called: the access is in two granules. */
#define ACCESS_SPLIT 0x10000u

/* One call in a thread's call stack. */
struct snarlrt_frame {
	uint64_t caller;	/* pc to which the function will return */
	uint64_t pc;		/* pc in the function, right after its entry hook */
};

struct ctl_thread;
struct snarlrt_thread;

/*
 * What hooks need of the current thread. It is the thread-local variable __snarl_tls, and compiled
 * code accesses `cur`, `own` and `own2` by their offsets.
 */
struct snarlrt_tls {
	/*
	 * Where the next record goes in the thread's ring. NULL sends the next append to the
	 * runtime's C code: the thread has no ring, or calls must be recorded first (see `saved`).
	 */
	struct trace_record *cur;
	/* Shadow word of this thread's memory once cut: id * 2 + 1. 0: it owns no memory. */
	uint16_t own;
	/* Shadow word of this thread's memory before that: id * 2. 0: it owns no memory. */
	uint16_t own_uncut;
	/* `own` in both halves: compared with the two shadow words of a 16-byte access. */
	uint32_t own2;
	/* The first free entry of the call stack, which grows upwards. */
	struct snarlrt_frame *frame;
	/* Calls below this entry have been recorded; all ones: there is no call stack. */
	struct snarlrt_frame *told;
	/* The end of the call stack's memory; NULL: there is no call stack. */
	struct snarlrt_frame *frame_end;
	/* The rest of the thread's state; NULL: the runtime has not attached the thread. */
	struct snarlrt_thread *self;
	/* 1 while the runtime changes the thread's ring or shadow: signals are deferred. */
	uint32_t busy;
	/*
	 * The number of sections that the thread is in whose events are not recorded, such as calls
	 * of malloc inside libc. Assembly tests `busy` and `hidden` as one number of 64 bits.
	 */
	uint32_t hidden;
	/* 1: the thread has ended; the runtime does not attach it again. */
	uint32_t ended;
	/* Number of records in the ring whose memory was not shared at the access. */
	uint32_t undecided;
	/* The value of `cur` while `cur` is NULL because calls must be recorded first. */
	struct trace_record *saved;
	/* The thread under control (runtime/control/control.h), or NULL. */
	struct ctl_thread *control;
	/* `own` four times: compared with four shadow words at once. */
	uint64_t own4;
	/* The start of the call stack's memory, or NULL. */
	struct snarlrt_frame *frame_first;
	/*
	 * A call whose entry is below this one is recorded when it begins; NULL: no call is. A call
	 * above it is recorded together with its first event.
	 */
	struct snarlrt_frame *tell_end;
	/*
	 * One counter per function, at the low 16 bits of its pc: how often the record of its entry
	 * was removed because no event followed in the call. From 8 on, the entry is recorded with
	 * its first event.
	 */
	uint8_t *quiet;
};

#define SNARLRT_QUIET 65536u

/*
 * Loops. Compiled code has a copy of the loop without hooks, and records its accesses behind it.
 * __snarl_loop is called there, and `nopl descriptor(%rip)` follows the call. The descriptor is a
 * struct loop, its accesses in program order, and the list that loop_silent() returns.
 *
 * An access's address is computed from values that registers have after the loop, and from values
 * that they had before it. The code saves the latter in slots below its stack pointer, where signal
 * handlers do not write. The byte `place` names such a value: 0 to 15 are registers, numbered as in
 * instructions, and LOOP_FIRST_SLOT + s is slot s.
 */
#define LOOP_SLOTS 14
#define LOOP_FIRST_SLOT 16
#define LOOP_SLOTS_BELOW 16	/* bytes from the top of slot 0's place to the stack pointer */
#define LOOP_SLOT_AT(s) (-LOOP_SLOTS_BELOW - 8 * (int)(s))	/* slot s, from the stack pointer */
/* Bytes below the stack pointer that signal handlers do not write. */
#define LOOP_RED_ZONE 128

/* `factor` times the value of the register or slot `place`. */
struct loop_term {
	uint8_t place;
	int8_t factor;		/* 0: there is no such term */
};

/*
 * The address in iteration t, from 0, is base + term[0] + term[1] + t * (stride + stride_term). If
 * stride_term has no factor, its place is N != 0 where the access N before this one has the same
 * addresses: the runtime then need not look at the shadow again.
 */
struct loop_access {
	uint64_t site;		/* of its records: the pc that the hook would have, below `op` */
	uint64_t base;
	int64_t stride;
	uint16_t op;		/* kind | detail << 8 */
	struct loop_term term[2];
	struct loop_term stride_term;
};

struct loop {
	uint32_t accesses;	/* 1 to TRACE_LOOP_ACCESSES */
	uint8_t counter;	/* the register that counts the iterations */
	uint8_t counter_slot;	/* the slot that has its value before the loop */
	uint16_t silent;	/* accesses that no record describes: see loop_silent() */
	int64_t step;		/* what each iteration adds to the counter */
	struct loop_access access[];
};

/*
 * Behind the accesses: the pcs of the silent ones and, if there are any, the address of the jump to
 * the copy with hooks. That copy runs unless a list of sites switches all silent accesses off.
 */
static inline const uint64_t *loop_silent(const struct loop *l)
{
	return (const uint64_t *)(const void *)&l->access[l->accesses];
}

/*
 * Values of __snarl_loops. 0: loops run with hooks. LOOPS_ASK: the copy without hooks may run, but
 * only __snarl_loop may record it. LOOPS_PLAIN: the code behind the loop may record it, too.
 */
#define LOOPS_PLAIN 1
#define LOOPS_ASK 2

/*
 * Nests. Short loops have code behind them that looks at the shadow and appends the records itself
 * (wrap/loops/loops_end.c). One look at the shadow covers accesses of the loop that lie near each
 * other. Each look has one bit in the value `found`, which is 1 for shared memory and 0 for memory
 * that is cut. The last look has bit 0.
 */
#define NEST_ACCESSES 12u	/* of a loop at most: with more, the code is too long */
#define NEST_LOOKS 8u		/* of a loop at most: `found` is tested as a byte */
#define NEST_BEFORE 2u		/* accesses before the loop in each round, at most */
#define NEST_NONE ((struct trace_record *)1)	/* no ring ends there */

/* Up to this stride, the bytes between iterations are looked at, too: they seldom differ. */
#define LOOP_NEAR 32

/* Of other strides: bytes that a look has in each iteration, at most. They are in four granules. */
#define LOOP_APART_BYTES 24u

/* The address that the next round should have. */
struct nest_expected {
	uint64_t addr;		/* with the stride in the upper 16 bits, as in the record */
	uint64_t add;		/* what each round adds */
};

/*
 * The thread-local variable __snarl_nest: the group of records that was appended last, and the nest
 * that it may be part of (runtime/hooks/loop_nest.h). Compiled code accesses the members up to
 * `first` by their offsets. While it changes, signals are put off.
 */
struct snarlrt_nest {
	/* The code that appended the last group; 0: no round can follow. */
	uint64_t from;
	/* What that code found in the shadow, and its number of iterations less one. */
	uint32_t found, turns;
	/* By the bits of `found`: the first access of each look in the next round. */
	struct nest_expected look[NEST_LOOKS];
	/* By the bits of `found`: the record of that access in the group being appended. */
	struct trace_record *first[NEST_LOOKS];
	/* The value of tls.cur at which another round may follow; NEST_NONE: there is no nest. */
	struct trace_record *next;
	/* The end of the last group, or of the nest. */
	struct trace_record *end;
	/* Bytes from the end of the group before the last to the last one. */
	uint64_t gap;
	/* The nest's first record, which counts the rounds. */
	struct trace_record *head;
	/* Events of a round, and rounds that the nest has room for. */
	uint32_t events, left;
	/* tls.undecided when the nest began: if it is the same, accesses since then were shared. */
	uint32_t undecided;
	/* Accesses before the loop in each round. */
	uint32_t before;
	struct nest_expected expected_before[NEST_BEFORE];
	uint64_t site_before[NEST_BEFORE];
};

/*
 * Programs and libraries that were compiled earlier contain these numbers. A change of one breaks
 * them: compiled code would read wrong memory in the new runtime.
 */
_Static_assert(SHADOW_BASE == 0x7fff8000 && SHADOW_GRANULE_SHIFT == 3 && SHADOW_SHARED == 0xffff &&
	       STAMP_BYTES == 4096 && RECORD_OP == 14 && ACCESS_SPLIT == 0x10000, "inlined hooks");
_Static_assert(offsetof(struct snarlrt_tls, cur) == 0 && offsetof(struct snarlrt_tls, own) == 8 &&
	       offsetof(struct snarlrt_tls, own2) == 12, "inlined hooks");
_Static_assert(LOOP_SLOTS == 14 && LOOP_FIRST_SLOT == 16 && LOOP_SLOT_AT(1) == -24 &&
	       LOOPS_PLAIN == 1 && TRACE_LOOP_TURNS == 8192 && sizeof(struct loop) == 16 &&
	       offsetof(struct loop, step) == 8 && sizeof(struct loop_access) == 32 &&
	       offsetof(struct loop_access, stride_term) == 30, "loops");
_Static_assert(offsetof(struct snarlrt_nest, from) == 0 &&
	       offsetof(struct snarlrt_nest, found) == 8 &&
	       offsetof(struct snarlrt_nest, turns) == 12 &&
	       offsetof(struct snarlrt_nest, look) == 16 && sizeof(struct nest_expected) == 16 &&
	       offsetof(struct snarlrt_nest, first) == 144, "nests");

#endif
