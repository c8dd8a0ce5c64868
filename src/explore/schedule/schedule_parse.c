/*
 * Parser of schedule files (docs/schedule-format.md), line by line. Every error names its line.
 */
#include "explore/schedule/schedule.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "explore/schedule/schedule_words.h"
#include "sched/strategy.h"

#define SHARED_MAX (1ull << 27)	/* bytes of all ranges: the shared area lists 16 Mi granules */

enum part { PART_FIRST, PART_HEADER, PART_SHARED, PART_EXACT, PART_EVENTS, PART_GOAL, PART_END };

struct parser {
	struct words words;
	struct schedule *s;
	enum part part;
	uint64_t shared;	/* bytes of all ranges so far */
	uint32_t seen;		/* header keys that occurred: bit i for keys[i] */
};

static char *thread_word(struct parser *p)
{
	char *path = words_take(&p->words, "", "a thread");
	uint64_t hash;

	if (!path || schedule_path_hash(path, &hash))
		return path;
	words_bad(&p->words, "'%.60s' is not a thread: 0 is main, 0.2 its second child", path);
	free(path);
	return NULL;
}

static int parse_flags(struct parser *p)
{
	static const struct {
		const char *name;
		uint32_t flag;
	} flags[] = {
		{ "spurious", CTL_SPURIOUS },
		{ "timeouts", CTL_TIMEOUTS },
		{ "ignore-misuse", CTL_IGNORE_MISUSE },
		{ "real-time", CTL_REAL_TIME },
	};

	while (!words_at_end(&p->words)) {
		char *text = words_take(&p->words, "", "a flag");
		uint32_t flag = 0;

		if (!text)
			return -1;
		for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
			if (strcmp(text, flags[i].name) == 0)
				flag = flags[i].flag;
		if (!flag)
			words_bad(&p->words,
				  "no flag is called '%.60s'; there are spurious, timeouts, "
				  "ignore-misuse and real-time",
				  text);
		free(text);
		if (!flag)
			return -1;
		p->s->flags |= flag;
	}
	return 0;
}

static int parse_stdin(struct parser *p)
{
	p->s->input = words_take(&p->words, "", "the file of stdin");
	if (!p->s->input ||
	    words_number(&p->words, "the size of stdin", 1, INT64_MAX, &p->s->input_size) < 0)
		return -1;
	words_skip(&p->words);
	return words_hex(&p->words, "the hash of stdin", 16, &p->s->input_hash);
}

static int parse_expect_exit(struct parser *p)
{
	uint64_t value;

	words_skip(&p->words);
	p->s->expect_exit = -1;
	if (words_literal(&p->words, "any"))
		return 0;
	if (words_number(&p->words, "the exit status", 0, 255, &value) < 0)
		return -1;
	p->s->expect_exit = (int)value;
	return 0;
}

static int parse_expect_output(struct parser *p)
{
	p->s->expect_output = true;
	if (words_number(&p->words, "the size of the output", 0, INT64_MAX, &p->s->output_size) < 0)
		return -1;
	words_skip(&p->words);
	return words_hex(&p->words, "the hash of the output", 16, &p->s->output_hash);
}

static int parse_cause(struct parser *p)
{
	p->s->cause = words_take(&p->words, "", "the class of the cause");
	p->s->pattern = p->s->cause ? words_take(&p->words, "", "its pattern") : NULL;
	p->s->variable = p->s->pattern ? words_take(&p->words, "", "its variable") : NULL;
	return p->s->variable ? 0 : -1;
}

static int parse_list(struct parser *p, struct schedule_list *list, const char *key)
{
	char *text = words_take(&p->words, "", key);

	if (!text)
		return -1;
	schedule_list_add(list, text);
	free(text);
	return 0;
}

/* A header key, with one of: string to store, number to store, function that parses the value. */
struct key {
	const char *name;
	char **text;
	uint64_t *value;
	int (*parse)(struct parser *p);
};

static int parse_header(struct parser *p, const char *name)
{
	struct schedule *s = p->s;
	uint64_t depth = s->depth;
	const struct key keys[] = {
		{ "program", .text = &s->program }, { "build-id", .text = &s->build_id },
		{ "directory", .text = &s->directory }, { "strategy", .text = &s->strategy },
		{ "failure", .text = &s->failure }, { "check", .text = &s->check },
		{ "seal", .text = &s->seal },
		{ "seed", .value = &s->seed }, { "run", .value = &s->run },
		{ "steps", .value = &s->steps }, { "depth", .value = &depth },
		{ "flags", .parse = parse_flags }, { "stdin", .parse = parse_stdin },
		{ "cause", .parse = parse_cause }, { "expect-exit", .parse = parse_expect_exit },
		{ "expect-output", .parse = parse_expect_output },
	};
	const char *last;
	size_t i = 0;

	if (strcmp(name, "argument") == 0)
		return parse_list(p, &s->arguments, "the argument");
	if (strcmp(name, "environment") == 0) {
		if (parse_list(p, &s->environment, "the variable") < 0)
			return -1;
		last = s->environment.items[s->environment.count - 1];
		return *last && strchr(last + 1, '=') ? 0 :
			words_bad(&p->words, "a variable is NAME=value");
	}
	while (i < ARRAY_SIZE(keys) && strcmp(keys[i].name, name) != 0)
		i++;
	if (i == ARRAY_SIZE(keys))
		return words_bad(&p->words, "the header has no key '%.60s'", name);
	if (p->seen & 1u << i)
		return words_bad(&p->words, "'%s' is given twice", name);
	p->seen |= 1u << i;
	if (keys[i].parse)
		return keys[i].parse(p);
	if (keys[i].text)
		return (*keys[i].text = words_take(&p->words, "", name)) ? 0 : -1;
	if (words_number(&p->words, name, 0, keys[i].value == &depth ? UINT32_MAX : UINT64_MAX,
			 keys[i].value) < 0)
		return -1;
	s->depth = (uint32_t)depth;
	return 0;
}

static int parse_shared(struct parser *p)
{
	struct schedule *s = p->s;
	struct schedule_range range,
		*last = s->shared_count ? &s->shared[s->shared_count - 1] : NULL;

	words_skip(&p->words);
	if (!words_literal(&p->words, "0x"))
		return words_bad(&p->words, "a range is 0xADDRESS+SIZE");
	if (words_hex(&p->words, "the address", 0, &range.start) < 0)
		return -1;
	if (!words_literal(&p->words, "+"))
		return words_bad(&p->words, "a range is 0xADDRESS+SIZE");
	if (words_number(&p->words, "the size", 8, SHARED_MAX, &range.size) < 0)
		return -1;
	if (range.start % 8 || range.size % 8)
		return words_bad(&p->words, "address and size are multiples of 8");
	if (range.start + range.size < range.start)
		return words_bad(&p->words, "the range goes beyond the end of memory");
	if (last && range.start <= last->start + last->size)
		return words_bad(&p->words, "ranges ascend and do not touch each other");
	p->shared += range.size;
	if (p->shared > SHARED_MAX)
		return words_bad(&p->words, "more than %llu bytes are shared",
				 (unsigned long long)SHARED_MAX);
	s->shared = xgrow(s->shared, s->shared_count, &s->shared_capacity, sizeof(*s->shared));
	s->shared[s->shared_count++] = range;
	return 0;
}

static int parse_turn_of(struct parser *p, const char *path, struct schedule_turn *turn)
{
	uint64_t hash, check = 0;
	char *what;

	if (!schedule_path_hash(path, &hash))
		return words_bad(&p->words,
				 "'%.60s' is not a thread: 0 is main, 0.2 its second child", path);
	turn->thread = schedule_thread(p->s, path);
	what = words_take(&p->words, "", "what the thread does");
	if (!what)
		return -1;
	if (strcmp(what, "x") == 0) {
		turn->kind = SCHED_TURN_RUN;
	} else if (strcmp(what, "timeout") == 0) {
		turn->kind = SCHED_TURN_EXPIRE;
	} else if (strcmp(what, "signal") == 0) {
		turn->kind = SCHED_TURN_SIGNAL;
	} else {
		words_bad(&p->words, "'%.60s' is not x, timeout or signal", what);
		free(what);
		return -1;
	}
	free(what);
	if (turn->kind == SCHED_TURN_SIGNAL)
		return words_number(&p->words, "the signal", 1, 64, &turn->steps);
	if (turn->kind != SCHED_TURN_RUN)
		return 0;
	words_skip(&p->words);
	if (words_literal(&p->words, "*"))
		turn->steps = SCHED_NO_LIMIT;
	else if (words_number(&p->words, "the number of steps", 1, SCHED_NO_LIMIT, &turn->steps) <
		 0)
		return -1;
	words_skip(&p->words);
	if (words_literal(&p->words, "check=") && words_hex(&p->words, "the check", 8, &check) < 0)
		return -1;
	turn->check = (uint32_t)check;
	return 0;
}

static int parse_turn(struct parser *p, const char *first)
{
	struct schedule *s = p->s;
	struct schedule_turn turn = { 0 };
	int result;

	if (strcmp(first, "wake") == 0) {
		char *path = thread_word(p);

		turn.kind = SCHED_TURN_WAKE;
		if (path)
			turn.thread = schedule_thread(s, path);
		result = path ? 0 : -1;
		free(path);
	} else {
		result = parse_turn_of(p, first, &turn);
	}
	if (result < 0)
		return -1;
	s->turns = xgrow(s->turns, s->turn_count, &s->turn_capacity, sizeof(*s->turns));
	s->turns[s->turn_count++] = turn;
	return 0;
}

/* Parses a line of event checks: two hex digits each, blanks between them are optional. */
static int parse_events(struct parser *p)
{
	while (!words_at_end(&p->words)) {
		const char *rest = p->words.end;
		uint64_t value;

		if (p->words.end - p->words.p > 2)
			p->words.end = p->words.p + 2;
		if (words_hex(&p->words, "each event", 2, &value) < 0)
			return -1;
		p->words.end = rest;
		if (p->s->events.size == SCHEDULE_EVENTS_MAX)
			return words_bad(&p->words, "more than %u events", SCHEDULE_EVENTS_MAX);
		buf_add_char(&p->s->events, (char)value);
	}
	return 0;
}

/* Parses "OP OBJECT" after "FUNCTION,". */
static int parse_operation(struct parser *p, struct schedule_event *e)
{
	e->op = words_take(&p->words, ",)", "what the event does");
	e->object = e->op ? words_take(&p->words, ",)", "the object of the event") : NULL;
	return e->object ? 0 : -1;
}

/*
 * Parses "BUILD-ID+0xOFFSET, FUNCTION, OP OBJECT)" after "(". The first part may be missing, also
 * the last one or two.
 */
static int parse_details(struct parser *p, struct schedule_event *e)
{
	char *first = words_take(&p->words, ",)+", "build-id+0xoffset or a function");

	if (!first)
		return -1;
	if (words_literal(&p->words, "+")) {
		e->build_id = first;
		if (strspn(first, "0123456789abcdef") != strlen(first) || strlen(first) > 62)
			return words_bad(&p->words, "'%.60s' is not a build-id", first);
		if (!words_literal(&p->words, "0x"))
			return words_bad(&p->words, "the offset has to begin with 0x");
		if (words_hex(&p->words, "the offset", 0, &e->offset) < 0)
			return -1;
		words_skip(&p->words);
		if (words_literal(&p->words, ",") &&
		    !(e->function = words_take(&p->words, ",)", "the function")))
			return -1;
	} else {
		e->function = first;
	}
	words_skip(&p->words);
	if (e->function && words_literal(&p->words, ",") && parse_operation(p, e) < 0)
		return -1;
	words_skip(&p->words);
	return words_literal(&p->words, ")") ? 0 : words_bad(&p->words, "')' is missing");
}

/* Parses "THREAD FILE:LINE#NTH (DETAILS)". */
static int parse_event(struct parser *p, struct schedule_event *e)
{
	uint64_t line;

	words_skip(&p->words);
	if (!words_literal(&p->words, "* ") && !(e->thread = thread_word(p)))
		return -1;
	words_skip(&p->words);
	if (!words_literal(&p->words, "*")) {
		e->file = words_take(&p->words, ":#", "the file");
		if (!e->file)
			return -1;
		if (!words_literal(&p->words, ":"))
			return words_bad(&p->words, "after the file comes ':' and the line");
		if (words_number(&p->words, "the line", 1, UINT32_MAX, &line) < 0)
			return -1;
		e->line = (uint32_t)line;
	}
	e->nth = 1;
	if (words_literal(&p->words, "#") &&
	    words_number(&p->words, "the count after #", 1, UINT64_MAX, &e->nth) < 0)
		return -1;
	words_skip(&p->words);
	return words_literal(&p->words, "(") ? parse_details(p, e) : 0;
}

/* Parses "EVENT [held at EVENT] after EVENT". */
static int parse_goal(struct parser *p)
{
	struct schedule *s = p->s;
	struct schedule_goal *g;

	s->goals = xgrow(s->goals, s->goal_count, &s->goal_capacity, sizeof(*s->goals));
	g = &s->goals[s->goal_count++];
	*g = (struct schedule_goal){ 0 };
	if (parse_event(p, &g->second) < 0)
		return -1;
	words_skip(&p->words);
	if (words_literal(&p->words, "held at ")) {
		g->is_held = true;
		if (parse_event(p, &g->held) < 0)
			return -1;
		words_skip(&p->words);
	}
	if (!words_literal(&p->words, "after"))
		return words_bad(&p->words, "a goal is EVENT [held at EVENT] after EVENT");
	return parse_event(p, &g->first);
}

/* If the line begins with a section's name, enters that section. */
static int parse_section(struct parser *p, const char *first, bool *found)
{
	static const struct {
		const char *name;
		enum part part;
	} sections[] = {
		{ "shared", PART_SHARED }, { "exact", PART_EXACT }, { "events", PART_EVENTS },
		{ "goal", PART_GOAL }, { "end", PART_END },
	};

	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		if (strcmp(first, sections[i].name) == 0) {
			*found = true;
			if (p->part >= sections[i].part)
				return words_bad(&p->words,
						 "'%s' comes too late; the order is shared, exact, "
						 "events, goal, end",
						 first);
			p->part = sections[i].part;
		}
	return 0;
}

static int parse_line(struct parser *p)
{
	const char *start;
	char *first;
	bool found = false;
	int result;

	if (memchr(p->words.p, '\0', (size_t)(p->words.end - p->words.p)))
		return words_bad(&p->words, "a NUL byte");
	if (words_at_end(&p->words) || *p->words.p == '#')
		return 0;
	start = p->words.p;
	if (p->part == PART_FIRST) {
		if (!words_literal(&p->words, "snarl-schedule "))
			return words_bad(&p->words, "the first line is not 'snarl-schedule 1'");
		if (!words_literal(&p->words, "1") || !words_at_end(&p->words))
			return words_bad(
				&p->words, "this snarl reads version 1 of schedules, not '%.*s'",
				(int)(p->words.end - p->words.p > 20 ? 20
								     : p->words.end - p->words.p),
				p->words.p);
		p->part = PART_HEADER;
		return 0;
	}
	if (p->part == PART_END)
		return words_bad(&p->words, "something comes after 'end'");
	first = words_take(&p->words, "", "a word");
	if (!first)
		return -1;
	result = parse_section(p, first, &found);
	if (result == 0 && !found)
		switch (p->part) {
		case PART_HEADER: result = parse_header(p, first); break;
		case PART_SHARED: p->words.p = start; result = parse_shared(p); break;
		case PART_EXACT: result = parse_turn(p, first); break;
		case PART_EVENTS: p->words.p = start; result = parse_events(p); break;
		default: p->words.p = start; result = parse_goal(p); break;
		}
	free(first);
	return result < 0 ? -1 : words_done(&p->words);
}

int schedule_parse(struct schedule *s, const char *text, size_t size, const char *name,
		   struct err *err)
{
	struct parser p = { .s = s, .words = { .name = name, .err = err } };
	const char *end = text + size;
	int result = 0;

	*s = (struct schedule){ 0 };
	while (text < end && result == 0) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));

		p.words.line++;
		p.words.p = text;
		p.words.end = newline ? newline : end;
		result = parse_line(&p);
		text = newline ? newline + 1 : end;
	}
	if (result == 0 && p.part != PART_END) {
		p.words.line++;
		result =
			p.part == PART_FIRST
				? words_bad(&p.words, "the file is empty")
				: words_bad(&p.words, "the line 'end' is missing: the file is cut");
	}
	if (result < 0)
		schedule_free(s);
	return result;
}

int schedule_read(struct schedule *s, const char *path, struct err *err)
{
	struct buf text = { 0 };
	FILE *f = file_stream_regular(path);
	size_t got;
	int result;

	*s = (struct schedule){ 0 };
	if (!f)
		return err_set(err, "cannot open %s: %s", path, strerror(errno));
	while ((got = fread(buf_reserve(&text, 64 << 10), 1, 64 << 10, f)) > 0)
		text.size += got;
	if (ferror(f))
		result = err_set(err, "cannot read %s: %s", path, strerror(errno));
	else
		result = schedule_parse(s, (const char *)text.data, text.size, path, err);
	fclose(f);
	buf_free(&text);
	return result;
}
