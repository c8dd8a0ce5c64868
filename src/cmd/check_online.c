/*
 * AVIO's invariants while the program runs.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/plural.h"
#include "cmd/check_internal.h"
#include "cmd/cmd.h"
#include "cmd/monitored_run.h"
#include "learn/compile.h"

static void tell_access(struct watch_session *w, const char *what, uint32_t site, struct buf *out)
{
	buf_add_text(out, what);
	watch_place(w, site, "?", out);
}

/* Of a number with so many bytes. */
static long long signed_value(const struct watchlog_record *r)
{
	unsigned spare = 64 - 8 * r->value_size;

	return (long long)(r->value << spare) >> spare;
}

static void print_text(struct watch_session *w, const struct check_online *o)
{
	for (size_t i = 0; i < w->count && i < o->limit; i++) {
		const struct watchlog_record *r = &w->records[i];
		const char *name = watch_kind_name(r->kind);
		struct buf out = { 0 }, variable = { 0 };

		watch_variable(w, r, &variable);
		buf_addf(&out, "violation %s%s%s, %llu time%s\n", name, variable.size ? " of " : "",
			 variable.size ? buf_string(&variable) : "", (unsigned long long)r->count, plural(r->count));
		tell_access(w, name[0] == 'R' ? "  first   reads   " : "  first   writes  ", r->site[0], &out);
		tell_access(w, name[1] == 'R' ? "\n  another reads   " : "\n  another writes  ", r->site[1], &out);
		tell_access(w, name[2] == 'R' ? "\n  then    reads   " : "\n  then    writes  ", r->site[2], &out);
		if (r->value_size && r->value_size <= sizeof(r->value))
			buf_addf(&out, ", %s %lld", name[2] == 'R' ? "value" : "over", signed_value(r));
		buf_add_char(&out, '\n');
		fputs(buf_string(&out), stdout);
		buf_free(&out);
		buf_free(&variable);
	}
}

static void print_json(struct watch_session *w, const struct check_online *o)
{
	struct buf out = { 0 };
	struct json j = { .out = &out };

	json_open(&j, NULL, '{');
	json_number(&j, "version", 1);
	watch_end_json(w, o->program, &j);
	json_open(&j, "violations", '[');
	for (size_t i = 0; i < w->count && i < o->limit; i++) {
		const struct watchlog_record *r = &w->records[i];
		struct buf variable = { 0 };

		watch_variable(w, r, &variable);
		json_open(&j, NULL, '{');
		json_text(&j, "pattern", watch_kind_name(r->kind));
		json_number(&j, "count", r->count);
		json_text(&j, "variable", variable.size ? buf_string(&variable) : NULL);
		if (r->value_size && r->value_size <= sizeof(r->value))
			json_number(&j, "found", r->value);
		watch_place_json(w, "first", r->site[0], &j);
		watch_place_json(w, "remote", r->site[1], &j);
		watch_place_json(w, "then", r->site[2], &j);
		json_close(&j, '}');
		buf_free(&variable);
	}
	json_close(&j, ']');
	json_close(&j, '}');
	puts(buf_string(&out));
	buf_free(&out);
}

static int tell(struct watch_session *w, const struct check_online *o)
{
	if (!w->log->pid && !w->log->rules_check)
		return cmd_fail(&cmd_check, "%s was not built with snarl-cc (nothing was watched)",
				o->program[0]);
	if (!w->log->module[0].used)
		return cmd_fail(&cmd_check, "the rules do not know this build of %s: run snarl learn again",
				o->program[0]);
	if (o->json)
		print_json(w, o);
	else
		print_text(w, o);
	if (!o->quiet) {
		watch_tell_end(w, o->program[0]);
		watch_tell_lost(w);
		if (!w->log->places)
			fprintf(stderr, "snarl: nothing to watch: in no passing run could a thread have broken "
				"another one's invariant (--all watches all the same)\n");
		else
			fprintf(stderr, "snarl: %u places watched, %zu violation%s%s\n", w->log->places, w->count,
				plural(w->count),
				w->count ? " (candidates: snarl hunt proves)" : "");
	}
	return cmd_flush(&cmd_check, w->count ? CMD_BUG : CMD_OK);
}

static void set_options(struct watch_session *w, const struct check_online *o)
{
	watch_option(w, "mode", "check");
	watch_number(w, "granularity", o->granularity);
	if (o->all)
		watch_option(w, "places", "all");
	watch_number(w, "noise", o->noise);
	watch_number(w, "seed", o->seed);
	if (o->quiet)
		watch_option(w, "quiet", "1");
}

int check_online(const struct check_online *o)
{
	char *own = xasprintf("%s/%s", o->out, COMPILE_FILE);
	struct watch_session w = { 0 };
	struct err err;
	int code = -1;

	if (watch_open(&w, o->rules ? o->rules : own, &err) == 0) {
		set_options(&w, o);
		if (watch_run(&w, o->program, o->json, &err) == 0)
			code = tell(&w, o);
	}
	if (code < 0)
		code = cmd_fail(&cmd_check, "%s", err.text);
	watch_close(&w);
	free(own);
	return code;
}
