/*
 * What a guard did. guard.log has one line for each pair of places, fields separated by
 * blanks, and for people what they mean after a ';': docs/guard.md.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/plural.h"
#include "cmd/guard_report.h"

static const char *none_of(const struct watchlog_record *r, int which)
{
	if (r->kind == WATCHLOG_TX)
		return which ? "a lock" : "a transaction";
	return "nobody";
}

static void describe(struct watch_session *w, const struct watchlog_record *r, struct buf *out)
{
	watch_place(w, r->site[1], none_of(r, 1), out);
	buf_addf(out, r->kind == WATCHLOG_TX ? " within the transaction at " : " right after ");
	watch_place(w, r->site[0], none_of(r, 0), out);
}

static void add_line(struct watch_session *w, const struct watchlog_record *r, struct buf *out)
{
	buf_addf(out, "%s ", watch_kind_name(r->kind));
	watch_key(w, r->site[0], out);
	buf_add_char(out, ' ');
	watch_key(w, r->site[1], out);
	buf_addf(out, " %llu %llu %llu %llu %llu %llu ; ", (unsigned long long)r->count,
		 (unsigned long long)r->resolved, (unsigned long long)r->timed_out,
		 (unsigned long long)r->passed, (unsigned long long)r->wait_ns / 1000,
		 (unsigned long long)r->longest_ns / 1000);
	describe(w, r, out);
	buf_add_char(out, '\n');
}

static int write_log(struct watch_session *w, const struct guard_options *o, struct err *err)
{
	struct buf out = { 0 };
	char *path = xasprintf("%s/guard.log", o->out);
	FILE *f;
	int result = 0;

	buf_addf(&out, "snarl-guard 1\n");
	for (size_t i = 0; i < w->count; i++)
		add_line(w, &w->records[i], &out);
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

static void print_json(struct watch_session *w, const struct guard_options *o)
{
	struct buf out = { 0 };
	struct json j = { .out = &out };

	json_open(&j, NULL, '{');
	json_number(&j, "version", 1);
	watch_end_json(w, o->program, &j);
	json_open(&j, "delays", '[');
	for (size_t i = 0; i < w->count; i++) {
		const struct watchlog_record *r = &w->records[i];

		json_open(&j, NULL, '{');
		json_text(&j, "kind", watch_kind_name(r->kind));
		watch_place_json(w, "before", r->site[0], &j);
		watch_place_json(w, "delayed", r->site[1], &j);
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

static void say(struct watch_session *w, const struct guard_options *o)
{
	unsigned long long count = 0, resolved = 0, vain = 0;
	double seconds = 0;

	for (size_t i = 0; i < w->count; i++) {
		count += w->records[i].count;
		resolved += w->records[i].resolved;
		vain += w->records[i].timed_out;
		seconds += (double)w->records[i].wait_ns / 1e9;
	}
	watch_tell_end(w, o->program[0]);
	watch_tell_lost(w);
	if (!w->log->pid)
		fprintf(stderr, "snarl: nothing was guarded: %s was not built with snarl-cc\n", o->program[0]);
	else if (!w->log->places)
		fprintf(stderr, "snarl: nothing was guarded: the rules have no open place in this build\n");
	else
		fprintf(stderr, "snarl: %u place%s guarded, %llu delay%s (%llu helped, %llu in vain), "
			"%.3f s in all; %s/guard.log\n", w->log->places, plural(w->log->places), count, plural(count),
			resolved, vain, seconds, o->out);
}

int guard_report(struct watch_session *w, const struct guard_options *o, struct err *err)
{
	if (write_log(w, o, err) < 0)
		return -1;
	if (o->json)
		print_json(w, o);
	if (!o->quiet)
		say(w, o);
	return 0;
}
