#include "trace_util.h"

#include "base/mem.h"
#include "explore/fix/remap.h"
#include "trace/read/kinds.h"

static const char bank[] =
	"snarl-schedule 1\ncause atomicity RWW balance\ngoal\n"
	"0.2 bank.c:30#2 (ab+0x30, set, write balance) held at 0.2 bank.c:29#2 (ab+0x29, set, lock "
	"m) after 0.1 bank.c:22#3 (ab+0x22, get, read balance)\n"
	"0.1 bank.c:30#3 (ab+0x30, set, write balance) after 0.2 bank.c:30#2 (ab+0x30, set, write "
		"balance)\n"
	"end\n";

struct fixture {
	struct schedule schedule;
	struct remap *r;
	uint64_t index[4];	/* of each thread: 0.1 is 1 */
};

static void begin(struct fixture *f, const char *text)
{
	struct err err = { "" };

	*f = (struct fixture){ .r = NULL };
	if (schedule_parse(&f->schedule, text, strlen(text), "file", &err) < 0)
		fail_msg("%s", err.text);
	f->r = remap_new(&f->schedule);
	assert_non_null(f->r);
}

static void end(struct fixture *f)
{
	remap_free(f->r);
	schedule_free(&f->schedule);
}

static void see(struct fixture *f, uint32_t thread, const char *function, unsigned line,
		unsigned kind, const char *object, uint64_t pc, uint64_t nth,
		const struct remap_lock *lock)
{
	char name[] = "0.0";

	name[2] = (char)('0' + thread);
	remap_observe(f->r, &(struct remap_observed){
		.thread = name, .id = thread + 10, .kind = (uint16_t)kind, .line = line,
		.index = f->index[thread]++, .pc = pc, .nth = nth, .function = function,
		.file = "b.c", .object = object, .locks = lock, .lock_count = lock != NULL,
	});
}

/* get() and set() of the bank in the new build, each under the lock, at other lines and pcs. */
static void deposit(struct fixture *f, uint32_t thread, uint64_t nth)
{
	struct remap_lock lock = { .nth = nth, .addr = 1, .kind = TRACE_MUTEX_LOCK, .object = "m" };

	lock.index = f->index[thread];
	lock.pc = 0x100;
	see(f, thread, "get", 121, TRACE_MUTEX_LOCK, "m", 0x100, nth, NULL);
	see(f, thread, "get", 122, TRACE_READ, "balance", 0x101, nth, &lock);
	lock.index = f->index[thread];
	lock.pc = 0x200;
	see(f, thread, "set", 129, TRACE_MUTEX_LOCK, "m", 0x200, nth, NULL);
	see(f, thread, "set", 130, TRACE_WRITE, "balance", 0x201, nth, &lock);
}

static uint64_t thread(const char *path)
{
	uint64_t hash = 0;

	assert_true(schedule_path_hash(path, &hash));
	return hash;
}

static void is_name(const struct sched_name *name, const char *path, uint64_t site, uint64_t nth)
{
	assert_true(name->thread == thread(path));
	assert_int_equal(name->site, site);
	assert_int_equal(name->nth, nth);
}

static size_t observed_mappings(const struct fixture *f)
{
	size_t count = 0;

	while (count < f->r->fit_count && !f->r->mappings[count].extrapolated)
		count++;
	return count;
}

static void test_shifted(void **state)
{
	struct fixture f;
	const struct lead *lead;

	(void)state;
	begin(&f, bank);
	for (uint32_t t = 1; t <= 2; t++)
		for (uint64_t n = 1; n <= 3; n++)
			deposit(&f, t, n);
	remap_end_trace(f.r);
	assert_int_equal(observed_mappings(&f), 2);
	assert_int_equal(f.r->mappings[0].level, REMAP_SAME);
	lead = f.r->mappings[0].lead;
	assert_string_equal(lead_class(lead), "atomicity");
	assert_int_equal(lead->c.pattern, PATTERN_RWW);
	/* A thread that has to wait does so before it takes the lock. */
	is_name(&lead->order[0].first, "0.1", 0x101, 3);
	is_name(&lead->order[0].second, "0.2", 0x200, 2);
	is_name(&lead->order[1].first, "0.2", 0x201, 2);
	is_name(&lead->order[1].second, "0.1", 0x200, 3);
	/* In the second mapping it waits right before the event itself. */
	lead = f.r->mappings[1].lead;
	is_name(&lead->order[0].second, "0.2", 0x201, 2);
	is_name(&lead->order[1].second, "0.1", 0x201, 3);
	/* A second trace with the same events adds no mapping. */
	memset(f.index, 0, sizeof(f.index));
	for (uint32_t t = 1; t <= 2; t++)
		for (uint64_t n = 1; n <= 3; n++)
			deposit(&f, t, n);
	remap_end_trace(f.r);
	assert_int_equal(observed_mappings(&f), 2);
	end(&f);
}

/* Threads 0.2 and 0.3 take the places of 0.1 and 0.2: events of one thread stay in one thread. */
static void test_renamed(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, bank);
	for (uint32_t t = 2; t <= 3; t++)
		for (uint64_t n = 1; n <= 3; n++)
			deposit(&f, t, n);
	remap_end_trace(f.r);
	assert_true(observed_mappings(&f) >= 2);
	assert_int_equal(f.r->mappings[0].level, REMAP_RENAMED);
	for (size_t i = 0; i < observed_mappings(&f); i++) {
		const struct sched_order *o = f.r->mappings[i].lead->order;

		assert_true(o[0].first.thread == o[1].second.thread);
		assert_true(o[0].second.thread == o[1].first.thread);
		assert_true(o[0].first.thread != o[0].second.thread);
	}
	end(&f);
}

/* Thread 0.1 calls add() in place of get() and set(): the same accesses in another function. */
static void test_moved(void **state)
{
	struct fixture f;
	struct buf text = { 0 };

	(void)state;
	begin(&f, bank);
	for (uint64_t n = 1; n <= 3; n++)
		deposit(&f, 2, n);
	for (uint64_t n = 1; n <= 3; n++) {
		see(&f, 1, "add", 5, TRACE_READ, "balance", 0x301, n, NULL);
		see(&f, 1, "add", 5, TRACE_WRITE, "balance", 0x302, n, NULL);
	}
	remap_end_trace(f.r);
	assert_true(observed_mappings(&f) >= 1);
	assert_int_equal(f.r->mappings[0].level, REMAP_MOVED);
	remap_missing(f.r, &text);
	assert_non_null(strstr(buf_string(&text),
			       "read balance in get (bank.c:22): thread 0.1 no longer does this"));
	buf_free(&text);
	end(&f);
}

static void test_gone(void **state)
{
	struct fixture f;
	struct buf text = { 0 };

	(void)state;
	begin(&f, bank);
	see(&f, 1, "get", 22, TRACE_READ, "sum", 0x101, 1, NULL);
	remap_end_trace(f.r);
	assert_int_equal(f.r->fit_count, 0);
	remap_missing(f.r, &text);
	assert_string_equal(buf_string(&text),
			    "read balance in get (bank.c:22): the function no longer does this; "
			    "write balance in set (bank.c:30): its function did not run in 1 "
			    "recorded run");
	buf_free(&text);
	end(&f);
}

/* Within a thread, program order must agree with the goals, unless iterations are extrapolated. */
static void test_program_order(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, bank);
	see(&f, 1, "set", 30, TRACE_WRITE, "balance", 0x201, 3, NULL);
	see(&f, 1, "get", 22, TRACE_READ, "balance", 0x101, 3, NULL);
	see(&f, 2, "set", 30, TRACE_WRITE, "balance", 0x201, 2, NULL);
	remap_end_trace(f.r);
	assert_int_equal(observed_mappings(&f), 0);
	assert_true(f.r->fit_count > 0);
	is_name(&f.r->mappings[0].lead->order[0].first, "0.1", 0x101, 3);
	end(&f);
}

/* Visits with any object count; the counterpart is the next visit with the right object. */
static void test_objects(void **state)
{
	static const char text[] =
		"snarl-schedule 1\ngoal\n"
		"0.1 m.c:2 (move, lock left) after 0.2 m.c:1 (move, lock left)\nend\n";
	struct fixture f;

	(void)state;
	begin(&f, text);
	see(&f, 2, "move", 9, TRACE_MUTEX_LOCK, "right", 0x10, 1, NULL);
	see(&f, 2, "move", 9, TRACE_MUTEX_TIMEDLOCK, "left", 0x10, 2, NULL);
	see(&f, 1, "move.part.0", 9, TRACE_MUTEX_LOCK, "left", 0x11, 1, NULL);
	see(&f, 1, "move", 9, TRACE_MUTEX_UNLOCK, "left", 0x12, 1, NULL);
	remap_end_trace(f.r);
	assert_int_equal(observed_mappings(&f), 1);
	is_name(&f.r->mappings[0].lead->order[0].first, "0.2", 0x10, 2);
	is_name(&f.r->mappings[0].lead->order[0].second, "0.1", 0x11, 1);
	end(&f);
}

/* Another member is a counterpart only if no run uses the member itself, and of one event only. */
static void test_parts(void **state)
{
	static const char text[] =
		"snarl-schedule 1\ncause atomicity WxRyRxWy \"heap@h.c:5#1+8\"\ngoal\n"
		"0.1 h.c:20#1 (use, read \"heap@h.c:5#1+8\") after 0.2 h.c:44#1 (reset, write "
		"\"heap@h.c:5#1+8\")\n"
		"0.2 h.c:45#1 (reset, write heap@h.c:5#1) after 0.1 h.c:17#1 (use, read "
		"heap@h.c:5#1)\nend\n";
	struct fixture f;

	(void)state;
	begin(&f, text);
	for (unsigned run = 0; run < 2; run++) {
		memset(f.index, 0, sizeof(f.index));
		see(&f, 1, "use", 16, TRACE_READ, "heap@h.c:5#1+16", 0x16, 1, NULL);
		see(&f, 1, "use", 17, TRACE_READ, "heap@h.c:5#1", 0x17, 1, NULL);
		if (run == 1)
			see(&f, 1, "use", 20, TRACE_READ, "heap@h.c:5#1+8", 0x20, 1, NULL);
		see(&f, 2, "reset", 44, TRACE_WRITE, "heap@h.c:5#1+8", 0x44, 1, NULL);
		see(&f, 2, "reset", 45, TRACE_WRITE, "heap@h.c:5#1", 0x45, 1, NULL);
		remap_end_trace(f.r);
		assert_int_equal(observed_mappings(&f), 1);
		is_name(&f.r->mappings[0].lead->order[0].second, "0.1", run == 0 ? 0x16 : 0x20, 1);
	}
	end(&f);
}

static void test_too_many_goals(void **state)
{
	struct schedule s = { 0 };

	(void)state;
	assert_null(remap_new(&s));
	s.goal_count = CANDIDATE_EVENTS + 1;
	assert_null(remap_new(&s));
}

static void test_same_object(void **state)
{
	(void)state;
	assert_int_equal(remap_same_object("balance", "balance"), 0);
	assert_int_equal(remap_same_object("balance", "balances"), -1);
	assert_int_equal(remap_same_object("balance+8", "balance+8"), 0);
	assert_int_equal(remap_same_object("balance", "balance+8"), REMAP_OTHER_PART);
	assert_int_equal(remap_same_object("queue.head", "queue.head"), 0);
	assert_int_equal(remap_same_object("queue.head", "queue.tail"), REMAP_OTHER_PART);
	assert_int_equal(remap_same_object("queue+8", "queue.head"), REMAP_OTHER_PART);
	assert_int_equal(remap_same_object("slots[3].len", "slots[2].len"), REMAP_OTHER_PART);
	assert_int_equal(remap_same_object("queue", "queues.head"), -1);
	assert_int_equal(remap_same_object("calls.0", "calls.1"), -1);
	assert_int_equal(remap_same_object("freed heap@q.c:3#1+8", "heap@q.c:3#1+8"), 0);
	assert_int_equal(remap_same_object("heap@q.c:3#1+8", "heap@r.c:9#1+8"), 1);
	assert_int_equal(remap_same_object("heap@q.c:3#1+8", "heap@q.c:9#2+8"), 5);
	assert_int_equal(remap_same_object("heap@q.c:3#1", "heap@q.c:3#1+8"), REMAP_OTHER_PART);
	assert_int_equal(remap_same_object("heap@q.c:3#1", "mmap@q.c:3#1"), -1);
	assert_int_equal(remap_same_object("stack of 0.1", "ended stack of 0.2"), 2);
	assert_int_equal(remap_same_object("0x10", "0x20"), 2);
}

static void test_same_kind(void **state)
{
	(void)state;
	assert_true(remap_same_kind(TRACE_READ, TRACE_ATOMIC_LOAD));
	assert_true(remap_same_kind(TRACE_READ, TRACE_ATOMIC_ADD));
	assert_true(remap_same_kind(TRACE_ATOMIC_ADD, TRACE_WRITE));
	assert_false(remap_same_kind(TRACE_READ, TRACE_WRITE));
	assert_true(remap_same_kind(TRACE_MUTEX_LOCK, TRACE_SPIN_LOCK));
	assert_false(remap_same_kind(TRACE_MUTEX_LOCK, TRACE_MUTEX_UNLOCK));
	assert_true(remap_same_kind(TRACE_FREE, TRACE_FREE));
	assert_false(remap_same_kind(TRACE_FREE, TRACE_MALLOC));
	assert_true(remap_same_kind(-1, TRACE_FREE));
	assert_false(remap_same_kind(-1, TRACE_FUNC_ENTRY));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shifted), cmocka_unit_test(test_renamed),
		cmocka_unit_test(test_moved), cmocka_unit_test(test_gone),
		cmocka_unit_test(test_program_order), cmocka_unit_test(test_objects),
		cmocka_unit_test(test_parts), cmocka_unit_test(test_too_many_goals),
		cmocka_unit_test(test_same_object), cmocka_unit_test(test_same_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
