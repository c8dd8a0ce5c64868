/*
 * Writer of schedule files (docs/schedule-format.md). The parser is schedule_parse.c.
 */
#include "explore/schedule/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "explore/schedule/trust.h"
#include "sched/strategy.h"

#define EVENTS_IN_LINE 32u

/* Whether a word needs no quotes; `also_not`: further characters that need them. */
static bool is_plain(const char *text, const char *also_not)
{
	if (!*text || *text == '#')
		return false;
	for (; *text; text++)
		if ((unsigned char)*text <= ' ' || *text == '"' || *text == '\\' || *text == 0x7f ||
		    strchr(also_not, *text))
			return false;
	return true;
}

/* Appends a word, in quotes with C's escapes if needed. */
static void add_word(struct buf *out, const char *text, const char *also_not)
{
	if (is_plain(text, also_not)) {
		buf_add_text(out, text);
		return;
	}
	buf_add_char(out, '"');
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			buf_addf(out, "\\%c", c);
		else if (c == '\n')
			buf_add_text(out, "\\n");
		else if (c < ' ' || c == 0x7f)
			buf_addf(out, "\\x%02x", c);
		else
			buf_add_char(out, (char)c);
	}
	buf_add_char(out, '"');
}

static void add_value(struct buf *out, const char *key, const char *value)
{
	if (!value)
		return;
	buf_addf(out, "%s ", key);
	add_word(out, value, "");
	buf_add_char(out, '\n');
}

static void add_number(struct buf *out, const char *key, uint64_t value)
{
	if (value)
		buf_addf(out, "%s %llu\n", key, (unsigned long long)value);
}

static void add_header(const struct schedule *s, struct buf *out)
{
	add_value(out, "program", s->program);
	add_value(out, "build-id", s->build_id);
	add_value(out, "directory", s->directory);
	for (size_t i = 0; i < s->arguments.count; i++)
		add_value(out, "argument", s->arguments.items[i]);
	for (size_t i = 0; i < s->environment.count; i++)
		add_value(out, "environment", s->environment.items[i]);
	if (s->input) {
		buf_add_text(out, "stdin ");
		add_word(out, s->input, "");
		buf_addf(out, " %llu %016llx\n", (unsigned long long)s->input_size,
			 (unsigned long long)s->input_hash);
	}
	add_value(out, "strategy", s->strategy);
	add_number(out, "seed", s->seed);
	add_number(out, "run", s->run);
	add_number(out, "depth", s->depth);
	if (s->flags) {
		buf_add_text(out, "flags");
		buf_add_text(out, s->flags & CTL_SPURIOUS ? " spurious" : "");
		buf_add_text(out, s->flags & CTL_TIMEOUTS ? " timeouts" : "");
		buf_add_text(out, s->flags & CTL_IGNORE_MISUSE ? " ignore-misuse" : "");
		buf_add_text(out, s->flags & CTL_REAL_TIME ? " real-time" : "");
		buf_add_char(out, '\n');
	}
	add_number(out, "steps", s->steps);
	add_value(out, "failure", s->failure);
	if (s->cause) {
		buf_add_text(out, "cause ");
		add_word(out, s->cause, "");
		buf_add_char(out, ' ');
		add_word(out, s->pattern, "");
		buf_add_char(out, ' ');
		add_word(out, s->variable, "");
		buf_add_char(out, '\n');
	}
	if (s->expect_exit < 0)
		buf_add_text(out, "expect-exit any\n");
	else
		add_number(out, "expect-exit", (uint64_t)s->expect_exit);
	if (s->expect_output)
		buf_addf(out, "expect-output %llu %016llx\n", (unsigned long long)s->output_size,
			 (unsigned long long)s->output_hash);
	add_value(out, "check", s->check);
	add_value(out, "seal", s->seal);
}

static void add_turn(const struct schedule *s, const struct schedule_turn *t, struct buf *out)
{
	const char *thread = s->threads.items[t->thread];

	buf_add_char(out, '\t');
	switch (t->kind) {
	case SCHED_TURN_RUN:
		buf_add_text(out, thread);
		buf_add_text(out, " x ");
		if (t->steps == SCHED_NO_LIMIT)
			buf_add_char(out, '*');
		else
			buf_add_dec(out, t->steps);
		if (t->check)
			buf_addf(out, " check=%08x", t->check);
		break;
	case SCHED_TURN_EXPIRE: buf_addf(out, "%s timeout", thread); break;
	case SCHED_TURN_WAKE: buf_addf(out, "wake %s", thread); break;
	default:
		buf_addf(out, "%s signal %llu", thread, (unsigned long long)t->steps);
		break;
	}
	buf_add_char(out, '\n');
}

static void add_event(const struct schedule_event *e, struct buf *out)
{
	buf_addf(out, "%s ", e->thread ? e->thread : "*");
	if (e->file) {
		add_word(out, e->file, ":#*");
		buf_addf(out, ":%u", e->line);
	} else {
		buf_add_char(out, '*');
	}
	buf_addf(out, "#%llu", (unsigned long long)e->nth);
	if (!e->build_id && !e->function && !e->op)
		return;
	buf_add_text(out, " (");
	if (e->build_id)
		buf_addf(out, "%s+0x%llx", e->build_id, (unsigned long long)e->offset);
	if (e->build_id && (e->function || e->op))
		buf_add_text(out, ", ");
	if (e->function || e->op)
		add_word(out, e->function ? e->function : "??", "(),+");
	if (e->op) {
		buf_add_text(out, ", ");
		add_word(out, e->op, "(),+");
		buf_add_char(out, ' ');
		add_word(out, e->object, "(),+");
	}
	buf_add_char(out, ')');
}

static void add_events(const struct schedule *s, struct buf *out)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < s->events.size; i++) {
		buf_add_text(out, i == 0 ? "\nevents\n\t" : i % EVENTS_IN_LINE == 0 ? "\n\t" : "");
		buf_add_char(out, digits[s->events.data[i] >> 4]);
		buf_add_char(out, digits[s->events.data[i] & 15]);
	}
	if (s->events.size)
		buf_add_char(out, '\n');
}

void schedule_text(const struct schedule *s, struct buf *out)
{
	buf_add_text(out, "snarl-schedule 1\n");
	add_header(s, out);
	if (s->shared_count)
		buf_add_text(out, "\nshared\n");
	for (size_t i = 0; i < s->shared_count; i++)
		buf_addf(out, "\t0x%llx+%llu\n", (unsigned long long)s->shared[i].start,
			 (unsigned long long)s->shared[i].size);
	if (s->turn_count)
		buf_add_text(out, "\nexact\n");
	for (size_t i = 0; i < s->turn_count; i++)
		add_turn(s, &s->turns[i], out);
	add_events(s, out);
	if (s->goal_count)
		buf_add_text(out, "\ngoal\n");
	for (size_t i = 0; i < s->goal_count; i++) {
		buf_add_char(out, '\t');
		add_event(&s->goals[i].second, out);
		if (s->goals[i].is_held) {
			buf_add_text(out, " held at ");
			add_event(&s->goals[i].held, out);
		}
		buf_add_text(out, " after ");
		add_event(&s->goals[i].first, out);
		buf_add_char(out, '\n');
	}
	buf_add_text(out, "\nend\n");
}

int schedule_write(const struct schedule *s, const char *path, struct err *err)
{
	struct schedule sealed = *s;
	struct buf text = { 0 };
	int result;

	sealed.seal = schedule_seal(s);
	schedule_text(&sealed, &text);
	free(sealed.seal);
	result = file_replace(path, &text, err);
	buf_free(&text);
	return result;
}
