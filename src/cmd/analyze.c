/*
 * snarl analyze: prints the candidates that the analyses (analyze/) predict from a trace, as text
 * or JSON.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/analysis.h"
#include "analyze/candidate_list.h"
#include "analyze/candidate_names.h"
#include "analyze/doubt.h"
#include "analyze/suppress.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "cmd/cmd.h"
#include "trace/read/kinds.h"

#define STACK_SHOWN 16	/* callers shown for an event */
#define LIMIT 10	/* candidates shown without --limit */
#define FRAMES 16	/* inlined functions at a pc, at most */

static const char usage_head[] =
	"usage: snarl analyze [options] TRACE\n"
	"\n"
	"Predicts from one run what may go wrong in others: groups of events, and the order in "
		"which\n"
	"they would do harm. These are candidates; snarl hunt makes runs to prove them.\n"
	"\n"
	"  -a, --analysis NAME  run only this analysis; may be given several times\n"
	"  -n, --limit N        number of candidates to show (default: 10; JSON: all); 0 or all: "
		"all\n"
	"  --doubtful           show those as well that seem impossible, after the others\n"
	"  --suppressions FILE  do not report what FILE lists, in ThreadSanitizer's format\n"
	"  --json               print one JSON object\n"
	"  --without NAME,NAME  leave out shortcuts, which change the time but no candidate:\n"
	"                       unshared, ordered\n"
	"  --no-symbols         do not read names from the program's files\n"
	"\n"
	"Analyses:\n";

static const char usage_tail[] =
	"\n"
	"  snarl analyze -a race -a race-predict trace.snarl\n"
	"  snarl analyze --json trace.snarl | jq '.candidates[] | .variable'\n";

struct options {
	const struct analysis *chosen[ANALYSIS_COUNT + 1];	/* by --analysis, ended by NULL */
	size_t chosen_count;		/* 0: run all */
	uint64_t limit;			/* candidates to show */
	bool has_limit;			/* --limit is given */
	bool json, no_symbols, doubtful;
	unsigned without;		/* set of enum analysis_prescan */
	struct suppressions *suppress;	/* NULL: none */
};

struct show {
	struct reader *reader;
	struct analysis_context ctx;
	struct analysis_stats stats;
	struct findings *found;
	struct names *names;
	struct hunt_list list;	/* all candidates, those worth reading first */
	size_t shown;		/* number of candidates of `list` to print */
	bool doubtful;		/* doubtful ones are asked for */
	size_t suppressed;	/* number of candidates that were removed as suppressed */
	struct buf out;
};

struct show_filter {
	struct show *show;
	const struct suppressions *suppress;
};

static const char *const prune_names[PRUNE_REASONS] = {
	[PRUNE_HB] = "in a fixed order", [PRUNE_LOCK] = "by a common lock",
	[PRUNE_HISTORY] = "by acquisition histories", [PRUNE_READS_FROM] = "by the values read",
	[PRUNE_SAME] = "like others",
};

static const char *const prune_keys[PRUNE_REASONS] = {
	[PRUNE_HB] = "ordered", [PRUNE_LOCK] = "lock", [PRUNE_HISTORY] = "history",
	[PRUNE_READS_FROM] = "reads_from", [PRUNE_SAME] = "same",
};

static const char *const evidence_names[] = {
	[EVIDENCE_PATTERN] = "pattern", [EVIDENCE_REORDERING] = "reordering",
	[EVIDENCE_UNORDERED] = "unordered",
};

static const char *thread_name(const struct show *s, uint32_t id)
{
	const struct reader_thread *t = reader_thread(s->reader, id);

	return t ? t->name : "?";
}

static void text_locks(struct show *s, const struct candidate_event *e)
{
	size_t count = locks_count(s->ctx.locks, e->lockset);
	struct locks_held held;

	for (size_t i = 0; i < count; i++) {
		locks_at(s->ctx.locks, e->lockset, i, &held);
		buf_addf(&s->out, "%s%s%s (taken at ", i ? ", " : "       holding ",
			 names_lock(s->names, e, i), held.shared ? " to read" : "");
		names_place(s->names, held.acquired_pc, &s->out);
		buf_add_char(&s->out, ')');
	}
	if (count > 0)
		buf_add_char(&s->out, '\n');
}

static void text_event(struct show *s, const struct candidate *c, uint8_t number)
{
	const struct candidate_event *e = &c->event[number];
	uint64_t pcs[STACK_SHOWN];
	size_t depth = stacks_pcs(s->ctx.stacks, e->stack, pcs, STACK_SHOWN);

	buf_addf(&s->out, "  %u  %s %s %s  ", number + 1u, thread_name(s, e->thread),
		 kind_name(e->kind), names_object(s->names, e));
	names_place(s->names, e->pc, &s->out);
	if (e->nth > 1)
		buf_addf(&s->out, ", time %llu", (unsigned long long)e->nth);
	buf_add_char(&s->out, '\n');
	for (size_t i = 0; i < depth; i++) {
		buf_add_text(&s->out, "       called from ");
		names_place(s->names, pcs[i], &s->out);
		buf_add_char(&s->out, '\n');
	}
	text_locks(s, e);
}

static void text_candidate(struct show *s, size_t number)
{
	const struct candidate *c = s->list.at[number];

	buf_addf(&s->out, "%zu. %s %s on %s", number + 1, candidate_class_name(c->class),
		 pattern_row(c->pattern)->name,
		 c->events ? names_object(s->names, &c->event[0]) : "?");
	if (c->count > 1)
		buf_addf(&s->out, ", found %llu times", (unsigned long long)c->count);
	buf_add_char(&s->out, '\n');
	for (uint8_t i = 0; i < c->events; i++)
		text_event(s, c, i);
	for (uint8_t i = 0; i < c->orders; i++)
		buf_addf(&s->out, "%s%u before %u", i ? ", " : "     to try: ",
			 c->order[i].first + 1u, c->order[i].second + 1u);
	if (c->orders > 0)
		buf_add_text(&s->out, c->seen ? " (it happened in this run)\n" : "\n");
	if (c->note)
		buf_addf(&s->out, "     %s\n", c->note);
	if (candidate_is_doubtful(c))
		buf_addf(&s->out, "     doubtful: %s\n",
			 c->doubt ? c->doubt : "the values read on the way forbid it");
	buf_add_char(&s->out, '\n');
}

/* Says how to see candidates that were not shown. */
static void text_hidden(struct show *s)
{
	size_t doubtful = (size_t)s->list.doubtful, worthy = s->list.count - doubtful;

	if (s->shown < worthy)
		buf_addf(&s->out, "%zu more: --limit all shows %s\n", worthy - s->shown,
			 worthy - s->shown == 1 ? "it" : "them");
	if (doubtful > 0 && !s->doubtful)
		buf_addf(&s->out, "%zu doubtful: --doubtful shows %s\n", doubtful,
			 doubtful == 1 ? "it" : "them");
}

static void text_summary(struct show *s)
{
	size_t count = findings_count(s->found);
	const char *separator = "; pruned: ";

	buf_addf(&s->out, "%zu candidate%s in %llu events of %llu thread%s", count,
		 count == 1 ? "" : "s", (unsigned long long)s->stats.events,
		 (unsigned long long)s->stats.threads, s->stats.threads == 1 ? "" : "s");
	if (s->shown < count)
		buf_addf(&s->out, ", %zu shown", s->shown);
	for (unsigned i = 0; i < PRUNE_REASONS; i++) {
		uint64_t n = findings_pruned_count(s->found, i);

		if (n == 0)
			continue;
		buf_addf(&s->out, "%s%llu %s", separator, (unsigned long long)n, prune_names[i]);
		separator = ", ";
	}
	if (s->list.doubtful > 0)
		buf_addf(&s->out, "; %llu doubtful", (unsigned long long)s->list.doubtful);
	if (s->suppressed > 0)
		buf_addf(&s->out, "; %zu suppressed", s->suppressed);
	buf_add_char(&s->out, '\n');
	text_hidden(s);
}

static void json_frame(struct show *s, struct json *j, uint64_t pc)
{
	struct symbol_frame frames[FRAMES];
	size_t count = names_frames(s->names, pc, frames, FRAMES);
	const struct symbol_frame *f = symbol_own_frame(frames, count);

	json_text(j, "function", f->function);
	json_text(j, "file", f->file);
	json_number(j, "line", f->line);
	json_hex(j, "pc", pc);
}

static void json_event(struct show *s, struct json *j, const struct candidate_event *e)
{
	uint64_t pcs[STACK_SHOWN];
	size_t depth = stacks_pcs(s->ctx.stacks, e->stack, pcs, STACK_SHOWN);
	struct locks_held held;

	json_open(j, NULL, '{');
	json_text(j, "thread", thread_name(s, e->thread));
	json_frame(s, j, e->pc);
	json_text(j, "op", kind_name(e->kind));
	json_number(j, "nth", e->nth);
	json_number(j, "index", e->index);
	json_text(j, "object", names_object(s->names, e));
	json_hex(j, "addr", e->addr);
	json_number(j, "size", e->size);
	json_open(j, "locks", '[');
	for (size_t i = 0; i < locks_count(s->ctx.locks, e->lockset); i++) {
		locks_at(s->ctx.locks, e->lockset, i, &held);
		json_open(j, NULL, '{');
		json_text(j, "lock", names_lock(s->names, e, i));
		json_hex(j, "addr", held.lock);
		json_bool(j, "shared", held.shared);
		json_frame(s, j, held.acquired_pc);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_open(j, "stack", '[');
	for (size_t i = 0; i < depth; i++) {
		json_open(j, NULL, '{');
		json_frame(s, j, pcs[i]);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_close(j, '}');
}

static void json_candidate(struct show *s, struct json *j, const struct candidate *c)
{
	json_open(j, NULL, '{');
	json_text(j, "class", candidate_class_name(c->class));
	json_text(j, "pattern", pattern_row(c->pattern)->name);
	json_text(j, "variable", c->events ? names_object(s->names, &c->event[0]) : NULL);
	json_hex(j, "addr", c->addr);
	json_number(j, "size", c->size);
	json_bool(j, "seen", c->seen);
	json_bool(j, "doubtful", candidate_is_doubtful(c));
	json_text(j, "doubt", c->doubt);
	json_text(j, "evidence", evidence_names[c->evidence]);
	json_number(j, "count", c->count);
	json_decimal(j, "score", c->score);
	json_open(j, "sites", '[');
	for (uint8_t i = 0; i < c->events; i++)
		json_event(s, j, &c->event[i]);
	json_close(j, ']');
	json_open(j, "orders", '[');
	for (uint8_t i = 0; i < c->orders; i++) {
		json_open(j, NULL, '{');
		json_number(j, "first", c->order[i].first);
		json_number(j, "second", c->order[i].second);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_text(j, "note", c->note);
	json_close(j, '}');
}

static void show_json(struct show *s, const char *path)
{
	struct json j = { .out = &s->out };

	json_open(&j, NULL, '{');
	json_number(&j, "version", 1);
	json_text(&j, "trace", path);
	json_number(&j, "events", s->stats.events);
	json_number(&j, "accesses", s->stats.accesses);
	json_number(&j, "threads", s->stats.threads);
	json_decimal(&j, "seconds", s->stats.seconds);
	json_bool(&j, "incomplete", reader_info(s->reader)->incomplete);
	json_number(&j, "predicted", findings_count(s->found));
	json_open(&j, "candidates", '[');
	for (size_t i = 0; i < s->shown; i++)
		json_candidate(s, &j, s->list.at[i]);
	json_close(&j, ']');
	json_number(&j, "suppressed", s->suppressed);
	json_open(&j, "pruned", '{');
	for (unsigned i = 0; i < PRUNE_REASONS; i++)
		json_number(&j, prune_keys[i], findings_pruned_count(s->found, i));
	json_close(&j, '}');
	json_number(&j, "dropped", findings_dropped_count(s->found));
	json_open(&j, "dropped_by", '{');
	for (size_t i = 0; analyses[i]; i++)
		if (s->stats.dropped[i] > 0)
			json_number(&j, analyses[i]->name, s->stats.dropped[i]);
	json_close(&j, '}');
	json_close(&j, '}');
	buf_add_char(&s->out, '\n');
}

static bool is_suppressed(void *ctx, const struct candidate *c)
{
	const struct show_filter *f = ctx;

	return suppress_candidate(f->suppress, f->show->names, &f->show->ctx, c) !=
	       SUPPRESS_NOTHING;
}

/* Removes suppressed candidates. Suppressions match names, so all candidates are named first. */
static void suppress(struct show *s, const struct suppressions *suppress)
{
	struct show_filter filter = { s, suppress };
	struct err err;

	names_learn(s->names, s->found, findings_count(s->found), &err);
	s->suppressed = findings_remove(s->found, is_suppressed, &filter);
}

/* Whether the candidate's variable has a name; others are blocks of memory, or mere addresses. */
static bool is_named(void *ctx, const struct candidate *c)
{
	const struct show *s = ctx;

	return c->events && names_global(s->names, c->event[0].addr);
}

/* Whether all races that can be found are among the findings. */
static bool knows_races(const struct options *o)
{
	size_t found = 0;

	for (size_t i = 0; i < o->chosen_count; i++)
		found += o->chosen[i] == &analysis_race || o->chosen[i] == &analysis_race_predict;
	return o->chosen_count == 0 || found == 2;
}

static int analyze(struct show *s, const struct options *o, const char *path)
{
	struct err err, later;
	int damaged;

	s->reader = reader_open(path, &err);
	if (!s->reader)
		return cmd_fail(&cmd_analyze, "%s", err.text);
	damaged = analysis_run(s->reader, o->chosen_count ? o->chosen : NULL, &s->ctx, s->found,
			       &s->stats, &err) < 0;
	s->names = names_new(s->reader, &s->ctx, !o->no_symbols, NULL);
	if (o->suppress)
		suppress(s, o->suppress);
	doubt_find(s->reader, &s->ctx, s->names, knows_races(o), s->found);
	/* analysis_run() has reported damage already. */
	names_learn(s->names, s->found, findings_count(s->found), &later);
	rank_for_readers(s->found, is_named, s, &s->list);
	s->doubtful = o->doubtful;
	s->shown = s->list.count;
	if (!o->json && !o->doubtful)
		s->shown -= (size_t)s->list.doubtful;
	if (s->shown > o->limit && (!o->json || o->has_limit))
		s->shown = (size_t)o->limit;
	if (o->json) {
		show_json(s, path);
	} else {
		for (size_t i = 0; i < s->shown; i++)
			text_candidate(s, i);
		text_summary(s);
	}
	fwrite(s->out.data, 1, s->out.size, stdout);
	if (damaged)
		return cmd_flush(&cmd_analyze, cmd_fail(&cmd_analyze, "%s", err.text));
	if (reader_info(s->reader)->incomplete)
		log_warn("%s ends early: the program was killed, crashed, called exec, or still "
			 "runs",
			 path);
	for (size_t i = 0; analyses[i]; i++)
		if (s->stats.dropped[i] > 0)
			log_warn("%s forgot %llu accesses to bound memory: candidates of it may be "
				 "missing",
				 analyses[i]->name, (unsigned long long)s->stats.dropped[i]);
	return cmd_flush(&cmd_analyze, CMD_OK);
}

static int help(void)
{
	int width = 14;

	fputs(usage_head, stdout);
	for (size_t i = 0; analyses[i]; i++)
		width = cmd_name_width(width, analyses[i]->name);
	for (size_t i = 0; analyses[i]; i++)
		printf("  %-*s %s\n", width, analyses[i]->name, analyses[i]->summary);
	fputs(usage_tail, stdout);
	return cmd_flush(&cmd_analyze, CMD_OK);
}

/* --analysis NAME */
static int choose_analysis(struct options *o, const char *name)
{
	const struct analysis *a = analysis_find(name);
	const char *names[ANALYSIS_COUNT], *nearest;

	if (a) {
		for (size_t i = 0; i < o->chosen_count; i++)
			if (o->chosen[i] == a)
				return CMD_OK;
		o->chosen[o->chosen_count++] = a;
		return CMD_OK;
	}
	for (size_t i = 0; i < ANALYSIS_COUNT; i++)
		names[i] = analyses[i]->name;
	nearest = cmd_nearest(name, names, ANALYSIS_COUNT);
	if (nearest)
		return cmd_usage(&cmd_analyze, "no analysis '%s'; did you mean '%s'?", name,
				 nearest);
	return cmd_usage(&cmd_analyze, "no analysis '%s'", name);
}

static int set_limit(struct options *o, const char *text)
{
	char *end;

	errno = 0;
	o->has_limit = true;
	o->limit = UINT64_MAX;
	if (strcmp(text, "all") == 0)
		return CMD_OK;
	o->limit = strtoull(text, &end, 10);
	if (errno != 0 || *end || *text < '0' || *text > '9')
		return cmd_usage(&cmd_analyze, "--limit needs a number or all, not '%s'", text);
	if (o->limit == 0)
		o->limit = UINT64_MAX;
	return CMD_OK;
}

/* --without NAME,NAME */
static int leave_out(struct options *o, const char *names)
{
	for (size_t length; *names; names += length + (names[length] == ',')) {
		unsigned prescan;

		length = strcspn(names, ",");
		prescan = analysis_prescan_find(names, length);
		if (!prescan)
			return cmd_usage(&cmd_analyze,
					 "--without knows unshared and ordered, not '%.*s'",
					 (int)length, names);
		o->without |= prescan;
	}
	return CMD_OK;
}

enum { OPT_JSON = 256, OPT_DOUBTFUL, OPT_NO_SYMBOLS, OPT_SUPPRESSIONS, OPT_WITHOUT };

static const struct option long_options[] = {
	{ "analysis", required_argument, NULL, 'a' },
	{ "limit", required_argument, NULL, 'n' },
	{ "doubtful", no_argument, NULL, OPT_DOUBTFUL },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "no-symbols", no_argument, NULL, OPT_NO_SYMBOLS },
	{ "suppressions", required_argument, NULL, OPT_SUPPRESSIONS },
	{ "without", required_argument, NULL, OPT_WITHOUT },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

/* Returns -1 to continue, or an exit code. */
static int parse(struct options *o, int argc, char **argv)
{
	int c, code = CMD_OK;

	while (code == CMD_OK && (c = getopt_long(argc, argv, ":a:n:h", long_options, NULL)) != -1)
		switch (c) {
		case 'a': code = choose_analysis(o, optarg); break;
		case 'n': code = set_limit(o, optarg); break;
		case OPT_DOUBTFUL: o->doubtful = true; break;
		case OPT_JSON: o->json = true; break;
		case OPT_NO_SYMBOLS: o->no_symbols = true; break;
		case OPT_SUPPRESSIONS:
			code = cmd_suppressions(&cmd_analyze, optarg, &o->suppress);
			break;
		case OPT_WITHOUT: code = leave_out(o, optarg); break;
		case 'h': return help();
		default: return cmd_bad_option(&cmd_analyze, argv, c);
		}
	if (code != CMD_OK)
		return code;
	if (optind == argc)
		return cmd_usage(&cmd_analyze,
				 "missing TRACE; usage: snarl analyze [options] TRACE");
	if (optind + 1 < argc)
		return cmd_usage(&cmd_analyze, "one trace at a time, not also '%s'",
				 argv[optind + 1]);
	return -1;
}

static int run(int argc, char **argv)
{
	struct options o = { .limit = LIMIT };
	struct show s = { 0 };
	int code = parse(&o, argc, argv);

	if (code >= 0) {
		suppress_free(o.suppress);
		return code;
	}
	signal(SIGPIPE, SIG_IGN);
	analysis_context_init(&s.ctx);
	s.ctx.without = o.without;
	s.found = findings_new();
	code = analyze(&s, &o, argv[optind]);
	hunt_list_free(&s.list);
	names_free(s.names);
	suppress_free(o.suppress);
	findings_free(s.found);
	analysis_context_free(&s.ctx);
	if (s.reader)
		reader_close(s.reader);
	buf_free(&s.out);
	return code;
}

const struct cmd cmd_analyze = {
	.name = "analyze",
	.summary = "predict candidates for bugs from a trace",
	.run = run,
};
