/*
 * A growing byte buffer. All zero is an empty one.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stddef.h>
#include <stdint.h>

struct buf {
	uint8_t *data;
	size_t size, capacity;
};

void buf_free(struct buf *b);	/* and it may be used again */

static inline void buf_clear(struct buf *b)
{
	b->size = 0;
}

/* Room for `extra` more bytes; returns where they go. The size stays. */
uint8_t *buf_reserve(struct buf *b, size_t extra);

void buf_add(struct buf *b, const void *data, size_t size);
void buf_add_char(struct buf *b, char c);
void buf_add_text(struct buf *b, const char *text);
/* "key=value" of SNARL_OPTIONS, behind a ':' if there is something before (runtime/interface.h). */
void buf_add_option(struct buf *b, const char *key, const char *value);
void buf_addf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Numbers without the price of printf. */
void buf_add_hex(struct buf *b, uint64_t value);	/* with 0x */
void buf_add_dec(struct buf *b, uint64_t value);

/* The content as a string: NUL is added behind it, not counted. Valid until the next add. */
const char *buf_string(struct buf *b);

#endif
