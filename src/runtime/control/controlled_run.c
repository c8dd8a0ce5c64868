/*
 * A controlled run from before main to its end, and the report that it leaves for the tool.
 */
#include "abi/mix.h"
#include "runtime/control/library_waits.h"
#include "runtime/control/step.h"
#include "runtime/control/watchdog.h"
#include "runtime/core/sys.h"
#include "runtime/core/tool_block.h"
#include "sched/exact.h"

bool ctl_open(const char *path, int server, bool kernel_threads)
{
	struct ctl_block *b = tool_block_map(path);

	if (!b)
		return false;
	ctl.block = b;
	ctl.server = server;
	ctl.kernel_threads = kernel_threads || !context_user_supported();
	return true;
}

static void start_strategy(void)
{
	struct ctl_block *b = ctl.block;
	const struct ctl_request *q = &b->request;
	struct sched_params params = {
		.seed = q->seed,
		.depth = q->depth,
		.switch_permille = q->switch_permille,
		.plan = q->plan_size ? (const char *)b + b->plan : NULL,
	};
	struct sched_run run = {
		.number = q->run,
		.length = q->length,
		.threads = q->threads,
		.events = q->threads ? q->events : NULL,
		.parent = q->threads ? q->parent : NULL,
	};

	ctl.strategy = strategy_find(q->strategy);
	if (!ctl.strategy)
		ctl_unsupported("no such strategy");
	if (ctl.strategy->state_size > b->state_size)
		ctl_unsupported("the block has no room for the strategy's state");
	ctl.state = (char *)b + b->state;
	if (q->begin_search) {
		sys_clear(ctl.state, ctl.strategy->state_size);
		ctl.strategy->init(ctl.state, &params);
	}
	ctl.strategy->begin(ctl.state, &run);
}

static void report_clear(struct ctl_report *r)
{
	/* Entries of the big arrays are valid up to `threads` and `described`. */
	sys_clear(r, offsetof(struct ctl_report, events));
	r->described = 0;
}

void ctl_begin(void)
{
	ctl.flags = ctl.block->request.flags;
	report_clear(&ctl.block->report);
	ctl_uncontrolled_begin();
	ctl_shared_apply();
	ctl_profile_begin();
	ctl_thread_first();
	if (ctl.flags & CTL_DEPENDS)
		ctl_depends_begin();
	start_strategy();
	ctl.block->ready = 1;
	ctl.begun = true;
	ctl_libraries_check();
	ctl_watchdog_begin();
}

void ctl_continue(void)
{
	ctl.flags = ctl.block->request.flags;
	report_clear(&ctl.block->report);
	ctl_uncontrolled_begin();
	ctl.block->report.turns = ctl.turn_words;
	ctl.block->report.threads = ctl.count;
	start_strategy();
	ctl_library_continue();
	ctl_watchdog_begin();
}

static enum ctl_report_state report_state(const struct ctl_thread *t)
{
	if (t->state == CTL_DONE)
		return CTL_REPORT_ENDED;
	if (t->runnable || !t->wait)
		return CTL_REPORT_RUNNABLE;
	if (t->wait->external)
		return CTL_REPORT_EXTERNAL;
	return t->wait->deadline != CTL_NEVER ? CTL_REPORT_TIMED : CTL_REPORT_BLOCKED;
}

static void describe(struct ctl_report_thread *to, const struct ctl_thread *t)
{
	const struct snarlrt_tls *tls = t->tls;
	const struct ctl_wait *w = t->wait;

	sys_clear(to, sizeof(*to));
	to->number = t->number;
	to->parent = t->parent;
	to->ordinal = t->ordinal;
	to->owner = UINT32_MAX;
	to->state = report_state(t);
	if (w) {
		to->op = w->event.op;
		to->object = w->event.object;
		to->site = w->event.site;
	}
	for (uint32_t i = 0; i < t->held_count && i < CTL_HELD && i < ARRAY_SIZE(to->held); i++) {
		to->held[i].object = t->held[i].object;
		to->held[i].pc = t->held[i].pc;
		to->held_count++;
	}
	if (t->state == CTL_DONE || !tls || !tls->frame || !t->frames)
		return;
	for (const struct snarlrt_frame *f = tls->frame; f > t->frames;) {
		f--;
		if (!to->inner)
			to->inner = f->pc;
		if (to->stack_count < CTL_STACK)
			to->stack[to->stack_count++] = f->caller;
	}
}

/* Hashes the innermost CTL_STACK calls only: recursion can be arbitrarily deep. */
uint64_t ctl_call_stack_hash(uint32_t thread)
{
	const struct ctl_thread *t = ctl.threads[thread];
	const struct snarlrt_frame *f = t->tls ? t->tls->frame : NULL;
	uint64_t hash = 1;

	for (unsigned i = 0; f && t->frames && f > t->frames && i < CTL_STACK; i++)
		hash = mix_spread(hash ^ (--f)->caller);
	return hash | 1;
}

static uint32_t holder_of(uint64_t object, uint32_t except)
{
	for (uint32_t i = 0; i < ctl.count; i++)
		for (uint32_t k = 0; k < ctl.threads[i]->held_count && k < CTL_HELD; k++)
			if (i != except && ctl.threads[i]->held[k].object == object)
				return i;
	return UINT32_MAX;
}

void ctl_describe_threads(void)
{
	struct ctl_report *r = &ctl.block->report;

	r->described = 0;
	for (uint32_t i = 0; i < ctl.count && r->described < CTL_REPORT_THREADS; i++) {
		struct ctl_report_thread *to = &r->at[r->described];

		describe(to, ctl.threads[i]);
		if (to->object)
			to->owner = holder_of(to->object,
					      ctl.threads[i]->state == CTL_LIVE ? UINT32_MAX : i);
		r->described++;
	}
}

static void fill_report(enum ctl_outcome outcome, int status)
{
	struct ctl_report *r = &ctl.block->report;

	if (ctl.begun && ctl.current) {
		ctl_last_turn();
		if (ctl.tracing)
			ctl_trace_finish(outcome == CTL_EXITED ? status : CTL_STATUS);
		ctl_describe_threads();
		r->thread = ctl.current->number;
	}
	r->steps = ctl.steps;
	r->hash = ctl.hash;
	r->now = ctl.now;
	for (uint32_t i = 0; i < ctl.count; i++)
		r->events[i] = ctl.threads[i]->steps;
	r->outcome = outcome;
}

void ctl_end_run(enum ctl_outcome outcome)
{
	if (!ctl.private_child && ctl.block->report.outcome == CTL_RUNNING)
		fill_report(outcome, 0);
	ctl.ended = true;
	for (;;)
		sys_call(SYS_exit_group, CTL_STATUS, 0, 0);
}

void ctl_finish(int status)
{
	if (!mode_controls() || !ctl.begun || ctl.ended)
		return;
	if (ctl.borrowed) {
		ctl_give_back();
	} else if (!ctl.private_child) {
		ctl.block->report.status = status;
		fill_report(CTL_EXITED, status);
	} else if (ctl.current) {
		ctl_account(ctl.current);
	}
	ctl.ended = true;
}

static void set_text(const char *text)
{
	char *to = ctl.block->report.text;
	size_t n = 0;

	while (text && text[n] && n + 1 < CTL_TEXT) {
		to[n] = text[n];
		n++;
	}
	to[n] = 0;
}

void ctl_unsupported(const char *text)
{
	if (!ctl.private_child)
		set_text(text);
	else
		sys_warn(text);
	ctl_end_run(CTL_UNSUPPORTED);
}

void ctl_fail(enum ctl_failure what, const void *object, const void *pc, const void *pc2,
	      const void *pc3, const char *text)
{
	struct ctl_report *r = &ctl.block->report;

	if (ctl.private_child) {
		sys_warn(text);
		ctl_end_run(CTL_FAILED);
	}
	r->failure = what;
	r->object = (uint64_t)(uintptr_t)object;
	r->pc = (uint64_t)(uintptr_t)pc;
	r->pc2 = (uint64_t)(uintptr_t)pc2;
	r->pc3 = (uint64_t)(uintptr_t)pc3;
	set_text(text);
	ctl_end_run(CTL_FAILED);
}

void ctl_misuse(const void *object, const void *pc, const char *text)
{
	if (!(ctl.flags & CTL_IGNORE_MISUSE))
		ctl_fail(CTL_FAIL_MISUSE, object, pc, NULL, NULL, text);
}

void ctl_held_add(const void *object, const void *pc)
{
	struct ctl_thread *t = ctl.current;

	if (t->held_count < CTL_HELD)
		t->held[t->held_count] = (struct ctl_held){ (uint64_t)(uintptr_t)object,
							    (uint64_t)(uintptr_t)pc };
	t->held_count++;
}

void ctl_held_drop(const void *object)
{
	struct ctl_thread *t = ctl.current;
	uint32_t known = t->held_count < CTL_HELD ? t->held_count : CTL_HELD;

	for (uint32_t i = known; i-- > 0;) {
		if (t->held[i].object != (uint64_t)(uintptr_t)object)
			continue;
		for (; i + 1 < known; i++)
			t->held[i] = t->held[i + 1];
		t->held_count--;
		return;
	}
	if (t->held_count > CTL_HELD)
		t->held_count--;
}

/*
 * From now on this process, a child that the program forked, runs without preemption. What it does
 * is not part of the run's schedule.
 */
void ctl_become_private(void)
{
	static struct ctl_block block SNARLRT_BIG;	/* the shared block is the run's */
	static uint64_t state[64];
	struct sched_params params = { 0 };

	ctl.private_child = true;
	ctl.server = -1;
	ctl.tracing = false;
	ctl.profile = NULL;
	ctl.flags = 0;
	ctl.block = &block;
	ctl.state = state;
	ctl.strategy = &strategy_exact;	/* without a plan: never preempts */
	ctl.strategy->init(ctl.state, &params);
	ctl.strategy->begin(ctl.state, &(struct sched_run){ 0 });
}

/* The program forked, and this is the child. Only the thread that forked exists in it. */
void ctl_forked_child(void)
{
	struct ctl_thread *self = ctl.current;

	if (!mode_controls() || !ctl.begun)
		return;
	ctl_timer_set(0, 0, NULL);
	if (ctl_borrow())
		return;
	ctl_uncontrolled_forked();
	ctl_become_private();
	for (uint32_t i = 0; i < ctl.count; i++)
		if (ctl.threads[i] != self)
			ctl.threads[i]->state = CTL_FREE;
}
