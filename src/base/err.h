/*
 * The reason for a failure, as the one line that a command prints.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

struct err {
	char text[512];
};

/*
 * Sets the text and returns -1, so that callers can write `return err_set(err, ...)`. err may be
 * NULL.
 */
int err_set(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prepends "PREFIX: " to the text and returns -1. err may be NULL. */
int err_prefix(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
