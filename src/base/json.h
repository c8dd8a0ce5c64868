/*
 * Writes JSON into a buffer. The writer adds commas and escapes; the caller is responsible for
 * balanced brackets and for giving keys only within objects. Each byte of a text that is not valid
 * UTF-8 becomes U+FFFD.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct json {
	struct buf *out;
	bool comma;		/* the next value follows another one: write a comma first */
};

/* `key` is NULL inside an array and for the outermost value. */
void json_open(struct json *j, const char *key, char bracket);	/* '{' or '[' */
void json_close(struct json *j, char bracket);			/* '}' or ']' */
void json_text(struct json *j, const char *key, const char *text);	/* NULL becomes null */
void json_bool(struct json *j, const char *key, bool value);
void json_decimal(struct json *j, const char *key, double value);	/* three decimals */

/* Numbers above 2^53, which many readers round, are written as strings. */
void json_number(struct json *j, const char *key, uint64_t value);

/* Writes the string "0x...". */
void json_hex(struct json *j, const char *key, uint64_t value);

/* Inserts members that are JSON text already, without brackets. Does nothing if size is 0. */
void json_members(struct json *j, const void *data, size_t size);

#endif
