#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "trace/codec/codec.h"
#include "trace/read/index.h"
#include "trace/write/finish.h"
#include "trace/write/live.h"
#include "trace/write/outfile.h"
#include "trace/write/compress.h"

/* Where a chunk comes from. Of two chunks with the same seq, the first in this order is used. */
enum source {
	FROM_FILE,
	FROM_STASH,		/* a whole chunk of the stash or the outbox */
	FROM_RING,		/* a ring's records, to be encoded; then BLOCKED if the thread is */
	FROM_BLOCKED,		/* only BLOCKED: another chunk has the ring's records */
};

struct piece {
	uint32_t thread;
	enum source source;
	uint64_t seq;
	uint64_t at;		/* offset in file or live memory; for a ring the slot's index */
};

struct finish {
	struct index idx;
	struct live live;
	bool has_live;
	struct piece *pieces;
	size_t count, capacity;
	struct buf counters;	/* payload of a META chunk */
	struct trace_record *records;	/* those of one ring, then BLOCKED */
	struct finish_stats stats;
};

static void add_piece(struct finish *f, enum source source, uint32_t thread, uint64_t seq,
		      uint64_t at)
{
	f->pieces = xgrow(f->pieces, f->count, &f->capacity, sizeof(*f->pieces));
	f->pieces[f->count++] = (struct piece){ thread, source, seq, at };
}

static int compare_pieces(const void *pa, const void *pb)
{
	const struct piece *a = pa, *b = pb;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->seq != b->seq)
		return a->seq < b->seq ? -1 : 1;
	if (a->source != b->source)
		return a->source < b->source ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

/* Sorts the pieces and removes those with the seq of an earlier one. */
static void sort_pieces(struct finish *f)
{
	size_t kept = 0;

	if (!f->count)
		return;
	qsort(f->pieces, f->count, sizeof(*f->pieces), compare_pieces);
	for (size_t i = 0; i < f->count; i++) {
		const struct piece *last = kept ? &f->pieces[kept - 1] : NULL;

		if (!last || last->thread != f->pieces[i].thread || last->seq != f->pieces[i].seq)
			f->pieces[kept++] = f->pieces[i];
	}
	f->count = kept;
}

/* Whether a chunk is among the first `count` pieces, which are sorted. */
static bool has_piece(const struct finish *f, size_t count, uint32_t thread, uint64_t seq)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct piece *p = &f->pieces[mid];

		if (p->thread < thread || (p->thread == thread && p->seq < seq))
			low = mid + 1;
		else
			high = mid;
	}
	return low < count && f->pieces[low].thread == thread && f->pieces[low].seq == seq;
}

/* Adds a piece for each ring that is not in a chunk yet, or whose thread is blocked. */
static void collect_rings(struct finish *f)
{
	size_t sorted = f->count;

	for (size_t i = 0; i < f->live.slot_count; i++) {
		const struct live_slot *slot = &f->live.slots[i];
		bool written;
		uint64_t time;

		if (!slot->thread)
			continue;
		written = has_piece(f, sorted, slot->thread, slot->seq);
		if (!written && (live_ring(&f->live, i, f->records, &time) || slot->waiting_in))
			add_piece(f, FROM_RING, slot->thread, slot->seq, i);
		else if (written && slot->waiting_in)
			add_piece(f, FROM_BLOCKED, slot->thread, slot->seq + 1, i);
	}
	sort_pieces(f);
}

static void collect(struct finish *f)
{
	struct trace_chunk chunk;
	uint64_t position, offset;

	for (size_t i = 0; i < f->idx.event_count; i++)
		add_piece(f, FROM_FILE, f->idx.events[i].thread, f->idx.events[i].seq,
			  f->idx.events[i].offset);
	if (!f->has_live)
		return;
	position = f->live.header.stash_tail;
	while (live_stash_next(&f->live, &position, &chunk, &offset))
		add_piece(f, FROM_STASH, chunk.thread, chunk.seq, offset);
	position = 0;
	while (live_outbox_next(&f->live, &position, &chunk, &offset))
		add_piece(f, FROM_STASH, chunk.thread, chunk.seq, offset);
	sort_pieces(f);
	collect_rings(f);
	for (size_t i = 0; i < f->count; i++) {
		f->stats.stashed += f->pieces[i].source == FROM_STASH;
		f->stats.rings += f->pieces[i].source >= FROM_RING;
		f->stats.blocked += f->pieces[i].source >= FROM_RING &&
				    f->live.slots[f->pieces[i].at].waiting_in;
	}
	f->stats.damaged = f->live.damaged;
}

static uint64_t cut_locations(const struct live *l)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < l->slot_count; i++)
		sum += l->slots[i].cut_locations;
	return sum;
}

static void add_counter(struct finish *f, const char *key, uint64_t value)
{
	if (index_meta(&f->idx, key))
		return;
	buf_add_text(&f->counters, key);
	buf_addf(&f->counters, "%c%" PRIu64 "%c", 0, value, 0);
}

/* Collects the runtime's counters, except those that are keys of the trace already. */
static void collect_counters(struct finish *f)
{
	const struct live_header *h = &f->live.header;

	if (f->idx.torn_bytes)
		add_counter(f, "torn_bytes", f->idx.torn_bytes);
	if (!f->has_live)
		return;
	add_counter(f, "lost_records", h->lost_records);
	add_counter(f, "cut_locations", cut_locations(&f->live));
	add_counter(f, "cut_records", h->cut_records);
	add_counter(f, "lost_threads", h->lost_threads);
	add_counter(f, "lost_signals", h->lost_signals);
	add_counter(f, "ticks_per_second", h->ticks_per_second);
	if (f->live.damaged)
		add_counter(f, "live_damaged", f->live.damaged);
}

static size_t add_record(struct finish *f, size_t n, unsigned kind, uint64_t addr, uint64_t pc,
			 uint64_t time, uint64_t arg)
{
	f->records[n] = (struct trace_record){ addr & TRACE_ADDR_MASK, TRACE_SITE(kind, 0, pc) };
	f->records[n + 1] = (struct trace_record){ time, arg };
	return n + 2;
}

/* Encodes the ring's records and, if the thread is blocked, an event that says in what. */
static void encode_ring(struct finish *f, const struct piece *p, struct trace_chunk *chunk,
			struct buf *payload)
{
	const struct live_slot *slot = &f->live.slots[p->at];
	struct trace_coder *coder = xcalloc(1, sizeof(*coder));
	const struct trace_record *in = f->records, *end;
	uint8_t *out;
	uint64_t time = slot->time;
	size_t n;

	n = live_ring(&f->live, p->at, f->records, &time);
	if (p->source == FROM_BLOCKED)
		n = 0;
	if (slot->waiting_in)
		n = add_record(f, n, TRACE_BLOCKED, slot->waiting_for, slot->waiting_pc, time + 1,
			       slot->waiting_in);
	buf_clear(payload);
	out = buf_reserve(payload, n * TRACE_RECORD_MAX + TRACE_SLACK);
	end = f->records + n;
	*chunk = (struct trace_chunk){
		.type = TRACE_CHUNK_EVENTS, .thread = p->thread, .count = (uint32_t)n,
		.seq = p->seq, .time = p->source == FROM_BLOCKED ? time : slot->time,
	};
	trace_coder_init(coder, chunk->time);
	out = trace_encode(coder, out, in, end);
	out = trace_encode_end(coder, out);
	payload->size = (size_t)(out - payload->data);
	free(coder);
}

/* Loads a piece as header and payload. False: it can no longer be read. */
static bool load_piece(struct finish *f, const struct piece *p, struct trace_chunk *chunk,
		       struct buf *payload)
{
	switch (p->source) {
	case FROM_FILE:
		*chunk = index_header(&f->idx, p->at);
		buf_clear(payload);
		buf_add(payload, f->idx.data + p->at + sizeof(*chunk), chunk->stored);
		return true;
	case FROM_STASH:
		if (!live_read(&f->live, p->at, chunk, sizeof(*chunk)) ||
		    chunk->stored > TRACE_MAX_CHUNK)
			return false;
		buf_clear(payload);
		if (!live_read(&f->live, p->at + sizeof(*chunk),
			       buf_reserve(payload, chunk->stored), chunk->stored))
			return false;
		payload->size = chunk->stored;
		return true;
	case FROM_RING:
	case FROM_BLOCKED: encode_ring(f, p, chunk, payload); return true;
	}
	return false;
}

static void write_header(struct outfile *out, const struct finish *f, unsigned more_flags)
{
	struct trace_header h = f->idx.header;

	h.size = sizeof(h);
	h.flags |= more_flags;
	if (!h.pid && f->has_live)
		h.pid = f->live.header.pid;
	h.check = trace_check(&h, offsetof(struct trace_header, check));
	outfile_write(out, &h, sizeof(h));
}

/* Copies the END chunks (`ends`), or else all other chunks without events. Returns their number. */
static uint64_t copy_others(struct outfile *out, struct finish *f, bool ends)
{
	uint64_t count = 0;

	for (size_t i = 0; i < f->idx.other_count; i++) {
		struct trace_chunk c = index_header(&f->idx, f->idx.others[i]);
		const char *payload = (const char *)f->idx.data + f->idx.others[i] + sizeof(c);

		if ((c.type == TRACE_CHUNK_END) != ends)
			continue;
		if (c.type == TRACE_CHUNK_META && c.stored > sizeof(INDEX_TRAILER) &&
		    !strcmp(payload, INDEX_TRAILER))
			continue;	/* the trailer of an earlier finish */
		outfile_write(out, f->idx.data + f->idx.others[i], sizeof(c) + c.stored);
		count++;
	}
	return count;
}

static void write_counters(struct outfile *out, struct finish *f)
{
	struct trace_chunk chunk = { .type = TRACE_CHUNK_META };

	outfile_chunk(out, &chunk, f->counters.data, f->counters.size);
}

static uint64_t event_bytes(const struct finish *f)
{
	uint64_t total = 0;

	for (size_t i = 0; i < f->count; i++) {
		if (f->pieces[i].source == FROM_FILE)
			total += index_header(&f->idx, f->pieces[i].at).size;
		else
			total += LIVE_RING_BYTES / 4;
	}
	return total;
}

static int write_final(struct finish *f, const char *path, struct err *err)
{
	bool compress = event_bytes(f) >= FINISH_COMPRESS_MIN;
	struct trace_chunk chunk, trailer = { .type = TRACE_CHUNK_META };
	struct compressor compressor = { 0 };
	struct buf payload = { 0 };
	struct outfile out;
	struct stat st;
	uint64_t chunks;

	if (outfile_open(&out, path, err) < 0)
		return -1;
	if (stat(path, &st) == 0 && fchmod(out.fd, st.st_mode & 07777) < 0)
		log_debug("finish", "cannot keep the mode of '%s'", path);
	write_header(&out, f, TRACE_FINISHED);
	chunks = copy_others(&out, f, false);
	for (size_t i = 0; i < f->count && !out.error; i++) {
		const void *bytes;
		size_t size;

		if (!load_piece(f, &f->pieces[i], &chunk, &payload))
			continue;
		bytes = payload.data;
		size = payload.size;
		if (compress)
			bytes = compressor_chunk(&compressor, &chunk, bytes, &size);
		outfile_chunk(&out, &chunk, bytes, size);
		chunks++;
	}
	if (f->counters.size) {
		write_counters(&out, f);
		chunks++;
	}
	chunks += copy_others(&out, f, true);
	buf_clear(&payload);
	buf_addf(&payload, "%s%c%" PRIu64 "%c", INDEX_TRAILER, 0, chunks, 0);
	outfile_chunk(&out, &trailer, payload.data, payload.size);
	f->stats.bytes_after = out.size;
	buf_free(&payload);
	compressor_free(&compressor);
	return outfile_commit(&out, err);
}

static int write_all(int fd, const uint8_t *data, size_t size)
{
	while (size) {
		ssize_t got = write(fd, data, size);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return -1;
		data += got;
		size -= (size_t)got;
	}
	return 0;
}

/* Appends missing chunks to the trace, if the disk has no room for a copy. Undone if it fails. */
static int append_in_place(struct finish *f, const char *path, struct err *err)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	struct buf payload = { 0 };
	struct outfile out = { .fd = fd };
	struct trace_chunk chunk;
	struct stat st;
	int got = -1;

	if (fd < 0 || fstat(fd, &st) < 0)
		goto out;
	if (st.st_size < (off_t)sizeof(struct trace_header)) {
		if (ftruncate(fd, 0) < 0)
			goto out;
		write_header(&out, f, 0);
	}
	got = 0;
	for (size_t i = 0; i < f->count && got == 0; i++) {
		if (f->pieces[i].source == FROM_FILE ||
		    !load_piece(f, &f->pieces[i], &chunk, &payload))
			continue;
		outfile_chunk(&out, &chunk, payload.data, payload.size);
		got = write_all(fd, out.pending.data, out.pending.size);
		buf_clear(&out.pending);
	}
	if (got == 0 && f->counters.size) {
		write_counters(&out, f);
		got = write_all(fd, out.pending.data, out.pending.size);
	}
	if (got < 0) {
		int saved = errno;

		if (ftruncate(fd, st.st_size) < 0)
			log_warn("'%s' may end in a half-written chunk", path);
		errno = saved;
	}
	f->stats.bytes_after = (uint64_t)st.st_size + out.size;
out:
	if (got < 0)
		err_set(err, "cannot complete '%s': %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	buf_free(&out.pending);
	buf_free(&payload);
	return got;
}

static int write_result(struct finish *f, const char *path, struct err *err)
{
	struct err why;
	bool anything = f->counters.size || !f->idx.size;

	for (size_t i = 0; i < f->count; i++)
		anything |= f->pieces[i].source != FROM_FILE;
	if (!anything && f->idx.header.flags & TRACE_FINISHED) {
		f->stats.bytes_after = f->stats.bytes_before;
		f->stats.rewritten = true;
		return 0;
	}
	if (write_final(f, path, &why) == 0) {
		f->stats.rewritten = true;
		return 0;
	}
	log_debug("finish", "%s; completing it in place", why.text);
	if (f->idx.header.flags & TRACE_FINISHED)
		return err_set(err, "%s", why.text);
	f->stats.bytes_after = f->stats.bytes_before;
	return anything ? append_in_place(f, path, err) : 0;
}

static int open_both(struct finish *f, const char *path, const char *live_path, struct err *err)
{
	unsigned options = INDEX_ALLOW_EMPTY;
	int got = live_path ? live_open(&f->live, live_path, err) : 0;

	if (got < 0)
		return -1;
	f->has_live = got > 0;
	if (access(path, F_OK) < 0 && errno == ENOENT) {
		if (!f->has_live)
			return err_set(err,
				       "nothing was recorded to '%s': was the program built with "
				       "snarl-cc?",
				       path);
		return index_scan(&f->idx, NULL, 0, options, err);
	}
	/* Missing chunks may be in the live memory: threads run on after the END chunk. */
	if (f->has_live)
		options |= INDEX_LOSSY;
	if (index_open(&f->idx, path, options, err) < 0)
		return err_prefix(err, "'%s'", path);
	f->stats.bytes_before = f->idx.size;
	/* Finished before: the trace has everything, and BLOCKED must not be added twice. */
	if (f->has_live && f->idx.header.flags & TRACE_FINISHED) {
		live_close(&f->live);
		f->has_live = false;
	}
	return 0;
}

int finish_trace(const char *trace_path, const char *live_path, struct finish_stats *stats,
		 struct err *err)
{
	/* If the path is a symbolic link, the file that it points to is replaced. */
	char *real = realpath(trace_path, NULL);
	const char *path = real ? real : trace_path;
	struct finish f = { 0 };
	int got;

	/* BLOCKED, of two records, may follow a full ring. */
	f.records = xcalloc(LIVE_RING_RECORDS + 4, sizeof(*f.records));
	got = open_both(&f, path, live_path, err);
	if (got == 0) {
		collect(&f);
		collect_counters(&f);
		got = write_result(&f, path, err);
	}
	if (stats)
		*stats = f.stats;
	index_close(&f.idx);
	if (f.has_live)
		live_close(&f.live);
	buf_free(&f.counters);
	free(f.pieces);
	free(f.records);
	free(real);
	return got;
}
