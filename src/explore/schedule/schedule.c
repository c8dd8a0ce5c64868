/*
 * Schedules in memory: made from a run, copied, and turned into a plan for the runtime.
 */
#include "explore/schedule/schedule.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/turn_log.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "explore/target/capture.h"
#include "sched/strategy.h"

#define GRANULE 8u

static void free_list(struct schedule_list *l)
{
	for (size_t i = 0; i < l->count; i++)
		free(l->items[i]);
	free(l->items);
}

static void free_event(struct schedule_event *e)
{
	free(e->thread);
	free(e->file);
	free(e->function);
	free(e->build_id);
	free(e->op);
	free(e->object);
}

void schedule_free_goal(struct schedule_goal *g)
{
	free_event(&g->first);
	free_event(&g->second);
	free_event(&g->held);
}

void schedule_free_goals(struct schedule *s)
{
	for (size_t i = 0; i < s->goal_count; i++)
		schedule_free_goal(&s->goals[i]);
	free(s->goals);
	s->goals = NULL;
	s->goal_count = s->goal_capacity = 0;
	free(s->cause);
	free(s->pattern);
	free(s->variable);
	s->cause = s->pattern = s->variable = NULL;
}

void schedule_free(struct schedule *s)
{
	free(s->program);
	free(s->build_id);
	free(s->directory);
	free_list(&s->arguments);
	free_list(&s->environment);
	free(s->input);
	free(s->strategy);
	free(s->failure);
	free(s->check);
	free(s->seal);
	free(s->shared);
	free_list(&s->threads);
	free(s->turns);
	buf_free(&s->events);
	schedule_free_goals(s);
	strmap_free(&s->thread_index);
	*s = (struct schedule){ 0 };
}

void schedule_list_add(struct schedule_list *l, const char *text)
{
	l->items = xgrow(l->items, l->count, &l->capacity, sizeof(*l->items));
	l->items[l->count++] = xstrdup(text);
}

uint32_t schedule_thread(struct schedule *s, const char *path)
{
	bool added;
	uint64_t *index = strmap_put(&s->thread_index, path, strlen(path), &added);

	if (added) {
		schedule_list_add(&s->threads, path);
		*index = s->threads.count;
	}
	return (uint32_t)(*index - 1);
}

/* Parses exactly 16 lower-case hex digits. */
static bool hex_hash(const char *text, uint64_t *hash)
{
	*hash = 0;
	for (int i = 0; i < 16; i++) {
		static const char digits[] = "0123456789abcdef";
		const char *d = text[i] ? strchr(digits, text[i]) : NULL;

		if (!d)
			return false;
		*hash = *hash << 4 | (uint64_t)(d - digits);
	}
	return text[16] == '\0';
}

bool schedule_path_hash(const char *path, uint64_t *hash)
{
	if (*path == '@')
		return hex_hash(path + 1, hash);
	if (*path++ != '0' || strlen(path) > SCHEDULE_MAX_PATH)
		return false;
	*hash = SCHED_MAIN;
	while (*path) {
		uint64_t ordinal = 0;

		if (*path++ != '.' || *path < '1' || *path > '9')
			return false;
		while (*path >= '0' && *path <= '9' && ordinal <= UINT32_MAX)
			ordinal = ordinal * 10 + (uint64_t)(*path++ - '0');
		if (ordinal > UINT32_MAX)
			return false;
		*hash = sched_child_name(*hash, (uint32_t)ordinal);
	}
	return true;
}

void schedule_set_target(struct schedule *s, const struct target *t)
{
	s->program = xstrdup(t->program);
	s->build_id = *t->build_id ? xstrdup(t->build_id) : NULL;
	s->directory = xstrdup(t->directory);
	for (char **a = t->argv; *a; a++)
		schedule_list_add(&s->arguments, *a);
	for (size_t i = 0; i < t->env_saved; i++)
		schedule_list_add(&s->environment, t->env[i]);
	s->input = t->input >= 0 ? xstrdup("stdin") : NULL;
	s->input_size = t->input_size;
	s->input_hash = t->input_hash;
}

static void add_turn(struct schedule *s, const struct schedule_turn *turn)
{
	s->turns = xgrow(s->turns, s->turn_count, &s->turn_capacity, sizeof(*s->turns));
	s->turns[s->turn_count++] = *turn;
}

static char *copy_text(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

void schedule_copy_header(struct schedule *to, const struct schedule *from)
{
	*to = (struct schedule){
		.program = copy_text(from->program), .build_id = copy_text(from->build_id),
		.directory = copy_text(from->directory), .input = copy_text(from->input),
		.input_size = from->input_size, .input_hash = from->input_hash,
		.seed = from->seed, .run = from->run, .depth = from->depth, .flags = from->flags,
		.strategy = copy_text(from->strategy), .expect_exit = from->expect_exit,
		.expect_output = from->expect_output, .output_size = from->output_size,
		.output_hash = from->output_hash, .check = copy_text(from->check),
	};
	for (size_t i = 0; i < from->arguments.count; i++)
		schedule_list_add(&to->arguments, from->arguments.items[i]);
	for (size_t i = 0; i < from->environment.count; i++)
		schedule_list_add(&to->environment, from->environment.items[i]);
	for (size_t i = 0; i < from->shared_count; i++) {
		to->shared = xgrow(to->shared, to->shared_count, &to->shared_capacity,
				   sizeof(*to->shared));
		to->shared[to->shared_count++] = from->shared[i];
	}
}

void schedule_copy_run(struct schedule *to, const struct schedule *from)
{
	to->steps = from->steps;
	to->failure = copy_text(from->failure);
	for (size_t i = 0; i < from->turn_count; i++) {
		struct schedule_turn turn = from->turns[i];

		turn.thread = schedule_thread(to, from->threads.items[turn.thread]);
		add_turn(to, &turn);
	}
}

static int open_input(const struct schedule *s, const char *folder, struct target *t,
		      struct err *err)
{
	char *path = *s->input == '/' ? xstrdup(s->input) : xasprintf("%s/%s", folder, s->input);
	int fd = file_open_regular(path), result;

	if (fd < 0) {
		err_set(err, "cannot open %s, the schedule's stdin: %s", path, strerror(errno));
		free(path);
		return -1;
	}
	result = target_input(t, fd, err);
	close(fd);
	if (result == 0 && (t->input_size != s->input_size || t->input_hash != s->input_hash))
		result = err_set(err, "%s is not the stdin of this schedule any more", path);
	free(path);
	return result;
}

int schedule_get_target(const struct schedule *s, const char *folder, struct target *t,
			struct err *err)
{
	*t = (struct target){ .input = -1, .input_hash = HASH_START };
	t->env = xcalloc(1, sizeof(*t->env));
	t->argv = xcalloc(s->arguments.count + 2, sizeof(*t->argv));
	for (size_t i = 0; i < s->arguments.count; i++)
		t->argv[i] = xstrdup(s->arguments.items[i]);
	for (size_t i = 0; i < s->environment.count; i++)
		target_set_env(t, s->environment.items[i]);
	t->directory = xstrdup(s->directory ? s->directory : "/");
	target_take_rest(t);
	if (!s->program)
		return err_set(err, "the schedule names no program; give one after --");
	if (s->arguments.count == 0)
		t->argv[0] = xstrdup(s->program);
	if (target_program(t, s->program, err) < 0)
		return -1;
	return s->input ? open_input(s, folder, t, err) : 0;
}

/* Checks all indices: the target writes the report and may damage it. */
void schedule_path(const struct ctl_report *r, uint32_t number, struct buf *out)
{
	uint32_t parts[SCHEDULE_MAX_PATH / 2];
	size_t count = 0;

	while (number != 0 && number < CTL_THREADS && count < ARRAY_SIZE(parts) &&
	       r->parent[number] < number) {
		parts[count++] = r->ordinal[number];
		number = r->parent[number];
	}
	buf_add_char(out, '0');
	while (count > 0)
		buf_addf(out, ".%u", parts[--count]);
}

static uint32_t thread_of(struct schedule *s, const struct ctl_report *r, uint32_t number)
{
	struct buf path = { 0 };
	uint32_t thread;

	schedule_path(r, number, &path);
	thread = schedule_thread(s, buf_string(&path));
	buf_free(&path);
	return thread;
}

/* Adds the last turn of a killed run, which is not in its turn log: the thread that ran last. */
static void add_last(struct schedule *s, const struct ctl_report *r)
{
	add_turn(s, &(struct schedule_turn){ .thread = thread_of(s, r, r->thread),
					     .kind = SCHED_TURN_RUN,
					     .steps = SCHED_NO_LIMIT });
}

static void set_events(struct schedule *s, const struct ctl_block *b)
{
	uint64_t count = b->report.checks < b->checks_size ? b->report.checks : b->checks_size;

	buf_clear(&s->events);
	buf_add(&s->events, (const char *)b + b->checks,
		count < SCHEDULE_EVENTS_MAX ? count : SCHEDULE_EVENTS_MAX);
}

void schedule_set_turns(struct schedule *s, const struct ctl_block *b)
{
	const uint32_t *words = (const void *)((const char *)b + b->turns);
	uint64_t most = b->turns_size / sizeof(*words);
	uint64_t count = b->report.turns < most ? b->report.turns : most;
	uint32_t threads = b->report.threads < CTL_THREADS ? b->report.threads : CTL_THREADS;
	uint32_t *names = xcalloc(threads + 1, sizeof(*names));
	struct turn turn;

	for (uint32_t i = 0; i < threads; i++)
		names[i] = thread_of(s, &b->report, i);
	set_events(s, b);
	s->turn_count = 0;
	s->steps = b->report.steps;
	for (uint64_t at = 0; turn_get(words, count, &at, &turn);) {
		if (turn.kind > SCHED_TURN_SIGNAL || turn.thread >= threads)
			continue;	/* damaged by the target */
		if (turn.kind == SCHED_TURN_RUN && !b->report.steps)
			s->steps += turn.steps;	/* a killed run leaves report.steps 0 */
		add_turn(s, &(struct schedule_turn){ .thread = names[turn.thread],
						     .kind = turn.kind,
						     .steps = turn.steps,
						     .check = turn.check });
	}
	free(names);
	if (b->report.outcome == CTL_RUNNING && b->report.turns <= most)
		add_last(s, &b->report);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

void schedule_set_shared(struct schedule *s, const uint64_t *granules, size_t count)
{
	uint64_t *sorted = xmalloc((count + 1) * sizeof(*sorted));

	if (count > 0)
		memcpy(sorted, granules, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), by_value);
	s->shared_count = 0;
	for (size_t i = 0; i < count; i++) {
		uint64_t start = sorted[i] & ~(uint64_t)(GRANULE - 1);
		struct schedule_range *last =
			s->shared_count ? &s->shared[s->shared_count - 1] : NULL;

		if (last && start < last->start + last->size)
			continue;
		if (last && start == last->start + last->size) {
			last->size += GRANULE;
			continue;
		}
		s->shared =
			xgrow(s->shared, s->shared_count, &s->shared_capacity, sizeof(*s->shared));
		s->shared[s->shared_count++] = (struct schedule_range){ start, GRANULE };
	}
	free(sorted);
}

void schedule_granules(const struct schedule *s, struct buf *out)
{
	for (size_t i = 0; i < s->shared_count; i++)
		for (uint64_t at = 0; at < s->shared[i].size; at += GRANULE) {
			uint64_t addr = s->shared[i].start + at;

			buf_add(out, &addr, sizeof(addr));
		}
}

/* Resolves an event's thread path to its hash, and its offset in a module to a pc. */
static int plan_name(const struct schedule_event *e, const struct places *places,
		     struct sched_name *out, struct err *err)
{
	out->thread = 0;
	if (e->thread && !schedule_path_hash(e->thread, &out->thread))
		return err_set(err, "'%s' is not a thread path", e->thread);
	out->nth = e->nth;
	out->site = e->build_id && places ? places_find(places, e->build_id, e->offset) : 0;
	if (!out->site && (e->build_id || e->file))
		return err_set(err, "the program has no place %s:%u (%s+0x%llx)",
			       e->file ? e->file : "?", e->line, e->build_id ? e->build_id : "?",
			       (unsigned long long)e->offset);
	return 0;
}

uint64_t schedule_plan_size(const struct schedule *s)
{
	return sizeof(struct sched_plan) + s->turn_count * sizeof(struct sched_turn) +
	       s->goal_count * sizeof(struct sched_order) + s->events.size;
}

int schedule_plan(const struct schedule *s, const struct places *places, struct buf *plan,
		  struct err *err)
{
	struct sched_plan head = {
		.size = schedule_plan_size(s),
		.turns = s->turn_count,
		.orders = s->goal_count,
		.checks = s->events.size,
	};
	uint64_t *hashes = xcalloc(s->threads.count + 1, sizeof(*hashes));

	for (size_t i = 0; i < s->threads.count; i++)
		schedule_path_hash(s->threads.items[i], &hashes[i]);
	buf_add(plan, &head, sizeof(head));
	for (size_t i = 0; i < s->turn_count; i++) {
		const struct schedule_turn *t = &s->turns[i];
		struct sched_turn turn = {
			.name = hashes[t->thread], .steps = t->steps, .kind = t->kind,
			.check = t->check,
		};

		buf_add(plan, &turn, sizeof(turn));
	}
	free(hashes);
	for (size_t i = 0; i < s->goal_count; i++) {
		const struct schedule_goal *g = &s->goals[i];
		struct sched_order order;

		if (plan_name(&g->first, places, &order.first, err) < 0 ||
		    plan_name(g->is_held ? &g->held : &g->second, places, &order.second, err) < 0)
			return -1;
		buf_add(plan, &order, sizeof(order));
	}
	buf_add(plan, s->events.data, s->events.size);
	return 0;
}
