/*
 * Fuzzes all readers of the control block (explore/target/block.h). Each input is a list of writes
 * of a program to the memory that it shares with the tool, after a run that left a report, turns, a
 * state of a strategy and a profile. The results are then read as after a run.
 *
 * Input: a byte that chooses the strategy (and QUEUE), then writes of 9 bytes: area, offset (3
 * bytes), width, value (4 bytes).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/turn_log.h"
#include "base/mem.h"
#include "coverage/fold/queue.h"
#include "explore/cover/expose_active.h"
#include "explore/search/interleavings_seen.h"
#include "explore/search/observe.h"
#include "explore/search/oracle.h"
#include "explore/search/strategy_shares.h"
#include "explore/target/block.h"
#include "sched/active.h"
#include "sched/chess.h"
#include "sched/goal.h"
#include "sched/loose.h"
#include "sched/rng.h"

#define THREADS 3u
#define STEPS 60u
#define ORDERS 4u
#define PROFILE (2u << 20)
#define PIECE (4u << 10)	/* bytes of each area that writes reach */
#define QUEUE 128u		/* flag in the first byte: the run left a queue (slower) */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = { "random", "goal", "loose", "active", "chess", "roundrobin" };

/* What a good run of a strategy left: the beginnings of the areas. */
struct good {
	struct ctl_block head;
	uint8_t turns[PIECE], shared[PIECE], checks[PIECE];
	uint8_t *state, *profile;
	size_t state_size, profile_size;
	uint8_t queue[PIECE];
};

static struct server server;
static struct good *good[ARRAY_SIZE(names)];

static void *live(uint64_t offset)
{
	return (char *)server.live + offset;
}

/* Lets the strategy choose among three threads whose events conflict. */
static void make_state(const struct strategy *s, void *state)
{
	static uint8_t plan[1 << 16];
	struct sched_plan *p = (void *)plan;
	struct sched_order *orders = (void *)(p + 1);
	struct sched_event pending[THREADS];
	const uint32_t runnable[THREADS] = { 0, 1, 2 };
	const uint64_t name[THREADS] = { SCHED_MAIN, sched_child_name(SCHED_MAIN, 1),
					 sched_child_name(SCHED_MAIN, 2) };
	const struct sched_params params = { .seed = 1, .depth = 2, .plan = plan };
	const struct sched_run run = { 0 };
	struct sched_choice choice = { 0 };
	uint64_t rng = 1;

	*p = (struct sched_plan){ .orders = ORDERS };
	for (uint64_t i = 0; i < ORDERS; i++)
		orders[i] = (struct sched_order){ { name[i % 3], 0x1000 + i % 5, 1 },
						  { name[1], 0x1001, 2 } };
	p->size = sizeof(*p) + ORDERS * sizeof(*orders);
	if (strcmp(s->name, "active") == 0) {
		struct sched_wanted *wanted = (void *)(p + 1);

		*p = (struct sched_plan){ .size = sizeof(*p) + sizeof(*wanted), .wanted = 1 };
		*wanted = (struct sched_wanted){ .iroot = { .idiom = 2 } };
		for (unsigned i = 0; i < 3; i++)
			wanted->iroot.event[i] = (struct iroot_event){
				0x1000 + i, i == 1 ? IROOT_WRITE : IROOT_READ };
	}
	s->init(state, &params);
	s->begin(state, &run);
	for (uint64_t step = 0; step < STEPS; step++) {
		struct sched_point point = {
			.step = step, .running = choice.thread, .runs = true, .runnable = runnable,
			.count = THREADS, .threads = THREADS, .pending = pending, .name = name,
		};

		for (unsigned i = 0; i < THREADS; i++)
			pending[i] = (struct sched_event){
				.object = 0x5000 + rng_below(&rng, 3) * 8,
				.site = 0x1000 + rng_below(&rng, 5), .size = 8,
				.op = rng_below(&rng, 2) ? SCHED_OP_READ : SCHED_OP_WRITE };
		s->pick(state, &point, &choice);
	}
}

static void make_profile(void *memory, uint64_t size)
{
	struct trace_queue *queue = trace_queue_of(memory, size);
	struct iroot_profile *p = iroot_profile_init(memory, size - sizeof(*queue), IROOT_WINDOW);
	uint64_t rng = 7;

	for (unsigned i = 0; i < 300; i++) {
		struct iroot_step step = { .thread = (uint32_t)rng_below(&rng, THREADS),
					   .op = 1 + (uint32_t)rng_below(&rng, IROOT_OP_JOIN),
					   .addr = 0x5000 + rng_below(&rng, 6) * 8, .size = 8,
					   .site = 0x1000 + rng_below(&rng, 9) };

		iroot_profile_step(p, &step);
	}
	queue->magic = TRACE_QUEUE_MAGIC;
	queue->tail = 3;
	queue->at[0] = (struct trace_record){ 1ull << 32 | 2, trace_queue_mark(0) };
	for (unsigned i = 1; i < 3; i++)
		queue->at[i] = (struct trace_record){
			0x5000, TRACE_SITE(TRACE_WRITE, 3, 0x1000 + i) };
}

static void make_report(struct ctl_report *r)
{
	uint32_t *words = live(server.block->turns);
	uint64_t *granules = live(server.block->shared);

	r->outcome = CTL_FAILED;
	r->failure = CTL_FAIL_DEADLOCK;
	r->threads = THREADS;
	r->steps = STEPS;
	r->pc = 0x1000;
	snprintf(r->text, sizeof(r->text), "a deadlock");
	for (uint32_t i = 0; i < THREADS; i++) {
		r->ordinal[i] = i;
		r->events[i] = STEPS / THREADS;
		r->at[i] = (struct ctl_report_thread){
			.number = i, .ordinal = i, .state = CTL_REPORT_BLOCKED,
			.op = SCHED_OP_ACQUIRE, .owner = (i + 1) % THREADS, .object = 0x5000,
			.site = 0x1000, .held_count = 2, .stack_count = 3 };
	}
	r->described = THREADS;
	r->modules = 1;
	snprintf(r->module[0].path, sizeof(r->module[0].path), "/nowhere/library.so");
	for (uint32_t i = 0; i < 20; i++)
		r->turns += turn_put(words + r->turns,
				     &(struct turn){ i % THREADS, 0, 3, i / 10 });
	r->checks = 50;
	r->shared_new = 4;
	for (uint64_t i = 0; i < 4; i++)
		granules[i] = 0x5000 + i * 8;
}

/* Copies what the live block has now. */
static struct good *keep(const struct strategy *s)
{
	const struct ctl_block *b = server.block;
	struct good *g = xcalloc(1, sizeof(*g));

	memcpy(&g->head, server.live, sizeof(g->head));
	memcpy(g->turns, live(b->turns), PIECE);
	memcpy(g->shared, live(b->shared), PIECE);
	g->state_size = s->state_size < 64 * PIECE ? s->state_size : 64 * PIECE;
	g->state = xmalloc(g->state_size);
	memcpy(g->state, live(b->state), g->state_size);
	g->profile_size = iroot_profile_used(live(b->profile), b->profile_size) + PIECE;
	g->profile = xmalloc(g->profile_size);
	memcpy(g->profile, live(b->profile), g->profile_size);
	memcpy(g->queue, trace_queue_of(live(b->profile), b->profile_size), PIECE);
	return g;
}

static void set_up(void)
{
	struct err err;

	server = (struct server){ .memory = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING),
				  .config = { .profile_size = PROFILE, .plan_size = 1 << 16 } };
	if (block_make(&server, &err) < 0)
		abort();
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct strategy *s = strategy_find(names[i]);
		struct ctl_request *q = server_request(&server);

		snprintf(q->strategy, sizeof(q->strategy), "%s", s->name);
		q->flags = CTL_HASH | CTL_PROFILE | CTL_DEPENDS | CTL_LEARN;
		block_publish(&server);
		server.live->ready = 1;
		memset(live(server.block->state), 0, s->state_size);
		make_state(s, live(server.block->state));
		make_profile(live(server.block->profile), server.block->profile_size);
		make_report(&server.live->report);
		good[i] = keep(s);
	}
}

static void restore(const struct good *g, bool queue)
{
	const struct ctl_block *b = server.block;

	memcpy(server.live, &g->head, sizeof(g->head));
	memcpy(live(b->turns), g->turns, PIECE);
	memcpy(live(b->shared), g->shared, PIECE);
	memcpy(live(b->state), g->state, g->state_size);
	memcpy(live(b->profile), g->profile, g->profile_size);
	if (queue)
		memcpy(trace_queue_of(live(b->profile), b->profile_size), g->queue, PIECE);
}

/* One write of the program. */
static void damage(const struct good *g, const uint8_t *op)
{
	const struct ctl_block *b = server.block;
	const uint64_t areas[][2] = {
		{ offsetof(struct ctl_block, report), sizeof(struct ctl_report) },
		{ offsetof(struct ctl_block, report), offsetof(struct ctl_report, events) },
		{ b->turns, 512 }, { b->state, g->state_size }, { b->state, 512 },
		{ b->profile, g->profile_size - PIECE }, { b->profile, 512 },
		{ b->profile + b->profile_size - sizeof(struct trace_queue), 512 },
		{ b->shared, 64 }, { 0, 256 },
	};
	const uint64_t *area = areas[op[0] % ARRAY_SIZE(areas)];
	uint64_t at = (op[1] | (uint64_t)op[2] << 8 | (uint64_t)op[3] << 16) % area[1];
	uint64_t value = op[5] | (uint64_t)op[6] << 8 | (uint64_t)op[7] << 16 |
			 (uint64_t)op[8] << 24;
	size_t width = 1u << op[4] % 4;

	if (op[4] & 0x80)
		value = ~value;
	memcpy((char *)server.live + area[0] + at, &value, width);
}

/* --- the readers --- */

static void read_state(const char *name, const void *state)
{
	struct sched_order rest[ORDERS];
	struct goal_result goal;
	struct loose_result loose;
	struct active_result active;
	struct chess_status chess;
	uint64_t steps;

	if (strcmp(name, "goal") == 0) {
		goal_result(state, &goal);
		goal_result_of(state, 1, 2, &goal);
		goal_rest(state, ORDERS, &steps, rest);
	} else if (strcmp(name, "loose") == 0) {
		loose_result(state, &loose);
	} else if (strcmp(name, "active") == 0) {
		const struct iroot iroot = { .idiom = 2 };
		const struct active_visit *seen[IROOT_EVENTS];
		struct expose_assignment out[8];
		uint32_t count[IROOT_EVENTS];

		active_result(state, &active);
		for (unsigned i = 0; i < IROOT_EVENTS; i++)
			count[i] = active_visits(state, i, &seen[i]);
		expose_assign(&iroot, seen, count, 1, out, ARRAY_SIZE(out));
	} else if (strcmp(name, "chess") == 0) {
		chess_status(state, &chess);
	}
	if (strategy_find(name)->end) {
		strategy_find(name)->end((void *)(uintptr_t)state);
		block_write_state(&server);
	}
}

static void read_profile(const struct ctl_block *b)
{
	char *memory = (char *)(uintptr_t)b + b->profile;
	struct trace_queue *queue = trace_queue_of(memory, b->profile_size);
	struct iroot_profile *p = iroot_profile_open(memory, b->profile_size - sizeof(*queue));
	struct iroot_flag flags[IROOT_FLAGS];
	struct iroot_profile_stats stats;
	uint32_t cursor = 0;
	struct iroot found;

	if (!p)
		return;
	if (queue->magic == TRACE_QUEUE_MAGIC && !queue->folding)
		trace_queue_fold(queue, p);
	iroot_profile_finish(p);
	while (iroot_profile_next(p, &cursor, &found))
		;
	iroot_profile_flags(p, flags);
	iroot_profile_stats(p, &stats);
}

static void read_run(void)
{
	struct oracle oracle = { 0 };
	struct oracle_result result;
	struct schedule schedule = { 0 };
	struct feedback feedback = { .slice = 1 };
	struct interleavings_seen seen = { 0 };
	struct buf text = { 0 };
	struct places places;
	struct err err;
	size_t count;

	places_init(&places);
	oracle_judge(&oracle, &server, &result, &err);
	oracle_describe(&result, server_report(&server), &places, &text);
	if (result.verdict == ORACLE_FAILED) {
		oracle_refine(&result, server_report(&server), &places);
		oracle_identity(&result, &places);
	}
	schedule_set_turns(&schedule, server.block);
	oracle_describe_divergence(&result, &schedule, server_report(&server), &places, &text);
	schedule_text(&schedule, &text);
	free(profile_turns(server.block, &count));
	interleavings_seen_add(&seen, server.block);
	feedback_note(&feedback, 0, server.block);
	read_state(server_request(&server)->strategy,
		   (const char *)server.block + server.block->state);
	read_profile(server.block);
	feedback_free(&feedback);
	interleavings_seen_free(&seen);
	schedule_free(&schedule);
	buf_free(&text);
	places_free(&places);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t which;

	if (!server.block)
		set_up();
	if (size == 0)
		return 0;
	which = data[0] % ARRAY_SIZE(names);
	snprintf(server_request(&server)->strategy, 32, "%s", names[which]);
	block_publish(&server);
	capture_clear(&server.result.out);
	capture_clear(&server.result.error);
	restore(good[which], data[0] & QUEUE);
	for (data++, size--; size >= 9; data += 9, size -= 9)
		damage(good[which], data);
	if (block_read(&server))
		read_run();
	return 0;
}
