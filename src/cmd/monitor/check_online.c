/*
 * snarl check PROGRAM: checks the invariants of AVIO (Lu et al., ASPLOS 2006) in a parallel run.
 * The runtime's monitor writes violations to a log; this file prints them.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/plural.h"
#include "cmd/monitor/check_internal.h"
#include "cmd/cmd.h"
#include "cmd/monitor/monitored_run.h"
#include "learn/compile.h"

/* Appends `what` and the site of an access. */
static void add_access(struct monitored_run *m, const char *what, uint32_t site, struct buf *out)
{
	buf_add_text(out, what);
	monitored_describe_site(m, site, "?", out);
}

/* The value of a record, sign-extended from its size. */
static long long signed_value(const struct monitor_log_record *r)
{
	unsigned unused_bits = 64 - 8 * r->value_size;

	return (long long)(r->value << unused_bits) >> unused_bits;
}

static void print_text(struct monitored_run *m, const struct check_online *o)
{
	for (size_t i = 0; i < m->count && i < o->limit; i++) {
		const struct monitor_log_record *r = &m->records[i];
		const char *name = monitored_kind_name(r->kind);
		struct buf out = { 0 }, variable = { 0 };

		monitored_variable(m, r, &variable);
		buf_addf(&out, "violation %s%s%s, %llu time%s\n", name, variable.size ? " of " : "",
			 variable.size ? buf_string(&variable) : "", (unsigned long long)r->count,
			 plural(r->count));
		add_access(m, name[0] == 'R' ? "  first   reads   " : "  first   writes  ",
			   r->site[0], &out);
		add_access(m, name[1] == 'R' ? "\n  another reads   " : "\n  another writes  ",
			   r->site[1], &out);
		add_access(m, name[2] == 'R' ? "\n  then    reads   " : "\n  then    writes  ",
			   r->site[2], &out);
		if (r->value_size && r->value_size <= sizeof(r->value))
			buf_addf(&out, ", %s %lld", name[2] == 'R' ? "value" : "over",
				 signed_value(r));
		buf_add_char(&out, '\n');
		fputs(buf_string(&out), stdout);
		buf_free(&out);
		buf_free(&variable);
	}
}

static void print_json(struct monitored_run *m, const struct check_online *o)
{
	struct buf out = { 0 };
	struct json j = { .out = &out };

	json_open(&j, NULL, '{');
	json_number(&j, "version", 1);
	monitored_end_json(m, o->program, &j);
	json_open(&j, "violations", '[');
	for (size_t i = 0; i < m->count && i < o->limit; i++) {
		const struct monitor_log_record *r = &m->records[i];
		struct buf variable = { 0 };

		monitored_variable(m, r, &variable);
		json_open(&j, NULL, '{');
		json_text(&j, "pattern", monitored_kind_name(r->kind));
		json_number(&j, "count", r->count);
		json_text(&j, "variable", variable.size ? buf_string(&variable) : NULL);
		if (r->value_size && r->value_size <= sizeof(r->value))
			json_number(&j, "found", r->value);
		monitored_site_json(m, "first", r->site[0], &j);
		monitored_site_json(m, "remote", r->site[1], &j);
		monitored_site_json(m, "then", r->site[2], &j);
		json_close(&j, '}');
		buf_free(&variable);
	}
	json_close(&j, ']');
	json_close(&j, '}');
	puts(buf_string(&out));
	buf_free(&out);
}

/* Prints the violations and the summary; returns the exit code. */
static int print_result(struct monitored_run *m, const struct check_online *o)
{
	if (!m->log->pid && !m->log->rules_check)
		return cmd_fail(&cmd_check, "%s was not built with snarl-cc: nothing was checked",
				o->program[0]);
	if (!m->log->module[0].used)
		return cmd_fail(&cmd_check,
				"the rules are not of this build of %s: run snarl learn again",
				o->program[0]);
	if (o->json)
		print_json(m, o);
	else
		print_text(m, o);
	if (!o->quiet) {
		monitored_print_end(m, o->program[0]);
		monitored_print_losses(m);
		if (!m->log->places)
			fprintf(stderr,
				"snarl: nothing to watch: in passing runs no thread could have "
				"come between the accesses of an invariant (--all watches them "
				"nevertheless)\n");
		else
			fprintf(stderr, "snarl: %u places watched, %zu violation%s%s\n",
				m->log->places, m->count, plural(m->count),
				m->count ? " (candidates: snarl hunt can prove them)" : "");
	}
	return cmd_flush(&cmd_check, m->count ? CMD_BUG : CMD_OK);
}

static void set_options(struct monitored_run *m, const struct check_online *o)
{
	monitored_option(m, "mode", "check");
	monitored_number_option(m, "granularity", o->granularity);
	if (o->all)
		monitored_option(m, "places", "all");
	monitored_number_option(m, "noise", o->noise);
	monitored_number_option(m, "seed", o->seed);
	if (o->quiet)
		monitored_option(m, "quiet", "1");
}

int check_online(const struct check_online *o)
{
	char *own = xasprintf("%s/%s", o->out, COMPILE_FILE);
	struct monitored_run m = { 0 };
	struct err err;
	int code = -1;

	if (monitored_open(&m, o->rules ? o->rules : own, &err) == 0) {
		set_options(&m, o);
		if (monitored_execute(&m, o->program, o->json, &err) == 0)
			code = print_result(&m, o);
	}
	if (code < 0)
		code = cmd_fail(&cmd_check, "%s", err.text);
	monitored_close(&m);
	free(own);
	return code;
}
