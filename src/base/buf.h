/*
 * A growing byte buffer. A zeroed struct is an empty buffer.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stddef.h>
#include <stdint.h>

struct buf {
	uint8_t *data;
	size_t size, capacity;
};

/* Frees the content. The buffer is empty then and can be used again. */
void buf_free(struct buf *b);

static inline void buf_clear(struct buf *b)
{
	b->size = 0;
}

/* Reserves `extra` bytes behind the content and returns their address. The size does not change. */
uint8_t *buf_reserve(struct buf *b, size_t extra);

void buf_add(struct buf *b, const void *data, size_t size);
void buf_add_char(struct buf *b, char c);
void buf_add_text(struct buf *b, const char *text);

/* Appends "key=value" as SNARL_OPTIONS spells it, after a ':' unless the buffer is empty. */
void buf_add_option(struct buf *b, const char *key, const char *value);

/*
 * Appends a word as a shell has to get it: quoted if it has characters with a meaning, and control
 * characters, which could deceive at a terminal, as $'\xHH'.
 */
void buf_add_shell_word(struct buf *b, const char *word);
void buf_addf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Numbers, without the cost of printf. */
void buf_add_hex(struct buf *b, uint64_t value);	/* with the prefix 0x */
void buf_add_dec(struct buf *b, uint64_t value);

/*
 * The content as a NUL-terminated string. Valid until the next change; the NUL is not part of the
 * size.
 */
const char *buf_string(struct buf *b);

#endif
