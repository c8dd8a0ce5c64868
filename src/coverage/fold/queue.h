/*
 * Queue of events from the threads of a program to its profile (coverage/fold/iroot_fold.h). It is
 * in memory that the program (runtime/record/parallel_coverage.c) shares with the tool, and holds
 * raw records in batches, each of one thread.
 *
 * A thread adds the size of its batch to `tail`, copies the batch to the space reserved that way,
 * and marks it as complete. One thread at a time folds complete batches from `head` on, up to the
 * first incomplete one. So the profile gets batches in the order of reservations. The tool folds
 * what is left when the program has ended. Positions only grow, so that a mark is valid at one
 * position only. No libc.
 */
#ifndef COVERAGE_FOLD_QUEUE_H
#define COVERAGE_FOLD_QUEUE_H

#include "abi/mix.h"
#include "abi/trace_roles.h"
#include "coverage/fold/event_step.h"
#include "trace/codec/codec.h"

#define TRACE_QUEUE_MAGIC 0x455545554e525353ull
#define TRACE_QUEUE_RECORDS (64u << 10)	/* of 16 bytes: 1 MiB */

struct trace_queue {
	uint64_t magic;		/* TRACE_QUEUE_MAGIC if the queue is in use */
	/* a thread is folding; if it was killed, a batch may be folded in part */
	uint64_t folding;
	uint64_t head __attribute__((aligned(64)));
	uint64_t tail __attribute__((aligned(64)));
	struct trace_record at[TRACE_QUEUE_RECORDS] __attribute__((aligned(64)));
};

/* The queue at the end of the profile's memory, which has `size` bytes, a multiple of 64. */
static inline struct trace_queue *trace_queue_of(void *memory, uint64_t size)
{
	return (struct trace_queue *)(void *)((char *)memory + size - sizeof(struct trace_queue));
}

static inline struct trace_record *trace_queue_at(struct trace_queue *q, uint64_t position)
{
	return &q->at[position % TRACE_QUEUE_RECORDS];
}

/*
 * The mark of a complete batch: `site` of its first record, whose `addr` has the thread in the
 * upper half and the number of records that follow in the lower. No other record has that value.
 */
static inline uint64_t trace_queue_mark(uint64_t position)
{
	return mix_spread(position + 1);
}

/* Folds one event; `r` has all of its records. */
static inline void trace_queue_event(struct iroot_profile *p, uint32_t thread,
				     const struct trace_record *r)
{
	unsigned kind = trace_site_kind(r->site), result = (unsigned)(r->addr >> 48), count;
	uint64_t size = 1ull << (r->site >> 56 & TRACE_SIZE_MASK), arg = 0;
	struct iroot_step steps[TRACE_STEPS];

	if (kind == TRACE_THREAD_START) {
		/* The stack's memory may have been the stack of a thread that ended. */
		steps[0] = (struct iroot_step){ .thread = thread, .op = IROOT_OP_FRESH,
						.addr = r[2].addr,
						.size = r[2].site - r[2].addr };
		if (r[1].site >> 32 && r[2].site > r[2].addr)
			iroot_profile_step(p, &steps[0]);
		return;
	}
	if (trace_roles(kind) & ROLE_ATOMIC)
		result = 0;
	else if (trace_extra(kind))
		size = arg = r[1].site;
	count = trace_steps(steps, thread, kind, r->addr & TRACE_ADDR_MASK, size, arg, result,
			    r->site & TRACE_ADDR_MASK);
	for (unsigned i = 0; i < count; i++)
		iroot_profile_step(p, &steps[i]);
}

static inline void trace_queue_fold_all(struct trace_queue *q, struct iroot_profile *p)
{
	uint64_t head = q->head, left = TRACE_QUEUE_RECORDS;

	for (;;) {
		const struct trace_record *first = trace_queue_at(q, head);
		/* Pairs with the store by the thread that completes the batch. */
		uint64_t mark = __atomic_load_n(&first->site, __ATOMIC_ACQUIRE);
		uint32_t thread = (uint32_t)(first->addr >> 32), count = (uint32_t)first->addr;

		if (mark != trace_queue_mark(head) || count >= left)
			return;
		left -= count + 1;
		for (uint32_t i = 1, records; p && i <= count; i += records) {
			struct trace_record r[3];

			r[0] = *trace_queue_at(q, head + i);
			records = 1 + trace_extra(trace_site_kind(r[0].site));
			for (uint32_t k = 1; k < records && k < 3; k++)
				r[k] = *trace_queue_at(q, head + i + k);
			trace_queue_event(p, thread, r);
		}
		head += count + 1ull;
		/* Pairs with the load by a thread that waits for room. */
		__atomic_store_n(&q->head, head, __ATOMIC_RELEASE);
	}
}

/* Folds all complete batches into `p`, or drops them if that is NULL. One thread at a time. */
static inline void trace_queue_fold(struct trace_queue *q, struct iroot_profile *p)
{
	q->folding = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);	/* a killed process leaves `folding` set */
	trace_queue_fold_all(q, p);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	q->folding = 0;
}

#endif
