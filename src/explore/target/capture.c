#include "explore/target/capture.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"

/* Pieces read at a time: more than a pipe holds, but not for ever if the writer is faster. */
#define PIECES_MAX 64

void capture_clear(struct capture *c)
{
	buf_clear(&c->head);
	buf_clear(&c->tail);
	if (c->limit == 0)
		c->limit = CAPTURE_HEAD;
	c->size = 0;
	c->hash = HASH_START;
}

void capture_free(struct capture *c)
{
	buf_free(&c->head);
	buf_free(&c->tail);
}

/* Adds to the ring; `before` is the number of bytes added to it so far. */
static void add_tail(struct capture *c, const uint8_t *data, size_t size, uint64_t before)
{
	size_t at;

	if (c->tail.size < CAPTURE_TAIL) {
		buf_reserve(&c->tail, CAPTURE_TAIL);
		c->tail.size = CAPTURE_TAIL;
	}
	if (size > CAPTURE_TAIL) {
		before += size - CAPTURE_TAIL;
		data += size - CAPTURE_TAIL;
		size = CAPTURE_TAIL;
	}
	at = before % CAPTURE_TAIL;
	for (size_t done = 0; done < size;) {
		size_t room = CAPTURE_TAIL - at, n = size - done < room ? size - done : room;

		memcpy(c->tail.data + at, data + done, n);
		done += n;
		at = 0;
	}
}

void capture_add(struct capture *c, const void *data, size_t size)
{
	size_t room = c->limit - c->head.size, first = size < room ? size : room;

	if (size == 0)
		return;
	c->hash = hash_bytes(c->hash, data, size);
	buf_add(&c->head, data, first);
	if (size > first)
		add_tail(c, (const uint8_t *)data + first, size - first,
			 c->size + first - c->head.size);
	c->size += size;
}

void capture_copy(struct capture *to, const struct capture *from)
{
	capture_clear(to);
	buf_add(&to->head, from->head.data, from->head.size);
	buf_add(&to->tail, from->tail.data, from->tail.size);
	to->size = from->size;
	to->hash = from->hash;
}

int capture_drain(struct capture *c, int fd)
{
	uint8_t piece[64 << 10];
	ssize_t got;

	for (int i = 0; i < PIECES_MAX; i++) {
		got = read(fd, piece, sizeof(piece));
		if (got <= 0)
			return got != 0 && (errno == EAGAIN || errno == EINTR);
		capture_add(c, piece, (size_t)got);
		if (got < (ssize_t)sizeof(piece))
			break;
	}
	return 1;
}

void capture_text(const struct capture *c, struct buf *out)
{
	uint64_t rest = c->size - c->head.size;
	size_t at;

	buf_add(out, c->head.data, c->head.size);
	if (rest == 0)
		return;
	if (rest <= CAPTURE_TAIL) {
		buf_add(out, c->tail.data, (size_t)rest);
		return;
	}
	buf_addf(out, "\n[… %llu bytes …]\n", (unsigned long long)(rest - CAPTURE_TAIL));
	at = rest % CAPTURE_TAIL;
	buf_add(out, c->tail.data + at, CAPTURE_TAIL - at);
	buf_add(out, c->tail.data, at);
}
