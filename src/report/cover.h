/*
 * Interleaving coverage for people and machines.
 */
#ifndef REPORT_COVER_H
#define REPORT_COVER_H

#include "base/buf.h"
#include "coverage/coverage_state.h"

#define COVER_JSON_VERSION 1

/* A table by idiom and by file, how it grew, and the first `most` of what is untested. */
void cover_text(const struct cover_state *s, size_t most, struct buf *out);

void cover_html(const struct cover_state *s, const char *folder, struct buf *out);	/* `folder`: of sources */

/* One object; with `diff`, also what became of the iRoots of that earlier state. */
void cover_json(const struct cover_state *s, const struct cover_state *diff, struct buf *out);

/* A database, or what cover_json() wrote; `program` as for cover_state_load(). */
int cover_read(struct cover_state *s, const char *path, const char *program, struct err *err);

/* What became of an earlier state. */
struct cover_diff {
	uint64_t exposed;	/* were not, or were not known */
	uint64_t known;		/* were not, and are not exposed */
	uint64_t lost;		/* were exposed, and are not any more */
	uint64_t gone;		/* were known, and are not any more: their code has changed */
};

void cover_diff(const struct cover_state *old, const struct cover_state *now, struct cover_diff *out);
void cover_diff_text(const struct cover_state *old, const struct cover_state *now, size_t most,
		     struct buf *out);

#endif
