/*
 * Sentences about a bug, which all formats share. The functions append plain text to `out`; the
 * caller escapes it. A function whose comment says "may append nothing" leaves `out` unchanged if
 * it has nothing to say.
 */
#ifndef REPORT_DESCRIBE_H
#define REPORT_DESCRIBE_H

#include "analyze/pattern.h"
#include "report/model.h"

/* Returns the bug's row in the table of patterns; the row of PATTERN_NONE if it has none. */
const struct pattern_row *describe_pattern(const struct report_bug *b);

/* The bug in one line: "Lost update on balance". */
void describe_title(const struct report_bug *b, struct buf *out);

/* The kind of bug: "atomicity/RWW". */
void describe_kind(const struct report_bug *b, struct buf *out);

/* A title for all bugs of this kind, without the variable: "Lost update on shared memory". */
void describe_kind_title(const struct report_bug *b, struct buf *out);

/* What a step does: "reads 100 from balance", "waits for right". */
void describe_step(const struct report_bug *b, const struct report_step *s, struct buf *out);

/* An event of bug.json: "thread 0.1 reads balance at bank.c:22". */
void describe_site(const struct report_bug *b, const struct report_site *s, struct buf *out);

/*
 * The effect of a step of the cause, to be appended to the text of describe_step(): " in between",
 * ", which thread 0.2 has held since step 1". May append nothing.
 */
void describe_effect(const struct report_bug *b, const struct report_step *s, struct buf *out);

/*
 * Which lock is missing, or why the locks held do not help. May append nothing. describe_outcome()
 * includes it.
 */
void describe_locks(const struct report_bug *b, struct buf *out);

/* Is the bug about two variables ("RxWxWyRy")? */
bool describe_is_two_variables(const struct report_bug *b);

/* The consequence of all steps together. May append nothing. */
void describe_outcome(const struct report_bug *b, struct buf *out);

/* How such bugs are repaired. May append nothing. */
void describe_hint(const struct report_bug *b, struct buf *out);

/* Where the nearest run that passes differs from the failing one. May append nothing. */
void describe_difference(const struct report_bug *b, struct buf *out);

/* The first line of the failure: "Assertion failed in thread 0". */
void describe_failure(const struct report_bug *b, struct buf *out);

/*
 * The further lines of the failure, with folders cut off the names of sources. Leaves out the lines
 * about blocked threads that describe_effect() covers, unless `all_lines`. May append nothing.
 */
void describe_details(const struct report_bug *b, bool all_lines, struct buf *out);

/* "Thread 0.2 (teller)". */
void describe_thread(const struct report_bug *b, size_t thread, struct buf *out);

/* "bank.c:22", without the folder. May append nothing. */
void describe_place(const struct report_place *at, struct buf *out);

/* Returns the file that all steps are in, or NULL if they are in several. */
const char *describe_common_file(const struct report_bug *b);

/* The name of an object for readers: "block q.c:31 +8" for "heap@q.c:31#1+8". */
void describe_object(const char *object, struct buf *out);

/* "snarl replay out/bugs/B001"; with `schedule`, a command that replays this file of the folder. */
void describe_replay_command(const struct report_bug *b, const char *schedule, struct buf *out);

#endif
