/*
 * Layouts that compiled code, the runtime's assembly and its C code share: the shadow, a thread's
 * hot state, and the descriptors of loops and nests. Assembly gets these numbers from
 * layout_asm.h, which the build generates from runtime/hooks/layout_asm.c.
 *
 * Shadow: each granule, which is 8 aligned bytes of memory, has one 16-bit shadow word. The word of
 * the granule at address A lies at SHADOW_BASE + A / 8 * 2. It says which threads accessed it:
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
#define SHADOW_FOUR 0x0001000100010001ull	/* factor: value * SHADOW_FOUR is four such words */
#define SHADOW_TWO 0x00010001u			/* factor: value * SHADOW_TWO is two such words */

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
 * A ring gets a time stamp at least every STAMP_BYTES; such a part of a ring is called a page. An
 * append first tests snarlrt_tls.cur. If it is a multiple of STAMP_BYTES, or NULL, the runtime's C
 * code appends, and adds the stamp if one is due.
 */
#define STAMP_BYTES 4096u

/*
 * Kind and detail (the "op" of a record) are the upper 16 bits of trace_record.site. They begin at
 * byte RECORD_OP of a record, so code can write them with one store.
 */
#define RECORD_OP_SHIFT __builtin_ctzll(TRACE_SITE(1, 0, 0))
#define RECORD_OP (offsetof(struct trace_record, site) + RECORD_OP_SHIFT / 8)

/* Bits of an address. In a record of a loop group, the stride lies above them. */
#define RECORD_ADDR_BITS __builtin_popcountll(TRACE_ADDR_MASK)

/* __snarl_access gets kind and detail in %eax; this bit above them: the access spans 2 granules. */
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
	/* Shadow word of memory that this thread owns, cut: id * 2 + 1. 0: it owns none. */
	uint16_t own;
	/* Shadow word of memory that this thread owns, not cut: id * 2. 0: it owns none. */
	uint16_t own_uncut;
	/* `own` in both halves: compared with the two shadow words of a 16-byte access. */
	uint32_t own2;
	/* The first free entry of the call stack, which grows upwards. */
	struct snarlrt_frame *frame;
	/* Calls below this entry have been recorded, others are pending. ~0: no call stack. */
	struct snarlrt_frame *emitted;
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
	 * Eager entries: a call whose slot on the call stack is below this one is recorded when it
	 * begins. All other calls are lazy: recorded together with their first event. NULL: all
	 * calls are lazy.
	 */
	struct snarlrt_frame *eager_end;
	/*
	 * Counts empty calls, by the low 16 bits of the function's pc: calls whose entry was
	 * recorded, and removed again because no event followed. From 8 on, calls of the function
	 * are lazy.
	 */
	uint8_t *empty_calls;
};

#define SNARLRT_EMPTY_CALLS 65536u

/*
 * Loops. Compiled code has a second copy of the loop, without hooks. Behind that copy it calls
 * __snarl_loop, which records the loop's accesses. `nopl descriptor(%rip)` follows the call. The
 * descriptor is a struct loop, its accesses in program order, and the list that loop_silent()
 * returns. runtime/hooks/loop.h has an example.
 *
 * An access's address is computed from values that registers have after the loop, and from values
 * that they had before it. The code saves the latter in slots below its stack pointer, where signal
 * handlers do not write. The byte `value` names such a value: 0 to 15 are registers, numbered as in
 * instructions, and LOOP_FIRST_SLOT + s is slot s.
 */
#define LOOP_SLOTS 14
#define LOOP_FIRST_SLOT 16
#define LOOP_SLOTS_BELOW 16	/* slot 0 begins this many bytes below the stack pointer */
#define LOOP_SLOT_AT(s) (-LOOP_SLOTS_BELOW - 8 * (int)(s))	/* slot s, from the stack pointer */
/* Bytes below the stack pointer that signal handlers do not write. */
#define LOOP_RED_ZONE 128

/* `factor` times the value of the register or slot `value`. */
struct loop_term {
	uint8_t value;
	int8_t factor;		/* 0: there is no such term */
};

/*
 * The address in iteration t, from 0, is base + term[0] + term[1] + t * (stride + stride_term). If
 * stride_term.factor is 0, stride_term.value is 0 or a distance N: the access N before this one has
 * the same addresses, so the runtime does not check their shadow again.
 */
struct loop_access {
	uint64_t site;		/* of its records: pc of the hook in the other copy, and `op` */
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
 * code behind it must call __snarl_loop. LOOPS_PLAIN: that code may also record the loop itself.
 */
#define LOOPS_PLAIN 1
#define LOOPS_ASK 2

/*
 * Nests. Short loops have code behind them that checks the shadow and appends the records itself
 * (wrap/loops/loops_end.c). A "look" is a range of memory whose shadow is checked at once; accesses
 * near each other share one. Each look has one bit in the value `found`: 1 if all of its memory is
 * shared, 0 if all of it is the thread's own and cut. The last look has bit 0.
 */
#define NEST_ACCESSES 12u	/* most accesses of such a loop: with more, the code is too long */
#define NEST_LOOKS 8u		/* most looks of such a loop: `found` is tested as a byte */
#define NEST_BEFORE 2u		/* most accesses before the loop in each round */
#define NEST_NONE ((struct trace_record *)1)	/* not NULL, and equals no tls.cur */

/* Bytes. Up to this stride, memory between iterations is checked, too: it seldom differs. */
#define LOOP_NEAR 32

/* Most bytes of a look in each iteration with a larger stride: they lie in up to four granules. */
#define LOOP_STRIDED_BYTES 24u

/* The address that the next round should have. */
struct nest_expected {
	uint64_t addr;		/* with the stride in the upper 16 bits, as in the record */
	uint64_t add;		/* what each round adds */
};

/*
 * The thread-local variable __snarl_nest: the group of records that was appended last, and the nest
 * that it may be part of (runtime/hooks/loop_nest.h). Compiled code accesses the members up to
 * `first` by their offsets. While it changes, signals are deferred.
 */
struct snarlrt_nest {
	/* The code that appended the last group; 0: no round can follow. */
	uint64_t from;
	/* What that code found in the shadow, and its number of iterations less one. */
	uint32_t found, iterations;
	/* Indexed by bit of `found`: the first access of the look in the next round. */
	struct nest_expected look[NEST_LOOKS];
	/* Indexed by bit of `found`: the record of that access in the group being appended. */
	struct trace_record *first[NEST_LOOKS];
	/* Another round may follow if tls.cur has this value; NEST_NONE: there is no nest. */
	struct trace_record *next;
	/* The end of the last group, or of the nest. */
	struct trace_record *end;
	/* Bytes from the end of the group before the last to the last one. */
	uint64_t gap;
	/* The nest's first record, which counts the rounds. */
	struct trace_record *head;
	/* Events of a round, and rounds that may still be added to the nest. */
	uint32_t events, left;
	/* tls.undecided when the nest began; while it is equal, all accesses since were shared. */
	uint32_t undecided;
	/* Accesses before the loop in each round. */
	uint32_t before;
	/* Addresses that these accesses should have in the next round, and their sites. */
	struct nest_expected expected_before[NEST_BEFORE];
	uint64_t site_before[NEST_BEFORE];
};

/*
 * Programs and libraries that were compiled earlier contain these numbers. Changing one breaks
 * them: their code would access wrong memory in the new runtime.
 */
_Static_assert(SHADOW_BASE == 0x7fff8000 && SHADOW_GRANULE_SHIFT == 3 && SHADOW_SHARED == 0xffff &&
	       STAMP_BYTES == 4096 && RECORD_OP == 14 && ACCESS_SPLIT == 0x10000, "inlined hooks");
_Static_assert(offsetof(struct snarlrt_tls, cur) == 0 && offsetof(struct snarlrt_tls, own) == 8 &&
	       offsetof(struct snarlrt_tls, own2) == 12, "inlined hooks");
_Static_assert(LOOP_SLOTS == 14 && LOOP_FIRST_SLOT == 16 && LOOP_SLOT_AT(1) == -24 &&
	       LOOPS_PLAIN == 1 && TRACE_LOOP_ITERATIONS == 8192 && sizeof(struct loop) == 16 &&
	       offsetof(struct loop, step) == 8 && sizeof(struct loop_access) == 32 &&
	       offsetof(struct loop_access, stride_term) == 30, "loops");
_Static_assert(offsetof(struct snarlrt_nest, from) == 0 &&
	       offsetof(struct snarlrt_nest, found) == 8 &&
	       offsetof(struct snarlrt_nest, iterations) == 12 &&
	       offsetof(struct snarlrt_nest, look) == 16 && sizeof(struct nest_expected) == 16 &&
	       offsetof(struct snarlrt_nest, first) == 144, "nests");

#endif
