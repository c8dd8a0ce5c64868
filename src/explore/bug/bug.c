#include "explore/bug/bug.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/proc.h"
#include "explore/bug/same_cause.h"
#include "explore/bug/same_failure.h"
#include "explore/search/replay_trace.h"

#define BUGS_MAX 100000		/* folders in one folder of results */
#define LAST_LINE_MOST 200	/* bytes of the program's last line that are quoted */

/* Appends the last line that the program wrote to stderr: most programs say there why they exit. */
static void add_last_line(const struct search_failure *f, struct buf *out)
{
	const char *text = (const char *)f->error.data;
	size_t end = f->error.size, start;

	while (end > 0 && (text[end - 1] == '\n' || text[end - 1] == ' '))
		end--;
	for (start = end; start > 0 && text[start - 1] != '\n'; start--)
		;
	if (end > start)
		buf_addf(out, "\n  %.*s",
			 end - start < LAST_LINE_MOST ? (int)(end - start) : LAST_LINE_MOST,
			 text + start);
}

/* Description of a failure for people. */
static char *describe(const struct search_failure *f, struct places *places)
{
	struct buf text = { 0 };
	char *result;

	oracle_describe(&f->result, f->report, places, &text);
	if (f->result.failure == ORACLE_EXIT && !*f->result.text)
		add_last_line(f, &text);
	result = xstrdup(buf_string(&text));
	buf_free(&text);
	/* Output of the program must not send control characters to a terminal. */
	for (unsigned char *p = (unsigned char *)result; *p; p++)
		if ((*p < ' ' && *p != '\n' && *p != '\t') || *p == 0x7f)
			*p = '?';
	return result;
}

void bug_init(struct bug *b, struct search_failure *f, struct places *places)
{
	*b = (struct bug){ .failure = f, .text = describe(f, places), .seen = 1 };
	fingerprint_of(&f->result, places, b->fingerprint);
	memset(b->index, 0xff, sizeof(b->index));	/* LEAD_NO_EVENT */
	memset(b->passing_index, 0xff, sizeof(b->passing_index));
}

void bug_free(struct bug *b)
{
	if (b->trace)
		unlink(b->trace);
	for (size_t i = 0; i < b->other_count; i++) {
		bug_free(b->others[i]);
		free(b->others[i]);
	}
	interleavings_free(&b->interleavings);
	passing_free(&b->passing);
	search_failure_free(b->failure);
	lead_free(b->cause);
	free(b->others);
	free(b->trace);
	free(b->divergence);
	free(b->text);
	free(b->path);
}

bool bug_is_predicted(const struct bug *b)
{
	return b->failure->lead || b->predicted;
}

const struct lead *bug_cause(const struct bug *b)
{
	return b->cause ? b->cause : b->failure->lead;
}

bool bug_has_symptom(const struct bug *b, const struct oracle_result *r, struct places *places)
{
	uint64_t identity = oracle_identity(r, places);
	bool alike = oracle_identity(&b->failure->result, places) == identity;

	for (size_t i = 0; i < b->other_count && !alike; i++)
		alike = oracle_identity(&b->others[i]->failure->result, places) == identity;
	return alike;
}

static bool is_same(const struct bug *a, const struct bug *b, struct places *places)
{
	const struct oracle_result *r = &a->failure->result, *s = &b->failure->result;
	const struct lead *x = bug_cause(a), *y = bug_cause(b);

	if (same_failure_of_memory(r, s, places) || same_failure_at_exit(r, s) ||
	    (x && y && same_cause_matches(x, y, places)))
		return true;
	/* Predicted causes were confirmed by runs of their own. Others may be incidental. */
	return !(x && y && bug_is_predicted(a) && bug_is_predicted(b)) &&
	       same_failure_symptom(r, s, places);
}

bool bug_same(const struct bug *a, const struct bug *b, struct places *places)
{
	bool same = is_same(a, b, places);

	for (size_t i = 0; i < a->other_count && !same; i++)
		same = is_same(a->others[i], b, places);
	return same;
}

void bug_add_other(struct bug *b, struct bug *other)
{
	b->others = xgrow(b->others, b->other_count, &b->other_capacity, sizeof(*b->others));
	b->others[b->other_count++] = other;
}

/* Sets b->why from a replay that did not fail as the run did. */
static void note_difference(struct bug *b, const struct oracle_result *got)
{
	struct buf brief = { 0 };

	oracle_brief(got, &brief);
	switch (got->verdict) {
	case ORACLE_PASSED: snprintf(b->why, sizeof(b->why), "a replay passed"); break;
	case ORACLE_FAILED:
		snprintf(b->why, sizeof(b->why), "a replay failed in another way: %.100s",
			 buf_string(&brief));
		break;
	case ORACLE_INCONCLUSIVE:
		snprintf(b->why, sizeof(b->why), "a replay %s", got->failure == ORACLE_TIMEOUT ?
			 "did not end in time" : "took too many steps");
		break;
	case ORACLE_DIVERGED:
		snprintf(b->why, sizeof(b->why), "a replay diverged at turn %llu: %.150s",
			 (unsigned long long)got->turn + 1, got->text);
		break;
	case ORACLE_DAMAGED:
	case ORACLE_BROKEN: snprintf(b->why, sizeof(b->why), "%.200s", got->text); break;
	}
	buf_free(&brief);
}

bool bug_prove(struct bug *b, const struct replay_config *config, unsigned times,
	       const struct places *places, struct err *err)
{
	double began = clock_seconds();
	struct oracle_result other;

	*err = (struct err){ "" };
	b->wanted = times;
	b->good = replay_prove(&b->failure->schedule, config, times, places, &b->replays, &other,
			       err);
	b->replay_seconds = b->replays ? (clock_seconds() - began) / b->replays : 0;
	if (b->good < b->replays)
		note_difference(b, &other);
	else if (b->good < times && b->good < REPLAY_LEAST && deadline_over(config->deadline))
		snprintf(b->why, sizeof(b->why), "%s after %u of %u replays, which failed alike",
			 deadline_why(config->deadline), b->good, times);
	return b->good == b->replays && (b->good == times || b->good >= REPLAY_LEAST);
}

int bug_folder(const char *path, struct err *err)
{
	char *part = xstrdup(path), *inside;
	int result = 0;

	for (char *slash = part; result == 0 && (slash = strchr(slash + 1, '/'));) {
		*slash = 0;
		if (mkdir(part, 0777) < 0 && errno != EEXIST)
			result = err_set(err, "cannot make the folder %s: %s", part,
					 strerror(errno));
		*slash = '/';
	}
	free(part);
	if (result == 0 && mkdir(path, 0777) < 0 && errno != EEXIST)
		result = err_set(err, "cannot make the folder %s: %s", path, strerror(errno));
	inside = xasprintf("%s/.", path);
	if (result == 0 && access(inside, W_OK | X_OK) < 0)
		result = err_set(err, "cannot write to the folder %s: %s", path, strerror(errno));
	free(inside);
	return result;
}

/*
 * Reserves the folder with the next free number, and makes one beside it that keep_folder() renames
 * to it: a bug that is found there is complete.
 */
static int take_folder(struct bug *b, const char *out, struct err *err)
{
	char *bugs = xasprintf("%s/bugs", out), *final;
	int result = bug_folder(bugs, err);

	for (int i = 1; result == 0 && !b->path && i < BUGS_MAX; i++) {
		snprintf(b->id, sizeof(b->id), "B%03d", i);
		final = xasprintf("%s/%s", bugs, b->id);
		b->path = xasprintf("%s.tmp-%d", final, (int)getpid());
		/* In this order, so that what a kill leaves behind always has the name of this
		 * process. */
		if (access(final, F_OK) == 0 || mkdir(b->path, 0777) < 0 ||
		    mkdir(final, 0777) < 0) {
			if (errno != EEXIST && access(final, F_OK) < 0)
				result = err_set(err, "cannot make the folder %s: %s", final,
						 strerror(errno));
			rmdir(b->path);
			free(b->path);
			b->path = NULL;
		}
		free(final);
	}
	free(bugs);
	return result < 0 || b->path
		       ? result
		       : err_set(err, "%s/bugs is full: remove bugs or choose another folder", out);
}

static char *final_path(const struct bug *b)
{
	return xstrndup(b->path, (size_t)(strrchr(b->path, '.') - b->path));
}

/* Removes a folder that cannot be completed, and its reservation. */
static void discard_folder(struct bug *b)
{
	char *final = final_path(b);

	proc_remove_tree(b->path);
	rmdir(final);
	free(final);
}

/* Gives the folder its final name. */
static int keep_folder(struct bug *b, struct err *err)
{
	char *final = final_path(b);

	if (rename(b->path, final) < 0) {
		err_set(err, "cannot rename the folder %s: %s", b->path, strerror(errno));
		free(final);
		return -1;
	}
	free(b->path);
	b->path = final;
	return 0;
}

static int write_file(const char *folder, const char *name, const struct buf *text, struct err *err)
{
	char *path = xasprintf("%s/%s", folder, name);
	int result = file_replace(path, text, err);

	free(path);
	return result;
}

static int copy_input(const struct bug *b, const struct target *t, struct err *err)
{
	char *path = xasprintf("%s/stdin", b->path);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), result = 0;
	off_t at = 0;

	while (fd >= 0 && (uint64_t)at < t->input_size)
		if (sendfile(fd, t->input, &at, (size_t)(t->input_size - (uint64_t)at)) <= 0)
			break;
	if (fd < 0 || close(fd) < 0 || (uint64_t)at < t->input_size)
		result = err_set(err, "cannot write %s: %s", path, strerror(errno));
	free(path);
	return result;
}

static int write_json(const struct bug *b, struct places *places, struct err *err)
{
	struct buf text = { 0 };
	struct json j = { .out = &text };
	int result;

	json_open(&j, NULL, '{');
	json_number(&j, "version", 1);
	json_text(&j, "program", b->failure->schedule.program);
	json_open(&j, "arguments", '[');
	for (size_t i = 0; i < b->failure->schedule.arguments.count; i++)
		json_text(&j, NULL, b->failure->schedule.arguments.items[i]);
	json_close(&j, ']');
	bug_json(b, &j, "", places);
	json_close(&j, '}');
	buf_add_char(&text, '\n');
	result = write_file(b->path, "bug.json", &text, err);
	buf_free(&text);
	return result;
}

/* Writes the files stdout and stderr, if the run printed anything. */
static int write_output(const struct bug *b, struct err *err)
{
	const struct search_failure *f = b->failure;

	if (f->out.size && write_file(b->path, "stdout", &f->out, err) < 0)
		return -1;
	return f->error.size ? write_file(b->path, "stderr", &f->error, err) : 0;
}

int bug_record(struct bug *b, const char *out, const struct replay_config *config,
	       const struct places *places, struct err *err)
{
	const struct schedule *s = &b->failure->schedule;
	struct err why = { "" };

	if (bug_folder(out, err) < 0)
		return -1;
	b->trace = xasprintf("%s/trace-%d.tmp", out, (int)getpid());
	if (b->failure->result.failure == ORACLE_BOMB)
		err_set(&why, "the run does not end by itself");
	else if (s->steps > BUG_TRACE_STEPS)
		err_set(&why, "more than %u steps", BUG_TRACE_STEPS);
	else
		b->traced = replay_record(config, s, places, b->trace, true, &why) == 0;
	snprintf(b->no_trace, sizeof(b->no_trace), "%.250s", why.text);
	return 0;
}

static int move_trace(struct bug *b, struct err *err)
{
	char *path = xasprintf("%s/trace.snarl", b->path);
	int result = 0;

	if (b->traced && rename(b->trace, path) < 0)
		result = err_set(err, "cannot move the trace to %s: %s", path, strerror(errno));
	free(b->trace);
	b->trace = NULL;
	free(path);
	return result;
}

/* Writes a schedule to PATH/FOLDER/NUMBER.txt; it refers to the stdin file in the bug's folder. */
static int write_schedule(const struct bug *b, const char *folder, size_t number,
			  struct schedule *s, struct err *err)
{
	char *in = xasprintf("%s/%s", b->path, folder), *path, *input = s->input;
	char above[] = "../stdin";
	int result = bug_folder(in, err);

	path = xasprintf("%s/%02zu.txt", in, number);
	if (input)
		s->input = above;
	if (result == 0)
		result = schedule_write(s, path, err);
	s->input = input;
	free(path);
	free(in);
	return result;
}

static int write_passing(const struct bug *b, struct err *err)
{
	char *path = xasprintf("%s/passing.txt", b->path);
	int result = schedule_write(&b->passing.schedule, path, err);

	free(path);
	return result;
}

int bug_update(const struct bug *b, struct places *places, struct err *err)
{
	int result = 0;

	for (size_t i = 0; i < b->interleavings.count && result == 0; i++) {
		struct search_failure *f = b->interleavings.at[i].failure;

		result = write_schedule(b, "interleavings", i + 1, &(f ? f : b->failure)->schedule,
					err);
	}
	/* Failure 1 is the bug's own, in schedule.txt. */
	for (size_t i = 0; i < b->other_count && result == 0; i++)
		result =
			write_schedule(b, "failures", i + 2, &b->others[i]->failure->schedule, err);
	if (result == 0 && b->passing.found)
		result = write_passing(b, err);
	return result < 0 ? -1 : write_json(b, places, err);
}

void bug_locate(struct bug *b)
{
	char *trace = xasprintf("%s/trace.snarl", b->path),
	     *passing = xasprintf("%s/passing.snarl", b->path);
	const struct lead *lead = b->traced ? bug_cause(b) : NULL;
	struct lead first;
	bool found = lead && lead_locate(lead, trace, b->index);

	if (lead && !found && lead_first_iteration(lead, &first)) {
		lead = &first;
		found = lead_locate(lead, trace, b->index);
	}
	if (!found)
		memset(b->index, 0xff, sizeof(b->index));
	else if (b->passing.traced)
		lead_locate(lead, passing, b->passing_index);
	free(trace);
	free(passing);
}

int bug_save(struct bug *b, const char *out, const struct target *target, struct places *places,
	     struct err *err)
{
	char *schedule;
	int result = 0;

	if (take_folder(b, out, err) < 0)
		return -1;
	schedule = xasprintf("%s/schedule.txt", b->path);
	if (target->input >= 0)
		result = copy_input(b, target, err);
	if (result == 0)
		result = schedule_write(&b->failure->schedule, schedule, err);
	free(schedule);
	if (result == 0)
		result = write_output(b, err);
	if (result == 0)
		result = move_trace(b, err);
	bug_locate(b);
	if (result == 0)
		result = bug_update(b, places, err);
	if (result == 0)
		result = keep_folder(b, err);
	if (result < 0)
		discard_folder(b);
	return result;
}
