/*
 * What the numbers in candidates mean to people: places in sources, objects at the
 * moment of an event, locks.
 *
 * What an address is depends on the moment, so that names_learn() reads the trace once
 * more, up to the last event asked about.
 */
#ifndef ANALYZE_CANDIDATE_NAMES_H
#define ANALYZE_CANDIDATE_NAMES_H

#include "analyze/analysis.h"
#include "base/buf.h"
#include "symbol/symbol.h"

struct names;

/*
 * `r` and `ctx` outlive it. Without symbols, pcs and addresses stay numbers or labels. `known`:
 * whose files need not be read again (symbols_share()), or NULL.
 */
struct names *names_new(struct reader *r, const struct analysis_context *ctx, bool symbols,
			const struct symbols *known);
void names_free(struct names *n);

/* For the first `count` of `f`; -1 if the trace is damaged: what comes later has no name. */
int names_learn(struct names *n, struct findings *f, size_t count, struct err *err);

/* Innermost first, at least one; a label of a text trace is a function without a file. */
size_t names_frames(struct names *n, uint64_t pc, struct symbol_frame *out, size_t max);

/* Appends "deposit bank.c:13" of the frame to show (symbol_own_frame), or "bank+0x1234". */
void names_place(struct names *n, uint64_t pc, struct buf *out);

/* The file that holds the code, and the global variable at an address; NULL if in none. */
const char *names_module(struct names *n, uint64_t pc);
const char *names_global(struct names *n, uint64_t addr);

/* What the event's address is: `balance`, `heap@q.c:31#2+8`, `0x7f…`. */
const char *names_object(struct names *n, const struct candidate_event *e);

/* The same of the i-th lock held at it. */
const char *names_lock(struct names *n, const struct candidate_event *e, size_t i);

#endif
