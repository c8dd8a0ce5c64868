#include "explore/target/block.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/turn_log.h"
#include "coverage/fold/queue.h"
#include "sched/strategy.h"
#include "trace/codec/codec.h"

/* Sizes of areas of the control block: address space, memory is allocated on use. */
#define TURNS_SIZE (256ull << 20)	/* 64 Mi words of the turn log */
#define SHARED_SIZE (128ull << 20)	/* 16 Mi granules */
#define CHECKS_SIZE CTL_CHECKS_MAX

#define COUNT_MAX (1ull << 48)	/* more steps or events than a run of any length can have */
#define ADDRESS_END (1ull << 47)	/* end of the addresses of a program */
#define GRANULE 8u
#define SIGNALS 64u

static uint64_t pages(uint64_t size)
{
	return (size + 4095) & ~4095ull;
}

static void lay_out(struct ctl_block *head, const struct server_config *config)
{
	uint64_t state = 1 << 20;

	for (size_t i = 0; strategies[i]; i++)
		if (strategies[i]->state_size > state)
			state = strategies[i]->state_size;
	head->turns = pages(sizeof(*head));
	head->turns_size = TURNS_SIZE;
	head->plan = head->turns + head->turns_size;
	head->plan_size = pages(config->plan_size) + 4096;
	head->shared = head->plan + head->plan_size;
	head->shared_size = SHARED_SIZE;
	head->state = head->shared + head->shared_size;
	head->state_size = pages(state);
	head->checks = head->state + head->state_size;
	head->checks_size = CHECKS_SIZE;
	head->profile = head->checks + pages(head->checks_size);
	head->profile_size = pages(config->profile_size);
	head->depends = head->profile + head->profile_size;
	head->depends_size = CTL_DEPENDS_BYTES;
	head->size = head->depends + pages(head->depends_size);
}

/*
 * Maps the block twice: as it is, and as the tool's copy, private but for the areas `plan` and
 * `shared`, which follow each other.
 */
static bool map_block(struct server *s, const struct ctl_block *head)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	void *live = mmap(NULL, head->size, PROT_READ | PROT_WRITE, MAP_SHARED, s->memory, 0);
	char *copy = mmap(NULL, head->size, PROT_READ | PROT_WRITE, flags, -1, 0);

	s->live = live != MAP_FAILED ? live : NULL;
	s->block = (void *)copy != MAP_FAILED ? (struct ctl_block *)(void *)copy : NULL;
	s->block_size = head->size;
	return s->live && s->block &&
	       mmap(copy + head->plan, head->state - head->plan, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_FIXED, s->memory, (off_t)head->plan) != MAP_FAILED;
}

int block_make(struct server *s, struct err *err)
{
	struct ctl_block head = { .magic = CTL_MAGIC, .version = CTL_VERSION };

	lay_out(&head, &s->config);
	head.flag_count = s->config.flag_count;
	if (head.flag_count)
		memcpy(head.flags, s->config.flags, head.flag_count * sizeof(*head.flags));
	if (s->memory < 0 || ftruncate(s->memory, (off_t)head.size) < 0)
		return err_set(err, "cannot make the memory shared with the program: %s%s",
			       strerror(errno), errno == EFBIG ? "; raise ulimit -f" : "");
	/* Without its end, reading the memory would kill the tool. A plain file has no seals. */
	fcntl(s->memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
	if (!map_block(s, &head))
		return err_set(err, "cannot map the memory shared with the program: %s",
			       strerror(errno));
	memcpy(s->block, &head, offsetof(struct ctl_block, request));
	block_publish(s);
	return 0;
}

void block_free(struct server *s)
{
	if (s->live)
		munmap(s->live, s->block_size);
	if (s->block)
		munmap(s->block, s->block_size);
	s->live = s->block = NULL;
}

/* Empties a part of the shared memory by freeing its pages: usually few are in use. */
static void free_pages(struct server *s, uint64_t from, uint64_t size)
{
	if (fallocate(s->memory, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from,
		      (off_t)size) < 0)
		memset((char *)s->live + from, 0, size);
}

static void forget_report(struct ctl_report *r)
{
	memset(r, 0, offsetof(struct ctl_report, events));
	r->described = 0;
}

void block_publish(struct server *s)
{
	struct ctl_block *b = s->block;

	if (b->profile_size && s->depth == 0) {
		free_pages(s, b->profile, b->profile_size);
		madvise((char *)b + b->profile, b->profile_size, MADV_DONTNEED);
	}
	b->ready = 0;
	forget_report(&b->report);
	forget_report(&s->live->report);
	memcpy(s->live, b, offsetof(struct ctl_block, report));
}

/* --- checks, of copies only --- */

static const char *counts_damage(const struct ctl_block *b, const struct ctl_report *r)
{
	uint64_t granules = b->shared_size / sizeof(uint64_t), known = b->request.shared_count;

	if (r->outcome > CTL_UNSUPPORTED)
		return "the outcome";
	if (r->failure > CTL_FAIL_OVERFLOW || (r->outcome == CTL_FAILED && !r->failure))
		return "the kind of failure";
	if (r->threads > CTL_THREADS || r->thread >= CTL_THREADS)
		return "the number of threads";
	if (r->modules > CTL_MODULES)
		return "the number of libraries";
	if (r->signal > SIGNALS)
		return "the signal";
	if (r->steps > COUNT_MAX || r->switches > COUNT_MAX)
		return "the number of steps";
	if (r->turns > b->turns_size / sizeof(uint32_t) || r->turns_lost > COUNT_MAX)
		return "the number of turns";
	if (r->checks > b->checks_size || r->kind >= TRACE_KIND_COUNT)
		return "the checks of events";
	if (known > granules || r->shared_new > granules - known)
		return "the number of shared locations";
	if (r->described > CTL_REPORT_THREADS || !memchr(r->text, '\0', sizeof(r->text)))
		return "the description";
	return NULL;
}

static bool is_thread_sane(const struct ctl_report_thread *t)
{
	return t->number < CTL_THREADS && t->parent < CTL_THREADS && t->state <= CTL_REPORT_TIMED &&
	       t->op <= SCHED_OP_OTHER && (t->owner < CTL_THREADS || t->owner == UINT32_MAX) &&
	       t->held_count <= sizeof(t->held) / sizeof(t->held[0]) && t->stack_count <= CTL_STACK;
}

static const char *entries_damage(const struct ctl_report *r)
{
	for (uint32_t i = 0; i < r->threads; i++)
		if (r->events[i] > COUNT_MAX || (i && r->parent[i] >= i))
			return "the tree of threads";
	for (uint32_t i = 0; i < r->described; i++)
		if (!is_thread_sane(&r->at[i]))
			return "the description of a thread";
	for (uint32_t i = 0; i < r->modules; i++)
		if (!memchr(r->module[i].path, '\0', sizeof(r->module[i].path)))
			return "the path of a library";
	return NULL;
}

const char *block_report_damage(const struct ctl_block *b, const struct ctl_report *r)
{
	const char *what = counts_damage(b, r);

	return what ? what : entries_damage(r);
}

const char *block_turns_damage(const uint32_t *words, uint64_t count, uint32_t threads)
{
	struct turn turn;

	for (uint64_t at = 0; turn_get(words, count, &at, &turn);)
		if (turn.kind > SCHED_TURN_SIGNAL || turn.thread >= threads ||
		    turn.steps > COUNT_MAX)
			return "a turn";
	return NULL;
}

/* --- copying --- */

static void copy_area(struct server *s, uint64_t from, uint64_t size)
{
	memcpy((char *)s->block + from, (const char *)s->live + from, size);
}

/* Only the runtime's report and `ready` may differ from what the tool has published. */
static bool is_header_kept(const struct server *s)
{
	const size_t ready = offsetof(struct ctl_block, ready);
	const size_t rest = ready + sizeof(s->block->ready);
	const char *a = (const char *)s->block, *b = (const char *)s->live;

	return memcmp(a, b, ready) == 0 &&
	       memcmp(a + rest, b + rest, offsetof(struct ctl_block, report) - rest) == 0;
}

static const char *read_report(struct server *s)
{
	const struct ctl_report *from = &s->live->report;
	struct ctl_report *r = &s->block->report;
	const char *what;

	memcpy(r, from, offsetof(struct ctl_report, events));
	memcpy(&r->described, &from->described, sizeof(r->described));
	what = counts_damage(s->block, r);
	if (what)
		return what;
	memcpy(r->events, from->events, r->threads * sizeof(*r->events));
	memcpy(r->parent, from->parent, r->threads * sizeof(*r->parent));
	memcpy(r->ordinal, from->ordinal, r->threads * sizeof(*r->ordinal));
	memcpy(r->at, from->at, r->described * sizeof(*r->at));
	memcpy(r->module, from->module, r->modules * sizeof(*r->module));
	return entries_damage(r);
}

static const char *read_turns(struct server *s)
{
	struct ctl_block *b = s->block;

	copy_area(s, b->turns, b->report.turns * sizeof(uint32_t));
	return block_turns_damage((const void *)((const char *)b + b->turns), b->report.turns,
				  b->report.threads);
}

static const char *check_granules(const struct server *s)
{
	const struct ctl_block *b = s->block;
	const uint64_t *granules = (const void *)((const char *)s->live + b->shared);

	for (uint64_t i = 0; i < b->report.shared_new; i++) {
		uint64_t granule = granules[b->request.shared_count + i];

		if (granule >= ADDRESS_END || granule % GRANULE)
			return "a shared location";
	}
	return NULL;
}

/* Copies the part of the strategy's state that is in use, if anything reads it. */
static const char *read_state(struct server *s)
{
	static const char what[] = "the state of the strategy";
	const struct ctl_block *b = s->block;
	const struct strategy *strategy = strategy_find(b->request.strategy);
	size_t size;

	if (!strategy || !strategy->check || (!b->ready && s->depth == 0))
		return NULL;
	size = strategy->check((const char *)s->live + b->state);
	if (!size || size > strategy->state_size)
		return what;
	copy_area(s, b->state, size);
	/* The first check was of memory that the program may still change. */
	return strategy->check((const char *)b + b->state) == size ? NULL : what;
}

/* Copies the profile. If it is damaged, coverage/fold notices: it checks each reference. */
static void read_profile(struct server *s)
{
	const struct ctl_block *b = s->block;
	const struct trace_queue *queue;
	uint64_t used;

	if (!b->profile_size || !(b->request.flags & CTL_PROFILE))
		return;
	used = iroot_profile_used((const char *)s->live + b->profile, b->profile_size);
	copy_area(s, b->profile, used);
	if (b->profile_size < sizeof(*queue) || used > b->profile_size - sizeof(*queue))
		return;
	queue = trace_queue_of((char *)s->live + b->profile, b->profile_size);
	if (queue->magic == TRACE_QUEUE_MAGIC)
		copy_area(s, b->profile + b->profile_size - sizeof(*queue), sizeof(*queue));
}

static const char *read_all(struct server *s)
{
	struct ctl_block *b = s->block;
	const char *what;

	if (!is_header_kept(s))
		return "the request";
	memcpy(&b->ready, &s->live->ready, sizeof(b->ready));
	if (b->ready > 1)
		return "the state of the run";
	if ((what = read_report(s)) || (what = read_turns(s)) || (what = check_granules(s)) ||
	    (what = read_state(s)))
		return what;
	if (b->request.flags & CTL_HASH)
		copy_area(s, b->checks, b->report.checks);
	if (b->request.flags & CTL_DEPENDS)
		copy_area(s, b->depends, b->depends_size);
	read_profile(s);
	return NULL;
}

void block_write_state(struct server *s)
{
	const struct ctl_block *b = s->block;
	const struct strategy *strategy = strategy_find(b->request.strategy);

	memcpy((char *)s->live + b->state, (const char *)b + b->state,
	       strategy->check((const char *)b + b->state));
}

bool block_read(struct server *s)
{
	struct ctl_block *b = s->block;

	s->result.damage = read_all(s);
	if (!s->result.damage)
		return true;
	forget_report(&b->report);
	b->ready = 0;
	madvise((char *)b + b->turns, b->turns_size, MADV_DONTNEED);
	madvise((char *)b + b->state, b->size - b->state, MADV_DONTNEED);
	free_pages(s, b->turns, b->size - b->turns);
	return false;
}
