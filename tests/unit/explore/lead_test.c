/*
 * Tests leads: their orders, their events in traces, their ranking, and causes of failures.
 */
#include "trace_util.h"

#include "explore/lead/lead.h"

/* Sites are numbers, because labels would get another pc in every trace. */
#define LOCKED(thread, take, access) \
	thread " lock m @" take "\n" thread " " access "\n" thread " unlock m\n"

/* 0.1 reads and writes x in two critical sections, then 0.2 writes x: the run passes. */
static const char deposit[] =
	"0 create 0.1\n0 create 0.2\n"
	LOCKED("0.1", "0x11", "read x @0x21") LOCKED("0.1", "0x12", "write x @0x22")
	LOCKED("0.2", "0x13", "write x @0x23");

/* 0.2 writes x between the read and the write of 0.1: the update of 0.2 is lost. */
static const char harm[] =
	"0 create 0.1\n0 create 0.2\n"
	LOCKED("0.1", "0x11", "read x @0x21") LOCKED("0.2", "0x13", "write x @0x23")
	LOCKED("0.1", "0x12", "write x @0x22");

static const char *trace(const char *text)
{
	struct buf b = { 0 };

	buf_addf(&b, "snarl-text 1\n%s", text);
	save(test_path("trace"), b.data, b.size);
	buf_free(&b);
	return test_path("trace");
}

static void add(struct leads *l, const char *text)
{
	struct err err = { "" };

	if (leads_add_trace(l, trace(text), &err) < 0)
		fail_msg("%s", err.text);
}

static uint64_t thread(const char *path)
{
	uint64_t hash = 0;

	assert_true(schedule_path_hash(path, &hash));
	return hash;
}

static void test_orders(void **state)
{
	struct leads l = { 0 };
	const struct lead *lead;
	uint8_t events[CANDIDATE_EVENTS];

	(void)state;
	add(&l, deposit);
	assert_int_equal(l.count, 1);
	lead = l.at[0];
	assert_string_equal(lead_class(lead), "atomicity");
	assert_int_equal(lead->c.pattern, PATTERN_RWW);
	assert_int_equal(lead->c.orders, 2);
	/* Both threads wait before they take the lock, not inside the critical section. */
	assert_int_equal(lead->order[0].first.thread, thread("0.1"));
	assert_int_equal(lead->order[0].first.site, lead->c.event[0].pc);
	assert_int_equal(lead->order[0].second.thread, thread("0.2"));
	assert_int_equal(lead->order[0].second.site, lead->c.event[lead->c.hold[1]].pc);
	assert_int_equal(lead->order[1].first.site, lead->c.event[1].pc);
	assert_int_equal(lead->order[1].second.site, lead->c.event[lead->c.hold[2]].pc);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(lead->order[i].first.nth, 1);
		assert_int_equal(lead->order[i].second.nth, 1);
	}
	/* Two more orders have the accesses themselves: with them the pattern is complete. */
	assert_int_equal(lead->orders, 4);
	for (unsigned i = 2; i < 4; i++) {
		assert_int_equal(lead->order[i].first.site, lead->order[i - 2].first.site);
		assert_int_equal(lead->order[i].second.site, lead->c.event[i - 1].pc);
	}
	/* Lock operations at which threads wait are not among the events. */
	assert_int_equal(lead_events(lead, events), 3);
	for (uint8_t i = 0; i < 3; i++)
		assert_int_equal(events[i], i);
	assert_string_equal(lead->event[0].thread, "0.1");
	assert_string_equal(lead->event[1].thread, "0.2");
	leads_free(&l);
}

/* lead_first_iteration() moves a lead from later iterations of loops to the first. */
static void test_first(void **state)
{
	struct leads l = { 0 };
	struct lead first;

	(void)state;
	add(&l, deposit);
	assert_false(lead_first_iteration(l.at[0], &first));
	assert_memory_equal(first.order, l.at[0]->order, sizeof(first.order));
	/* The thread with two accesses is in its third iteration, the other one in its fifth. */
	for (unsigned i = 0; i < l.at[0]->c.events; i++)
		l.at[0]->c.event[i].nth = strcmp(l.at[0]->event[i].thread, "0.1") == 0 ? 3 : 5;
	l.at[0]->c.event[2].nth = 4;
	assert_true(lead_first_iteration(l.at[0], &first));
	assert_int_equal(first.c.event[0].nth, 1);
	assert_int_equal(first.c.event[1].nth, 1);
	assert_int_equal(first.c.event[2].nth, 2);
	assert_int_equal(first.order[0].first.nth, 1);
	assert_int_equal(first.order[3].second.nth, 2);
	assert_int_equal(first.orders, l.at[0]->orders);
	leads_free(&l);
}

static void expect_located(const struct lead *lead, const char *text, bool ordered, uint64_t a,
			   uint64_t b, uint64_t c)
{
	uint64_t index[CANDIDATE_EVENTS];

	assert_int_equal(lead_locate(lead, trace(text), index), ordered);
	assert_int_equal(index[0], a);
	assert_int_equal(index[1], b);
	assert_int_equal(index[2], c);
}

static void test_locate(void **state)
{
	struct leads l = { 0 };
	struct lead wait = { .c = { .events = 1, .event = { { .pc = 0x31, .nth = 2 } } },
			     .event = { { .thread = (char []){ "0" } } } };

	(void)state;
	add(&l, deposit);
	expect_located(l.at[0], harm, true, 1, 1, 4);
	/* `value` events have no index, calls have one. */
	expect_located(l.at[0], "0 create 0.1\n0 create 0.2\n0.1 read z @0x20\n0.1 value z 1\n"
		       "0.1 enter 0x99 @0x19\n0.1 read x @0x21\n0.2 write x @0x23\n"
		       "0.1 write x @0x22\n",
		       true, 2, 0, 3);
	/*
	 * The events are in another order; the run ended before the last event; the last event is
	 * at other memory.
	 */
	expect_located(l.at[0], deposit, false, 1, 1, 4);
	expect_located(l.at[0], "0 create 0.1\n0 create 0.2\n0.1 read x @0x21\n0.2 write x @0x23\n"
		       "0.1 write x @0x24\n0.2 write x @0x22\n", true, 0, 0, LEAD_NO_EVENT);
	expect_located(l.at[0], "0 create 0.1\n0 create 0.2\n0.1 read x @0x21\n0.2 write x @0x23\n"
		       "0.1 write y @0x22\n", true, 0, 0, LEAD_NO_EVENT);
	/* The second wait at this site is the third event. It counts only if it returns. */
	expect_located(&wait, "0 cond-wait c m @0x31\n0 lock m @0x32\n0 cond-wait c m @0x31\n",
		       true, LEAD_NO_EVENT, LEAD_NO_EVENT, LEAD_NO_EVENT);
	expect_located(&wait, "0 cond-wait c m @0x31\n0 lock m @0x32\n0 cond-wait c m @0x31\n"
		       "0 cond-wake c m @0x31\n", true, 2, LEAD_NO_EVENT, LEAD_NO_EVENT);
	expect_located(&wait, "0 cond-wait c m @0x31\n0 lock m @0x32\n0 blocked lock @0x31\n", true,
		       LEAD_NO_EVENT, LEAD_NO_EVENT, LEAD_NO_EVENT);
	leads_free(&l);
}

static void test_other_traces(void **state)
{
	struct leads l = { 0 };
	struct err err;

	(void)state;
	add(&l, deposit);
	add(&l, deposit);
	assert_int_equal(l.count, 1);
	assert_true(l.predicted >= 2);
	leads_sort(&l);
	assert_int_equal(leads_add_trace(&l, test_path("nothing there"), &err), -1);
	assert_int_equal(l.count, 1);
	leads_free(&l);
	/* An order that happened in a passing run is no lead. */
	add(&l, harm);
	assert_int_equal(l.count, 0);
	assert_true(l.predicted >= 1);
	leads_free(&l);
}

/* Sites of a proved lead come first, then sites of a harmless one; else the score decides. */
static void test_sort(void **state)
{
	static const struct {
		uint64_t place;
		double score;
		enum lead_outcome outcome;
	} had[] = {
		{ 1, 1, LEAD_UNTRIED }, { 2, 2, LEAD_INFEASIBLE }, { 3, 1.5, LEAD_UNTRIED },
		{ 3, 1, LEAD_HARMLESS }, { 4, 0.2, LEAD_UNTRIED }, { 4, 0.1, LEAD_FAILED },
		{ 2, 1.9, LEAD_UNTRIED }, { 1, 1, LEAD_UNTRIED },
	};
	static const size_t sorted[] = { 4, 5, 1, 2, 6, 3, 0, 7 };
	struct leads l = { 0 };

	(void)state;
	l.at = xcalloc(ARRAY_SIZE(had), sizeof(*l.at));
	for (l.count = 0; l.count < ARRAY_SIZE(had); l.count++) {
		struct lead *lead = l.at[l.count] = xcalloc(1, sizeof(*lead));

		lead->number = l.count;
		lead->outcome = had[l.count].outcome;
		lead->c.score = had[l.count].score;
		lead->c.events = 1;
		lead->c.event[0].pc = had[l.count].place;
	}
	for (int twice = 0; twice < 2; twice++) {
		leads_sort(&l);
		for (size_t i = 0; i < l.count; i++)
			assert_int_equal(l.at[i]->number, sorted[i]);
	}
	leads_free(&l);
}

/*
 * The cause of a failure with the trace `text`, NULL: no trace. `others`: trace of a passing run,
 * or NULL.
 */
static struct lead *explain(const char *others, const char *text, enum oracle_failure failure)
{
	struct leads l = { 0 };
	struct lead *lead;

	if (others)
		add(&l, others);
	leads_sort(&l);
	lead = leads_explain(&l, text ? trace(text) : test_path("nothing there"), failure);
	leads_free(&l);
	return lead;
}

static void test_cause(void **state)
{
	static const char cut[] = "0 create 0.1\n0 create 0.2\n0.1 read x @0x21\n";
	static const char late[] =
		"0 create 0.1\n0 create 0.2\n0.2 write x @0x24\n0.1 read x @0x21\n";
	struct lead *lead = explain(NULL, harm, ORACLE_ASSERT);

	(void)state;
	assert_non_null(lead);
	assert_int_equal(lead->c.pattern, PATTERN_RWW);
	lead_free(lead);
	/* An order that did not happen is no cause; without a trace there is none. */
	assert_null(explain(NULL, deposit, ORACLE_ASSERT));
	assert_null(explain(deposit, deposit, ORACLE_ASSERT));
	assert_null(explain(deposit, NULL, ORACLE_ASSERT));
	/* The run ended before the write; a passing run shows that the write should come first. */
	assert_null(explain(NULL, cut, ORACLE_SIGNAL));
	lead = explain(late, cut, ORACLE_SIGNAL);
	assert_non_null(lead);
	assert_string_equal(lead_class(lead), "order");
	lead_free(lead);
}

/* A write of another thread that stores the value that was there already is no cause. */
static void test_unchanged(void **state)
{
#define VALUED(write) \
	"0 create 0.1\n0 create 0.2\n" \
	LOCKED("0.1", "0x11", "read 0x6000:4 @0x21\n0.1 value 0x6000:4 5") \
	LOCKED("0.2", "0x13", "write 0x6000:4 @0x23\n0.2 value 0x6000:4 " write) \
	LOCKED("0.1", "0x12", "write 0x6000:4 @0x22\n0.1 value 0x6000:4 6")
	struct lead *lead = explain(NULL, VALUED("7"), ORACLE_ASSERT);

	(void)state;
	assert_non_null(lead);
	assert_int_equal(lead->c.pattern, PATTERN_RWW);
	lead_free(lead);
	assert_null(explain(NULL, VALUED("5"), ORACLE_ASSERT));
}

static void test_cycle(void **state)
{
	static const char text[] =
		"0 create 0.1\n0 create 0.2\n"
		"0.1 lock a @0x31\n0.1 lock b @0x32\n0.1 unlock b\n0.1 unlock a\n"
		"0.2 lock b @0x33\n0.2 lock a @0x34\n0.2 unlock a\n0.2 unlock b\n";
	static const char stuck[] =
		"0 create 0.1\n0 create 0.2\n0.1 lock a @0x31\n0.2 lock b @0x33\n";
	uint8_t events[CANDIDATE_EVENTS];
	struct lead *lead = explain(text, stuck, ORACLE_DEADLOCK);

	(void)state;
	assert_non_null(lead);
	assert_string_equal(lead_class(lead), "deadlock");
	assert_int_equal(lead_events(lead, events), 4);
	/* First both threads take a lock, then both wait. */
	assert_true(lead->c.event[events[0]].thread != lead->c.event[events[1]].thread);
	assert_true(lead->c.event[events[2]].thread != lead->c.event[events[3]].thread);
	lead_free(lead);
	assert_null(explain(text, stuck, ORACLE_SIGNAL));
}

static struct lead *freed_by(const char *use, const char *text, const char *user, uint64_t object,
			     uint64_t pc)
{
	struct oracle_result failure = {
		.failure = ORACLE_UAF,
		.site_count = 1,
		.sites = { { 1, pc, object, "use" } },
	};
	const struct leads none = { 0 };

	snprintf(failure.text, sizeof(failure.text), "use after free: %s at +8 of a block", use);
	return lead_from_use_after_free(&none, trace(text), user, &failure);
}

static struct lead *freed(const char *text, const char *user, uint64_t object, uint64_t pc)
{
	return freed_by("4-byte write", text, user, object, pc);
}

/* The use is the unlock of a lock in the block, the last event of the trace. */
static void test_freed_lock(void **state)
{
	static const char unlocked[] =
		"0 malloc 0x6000 64 @0x10\n0 create 0.1\n0.1 lock 0x6008 @0x2f\n"
		"0 free 0x6000 @0x20\n0.1 unlock 0x6008 @0x30\n";
	struct lead *lead = freed_by("unlock", unlocked, "0.1", 0x6000, 0x30);

	(void)state;
	assert_non_null(lead);
	assert_int_equal(lead->c.event[1].kind, TRACE_MUTEX_UNLOCK);
	assert_int_equal(lead->order[0].second.site, 0x30);
	assert_int_equal(lead->order[0].second.nth, 1);
	lead_free(lead);
}

/* The run ended with the use, so that the trace has only the free. */
static void test_freed(void **state)
{
	static const char gone[] =
		"0 create 0.1\n0 malloc 0x6000 64 @0x10\n0 free 0x6000 @0x20\n"
		"0 malloc 0x6000 64 @0x10\n0 malloc 0x7000 64 @0x10\n"
		"0.1 write 0x6008:4 @0x31\n0.1 write 0x6008:4 @0x30\n0 free 0x7000 @0x20\n"
		"0 free 0x6000 @0x20\n";
	struct lead *lead;
	struct buf b = { 0 };

	(void)state;
	lead = freed(gone, "0.1", 0x6008, 0x30);
	assert_non_null(lead);
	assert_int_equal(lead->c.pattern, PATTERN_USE_FREE);
	assert_string_equal(lead_class(lead), "order");
	assert_int_equal(lead->orders, 1);
	assert_int_equal(lead->order[0].first.thread, thread("0"));
	assert_int_equal(lead->order[0].first.site, 0x20);
	assert_int_equal(lead->order[0].first.nth, 3);
	assert_int_equal(lead->order[0].second.thread, thread("0.1"));
	assert_int_equal(lead->order[0].second.site, 0x30);
	assert_int_equal(lead->order[0].second.nth, 2);
	assert_int_equal(lead->c.event[1].kind, TRACE_WRITE);
	assert_int_equal(lead->c.event[1].size, 4);
	buf_addf(&b, "%s+8", lead->event[0].object);
	assert_string_equal(lead->event[1].object, buf_string(&b));
	lead_free(lead);
	/* If the trace has the use as well, the lead names this event. */
	buf_clear(&b);
	buf_addf(&b, "%s0.1 write 0x6008:4 @0x30\n", gone);
	lead = freed(buf_string(&b), "0.1", 0x6008, 0x30);
	assert_int_equal(lead->order[0].second.nth, 2);
	lead_free(lead);
	/* No order: the thread that uses the block freed it; the address is in no freed block. */
	assert_null(freed(gone, "0", 0x6008, 0x30));
	assert_null(freed(gone, "0.1", 0x8008, 0x30));
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_orders),
		cmocka_unit_test(test_freed),
		cmocka_unit_test(test_freed_lock),
		cmocka_unit_test(test_first),
		cmocka_unit_test(test_locate),
		cmocka_unit_test(test_other_traces),
		cmocka_unit_test(test_sort),
		cmocka_unit_test(test_cause),
		cmocka_unit_test(test_unchanged),
		cmocka_unit_test(test_cycle),
	};

	return cmocka_run_group_tests(tests, test_setup, test_teardown);
}
