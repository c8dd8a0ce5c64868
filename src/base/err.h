/*
 * An error with its reason, for the one line a command prints.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

struct err {
	char text[512];
};

/* Always returns -1, so that `return err_set(err, …)` reads well. err may be NULL. */
int err_set(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Puts "prefix: " before what is there; returns -1. */
int err_prefix(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
