/*
 * Readable names for candidates: functions and lines of sites, objects that events access, locks.
 *
 * Which object is at an address depends on the time of the event. names_learn() therefore reads the
 * trace once more, up to the last event of interest.
 */
#ifndef ANALYZE_CANDIDATE_NAMES_H
#define ANALYZE_CANDIDATE_NAMES_H

#include "analyze/analysis.h"
#include "base/buf.h"
#include "symbol/symbol.h"

struct names;

/*
 * `r` and `ctx` must outlive it. Without `symbols`, pcs and addresses become numbers, or labels of
 * a text trace. `known`: symbols that are already loaded, to be shared (symbols_share()), or NULL.
 */
struct names *names_new(struct reader *r, const struct analysis_context *ctx, bool symbols,
			const struct symbols *known);
void names_free(struct names *n);

/* Learns names for the first `count` candidates. -1: damaged trace, later events have no names. */
int names_learn(struct names *n, struct findings *f, size_t count, struct err *err);

/*
 * The frames of a pc with inlined functions, innermost first, at least one; returns their number. A
 * label of a text trace counts as a function without a file.
 */
size_t names_frames(struct names *n, uint64_t pc, struct symbol_frame *out, size_t max);

/* Appends the site of a pc: "deposit bank.c:13" (see symbol_own_frame()) or "bank+0x1234". */
void names_place(struct names *n, uint64_t pc, struct buf *out);

/* The executable or library that holds the code; NULL: none. */
const char *names_module(struct names *n, uint64_t pc);

/* The global variable at an address; NULL: none. */
const char *names_global(struct names *n, uint64_t addr);

/* The object at the event's address: "balance", "heap@q.c:31#2+8" or "0x7f12...". */
const char *names_object(struct names *n, const struct candidate_event *e);

/* The object that the i-th lock of the event's lockset is. */
const char *names_lock(struct names *n, const struct candidate_event *e, size_t i);

#endif
