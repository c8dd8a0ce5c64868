/*
 * Temporary files of a snarl that was killed. Their names have the process id of their owner, so
 *that a later snarl finds those whose owner is gone:
 *
 *	OUT/trace-PID….tmp, OUT/learn-PID-N.snarl	traces that are being made
 *	OUT/bugs/B007.tmp-PID				a bug that is being saved; it becomes B007
 *	NAME.tmp-PID					any file that is being written (base/file.h)
 *	TMPDIR/snarl-WHAT-PID-XXXXXX			a folder of traces, or a trace
 */
#ifndef EXPLORE_TARGET_LEFTOVERS_H
#define EXPLORE_TARGET_LEFTOVERS_H

/* Path for mkdtemp() or mkstemp() in the folder of temporary files; to be freed. */
char *leftovers_template(const char *what);

/* Removes what killed processes left in the folder of results `out` and in TMPDIR. */
void leftovers_remove(const char *out);

#endif
