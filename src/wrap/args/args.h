/*
 * A growing list of command-line words. The list owns its strings. A NULL follows the last word,
 * so `v` can be passed to exec.
 */
#ifndef WRAP_ARGS_ARGS_H
#define WRAP_ARGS_ARGS_H

#include <stddef.h>

struct args {
	char **v;	/* NULL while the list is empty and untouched */
	size_t count;
	size_t room;
};

void args_add(struct args *a, const char *word);
void args_addf(struct args *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
void args_add_all(struct args *a, const struct args *more);

/* Appends `word` without a copy; the list frees it. */
void args_take(struct args *a, char *word);

/* Removes and frees the words from index `from` on. */
void args_truncate(struct args *a, size_t from);

void args_free(struct args *a);

/* Appends the words of `text`, which blanks separate, as in CC="ccache gcc". */
void args_split(struct args *a, const char *text);

/* Returns the list as one line that a shell reads back as the same words; from malloc. */
char *args_quote(const struct args *a);

#endif
