#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/loop_group.h"
#include "base/mem.h"
#include "trace/codec/codec.h"
#include "trace/read/index.h"
#include "trace/write/live.h"

#define STASH_ALIGN 8u	/* bytes to which the runtime aligns chunks of the stash */

bool live_read(const struct live *l, uint64_t offset, void *to, size_t size)
{
	uint8_t *p = to;

	if (offset > l->size || size > l->size - offset)
		return false;
	while (size) {
		ssize_t got = pread(l->fd, p, size, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		p += got;
		offset += (uint64_t)got;
		size -= (size_t)got;
	}
	return true;
}

int live_open(struct live *l, const char *path, struct err *err)
{
	struct stat st;
	size_t count;

	*l = (struct live){ .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) };
	if (l->fd < 0)
		return err_set(err, "cannot open '%s': %s", path, strerror(errno));
	if (fstat(l->fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		err_set(err, "'%s' is not a regular file", path);
		goto fail;
	}
	l->size = (uint64_t)st.st_size;
	if (!live_read(l, 0, &l->header, sizeof(l->header)) || l->header.magic != LIVE_MAGIC) {
		close(l->fd);
		return 0;
	}
	if (l->header.version != LIVE_VERSION) {
		err_set(err, "'%s' was left by another version of snarl (%u, this one reads %u)",
			path, l->header.version, LIVE_VERSION);
		goto fail;
	}
	count = l->header.slots < l->size ?
			(size_t)((l->size - l->header.slots) / sizeof(*l->slots)) : 0;
	if (count > LIVE_SLOTS)
		count = LIVE_SLOTS;
	l->slots = xcalloc(count, sizeof(*l->slots));
	if (live_read(l, l->header.slots, l->slots, count * sizeof(*l->slots)))
		l->slot_count = count;
	if (l->slot_count < LIVE_SLOTS)
		l->damaged++;
	return 1;
fail:
	close(l->fd);
	return -1;
}

void live_close(struct live *l)
{
	free(l->slots);
	close(l->fd);
}

/* Reads a chunk's header and checks all of it; false if there is no valid event chunk. */
static bool stash_chunk(struct live *l, uint64_t offset, uint64_t room, struct trace_chunk *chunk)
{
	uint8_t *bytes;
	bool good;

	if (room < sizeof(*chunk) || !live_read(l, offset, chunk, sizeof(*chunk)) ||
	    chunk->stored > room - sizeof(*chunk) || chunk->stored > TRACE_MAX_CHUNK)
		return false;
	bytes = xmalloc(sizeof(*chunk) + chunk->stored);
	good = live_read(l, offset, bytes, sizeof(*chunk) + chunk->stored) &&
	       index_chunk_valid(bytes, sizeof(*chunk) + chunk->stored, true) &&
	       chunk->type == TRACE_CHUNK_EVENTS;
	free(bytes);
	return good;
}

/* Number of bytes to the next possible chunk header, at most `room`. */
static uint64_t skip_damage(const struct live *l, uint64_t offset, uint64_t room)
{
	uint32_t words[16384];
	uint64_t done = 0;

	for (;;) {
		size_t size = room - done < sizeof(words) ? (size_t)(room - done) : sizeof(words);

		off_t data = lseek(l->fd, (off_t)(offset + done), SEEK_DATA);

		/* Skip holes: the program may have made the file as long as it liked. */
		if (data >= 0 && (uint64_t)data - offset - done >= sizeof(words) &&
		    (uint64_t)data > offset + done) {
			done = ((uint64_t)data - offset) & ~(uint64_t)(STASH_ALIGN - 1);
			if (done >= room)
				return room;
			continue;
		}
		if (data < 0 || size < STASH_ALIGN || !live_read(l, offset + done, words, size))
			return room;
		for (size_t i = 0; i < size / sizeof(*words); i += STASH_ALIGN / sizeof(*words))
			if (words[i] == TRACE_CHUNK_MAGIC && done + i)
				return done + i * sizeof(*words);
		done += size & ~(size_t)(STASH_ALIGN - 1);
	}
}

bool live_stash_next(struct live *l, uint64_t *position, struct trace_chunk *chunk,
		     uint64_t *offset)
{
	const struct live_header *h = &l->header;

	if (h->stash_size > l->size || h->stash > l->size - h->stash_size || !h->stash_size ||
	    h->stash_head - h->stash_tail > h->stash_size) {
		l->damaged += h->stash_head != h->stash_tail && *position != h->stash_head;
		*position = h->stash_head;
		return false;
	}
	while (*position - h->stash_tail < h->stash_head - h->stash_tail) {
		uint64_t at = *position % h->stash_size, room = h->stash_size - at;
		uint64_t to_head = h->stash_head - *position;

		*offset = h->stash + at;
		if (room < sizeof(*chunk) || !live_read(l, *offset, chunk, sizeof(*chunk)) ||
		    (chunk->magic == TRACE_CHUNK_MAGIC && chunk->type == 0)) {
			*position += room;	/* unused up to the end of the circular queue */
			continue;
		}
		if (stash_chunk(l, *offset, room < to_head ? room : to_head, chunk)) {
			*position += (sizeof(*chunk) + chunk->stored + STASH_ALIGN - 1) &
				     ~(uint64_t)(STASH_ALIGN - 1);
			return true;
		}
		l->damaged++;
		*position += skip_damage(l, *offset, room);
	}
	return false;
}

bool live_outbox_next(struct live *l, uint64_t *position, struct trace_chunk *chunk,
		      uint64_t *offset)
{
	const struct live_header *h = &l->header;

	if (*position >= h->out_used)
		return false;
	*offset = h->out + *position;
	if (h->out_used <= h->out_size && h->out_size <= l->size &&
	    h->out <= l->size - h->out_size &&
	    stash_chunk(l, *offset, h->out_used - *position, chunk)) {
		*position += sizeof(*chunk) + chunk->stored;
		return true;
	}
	l->damaged++;
	*position = h->out_used;
	return false;
}

size_t live_ring(struct live *l, size_t slot, struct trace_record *records, uint64_t *time)
{
	uint64_t start = l->header.rings + slot * LIVE_RING_BYTES;
	size_t count = LIVE_RING_RECORDS, n = 0;

	*time = l->slots[slot].time;
	if (start < l->header.rings || start >= l->size) {
		l->damaged++;
		return 0;
	}
	if (count > (l->size - start) / sizeof(*records))
		count = (size_t)((l->size - start) / sizeof(*records));
	if (!live_read(l, start, records, count * sizeof(*records)))
		return 0;
	while (n < count && trace_site_kind(records[n].site)) {
		unsigned kind = trace_site_kind(records[n].site), extra = trace_extra(kind);
		size_t size =
			kind == TRACE_LOOP ? trace_loop_size(&records[n], count - n) : 1 + extra;

		if (kind == TRACE_NONE || kind >= TRACE_KIND_COUNT || size == 0 ||
		    size > count - n) {
			l->damaged++;
			break;
		}
		if (extra)
			*time = records[n + 1].addr;
		else if (kind == TRACE_STAMP)
			*time = records[n].addr;
		n += size;
	}
	return n;
}
