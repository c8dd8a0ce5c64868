/*
 * Offsets, sizes and constants of C that the runtime's assembly needs. The compiler translates this
 * file to assembly, in which each NUMBER and MEMBER is a string "->NAME $value". The Makefile turns
 * these strings into the #defines of layout_asm.h. The file is part of no program.
 */
#include "runtime/core/runtime.h"
#include "runtime/hooks/entry.h"
#include "runtime/hooks/loop.h"
#include "runtime/hooks/loop_nest.h"
#include "runtime/record/clock.h"
#include "runtime/record/shadow.h"

#define NUMBER(name, value) __asm__ volatile(".ascii \"->" #name " %0\"" : : "i"(value))
#define MEMBER(name, type, member) \
	__asm__ volatile(".ascii \"->" #name " %0\"" : : "i"(offsetof(struct type, member)))

/* The assembly relies on these: each message says which instruction. */
_Static_assert(SNARLRT_EMPTY_CALLS == 1u << 16 && SHARING_SITE_BITS == 1u << 16,
	       "movzwl makes an index");
_Static_assert(offsetof(struct snarlrt_tls, hidden) == offsetof(struct snarlrt_tls, busy) + 4,
	       "cmpq tests both");
_Static_assert(sizeof(snarlrt.mode) == 4 && sizeof(snarlrt.profiling) == 1, "cmpl and cmpb");
_Static_assert(offsetof(struct trace_record, addr) == 0 &&
	       offsetof(struct snarlrt_frame, caller) == 0 &&
	       offsetof(struct nest_expected, addr) == 0, "(%register) is the first member");

__attribute__((used)) static void shadow(void)
{
	NUMBER(SHADOW_BASE, SHADOW_BASE);
	NUMBER(GRANULE_SHIFT, SHADOW_GRANULE_SHIFT);
	NUMBER(GRANULE_MASK, (1 << SHADOW_GRANULE_SHIFT) - 1);
	NUMBER(USER_BITS, SHADOW_USER_BITS);
	/* -1: at any width it equals shared words only. */
	NUMBER(SHARED, (int16_t)SHADOW_SHARED);
	NUMBER(SHADOW_TWO, SHADOW_TWO);
	NUMBER(SHADOW_FOUR, SHADOW_FOUR);
	NUMBER(CUT_LINE_SHIFT, SHADOW_CUT_LINE);
	NUMBER(CUT_LINES, SHADOW_CUT_LINES);
}

__attribute__((used)) static void records(void)
{
	NUMBER(RECORD_SIZE, sizeof(struct trace_record));
	NUMBER(RECORD_SHIFT, __builtin_ctzll(sizeof(struct trace_record)));
	MEMBER(RECORD_SITE, trace_record, site);
	NUMBER(RECORD_OP, RECORD_OP);
	NUMBER(ADDR_BITS, RECORD_ADDR_BITS);
	NUMBER(OP_SHIFT, RECORD_OP_SHIFT);
	/* What 1 in the detail adds to an op. */
	NUMBER(OP_DETAIL, TRACE_SITE(0, 1, 0) / TRACE_SITE(1, 0, 0));
	NUMBER(SIZE_MASK, TRACE_SIZE_MASK);
	NUMBER(VOLATILE, TRACE_VOLATILE);
	NUMBER(KIND_STAMP, TRACE_STAMP);
	NUMBER(KIND_READ, TRACE_READ);
	NUMBER(KIND_WRITE, TRACE_WRITE);
	NUMBER(KIND_FUNC_ENTRY, TRACE_FUNC_ENTRY);
	NUMBER(KIND_FUNC_EXIT, TRACE_FUNC_EXIT);
	NUMBER(KIND_LOOP, TRACE_LOOP);
	NUMBER(STAMP_BYTES, STAMP_BYTES);
	NUMBER(ACCESS_SPLIT, ACCESS_SPLIT);
}

__attribute__((used)) static void threads(void)
{
	MEMBER(TLS_CUR, snarlrt_tls, cur);
	MEMBER(TLS_OWN, snarlrt_tls, own);
	MEMBER(TLS_OWN_UNCUT, snarlrt_tls, own_uncut);
	MEMBER(TLS_OWN2, snarlrt_tls, own2);
	MEMBER(TLS_FRAME, snarlrt_tls, frame);
	MEMBER(TLS_EMITTED, snarlrt_tls, emitted);
	MEMBER(TLS_FRAME_END, snarlrt_tls, frame_end);
	MEMBER(TLS_SELF, snarlrt_tls, self);
	MEMBER(TLS_BUSY, snarlrt_tls, busy);
	MEMBER(TLS_HIDDEN, snarlrt_tls, hidden);
	MEMBER(TLS_UNDECIDED, snarlrt_tls, undecided);
	MEMBER(TLS_SAVED, snarlrt_tls, saved);
	MEMBER(TLS_OWN4, snarlrt_tls, own4);
	MEMBER(TLS_FRAME_FIRST, snarlrt_tls, frame_first);
	MEMBER(TLS_EAGER_END, snarlrt_tls, eager_end);
	MEMBER(TLS_EMPTY_CALLS, snarlrt_tls, empty_calls);
	NUMBER(CALL_SIZE, sizeof(struct snarlrt_frame));
	MEMBER(CALL_PC, snarlrt_frame, pc);
	MEMBER(THREAD_LIVE, snarlrt_thread, live);
	MEMBER(THREAD_LAST_TIME, snarlrt_thread, last_time);
	MEMBER(THREAD_SINCE_TSC, snarlrt_thread, since_tsc);
	NUMBER(CLOCK_STEP, CLOCK_STEP);
	MEMBER(THREAD_DEFERRED_COUNT, snarlrt_thread, deferred_count);
	MEMBER(THREAD_CLAIMS, snarlrt_thread, claims);
	MEMBER(THREAD_LOOP_EXCESS, snarlrt_thread, loop_excess);
	MEMBER(LIVE_CUT_LOCATIONS, live_slot, cut_locations);
	MEMBER(RUNTIME_MODE, snarlrt, mode);
	MEMBER(RUNTIME_PROFILING, snarlrt, profiling);
	MEMBER(RUNTIME_THREADED, snarlrt, threaded);
	NUMBER(MODE_RECORD, SNARLRT_RECORD);
	NUMBER(XSAVE_LEGACY, XSAVE_LEGACY);
}

__attribute__((used)) static void loops(void)
{
	MEMBER(LOOP_ACCESSES, loop, accesses);
	MEMBER(LOOP_COUNTER, loop, counter);
	MEMBER(LOOP_COUNTER_SLOT, loop, counter_slot);
	MEMBER(LOOP_STEP, loop, step);
	MEMBER(LOOP_ACCESS, loop, access);
	MEMBER(ACCESS_SITE, loop_access, site);
	MEMBER(ACCESS_BASE, loop_access, base);
	MEMBER(ACCESS_STRIDE, loop_access, stride);
	NUMBER(ACCESS_DETAIL, offsetof(struct loop_access, op) + 1);
	MEMBER(ACCESS_TERM, loop_access, term[0]);
	MEMBER(ACCESS_TERM2, loop_access, term[1]);
	MEMBER(ACCESS_STRIDE_TERM, loop_access, stride_term);
	NUMBER(ACCESS_SIZE, sizeof(struct loop_access));
	NUMBER(ACCESS_SHIFT, __builtin_ctzll(sizeof(struct loop_access)));
	MEMBER(TERM_VALUE, loop_term, value);
	MEMBER(TERM_FACTOR, loop_term, factor);
	NUMBER(FIRST_SLOT, LOOP_FIRST_SLOT);
	NUMBER(RED_ZONE, LOOP_RED_ZONE);
	NUMBER(NEAR, LOOP_NEAR);
	NUMBER(MAX_ITERATIONS, TRACE_LOOP_ITERATIONS);
	NUMBER(MAX_ACCESSES, TRACE_LOOP_ACCESSES);
	NUMBER(LONG_LOOP, LOOP_LONG);
	NUMBER(LOOP_DELIVER, LOOP_DELIVER);
}

__attribute__((used)) static void nests(void)
{
	MEMBER(NEST_FROM, snarlrt_nest, from);
	MEMBER(NEST_FOUND, snarlrt_nest, found);
	MEMBER(NEST_ITERATIONS, snarlrt_nest, iterations);
	MEMBER(NEST_LOOK, snarlrt_nest, look);
	MEMBER(NEST_NEXT, snarlrt_nest, next);
	MEMBER(NEST_END, snarlrt_nest, end);
	MEMBER(NEST_GAP, snarlrt_nest, gap);
	MEMBER(NEST_HEAD, snarlrt_nest, head);
	MEMBER(NEST_EVENTS, snarlrt_nest, events);
	MEMBER(NEST_LEFT, snarlrt_nest, left);
	MEMBER(NEST_UNDECIDED, snarlrt_nest, undecided);
	MEMBER(NEST_BEFORE, snarlrt_nest, before);
	MEMBER(NEST_EXPECTED_BEFORE, snarlrt_nest, expected_before);
	MEMBER(NEST_SITE_BEFORE, snarlrt_nest, site_before);
	NUMBER(NO_NEST, (uintptr_t)NEST_NONE);
	NUMBER(MAX_BEFORE, NEST_BEFORE);
	NUMBER(EXPECTED_SIZE, sizeof(struct nest_expected));
	MEMBER(EXPECTED_ADD, nest_expected, add);
	NUMBER(SITE_SIZE, sizeof(uint64_t));
}
