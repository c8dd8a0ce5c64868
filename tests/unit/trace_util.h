/*
 * For tests of src/trace: makes trace files byte by byte, and reads events back. Files of
 * test_path() are in a folder that test_setup() makes: main() passes it and test_teardown() to
 * cmocka_run_group_tests().
 */
#ifndef TRACE_UTIL_H
#define TRACE_UTIL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "trace/codec/codec.h"
#include "trace/read/kinds.h"
#include "trace/read/reader.h"
#include "trace/text/text.h"

#define UNUSED __attribute__((unused))

static char test_dir[] = "/tmp/snarl-test-XXXXXX";

static UNUSED const char *test_path(const char *name)
{
	static char paths[8][512];
	static unsigned next;
	char *path = paths[next++ % 8];

	snprintf(path, sizeof(paths[0]), "%s/%s", test_dir, name);
	return path;
}

static UNUSED int test_setup(void **state)
{
	(void)state;
	return mkdtemp(test_dir) ? 0 : -1;
}

static UNUSED int test_teardown(void **state)
{
	char command[160];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", test_dir);
	return system(command);
}

static UNUSED void save(const char *path, const void *data, size_t size)
{
	FILE *f = fopen(path, "w");

	if (!f)
		fail_msg("cannot write %s: is test_setup() the setup of the group?", path);
	assert_int_equal(fwrite(data, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
}

static UNUSED struct buf load(const char *path)
{
	FILE *f = fopen(path, "r");
	struct buf b = { 0 };
	size_t got;

	assert_non_null(f);
	while ((got = fread(buf_reserve(&b, 65536), 1, 65536, f)) > 0)
		b.size += got;
	fclose(f);
	return b;
}

static UNUSED void raw_header(struct buf *b, unsigned flags)
{
	struct trace_header h = { .magic = TRACE_MAGIC, .version = TRACE_VERSION,
				  .size = sizeof(h), .start_time = 5, .pid = 7, .flags = flags };

	h.check = trace_check(&h, offsetof(struct trace_header, check));
	buf_add(b, &h, sizeof(h));
}

static UNUSED void raw_chunk(struct buf *b, struct trace_chunk c, const void *payload, size_t size)
{
	c.magic = TRACE_CHUNK_MAGIC;
	c.stored = (uint32_t)size;
	if (!(c.flags & TRACE_CHUNK_ZSTD))
		c.size = (uint32_t)size;
	c.check = trace_check(payload, size);
	c.header_check = trace_check(&c, offsetof(struct trace_chunk, header_check));
	buf_add(b, &c, sizeof(c));
	buf_add(b, payload, size);
}

static UNUSED size_t raw_encode(uint8_t *out, uint64_t time, const struct trace_record *r, size_t n)
{
	struct trace_coder *coder = xcalloc(1, sizeof(*coder));
	uint8_t *p;

	trace_coder_init(coder, time);
	p = trace_encode(coder, out, r, r + n);
	p = trace_encode_end(coder, p);
	free(coder);
	return (size_t)(p - out);
}

static UNUSED void raw_events(struct buf *b, uint32_t thread, uint64_t seq, uint64_t time,
			      const struct trace_record *r, size_t n)
{
	uint8_t *payload = xmalloc(n * TRACE_RECORD_MAX + TRACE_SLACK);
	size_t size = raw_encode(payload, time, r, n);

	raw_chunk(b, (struct trace_chunk){ .type = TRACE_CHUNK_EVENTS, .thread = thread,
					   .count = (uint32_t)n, .seq = seq, .time = time },
		  payload, size);
	free(payload);
}

static UNUSED void raw_end(struct buf *b)
{
	raw_chunk(b, (struct trace_chunk){ .type = TRACE_CHUNK_END }, "", 0);
}

static inline struct trace_record rec(unsigned kind, uint64_t addr, uint64_t pc)
{
	return (struct trace_record){ addr, TRACE_SITE(kind, 0, pc) };
}

static inline struct trace_record extra(uint64_t time, uint64_t arg)
{
	return (struct trace_record){ time, arg };
}

/* All events as lines "thread kind addr t depth", easy to compare. */
static UNUSED char *brief(struct reader *r, struct err *err)
{
	struct buf b = { 0 };
	struct event ev;
	int got;

	while ((got = reader_next(r, &ev, err)) > 0)
		buf_addf(&b, "%s %s %llx t%llu d%u\n", reader_thread(r, ev.thread)->name,
			 kind_name(ev.kind), (unsigned long long)ev.addr,
			 (unsigned long long)ev.time, ev.depth);
	if (got < 0)
		buf_add_text(&b, "damaged\n");
	buf_string(&b);
	return (char *)b.data;
}

static UNUSED void assert_brief(const struct buf *file, const char *expected)
{
	struct err err = { "" };
	struct reader *r;
	char *got;

	save(test_path("brief"), file->data, file->size);
	r = reader_open(test_path("brief"), &err);
	if (!r)
		fail_msg("%s", err.text);
	got = brief(r, &err);
	assert_string_equal(got, expected);
	free(got);
	/* A second pass from the start gives the same. */
	assert_int_equal(reader_rewind(r, &err), 0);
	got = brief(r, &err);
	assert_string_equal(got, expected);
	free(got);
	reader_close(r);
}

static UNUSED void assert_refused(const void *data, size_t size, const char *why)
{
	struct err err = { "" };

	save(test_path("refused"), data, size);
	if (reader_open(test_path("refused"), &err))
		fail_msg("was read");
	if (!strstr(err.text, why))
		fail_msg("'%s' is not in '%s'", why, err.text);
}

static UNUSED void assert_same_event(const struct event *a, const struct event *b)
{
	assert_int_equal(a->thread, b->thread);
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->time, b->time);
	assert_int_equal(a->addr, b->addr);
	assert_int_equal(a->size, b->size);
	assert_int_equal(a->pc, b->pc);
	assert_int_equal(a->arg, b->arg);
	assert_int_equal(a->extra[0], b->extra[0]);
	assert_int_equal(a->extra[1], b->extra[1]);
	assert_int_equal(a->detail, b->detail);
	assert_int_equal(a->result, b->result);
	assert_int_equal(a->depth, b->depth);
}

/* Both readers, from their start, give the same events; returns their number. */
static UNUSED size_t assert_same_events(struct reader *a, struct reader *b)
{
	struct event ea, eb;
	struct err err;
	size_t n = 0;
	int got;

	reader_rewind(a, &err);
	reader_rewind(b, &err);
	for (;; n++) {
		got = reader_next(a, &ea, &err);
		assert_int_equal(got, reader_next(b, &eb, &err));
		if (got <= 0)
			break;
		assert_same_event(&ea, &eb);
		assert_string_equal(reader_thread(a, ea.thread)->name,
				    reader_thread(b, eb.thread)->name);
	}
	assert_int_equal(got, 0);
	return n;
}

/* The accesses of each thread in order. */
struct accesses {
	uint64_t hash[4];
};

static UNUSED void accesses_add(struct accesses *a, uint32_t thread, unsigned kind, uint64_t addr,
				uint64_t size)
{
	uint64_t *hash = &a->hash[thread];

	*hash = (*hash + addr) * 0x9e3779b97f4a7c15ull;
	*hash = (*hash + (kind << 8 | size)) * 0x9e3779b97f4a7c15ull;
}

static UNUSED bool accesses_add_list(void *ctx, uint32_t thread, const struct trace_record *list,
				     size_t count, uint64_t size)
{
	for (const struct trace_record *r = list; r < list + count; r++)
		accesses_add(ctx, thread, trace_site_kind(r->site), r->addr & TRACE_ADDR_MASK,
			     size ? size : trace_site_size(r->site));
	return true;
}

/* Unordered reading gives the same accesses of each thread as ordered reading. */
static UNUSED void assert_accesses_same(struct reader *r)
{
	struct accesses slow = { 0 }, fast = { 0 };
	struct err err = { "" };
	struct event ev;

	while (reader_next(r, &ev, &err) > 0)
		if (ev.size)
			accesses_add(&slow, ev.thread, ev.kind, ev.addr, ev.size);
	assert_int_equal(reader_accesses(r, accesses_add_list, &fast, &err), 0);
	assert_memory_equal(&slow, &fast, sizeof(slow));
}

static UNUSED uint64_t pass_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return *seed >> 33;
}

/* Is it a plain access that `w` does not want? reader_next() gives those, too. */
static UNUSED bool is_unwanted(struct reader_wanted *w, const struct event *ev)
{
	if (ev->kind != TRACE_READ && ev->kind != TRACE_WRITE)
		return false;
	return w->sites ? !reader_has_site(w->sites, ev->pc)
			: reader_is_unwanted(w, ev->addr, ev->size);
}

static UNUSED void assert_next_passed(struct reader *a, struct reader_wanted *w, uint64_t count,
				      uint32_t thread)
{
	struct err err = { "" };
	struct event one;

	while (count-- > 0) {
		assert_int_equal(reader_next(a, &one, &err), 1);
		assert_int_equal(one.thread, thread);
		assert_true(is_unwanted(w, &one));
	}
}

/* Events that reader_sift() passes over and those it gives are all events; none that it gives is
 * unwanted. */
static UNUSED uint64_t assert_sifts(const char *path, struct reader_wanted *w, uint64_t seed)
{
	struct err err = { "" };
	struct reader *a = reader_open(path, &err), *b = reader_open(path, &err);
	uint64_t before[7], more = 0, all = 0;
	struct event one, some[7];
	uint32_t whose;
	int got;

	assert_true(a && b);
	while ((got = reader_sift(b, some, before, 1 + (unsigned)pass_random(&seed) % 7, w, &more,
				  &whose, &err)) > 0 ||
	       more) {
		for (int i = 0; i < got; i++) {
			assert_next_passed(a, w, before[i], some[i].thread);
			assert_int_equal(reader_next(a, &one, &err), 1);
			assert_same_event(&one, &some[i]);
			assert_int_equal(one.time, some[i].time);
			assert_int_equal(one.depth, some[i].depth);
			assert_false(is_unwanted(w, &one));
			all += before[i];
		}
		assert_next_passed(a, w, more, whose);
		all += more;
	}
	assert_int_equal(got, 0);
	assert_int_equal(reader_next(a, &one, &err), 0);
	reader_close(a);
	reader_close(b);
	return all;
}

/* Passed-over events (plain accesses of one thread at unwanted sites) and read events together
 * are all events. */
static UNUSED uint64_t assert_passes(const char *path, uint64_t seed)
{
	uint64_t sites[READER_SITES] = { 0 }, count, passed = 0;
	struct reader_wanted wanted = { .sites = sites };
	struct err err = { "" };
	struct reader *a = reader_open(path, &err), *b = reader_open(path, &err);
	struct event one, some[5];
	uint32_t thread, whose;
	int got = 1;

	assert_true(a && b);
	for (uint64_t pc = 0; seed % 3 && pc < 100; pc++)
		sites[reader_site(pc) / 64] |= (uint64_t) !(pass_random(&seed) % 16)
					       << reader_site(pc) % 64;
	while (got > 0) {
		uint64_t most = pass_random(&seed) % 4 ? UINT64_MAX : pass_random(&seed) % 40;

		whose = reader_whose(b);
		count = reader_pass(b, &wanted, most, &thread);
		assert_true(count <= most && (!count || thread == whose));
		passed += count;
		while (count-- > 0) {
			assert_int_equal(reader_next(a, &one, &err), 1);
			assert_int_equal(one.thread, thread);
			assert_true(one.kind == TRACE_READ || one.kind == TRACE_WRITE);
			assert_false(reader_has_site(sites, one.pc));
		}
		if (pass_random(&seed) % 4 == 0)
			continue;
		got = reader_some(b, some, 1 + (unsigned)pass_random(&seed) % 5, &wanted, &err);
		for (int i = 0; i < got; i++) {
			assert_int_equal(reader_next(a, &one, &err), 1);
			assert_same_event(&one, &some[i]);
		}
	}
	assert_int_equal(got, 0);
	assert_int_equal(reader_next(a, &one, &err), 0);
	reader_close(a);
	reader_close(b);
	assert_true(assert_sifts(path, &wanted, seed) >= passed);
	return passed;
}

#endif
