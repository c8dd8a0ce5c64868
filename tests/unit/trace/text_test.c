/*
 * The text form: the meaning of hand-written traces, refused lines, and the way from any trace to
 * text and back without a change.
 */
#include "trace/write/writer.h"
#include "trace_util.h"

static struct reader *open_text(const char *text)
{
	struct err err = { "" };
	struct reader *r;

	save(test_path("text"), text, strlen(text));
	r = reader_open(test_path("text"), &err);
	if (!r)
		fail_msg("%s", err.text);
	return r;
}

static struct event next(struct reader *r)
{
	struct event ev;

	assert_int_equal(reader_next(r, &ev, NULL), 1);
	return ev;
}

static void assert_text(const char *text, const char *expected)
{
	struct buf b = { (uint8_t *)(uintptr_t)text, strlen(text), 0 };

	assert_brief(&b, expected);
}

static void assert_bad(const char *line, const char *why)
{
	char *text = xasprintf("snarl-text 1\n# first\n%s\n", line);

	assert_refused(text, strlen(text), why);
	free(text);
}

static void test_hand_written(void **state)
{
	struct reader *r = open_text("snarl-text 1   # made by hand\n"
				     "\n"
				     "# Two threads and a counter.\n"
				     "0 create 0.1\n"
				     "0.1 lock m @bank.c:12 ; pthread_mutex_lock\n"
				     "0.1 write x:8 @bank.c:13\r\n"
				     "0.1 read x+4 @bank.c:13\n"
				     "  0.1 unlock m =EPERM\n"
				     "0 atomic-add n:2 relaxed 7 t=50\n"
				     "0 atomic-cas n 1 acquire fail=consume\n"
				     "0 fence\n"
				     "0 join 0.1 =0");
	const struct reader_thread *t;
	struct event ev;
	char key[40];

	(void)state;
	assert_int_equal(reader_info(r)->header->flags, TRACE_TOTAL_ORDER);
	assert_false(reader_info(r)->incomplete);
	t = reader_thread(r, 1);
	assert_string_equal(t->name, "0");
	t = reader_thread(r, 2);
	assert_string_equal(t->name, "0.1");
	assert_int_equal(t->parent, 1);
	assert_int_equal(t->ordinal, 1);
	ev = next(r);
	assert_int_equal(ev.kind, TRACE_THREAD_CREATE);
	assert_int_equal(ev.thread, 1);
	assert_int_equal(ev.arg, 2);
	assert_int_equal(ev.time, 1);
	ev = next(r);
	assert_int_equal(ev.kind, TRACE_MUTEX_LOCK);
	assert_int_equal(ev.thread, 2);
	assert_int_equal(ev.addr, TEXT_OBJECT_BASE);
	assert_int_equal(ev.pc, TEXT_LABEL_BASE);
	snprintf(key, sizeof(key), "label:%#llx", (unsigned long long)ev.pc);
	assert_string_equal(reader_meta(r, key, 0), "bank.c:12");
	snprintf(key, sizeof(key), "object:%#llx", (unsigned long long)ev.addr);
	assert_string_equal(reader_meta(r, key, 0), "m");
	ev = next(r);
	assert_int_equal(ev.addr, TEXT_OBJECT_BASE + TEXT_OBJECT_STEP);
	assert_int_equal(ev.size, 8);
	assert_int_equal(ev.pc, TEXT_LABEL_BASE + TEXT_LABEL_STEP);
	ev = next(r);
	assert_int_equal(ev.addr, TEXT_OBJECT_BASE + TEXT_OBJECT_STEP + 4);
	assert_int_equal(ev.size, 4);
	ev = next(r);
	assert_int_equal(ev.result, 1);
	assert_int_equal(ev.time, 5);
	ev = next(r);
	assert_int_equal(ev.time, 50);
	assert_int_equal(ev.arg, 7);
	assert_int_equal(ev.size, 2);
	assert_int_equal(ev.detail >> TRACE_ORDER_SHIFT, __ATOMIC_RELAXED);
	ev = next(r);
	assert_int_equal(ev.time, 51);
	assert_int_equal(ev.detail >> TRACE_ORDER_SHIFT, __ATOMIC_ACQUIRE);
	assert_int_equal(ev.result, __ATOMIC_CONSUME);
	ev = next(r);
	assert_int_equal(ev.detail >> TRACE_ORDER_SHIFT, __ATOMIC_SEQ_CST);
	assert_int_equal(ev.size, 0);
	ev = next(r);
	assert_int_equal(ev.arg, 2);
	assert_int_equal(reader_next(r, &ev, NULL), 0);
	reader_close(r);
}

static void test_calls_are_canonical(void **state)
{
	(void)state;
	assert_text("snarl-text 1\n"
		    "0 enter 0x1\n0 enter 0x2\n0 exit\n0 write 0x9\n0.1 enter 0x5\n0 exit\n"
		    "0.1 exit\n",
		    "0 enter 1 t4 d0\n0 write 9 t4 d1\n0 exit 0 t6 d0\n");
}

static void test_ids(void **state)
{
	struct reader *r = open_text("snarl-text 1\n"
				     "thread 0.3 id=2 stack=0x10-0x20\n"
				     "thread 0 id=9\n"
				     "0.3 start\n"
				     "~1 yield\n"
				     "0.4.1 join ?77\n"
				     "?5 yield\n");
	struct event ev;

	(void)state;
	ev = next(r);
	assert_int_equal(ev.thread, 2);
	assert_int_equal(ev.arg, 9ull << 32 | 3);
	assert_int_equal(reader_thread(r, 2)->stack_high, 0x20);
	ev = next(r);
	assert_int_equal(ev.thread, 1);
	assert_int_equal(reader_thread(r, 1)->ordinal, 1);
	assert_int_equal(reader_thread(r, 1)->parent, 0);
	ev = next(r);
	assert_string_equal(reader_thread(r, 3)->name, "0.4");
	assert_int_equal(ev.thread, 4);
	assert_int_equal(reader_thread(r, 4)->parent, 3);
	assert_int_equal(ev.arg, 77);
	ev = next(r);
	assert_int_equal(ev.thread, 5);
	reader_close(r);
}

static void test_refused_lines(void **state)
{
	(void)state;
	assert_refused("snarl-text\n", 11, "line 1: a text trace begins with 'snarl-text 1'");
	assert_refused("snarl-text 2\n", 13, "made by a newer snarl (text format 2");
	assert_refused("snarl-text x\n", 13, "line 1:");
	assert_bad("0", "line 3: an event kind must follow thread '0'");
	assert_bad("1 lock m", "line 3: not a thread name (0, 0.1, ~1): '1'");
	assert_bad("0. lock m", "line 3: not a thread name");
	assert_bad("0.01 lock m", "line 3: not a thread name");
	assert_bad("0 lokc m", "line 3: not an event kind: 'lokc'");
	assert_bad("0 stamp 5", "line 3: not an event kind: 'stamp'");
	assert_bad("0 write x 5", "line 3: unexpected word: '5'");
	assert_bad("0 write x:3", "line 3: a size must be 1, 2, 4, 8 or 16: '3'");
	assert_bad("0 write x:", "line 3: not a size: ''");
	assert_bad("0 write 0x1000000000000", "line 3: an address has at most 48 bits");
	assert_bad("0 write x+4096", "line 3: an offset must be below 4096");
	assert_bad("0 lock 12z", "line 3: not an object");
	assert_bad("0 lock m =EWHAT", "line 3: not an errno: 'EWHAT'");
	assert_bad("0 lock m =70000", "line 3: not an errno: '70000'");
	assert_bad("0 lock m @", "line 3: a pc or label must follow '@'");
	assert_bad("0 lock m @12q", "line 3: not a pc");
	assert_bad("0 lock m t=x", "line 3: not a time: 'x'");
	assert_bad("0 lock m t=99999999999999999999", "line 3: not a time");
	assert_bad("0 lock m t=5\n0 lock m t=4", "line 4: time goes back from 5 to 4");
	assert_bad("0 call jump 3", "line 3: unknown call: 'jump'");
	assert_bad("0 atomic-load x fail=now", "line 3: not a memory order: 'now'");
	assert_bad("0 loop 4", "line 3: not an event kind: 'loop'");
	assert_bad("frob 1", "line 3: a line begins with a thread");
	assert_bad("thread x", "line 3: 'thread' needs a name");
	assert_bad("thread 0 id=1\nthread 0.1 id=1", "line 4: thread id 1 is already '0'");
	assert_bad("thread 0 id=1\nthread 0 id=2", "line 4: thread already has another id");
	assert_bad("module 1 2 3 4", "line 3: not 'module");
	assert_bad("module 0 0-1 abc /x", "line 3: not a build-id: 'abc'");
	assert_bad("meta key \\n", "line 3: a backslash must be written \\x5c");
	assert_bad("begin now",
		   "line 3: 'begin start=N unix=N pid=N [unfiltered]' does not accept 'now'");
}

static void check_round_trip(struct reader *a)
{
	FILE *f = fopen(test_path("round.txt"), "w");
	struct err err = { "" };
	struct reader *b, *c;
	const char *ka, *va, *kb, *vb;
	size_t i;

	assert_non_null(f);
	assert_int_equal(text_write_all(f, a, &err), 0);
	assert_int_equal(fclose(f), 0);
	b = reader_open(test_path("round.txt"), &err);
	if (!b)
		fail_msg("%s", err.text);
	assert_same_events(a, b);
	assert_int_equal(writer_copy(b, test_path("round.snarl"), 0, &err), 0);
	c = reader_open(test_path("round.snarl"), &err);
	if (!c)
		fail_msg("%s", err.text);
	assert_same_events(b, c);
	for (i = 0; reader_meta_at(a, i, &ka, &va); i++) {
		assert_true(reader_meta_at(c, i, &kb, &vb));
		assert_string_equal(ka, kb);
		assert_string_equal(va, vb);
	}
	assert_false(reader_meta_at(c, i, &kb, &vb));
	assert_int_equal(reader_info(a)->module_count, reader_info(c)->module_count);
	for (i = 0; i < reader_info(a)->module_count; i++) {
		const struct reader_module *m = &reader_info(a)->modules[i];
		const struct reader_module *n = &reader_info(c)->modules[i];

		assert_string_equal(m->path, n->path);
		assert_int_equal(m->build_id_size, n->build_id_size);
		assert_memory_equal(m->build_id, n->build_id, m->build_id_size);
		assert_int_equal(m->base, n->base);
		assert_int_equal(m->start, n->start);
		assert_int_equal(m->end, n->end);
		assert_int_equal(m->time, n->time);
	}
	assert_int_equal(reader_info(a)->header->start_unix_ns,
			 reader_info(c)->header->start_unix_ns);
	assert_int_equal(reader_info(a)->header->pid, reader_info(c)->header->pid);
	reader_close(b);
	reader_close(c);
}

/* Every kind with every detail, and unusual numbers in all fields. */
static void test_round_trip_of_all(void **state)
{
	const struct reader_module m = { .time = 4,
					 .base = 0x1000,
					 .start = 1,
					 .end = 2,
					 .path = "/a b;c#\n\\x",
					 .build_id = (const uint8_t *)"\x01\xff",
					 .build_id_size = 2 };
	const struct reader_module plain = { .path = "" };
	struct writer *w = writer_open(test_path("all"), TRACE_TOTAL_ORDER, NULL);
	struct event ev = { 0 };
	struct reader *r;

	(void)state;
	writer_begin(w, 1, 2, 3);
	writer_meta(w, "odd key;", " spaces \t and\nlines; # \\ ");
	writer_meta(w, "empty", "");
	writer_module(w, &m);
	writer_module(w, &plain);
	ev = (struct event){ .kind = TRACE_THREAD_START, .thread = 1, .time = 1,
			     .extra = { 0x100, 0x200 } };
	writer_event(w, &ev);
	ev = (struct event){ .kind = TRACE_THREAD_START, .thread = 7, .time = 1, .addr = 0x4000,
			     .arg = 1ull << 32 | 3, .extra = { 0, ~0ull } };
	writer_event(w, &ev);
	for (unsigned kind = TRACE_LOST; kind < TRACE_LOOP; kind++)
		for (unsigned detail = 0; detail < 256; detail += kind % 3 ? 1 : 17) {
			ev = (struct event){ .kind = (uint16_t)kind,
					     .detail = (uint8_t)detail,
					     .thread = detail % 2 ? 1 : 7,
					     .time = ev.time + detail % 4 };
			if (detail & 2)
				ev.addr = 0x7fff00001000ull + kind;
			if (detail & 4)
				ev.pc = 0x400000 + detail;
			if (trace_extra(kind))
				ev.arg = detail % 5 == 0   ? 0
					 : detail % 5 == 1 ? 7
							   : -(uint64_t)detail;
			ev.result = detail % 7 < 4 ? 0 : (uint16_t)(detail * 3);
			writer_event(w, &ev);
		}
	assert_int_equal(writer_close(w, NULL), 0);
	r = reader_open(test_path("all"), NULL);
	assert_non_null(r);
	check_round_trip(r);
	reader_close(r);
}

static void test_round_trip_of_parallel_trace(void **state)
{
	struct buf b = { 0 };
	struct reader *r;

	(void)state;
	raw_header(&b, TRACE_UNFILTERED);
	for (uint32_t thread = 1; thread <= 3; thread++) {
		struct trace_record t[40];
		size_t n = 0;

		for (uint64_t i = 0; i < 10; i++) {
			t[n++] = rec(TRACE_WRITE, i * 8, 0x100 + i);
			t[n++] = rec(TRACE_READ, i * 8, 0x200 + i);
			t[n++] = rec(TRACE_MUTEX_LOCK, i, 0x300);
			t[n++] = extra(100 * i + thread, 0);
		}
		raw_events(&b, thread, 0, 0, t, n);
	}
	raw_end(&b);
	save(test_path("parallel"), b.data, b.size);
	r = reader_open(test_path("parallel"), NULL);
	assert_non_null(r);
	check_round_trip(r);
	reader_close(r);
	buf_free(&b);
}

static void test_lines(void **state)
{
	struct reader *r = open_text("snarl-text 1\n"
				     "0 write 0x10:8 volatile @0x400 t=3\n"
				     "0 timedlock 0x20 timed c11 @0x400 =ETIMEDOUT\n"
				     "0 return read 0x3 -1 =EINTR\n"
				     "0 cond-wait 0x30 0x20\n"
				     "0 blocked 0x20 lock\n"
				     "0 sleep arg=1000\n"
				     "0 read-range 0x40:100\n"
				     "0 create 0.1\n");
	static const char expected[] = "0 write 0x10:8 volatile @0x400 t=3\n"
				       "0 timedlock 0x20 timed c11 @0x400 =ETIMEDOUT t=4\n"
				       "0 return read 0x3 -1 =EINTR t=5\n"
				       "0 cond-wait 0x30 0x20 t=6\n"
				       "0 blocked 0x20 lock t=7\n"
				       "0 sleep arg=1000 t=8\n"
				       "0 read-range 0x40:100 t=9\n"
				       "0 create 0.1 t=10\n";
	struct buf got = { 0 };
	struct event ev;

	(void)state;
	while (reader_next(r, &ev, NULL) > 0) {
		text_format(&got, r, &ev);
		buf_add_char(&got, '\n');
	}
	assert_string_equal(buf_string(&got), expected);
	buf_free(&got);
	reader_close(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hand_written),
		cmocka_unit_test(test_calls_are_canonical),
		cmocka_unit_test(test_ids),
		cmocka_unit_test(test_refused_lines),
		cmocka_unit_test(test_round_trip_of_all),
		cmocka_unit_test(test_round_trip_of_parallel_trace),
		cmocka_unit_test(test_lines),
	};

	return cmocka_run_group_tests(tests, test_setup, test_teardown);
}
