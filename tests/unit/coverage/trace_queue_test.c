/*
 * Batches of records in a queue: they are folded in the order of their reservations, also across
 * the end of the ring, and only up to the first incomplete batch.
 */
#include "iroot_util.h"

#include "coverage/fold/queue.h"

static struct trace_queue queue;

static void put(uint32_t thread, const struct trace_record *from, uint32_t count, bool whole)
{
	uint64_t at = queue.tail;

	queue.tail += count + 1;
	for (uint32_t i = 0; i < count; i++)
		*trace_queue_at(&queue, at + 1 + i) = from[i];
	trace_queue_at(&queue, at)->addr = (uint64_t)thread << 32 | count;
	if (whole)
		trace_queue_at(&queue, at)->site = trace_queue_mark(at);
}

static struct trace_record access(unsigned kind, uint64_t addr, uint64_t pc)
{
	return (struct trace_record){ addr, TRACE_SITE(kind, 2, pc) };
}

static struct iroot_profile *profile(void)
{
	return iroot_profile_init(calloc(1, MEMORY), MEMORY, 3000);
}

/* The number of exposed iRoots, and the last of them. */
static size_t exposed(struct iroot_profile *p, struct iroot *last)
{
	uint32_t cursor = 0, flags;
	struct iroot root;
	size_t count = 0;

	iroot_profile_finish(p);
	while ((flags = iroot_profile_next(p, &cursor, &root)))
		if (flags & IROOT_EXPOSED) {
			*last = root;
			count++;
		}
	free(p);
	return count;
}

static void test_order(void **state)
{
	/* An unlock has a second record; it must not be taken for an access. */
	const struct trace_record one[] = { access(TRACE_WRITE, 0x1000, 20),
					    { 0x9000, TRACE_SITE(TRACE_MUTEX_UNLOCK, 0, 40) },
					    { 7, access(TRACE_WRITE, 0, 21).site } };
	const struct trace_record two[] = { access(TRACE_READ, 0x1000, 10) };
	struct iroot_profile *p = profile();
	struct iroot root;

	(void)state;
	/* The first batch lies across the end of the ring. */
	queue.head = queue.tail = 5ull * TRACE_QUEUE_RECORDS - 2;
	put(1, one, 3, true);
	put(2, two, 1, true);
	trace_queue_fold(&queue, p);
	assert_int_equal(queue.head, queue.tail);
	assert_int_equal(exposed(p, &root), 1);
	assert_int_equal(root.idiom, 1);
	assert_int_equal(root.event[0].site, 20);
	assert_int_equal(root.event[1].site, 10);
}

static void test_not_whole(void **state)
{
	const struct trace_record w[] = { access(TRACE_WRITE, 0x1000, 20) };
	struct iroot_profile *p = profile();
	struct iroot root;
	uint64_t at;

	(void)state;
	put(1, w, 1, true);
	at = queue.tail;
	put(2, w, 1, false);
	put(3, w, 1, true);
	trace_queue_fold(&queue, p);
	assert_int_equal(queue.head, at);
	trace_queue_at(&queue, at)->site = trace_queue_mark(at);
	trace_queue_fold(&queue, NULL);	/* drops them */
	assert_int_equal(queue.head, queue.tail);
	assert_int_equal(exposed(p, &root), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_not_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
