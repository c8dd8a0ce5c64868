/*
 * Access groups (records of kind BUNCH): the reader expands them to the events that it delivers for
 * the same accesses recorded one by one.
 */
#include "abi/access_group_format.h"
#include "abi/live_memory.h"
#include "abi/loop_group.h"
#include "trace/write/finish.h"
#include "trace_util.h"

#define ROOM 400000u
#define KNOWN 40u

static uint64_t seed;

static unsigned below(unsigned n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)((seed >> 33) % n);
}

/* struct trace_access_group with room for all accesses. */
struct table_entry {
	uint64_t site;
	uint32_t count, reserved;
	struct trace_group_access access[ACCESS_GROUP_MAX];
};

static void put_group(struct buf *b, const struct table_entry *e)
{
	buf_add(b, e, trace_access_group_size(e->count));
}

static void put_table(struct buf *b, uint64_t time, const struct table_entry *e, size_t n)
{
	struct buf payload = { 0 };

	for (size_t i = 0; i < n; i++)
		put_group(&payload, &e[i]);
	raw_chunk(b,
		  (struct trace_chunk){ .type = TRACE_CHUNK_ACCESS_GROUPS, .count = (uint32_t)n,
					.time = time },
		  payload.data, payload.size);
	buf_free(&payload);
}

static struct trace_record group_record(unsigned count, uint64_t addr, uint64_t pc)
{
	return (struct trace_record){ addr, TRACE_SITE(TRACE_BUNCH, count, pc) };
}

/* A group at 0x100, and one at 0x200 with an access that is left out. */
static const struct table_entry two[] = {
	{ 0x100, 3, 0, { { 0, 0, TRACE_READ | 3 << 8 }, { 0x10, -8, TRACE_WRITE | 2 << 8 },
				 { -0x20, 24, TRACE_READ | 8 << 8 } } },
	{ 0x200, 2, 0, { { 0, 0, 0 }, { 5, 4, TRACE_WRITE } } },
};

static struct buf file_of(const struct trace_record *r, size_t n)
{
	struct buf b = { 0 };

	raw_header(&b, 0);
	put_table(&b, 50, two, ARRAY_SIZE(two));
	raw_events(&b, 1, 0, 100, r, n);
	raw_end(&b);
	return b;
}

static void assert_event(struct reader *r, unsigned kind, uint64_t addr, uint64_t size, uint64_t pc,
			 uint64_t time)
{
	struct err err = { "" };
	struct event ev;

	assert_int_equal(reader_next(r, &ev, &err), 1);
	assert_int_equal(ev.kind, kind);
	assert_int_equal(ev.addr, addr);
	assert_int_equal(ev.size, size);
	assert_int_equal(ev.pc, pc);
	assert_int_equal(ev.time, time);
	assert_int_equal(ev.result, 0);
}

static void test_by_hand(void **state)
{
	const struct trace_record r[] = {
		rec(TRACE_WRITE, 0x10, 9), group_record(3, 0x1000, 0x100),
		group_record(2, 0x40, 0x200),
		rec(TRACE_STAMP, 160, 0), group_record(3, 4, 0x100), rec(TRACE_MUTEX_LOCK, 0x5, 9),
		extra(200, 0),
		group_record(2, 0x50, 0x200),
	};
	struct buf b = file_of(r, ARRAY_SIZE(r));
	struct err err = { "" };
	struct reader *reader;
	struct event ev;

	(void)state;
	save(test_path("hand"), b.data, b.size);
	reader = reader_open(test_path("hand"), &err);
	assert_non_null(reader);
	assert_event(reader, TRACE_WRITE, 0x10, 1, 9, 110);
	assert_event(reader, TRACE_READ, 0x1000, 8, 0x100, 120);
	assert_event(reader, TRACE_WRITE, 0xff8, 4, 0x110, 130);
	assert_event(reader, TRACE_READ, 0x1018, 1, 0xe0, 140);
	assert_event(reader, TRACE_WRITE, 0x44, 1, 0x205, 150);
	assert_event(reader, TRACE_READ, 4, 8, 0x100, 170);
	assert_event(reader, TRACE_WRITE, 0xfffffffffffc, 4, 0x110, 180);
	assert_event(reader, TRACE_READ, 0x1c, 1, 0xe0, 190);
	assert_event(reader, TRACE_MUTEX_LOCK, 5, 0, 9, 200);
	assert_event(reader, TRACE_WRITE, 0x54, 1, 0x205, 201);
	assert_int_equal(reader_next(reader, &ev, &err), 0);
	reader_close(reader);
	buf_free(&b);
}

/* A library mapped where another one was: the time decides which group a record refers to. */
static void test_a_library_replaced_by_another(void **state)
{
	const struct table_entry next[] = {
		{ 0x100,
		  3,
		  0,
		  { { 0, 0, TRACE_WRITE }, { 1, 1, TRACE_WRITE }, { 2, 2, TRACE_WRITE } } },
	};
	const struct trace_record r[] = {
		group_record(3, 0x40, 0x100), rec(TRACE_STAMP, 299, 0),
		group_record(3, 0x50, 0x100), rec(TRACE_STAMP, 300, 0),
		group_record(3, 0x60, 0x100),
	};
	struct buf b = { 0 };

	(void)state;
	raw_header(&b, 0);
	put_table(&b, 200, two, 1);
	raw_events(&b, 1, 0, 100, r, ARRAY_SIZE(r));
	put_table(&b, 300, next, 1);
	raw_end(&b);
	assert_brief(&b, "?1 read 40 t149 d0\n?1 write 38 t199 d0\n?1 read 58 t249 d0\n"
			 "?1 read 50 t299 d0\n?1 write 48 t299 d0\n?1 read 68 t299 d0\n"
			 "?1 write 60 t301 d0\n?1 write 61 t301 d0\n?1 write 62 t301 d0\n");
	buf_free(&b);
}

struct pair {
	struct trace_record *grouped, *plain;
	size_t grouped_count, plain_count;
	struct table_entry known[KNOWN];
};

static void both(struct pair *p, struct trace_record r)
{
	p->grouped[p->grouped_count++] = p->plain[p->plain_count++] = r;
}

static void make_known(struct pair *p)
{
	for (unsigned i = 0; i < KNOWN; i++) {
		struct table_entry *e = &p->known[i];

		e->site = 1000 + i;
		e->count = 2 + below(14);
		for (unsigned k = 0; k < e->count; k++) {
			unsigned op = (below(2) ? TRACE_READ : TRACE_WRITE) |
				      (below(5) | below(2) << 3) << 8;

			e->access[k] = (struct trace_group_access){
				.site = k ? (int32_t)below(2000) - 900 : 0,
				.distance = (int16_t)(k ? (int)below(64) - 32 : 0),
				.op = (uint16_t)(i % 8 && below(8) ? op : 0),
			};
		}
	}
}

/* Adds an access group as one record and, for comparison, as its accesses. */
static void add_group(struct pair *p)
{
	const struct table_entry *e = &p->known[below(KNOWN)];
	uint64_t addr = below(3) ? below(1u << 30) : TRACE_ADDR_MASK - below(40);

	p->grouped[p->grouped_count++] = group_record(e->count, addr, e->site);
	for (unsigned i = 0; i < e->count; i++)
		if (e->access[i].op)
			p->plain[p->plain_count++] = (struct trace_record){
				(addr + (uint64_t)e->access[i].distance) & TRACE_ADDR_MASK,
				TRACE_SITE(e->access[i].op & 0xff, e->access[i].op >> 8,
					   e->site + (uint64_t)e->access[i].site),
			};
}

static void add_anything(struct pair *p, uint64_t *time)
{
	switch (below(10)) {
	case 0: both(p, rec(TRACE_FUNC_ENTRY, 0x400, 1 + below(9))); break;
	case 1: both(p, rec(TRACE_FUNC_EXIT, 0, 1 + below(9))); break;
	case 2: both(p, rec(TRACE_STAMP, *time += below(500), 0)); break;
	case 3:
		both(p, rec(TRACE_ATOMIC_ADD, below(4096), 1 + below(9)));
		/* An extra record that looks like a BUNCH record. */
		both(p, extra(*time += below(500), TRACE_SITE(TRACE_BUNCH, 3, 1001)));
		break;
	case 4: both(p, rec(TRACE_WRITE, below(1u << 20), 1 + below(90))); break;
	case 5:
		both(p, (struct trace_record){ 1 + below(9), TRACE_SITE(TRACE_LOOP, 1, 7) });
		both(p, rec(TRACE_READ, below(4096) | 8ull << 48, 7));
		break;
	default: add_group(p); break;
	}
}

static void assert_files_same(const struct buf *a, const struct buf *b)
{
	struct err err = { "" };
	struct reader *x, *y;
	struct event one, other;
	int got;

	save(test_path("a"), a->data, a->size);
	save(test_path("b"), b->data, b->size);
	x = reader_open(test_path("a"), &err);
	y = reader_open(test_path("b"), &err);
	assert_non_null(x);
	assert_non_null(y);
	for (int pass = 0; pass < 2; pass++) {
		while ((got = reader_next(x, &one, &err)) > 0) {
			assert_int_equal(reader_next(y, &other, &err), 1);
			assert_same_event(&one, &other);
		}
		assert_int_equal(got, 0);
		assert_int_equal(reader_next(y, &other, &err), 0);
		assert_int_equal(reader_rewind(x, &err), 0);
		assert_int_equal(reader_rewind(y, &err), 0);
	}
	assert_accesses_same(x);
	assert_accesses_same(y);
	reader_close(x);
	reader_close(y);
}

static void test_random(void **state)
{
	struct pair p = { xcalloc(ROOM, sizeof(*p.grouped)), xcalloc(ROOM, sizeof(*p.plain)),
			  0, 0, { { 0 } } };

	(void)state;
	for (seed = 1; seed <= 300; seed++) {
		uint64_t time = 1000, rounds = seed % 10 == 0 ? 5000 : 60, kept = seed;
		struct buf a = { 0 }, b = { 0 };

		make_known(&p);
		raw_header(&a, 0);
		raw_header(&b, 0);
		put_table(&a, 900, p.known, 7);
		put_table(&a, 901, p.known + 7, KNOWN - 7);
		for (unsigned thread = 1; thread <= 2; thread++)
			for (uint64_t seq = 0; seq < 3; seq++) {
				uint64_t begin = time;

				p.grouped_count = p.plain_count = 0;
				/* A time within STREAM_LOOKAHEAD records. */
				for (uint64_t i = 0; i < rounds; i++) {
					add_anything(&p, &time);
					if (i % 2)
						both(&p, rec(TRACE_STAMP, time += below(9), 0));
				}
				raw_events(&a, thread, seq, begin, p.grouped, p.grouped_count);
				raw_events(&b, thread, seq, begin, p.plain, p.plain_count);
			}
		raw_end(&a);
		raw_end(&b);
		assert_files_same(&a, &b);
		buf_free(&a);
		buf_free(&b);
		seed = kept;
	}
	free(p.grouped);
	free(p.plain);
}

/* Reads the whole trace. Returns its events as text; *err is set if it is damaged. */
static char *read_file(const struct buf *b, struct err *err)
{
	struct reader *reader;
	char *text = NULL;

	save(test_path("file"), b->data, b->size);
	reader = reader_open(test_path("file"), err);
	if (reader)
		text = brief(reader, err);
	if (reader && err->text[0]) {
		assert_int_equal(reader_accesses(reader, accesses_add_list, &(struct accesses){ 0 },
						 &(struct err){ "" }),
				 -1);
	} else if (reader) {
		assert_int_equal(reader_rewind(reader, err), 0);
		assert_accesses_same(reader);
	}
	reader_close(reader);
	return text;
}

static void assert_error(const struct buf *b, const char *why)
{
	struct err err = { "" };

	free(read_file(b, &err));
	if (!strstr(err.text, why))
		fail_msg("'%s' is not in '%s'", why, err.text);
}

/* A group that is not described, or with another size: damage, or LOST in a lossy trace. */
static void test_unknown(void **state)
{
	const struct trace_record unknown[] = { rec(TRACE_WRITE, 1, 9),
						group_record(2, 0x40, 0x300),
						rec(TRACE_WRITE, 2, 9) };
	const struct trace_record other[] = { rec(TRACE_WRITE, 1, 9), group_record(2, 0x40, 0x100),
					      rec(TRACE_WRITE, 2, 9) };
	const char *lost = "?1 write 1 t101 d0\n?1 lost 0 t101 d0\n?1 write 2 t101 d0\n";
	struct err err = { "" };
	struct buf b;
	char *text;

	(void)state;
	b = file_of(unknown, 3);
	assert_error(&b, "an access group of 2 accesses at 0x300 that the trace does not describe");
	buf_free(&b);
	b = file_of(other, 3);
	assert_error(&b, "an access group of 2 accesses at 0x100 that the trace does not describe");
	buf_free(&b);
	for (int with_table = 0; with_table < 2; with_table++) {
		b = (struct buf){ 0 };
		raw_header(&b, 0);
		if (with_table)
			put_table(&b, 50, two, ARRAY_SIZE(two));
		raw_events(&b, 1, 0, 100, other, 3);
		text = read_file(&b, &err);
		assert_string_equal(text, lost);
		free(text);
		raw_end(&b);
		assert_error(&b, "an access group of 2 accesses at 0x100");
		buf_free(&b);
	}
}

static void assert_table_refused(const void *payload, size_t size)
{
	struct buf b = { 0 };

	raw_header(&b, 0);
	raw_chunk(&b, (struct trace_chunk){ .type = TRACE_CHUNK_ACCESS_GROUPS, .count = 1 },
		  payload, size);
	raw_end(&b);
	assert_error(&b, "damaged at byte 64: a chunk of access groups is malformed");
	buf_free(&b);
}

static void test_hostile(void **state)
{
	struct table_entry bad = two[0];
	struct buf b = { 0 };

	(void)state;
	put_group(&b, &two[0]);
	put_group(&b, &two[1]);
	for (size_t size = 1; size < b.size; size++)
		if (size != trace_access_group_size(3))
			assert_table_refused(b.data, size);
	buf_free(&b);
	bad.count = 1;
	assert_table_refused(&bad, trace_access_group_size(1));
	bad.count = 16;
	assert_table_refused(&bad, sizeof(bad));
	bad.count = UINT32_MAX;
	assert_table_refused(&bad, sizeof(bad));
	bad = two[0];
	bad.access[1].op = TRACE_STAMP;
	assert_table_refused(&bad, trace_access_group_size(3));
	bad.access[1].op = TRACE_BUNCH | 3 << 8;
	assert_table_refused(&bad, trace_access_group_size(3));
}

/* A killed process left the description in the file and BUNCH records in a ring. */
static void test_ring(void **state)
{
	enum { SLOT = 256, RING = 512, SIZE = 4096 };
	const struct live_header h = { .magic = LIVE_MAGIC, .version = LIVE_VERSION, .size = SIZE,
				       .slots = SLOT, .rings = RING, .ticks_per_second = 1000 };
	const struct live_slot slot = { .thread = 1, .time = 100 };
	const struct trace_record ring[] = { rec(TRACE_WRITE, 1, 9), group_record(3, 0x1000, 0x100),
					     group_record(2, 0x40, 0x200) };
	uint8_t memory[SIZE] = { 0 };
	struct buf b = { 0 };
	struct err err = { "" };
	char *text;

	(void)state;
	memcpy(memory, &h, sizeof(h));
	memcpy(memory + SLOT, &slot, sizeof(slot));
	memcpy(memory + RING, ring, sizeof(ring));
	save(test_path("live"), memory, sizeof(memory));
	raw_header(&b, 0);
	put_table(&b, 50, two, ARRAY_SIZE(two));
	save(test_path("ring"), b.data, b.size);
	buf_free(&b);
	assert_int_equal(finish_trace(test_path("ring"), test_path("live"), NULL, &err), 0);
	/* Finishing again changes nothing. */
	assert_int_equal(finish_trace(test_path("ring"), NULL, NULL, &err), 0);
	b = load(test_path("ring"));
	text = read_file(&b, &err);
	assert_string_equal(text, "?1 write 1 t101 d0\n?1 read 1000 t101 d0\n?1 write ff8 t101 d0\n"
				  "?1 read 1018 t101 d0\n?1 write 44 t101 d0\n");
	free(text);
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_a_library_replaced_by_another),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_ring),
	};

	return cmocka_run_group_tests(tests, test_setup, test_teardown);
}
