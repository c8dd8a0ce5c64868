/*
 * A growing list of command-line words. The list owns its strings and is
 * always ended by a NULL, so that `v` can be handed to exec.
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

/* Takes over a string from malloc. */
void args_take(struct args *a, char *word);

/* Removes the words from `from` on. */
void args_truncate(struct args *a, size_t from);

void args_free(struct args *a);

/* Words separated by blanks, as in CC="ccache gcc". */
void args_split(struct args *a, const char *text);

/* The list as one line a shell would read back; from malloc. */
char *args_quote(const struct args *a);

#endif
