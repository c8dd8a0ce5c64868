/*
 * Reports of `snarl cover`: the coverage of a program as text, HTML and JSON, and compared with an
 * earlier state.
 */
#ifndef REPORT_COVER_H
#define REPORT_COVER_H

#include "base/buf.h"
#include "coverage/coverage_state.h"

#define COVER_JSON_VERSION 1

/*
 * Appends tables by idiom and by file, the growth over runs, and the first `most` untested iRoots.
 */
void cover_text(const struct cover_state *s, size_t most, struct buf *out);

/*
 * Appends a page with the same tables, and up to 1000 untested and 1000 infeasible iRoots with
 * their lines of source. Relative names of sources start from `folder`.
 */
void cover_html(const struct cover_state *s, const char *folder, struct buf *out);

/* Appends a JSON object; if `diff` is not NULL, also the comparison with that earlier state. */
void cover_json(const struct cover_state *s, const struct cover_state *diff, struct buf *out);

/* Reads a database or the output of cover_json(). `program` as for cover_state_load(). */
int cover_read(struct cover_state *s, const char *path, const char *program, struct err *err);

/* Two states compared: numbers of iRoots. */
struct cover_diff {
	uint64_t exposed;	/* exposed now, before not exposed or unknown */
	uint64_t untested;	/* unknown before, not exposed now */
	uint64_t lost;		/* exposed before, known but not exposed now */
	uint64_t gone;		/* known before, unknown now because their code has changed */
};

void cover_diff(const struct cover_state *old, const struct cover_state *now,
		struct cover_diff *out);
void cover_diff_text(const struct cover_state *old, const struct cover_state *now, size_t most,
		     struct buf *out);

#endif
