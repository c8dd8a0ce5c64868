/*
 * The report of snarl guard: guard.log and the summary. guard.log has one line for each pair of
 * sites: fields separated by blanks, and after ';' their meaning for people (docs/guard.md).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/plural.h"
#include "cmd/monitor/guard_report.h"

/* Stands for site 0 in the text: the first (0) or second (1) site of a record. */
static const char *missing_site(const struct monitor_log_record *r, int which)
{
	if (r->kind == MONITOR_LOG_TX)
		return which ? "a lock" : "a transaction";
	return "no other access";
}

static void describe(struct monitored_run *m, const struct monitor_log_record *r, struct buf *out)
{
	monitored_describe_site(m, r->site[1], missing_site(r, 1), out);
	buf_addf(out, r->kind == MONITOR_LOG_TX ? " within the transaction at " : " right after ");
	monitored_describe_site(m, r->site[0], missing_site(r, 0), out);
}

static void add_line(struct monitored_run *m, const struct monitor_log_record *r, struct buf *out)
{
	buf_addf(out, "%s ", monitored_kind_name(r->kind));
	monitored_site_key(m, r->site[0], out);
	buf_add_char(out, ' ');
	monitored_site_key(m, r->site[1], out);
	buf_addf(out, " %llu %llu %llu %llu %llu %llu ; ", (unsigned long long)r->count,
		 (unsigned long long)r->resolved, (unsigned long long)r->timed_out,
		 (unsigned long long)r->passed, (unsigned long long)r->wait_ns / 1000,
		 (unsigned long long)r->longest_ns / 1000);
	describe(m, r, out);
	buf_add_char(out, '\n');
}

static int write_log(struct monitored_run *m, const struct guard_options *o, struct err *err)
{
	struct buf out = { 0 };
	char *path = xasprintf("%s/guard.log", o->out);
	FILE *f;
	int result = 0;

	buf_addf(&out, "snarl-guard 1\n");
	for (size_t i = 0; i < m->count; i++)
		add_line(m, &m->records[i], &out);
	mkdir(o->out, 0777);
	f = fopen(path, "w");
	if (!f || fwrite(out.data, out.size, 1, f) != 1)
		result = err_set(err, "cannot write %s: %s", path, strerror(errno));
	if (f && fclose(f) != 0 && result == 0)
		result = err_set(err, "cannot write %s: %s", path, strerror(errno));
	buf_free(&out);
	free(path);
	return result;
}

static void print_json(struct monitored_run *m, const struct guard_options *o)
{
	struct buf out = { 0 };
	struct json j = { .out = &out };

	json_open(&j, NULL, '{');
	json_number(&j, "version", 1);
	monitored_end_json(m, o->program, &j);
	json_open(&j, "delays", '[');
	for (size_t i = 0; i < m->count; i++) {
		const struct monitor_log_record *r = &m->records[i];

		json_open(&j, NULL, '{');
		json_text(&j, "kind", monitored_kind_name(r->kind));
		monitored_site_json(m, "before", r->site[0], &j);
		monitored_site_json(m, "delayed", r->site[1], &j);
		json_number(&j, "count", r->count);
		json_number(&j, "resolved", r->resolved);
		json_number(&j, "timed_out", r->timed_out);
		json_number(&j, "passed", r->passed);
		json_decimal(&j, "seconds", (double)r->wait_ns / 1e9);
		json_decimal(&j, "longest", (double)r->longest_ns / 1e9);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_close(&j, '}');
	puts(buf_string(&out));
	buf_free(&out);
}

static void print_summary(struct monitored_run *m, const struct guard_options *o)
{
	unsigned long long count = 0, resolved = 0, timed_out = 0;
	double seconds = 0;

	for (size_t i = 0; i < m->count; i++) {
		count += m->records[i].count;
		resolved += m->records[i].resolved;
		timed_out += m->records[i].timed_out;
		seconds += (double)m->records[i].wait_ns / 1e9;
	}
	monitored_print_end(m, o->program[0]);
	monitored_print_losses(m);
	if (!m->log->pid)
		fprintf(stderr, "snarl: nothing was guarded: %s was not built with snarl-cc\n",
			o->program[0]);
	else if (!m->log->places)
		fprintf(stderr,
			"snarl: nothing was guarded: the rules have no open place in this build; "
			"after a rebuild, run snarl learn again\n");
	else
		fprintf(stderr,
			"snarl: %u place%s guarded, %llu delay%s (%llu avoided an untested order, "
			"%llu timed out), %.3f s in all; see %s/guard.log\n",
			m->log->places, plural(m->log->places), count, plural(count), resolved,
			timed_out, seconds, o->out);
}

int guard_report(struct monitored_run *m, const struct guard_options *o, struct err *err)
{
	if (write_log(m, o, err) < 0)
		return -1;
	if (o->json)
		print_json(m, o);
	if (!o->quiet)
		print_summary(m, o);
	return 0;
}
