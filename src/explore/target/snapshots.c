/*
 * Snapshots: a run with CTL_SNAPSHOT stops at its point and becomes a fork server there.
 *
 * Example with two leads A and B of one profile run, whose orders begin at steps 300 and 500:
 *
 *	snapshots_towards(A: 300)	run exact to step 300	depth 1
 *	snapshots_arrived(A)		the attempts at A continue from step 300
 *	snapshots_towards(B: 500)	run exact from 300 to 500	depth 2
 *	snapshots_arrived(B)		the attempts at B continue from step 500
 *	snapshots_towards(A: 300)	leave B			depth 1
 */
#include "explore/target/snapshots.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"

void snapshots_free(struct snapshots *s)
{
	for (unsigned i = 0; i < s->depth; i++) {
		capture_free(&s->at[i].out);
		capture_free(&s->at[i].error);
	}
	*s = (struct snapshots){ 0 };
}

bool snapshots_possible(const struct snapshots_point *point)
{
	uint64_t steps = 0;

	for (size_t i = 0; i < point->count && steps <= point->steps; i++) {
		const struct sched_turn *t = &point->turns[i];

		if (t->kind == SCHED_TURN_RUN)
			steps += t->steps;
		else if (t->kind != SCHED_TURN_WAKE && steps == point->steps)
			return false;
	}
	return steps >= point->steps;
}

size_t snapshots_cut(const struct snapshots_point *point, uint64_t from, struct sched_turn *out)
{
	uint64_t steps = 0;
	size_t count = 0;

	for (size_t i = 0; i < point->count && steps <= point->steps; i++) {
		struct sched_turn t = point->turns[i];
		uint64_t first = steps, last;

		if (t.kind != SCHED_TURN_RUN) {
			/* A wake-up, time-out or signal belongs to the step before it. */
			if (steps > from || from == 0)
				out[count++] = t;
			continue;
		}
		steps += t.steps;
		first = first > from ? first : from;
		last = steps < point->steps ? steps : point->steps;
		t.steps = last > first ? last - first : 0;
		t.check = 0;
		if (t.steps)
			out[count++] = t;
	}
	return count;
}

static bool same_point(const struct snapshots_point *a, const struct snapshots_point *b)
{
	return a->turns == b->turns && a->steps == b->steps;
}

/* Drops snapshots that the worker no longer has: it left them, or they died. */
static void drop_dead(struct snapshots *s, const struct server *server)
{
	while (s->depth > server->depth) {
		s->depth--;
		capture_free(&s->at[s->depth].out);
		capture_free(&s->at[s->depth].error);
	}
}

/* Leaves the innermost snapshot. Later runs begin with the output up to the outer point. */
static void leave_innermost(struct snapshots *s, struct server *server)
{
	struct err err;

	if (server_leave(server, &err) == 0) {
		capture_copy(&server->before_out, &s->at[s->depth - 1].out);
		capture_copy(&server->before_error, &s->at[s->depth - 1].error);
	}
	drop_dead(s, server);
}

/* Asks for a run from step `from` to a snapshot at `point`. */
static void request(struct server *server, const struct snapshots_point *point, uint64_t from)
{
	struct ctl_request *q = server_request(server);
	struct sched_plan *plan = server_area(server, server->block->plan);

	snprintf(q->strategy, sizeof(q->strategy), "exact");
	q->begin_search = 1;
	q->flags |= CTL_SNAPSHOT;
	q->stop_at = point->steps;
	*plan = (struct sched_plan){ 0 };
	plan->turns = snapshots_cut(point, from, (struct sched_turn *)(plan + 1));
	plan->size = q->plan_size = sizeof(*plan) + plan->turns * sizeof(struct sched_turn);
}

bool snapshots_towards(struct snapshots *s, struct server *server,
		       const struct snapshots_point *point)
{
	uint64_t from = 0;

	drop_dead(s, server);
	while (s->depth > 0) {
		const struct snapshots_point *top = &s->at[s->depth - 1].point;

		if (same_point(top, point))
			return false;
		from = top->steps;
		if (top->turns == point->turns && from < point->steps && s->depth < SNAPSHOTS_DEPTH)
			break;
		from = 0;
		leave_innermost(s, server);
	}
	if (!point->steps || s->impossible || server->exec || same_point(&s->refused, point)) {
		while (s->depth > 0)
			leave_innermost(s, server);
		return false;
	}
	request(server, point, from);
	return true;
}

/* Appends the open files of a process, as /proc/PID/fd shows them, sorted by name. */
static void add_files(pid_t pid, struct buf *out)
{
	char path[64], target[256];
	struct dirent **names;
	int count;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	count = scandir(path, &names, NULL, alphasort);
	for (int i = 0; i < count; i++) {
		char link[96];
		ssize_t size;

		snprintf(link, sizeof(link), "%s/%.20s", path, names[i]->d_name);
		size = readlink(link, target, sizeof(target));
		if (size > 0)
			buf_addf(out, "%s %.*s\n", names[i]->d_name, (int)size, target);
		free(names[i]);
	}
	if (count >= 0)
		free(names);
}

/* Appends the number of shared mappings of a process. */
static void add_shared(pid_t pid, struct buf *out)
{
	char path[64], line[512];
	unsigned shared = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		const char *mode = strchr(line, ' ');

		shared += mode && mode[4] == 's';
	}
	if (f)
		fclose(f);
	buf_addf(out, "%u\n", shared);
}

static bool has_children(pid_t pid)
{
	char path[96];
	FILE *f;
	bool has;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	f = fopen(path, "re");
	has = !f || fgetc(f) != EOF;
	if (f)
		fclose(f);
	return has;
}

/* Whether the run has only the files and shared mappings of the fork server, and no children. */
static bool can_fork(const struct server *server)
{
	struct buf before = { 0 }, now = { 0 };
	bool possible;

	add_files(server->pid, &before);
	add_files(server->run, &now);
	add_shared(server->pid, &before);
	add_shared(server->run, &now);
	possible = strcmp(buf_string(&before), buf_string(&now)) == 0 && !has_children(server->run);
	buf_free(&before);
	buf_free(&now);
	return possible;
}

void snapshots_arrived(struct snapshots *s, struct server *server,
		       const struct snapshots_point *point)
{
	server_request(server)->flags &= ~CTL_SNAPSHOT;
	if (server->depth <= s->depth) {
		s->impossible |= server_report(server)->outcome == CTL_UNSUPPORTED;
		s->refused = *point;
		drop_dead(s, server);
		return;
	}
	s->at[s->depth].point = *point;
	capture_copy(&s->at[s->depth].out, &server->before_out);
	capture_copy(&s->at[s->depth].error, &server->before_error);
	capture_copy(&server->before_out, &server->result.out);
	capture_copy(&server->before_error, &server->result.error);
	s->depth++;
	if (can_fork(server))
		return;
	s->refused = *point;
	while (s->depth > 0)
		leave_innermost(s, server);
}
