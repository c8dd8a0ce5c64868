/*
 * Reads any bytes as a trace, as a text trace, or as the live memory of a killed process. Nothing
 * may crash, and the events read must come back unchanged from their text and from a copy. The
 * fuzzer and the unit tests (which replay tests/fuzz/corpus) share this.
 */
#ifndef FUZZ_TARGET_H
#define FUZZ_TARGET_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/live_memory.h"
#include "trace/read/reader.h"
#include "trace/text/text.h"
#include "trace/write/finish.h"
#include "trace/write/writer.h"

#define FUZZ_MAX_EVENTS 3000	/* longer traces are only read: a chunk can stand for millions of
				 * predicted records */
#define FUZZ_MAX_READ 100000

#define FUZZ_CHECK(what) \
	do { \
		if (!(what)) { \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what); \
			abort(); \
		} \
	} while (0)

static const char *fuzz_fd_path(int fd)
{
	static char paths[4][64];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "/proc/self/fd/%d", fd);
	return path;
}

static const char *fuzz_file(void)
{
	static char path[96];

	if (!*path)
		snprintf(path, sizeof(path), "%s/snarl-fuzz-%d.snarl",
			 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (int)getpid());
	return path;
}

static int fuzz_memfd(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	FUZZ_CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	return fd;
}

/* Reads up to `max` events; returns their number, or -1 if the trace is damaged. */
static long fuzz_read(struct reader *r, long max, bool *sorted)
{
	struct event ev, last = { 0 };
	struct err err;
	long n = 0;
	int got = 0;

	*sorted = true;
	while (n < max && (got = reader_next(r, &ev, &err)) > 0) {
		FUZZ_CHECK(ev.time >= last.time);
		FUZZ_CHECK(reader_thread(r, ev.thread) && reader_thread(r, ev.thread)->name);
		if (ev.time == last.time && ev.thread < last.thread)
			*sorted = false;
		last = ev;
		n++;
	}
	return got < 0 ? -1 : n;
}

/* A sum that does not depend on the order of accesses. */
struct fuzz_sum {
	uint64_t sum;
	long count;
};

static void fuzz_add(struct fuzz_sum *s, uint32_t thread, unsigned kind, uint64_t addr,
		     uint64_t size)
{
	uint64_t hash = (addr * 0x9e3779b97f4a7c15ull ^ size) * 0xd6e8feb86659fd93ull;

	s->sum += (hash ^ ((uint64_t)thread << 8 | kind)) * 0x9e3779b97f4a7c15ull;
	s->count++;
}

static bool fuzz_access(void *ctx, uint32_t thread, const struct trace_record *list, size_t count,
			uint64_t size)
{
	struct fuzz_sum *s = ctx;

	for (const struct trace_record *r = list; r < list + count; r++)
		fuzz_add(s, thread, trace_site_kind(r->site), r->addr & TRACE_ADDR_MASK,
			 size ? size : trace_site_size(r->site));
	return s->count < FUZZ_MAX_READ;
}

/* Reads accesses unordered; they must be those of the `n` events (-1: the trace is damaged). */
static void fuzz_accesses(struct reader *r, long n)
{
	struct fuzz_sum events = { 0 }, accesses = { 0 };
	struct event ev;
	struct err err;
	int got = reader_accesses(r, fuzz_access, &accesses, &err);

	if (n < 0 || n == FUZZ_MAX_READ)
		return;
	while (reader_next(r, &ev, &err) > 0)
		if (ev.size)
			fuzz_add(&events, ev.thread, ev.kind, ev.addr, ev.size);
	FUZZ_CHECK(got == 0 && events.sum == accesses.sum);
}

static bool fuzz_same(const struct event *a, const struct event *b)
{
	return a->time == b->time && a->addr == b->addr && a->size == b->size && a->pc == b->pc &&
	       a->arg == b->arg && a->extra[0] == b->extra[0] && a->extra[1] == b->extra[1] &&
	       a->thread == b->thread && a->kind == b->kind && a->detail == b->detail &&
	       a->result == b->result && a->depth == b->depth;
}

static void fuzz_compare(struct reader *a, struct reader *b)
{
	struct event ea, eb;
	struct err err;

	reader_rewind(a, &err);
	reader_rewind(b, &err);
	for (;;) {
		int got = reader_next(a, &ea, &err);

		FUZZ_CHECK(got == reader_next(b, &eb, &err));
		if (got <= 0)
			break;
		if (!fuzz_same(&ea, &eb)) {
			text_write(stderr, a, &ea);
			text_write(stderr, b, &eb);
		}
		FUZZ_CHECK(fuzz_same(&ea, &eb));
	}
}

static void fuzz_round_trip(struct reader *r, bool sorted)
{
	struct reader *text, *copy;
	struct err err = { "" };
	char *data = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&data, &size);
	int fd;

	FUZZ_CHECK(f && text_write_all(f, r, &err) == 0 && fclose(f) == 0);
	fd = fuzz_memfd((const uint8_t *)data, size);
	free(data);
	text = reader_open(fuzz_fd_path(fd), &err);
	if (!text)
		fprintf(stderr, "%s\n", err.text);
	FUZZ_CHECK(text);
	fuzz_compare(r, text);
	reader_close(text);
	close(fd);
	if (!sorted)
		return;		/* events of equal time are in another order in the binary form */
	FUZZ_CHECK(writer_copy(r, fuzz_file(), WRITER_ZSTD, &err) == 0);
	copy = reader_open(fuzz_file(), &err);
	if (!copy)
		fprintf(stderr, "%s\n", err.text);
	FUZZ_CHECK(copy);
	fuzz_compare(r, copy);
	reader_close(copy);
	unlink(fuzz_file());
}

static void fuzz_trace(const char *path)
{
	struct err err = { "" };
	struct reader *r = reader_open(path, &err);
	bool sorted;
	long n;

	if (!r) {
		FUZZ_CHECK(*err.text);
		return;
	}
	n = fuzz_read(r, FUZZ_MAX_READ, &sorted);
	FUZZ_CHECK(reader_rewind(r, &err) == 0);
	FUZZ_CHECK(fuzz_read(r, FUZZ_MAX_READ, &sorted) == n);
	fuzz_accesses(r, n);
	if (n >= 0 && n < FUZZ_MAX_EVENTS)
		fuzz_round_trip(r, sorted);
	reader_close(r);
}

static void fuzz_one(const uint8_t *data, size_t size)
{
	uint64_t magic = LIVE_MAGIC;
	int fd = fuzz_memfd(data, size);
	struct err err;

	if (size >= sizeof(magic) && !memcmp(data, &magic, sizeof(magic))) {
		unlink(fuzz_file());
		if (finish_trace(fuzz_file(), fuzz_fd_path(fd), NULL, &err) == 0)
			fuzz_trace(fuzz_file());
		unlink(fuzz_file());
	} else {
		fuzz_trace(fuzz_fd_path(fd));
	}
	close(fd);
}

#endif
