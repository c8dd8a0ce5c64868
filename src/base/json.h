/*
 * Writes JSON into a buffer: commas and escapes are looked after, the order of
 * calls is the caller's. Text that is not UTF-8 comes out with U+FFFD for each
 * byte that does not belong.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct json {
	struct buf *out;
	bool comma;		/* something stands before, at this depth */
};

/* `key` is NULL within an array and for the outermost value. */
void json_open(struct json *j, const char *key, char bracket);	/* '{' or '[' */
void json_close(struct json *j, char bracket);			/* '}' or ']' */
void json_text(struct json *j, const char *key, const char *text);	/* NULL: null */
void json_bool(struct json *j, const char *key, bool value);
void json_decimal(struct json *j, const char *key, double value);	/* with three decimals */

/* Beyond 2^53, where readers lose digits, a string. */
void json_number(struct json *j, const char *key, uint64_t value);

/* "0x…" */
void json_hex(struct json *j, const char *key, uint64_t value);

/* Members already written as JSON, without brackets; may be empty. */
void json_members(struct json *j, const void *data, size_t size);

#endif
