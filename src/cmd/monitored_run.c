#include "cmd/monitored_run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/plural.h"
#include "learn/fold/avio.h"
#include "trace/codec/codec.h"

static int read_rules(struct watch_session *w, const char *path, struct err *err)
{
	FILE *f = fopen(path, "rb");
	struct rules_header *h;
	struct stat st;
	int result = -1;

	if (!f || fstat(fileno(f), &st) != 0) {
		err_set(err, "cannot read the rules %s: %s (snarl learn makes them)", path, strerror(errno));
		goto out;
	}
	h = w->rules = xmalloc((size_t)st.st_size + 1);
	if ((size_t)st.st_size < sizeof(*h) || fread(h, (size_t)st.st_size, 1, f) != 1 ||
	    h->magic != RULES_MAGIC)
		err_set(err, "%s is not a file of rules (snarl learn makes them)", path);
	else if (h->version != RULES_VERSION)
		err_set(err, "%s is of another version of snarl: run snarl learn again", path);
	else if (h->size != (uint64_t)st.st_size || h->sites == 0 ||
		 h->check != trace_check(h + 1, h->size - sizeof(*h)) ||
		 h->sites_at > h->size || h->sites > (h->size - h->sites_at) / sizeof(struct rules_site) ||
		 h->modules_at > h->size ||
		 h->modules > (h->size - h->modules_at) / sizeof(struct rules_module))
		err_set(err, "%s is damaged: run snarl learn again", path);
	else
		result = 0;
out:
	if (f)
		fclose(f);
	return result;
}

static int make_log(struct watch_session *w, struct err *err)
{
	w->log_fd = memfd_create("snarl-log", MFD_CLOEXEC);
	if (w->log_fd < 0 || ftruncate(w->log_fd, sizeof(*w->log)) != 0)
		return err_set(err, "cannot make shared memory: %s", strerror(errno));
	w->log = mmap(NULL, sizeof(*w->log), PROT_READ | PROT_WRITE, MAP_SHARED, w->log_fd, 0);
	if (w->log == MAP_FAILED) {
		w->log = NULL;
		return err_set(err, "cannot map shared memory: %s", strerror(errno));
	}
	w->log->version = WATCHLOG_VERSION;
	w->log->magic = WATCHLOG_MAGIC;
	return 0;
}

void watch_option(struct watch_session *w, const char *key, const char *value)
{
	buf_add_option(&w->options, key, value);
}

void watch_number(struct watch_session *w, const char *key, uint64_t value)
{
	char *text = xasprintf("%llu", (unsigned long long)value);

	watch_option(w, key, text);
	free(text);
}

int watch_open(struct watch_session *w, const char *rules, struct err *err)
{
	char *path;

	w->log_fd = -1;
	places_init(&w->places);
	if ((rules && read_rules(w, rules, err) < 0) || make_log(w, err) < 0)
		return -1;
	if (rules) {
		path = realpath(rules, NULL);
		watch_option(w, "rules", path ? path : rules);
		free(path);
	}
	path = xasprintf("/proc/%d/fd/%d", (int)getpid(), w->log_fd);
	watch_option(w, "log", path);
	free(path);
	return 0;
}

void watch_close(struct watch_session *w)
{
	if (w->log)
		munmap(w->log, sizeof(*w->log));
	if (w->log_fd >= 0)
		close(w->log_fd);
	places_free(&w->places);
	buf_free(&w->options);
	free(w->records);
	free(w->rules);
}

static bool same(const struct watchlog_record *a, const struct watchlog_record *b)
{
	return a->kind == b->kind && memcmp(a->site, b->site, sizeof(a->site)) == 0;
}

static void add_record(struct watch_session *w, const struct watchlog_record *r)
{
	for (size_t i = 0; i < w->count; i++) {
		struct watchlog_record *to = &w->records[i];

		if (!same(to, r))
			continue;
		to->count += r->count;
		to->resolved += r->resolved;
		to->timed_out += r->timed_out;
		to->passed += r->passed;
		to->wait_ns += r->wait_ns;
		if (r->longest_ns > to->longest_ns)
			to->longest_ns = r->longest_ns;
		return;
	}
	w->records[w->count++] = *r;
}

static int by_count(const void *a, const void *b)
{
	const struct watchlog_record *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return memcmp(x->site, y->site, sizeof(x->site));
}

static void collect(struct watch_session *w)
{
	w->records = xcalloc(WATCHLOG_RECORDS, sizeof(*w->records));
	for (size_t i = 0; i < WATCHLOG_RECORDS; i++) {
		const struct watchlog_record *r = &w->log->record[i];
		bool known = true;

		for (int k = 0; k < 3; k++)
			known &= r->site[k] == 0 || (w->rules && r->site[k] < w->rules->sites);
		if (r->kind > WATCHLOG_NONE && r->kind <= WATCHLOG_TX && r->count && known)
			add_record(w, r);
	}
	qsort(w->records, w->count, sizeof(*w->records), by_count);
	for (size_t i = 0; i < WATCHLOG_MODULES; i++) {
		struct watchlog_module *m = &w->log->module[i];

		m->path[WATCHLOG_PATH - 1] = 0;
		if (m->used)
			places_add_module(&w->places, m->path, m->base);
	}
}

int watch_run(struct watch_session *w, char **program, bool json, struct err *err)
{
	w->run = (struct run){ .argv = program, .options = buf_string(&w->options),
			       .to_stderr = json, .wait = 2 };
	if (run_program(&w->run, err) < 0)
		return -1;
	collect(w);
	return 0;
}

static const struct rules_site *site_of(const struct watch_session *w, uint32_t site)
{
	return (const struct rules_site *)((const char *)w->rules + w->rules->sites_at) + site;
}

static uint64_t pc_of(const struct watch_session *w, uint32_t site)
{
	for (size_t i = 0; i < WATCHLOG_MODULES; i++)
		if (w->log->module[i].used && w->log->module[i].module == site_of(w, site)->module)
			return w->log->module[i].base + site_of(w, site)->offset;
	return 0;
}

void watch_place(struct watch_session *w, uint32_t site, const char *none, struct buf *out)
{
	if (site)
		places_describe(&w->places, pc_of(w, site), out);
	else
		buf_addf(out, "%s", none);
}

void watch_place_json(struct watch_session *w, const char *key, uint32_t site, struct json *j)
{
	struct symbol_frame frame;

	json_open(j, key, '{');
	if (site) {
		places_frame(&w->places, pc_of(w, site), &frame);
		json_text(j, "function", frame.function);
		json_text(j, "file", frame.file);
		json_number(j, "line", frame.line);
		json_text(j, "op", site_of(w, site)->flags & RULES_WRITE ? "write" : "read");
	}
	json_close(j, '}');
}

void watch_key(const struct watch_session *w, uint32_t site, struct buf *out)
{
	const struct rules_module *m = (const void *)((const char *)w->rules + w->rules->modules_at);

	if (!site || site_of(w, site)->module >= w->rules->modules) {
		buf_add_char(out, '-');
		return;
	}
	m += site_of(w, site)->module;
	for (uint32_t i = 0; i < m->id_size && i < RULES_ID_MAX; i++)
		buf_addf(out, "%02x", m->id[i]);
	buf_addf(out, "+0x%llx", (unsigned long long)site_of(w, site)->offset);
}

void watch_variable(struct watch_session *w, const struct watchlog_record *r, struct buf *out)
{
	if (r->addr && places_knows(&w->places, r->addr))
		places_object(&w->places, r->addr, out);
}

const char *watch_kind_name(enum watchlog_kind kind)
{
	switch (kind) {
	case WATCHLOG_RWR: return avio_pattern_name(AVIO_RWR);
	case WATCHLOG_WWR: return avio_pattern_name(AVIO_WWR);
	case WATCHLOG_RWW: return avio_pattern_name(AVIO_RWW);
	case WATCHLOG_WRW: return avio_pattern_name(AVIO_WRW);
	case WATCHLOG_PSET: return "pset";
	case WATCHLOG_TX: return "tx";
	default: return "none";
	}
}

void watch_tell_end(const struct watch_session *w, const char *program)
{
	if (WIFSIGNALED(w->run.status))
		fprintf(stderr, "snarl: %s was killed by signal %d (%s)\n", program, WTERMSIG(w->run.status),
			strsignal(WTERMSIG(w->run.status)));
	else if (WEXITSTATUS(w->run.status) != 0)
		fprintf(stderr, "snarl: %s ended with exit status %d\n", program,
			WEXITSTATUS(w->run.status));
}

void watch_tell_lost(const struct watch_session *w)
{
	const struct watchlog *log = w->log;

	if (log->lost_threads)
		fprintf(stderr, "snarl: %llu thread%s not watched: too many at once\n",
			(unsigned long long)log->lost_threads, plural(log->lost_threads));
	if (log->lost_records)
		fprintf(stderr, "snarl: the log was full: %llu time%s something else happened\n",
			(unsigned long long)log->lost_records, plural(log->lost_records));
}

void watch_end_json(const struct watch_session *w, char **program, struct json *j)
{
	json_open(j, "program", '[');
	for (char **word = program; *word; word++)
		json_text(j, NULL, *word);
	json_close(j, ']');
	if (WIFSIGNALED(w->run.status))
		json_number(j, "signal", (uint64_t)WTERMSIG(w->run.status));
	else
		json_number(j, "status", (uint64_t)WEXITSTATUS(w->run.status));
	json_decimal(j, "seconds", w->run.seconds);
	json_number(j, "places", w->log->places);
	json_open(j, "lost", '{');
	json_number(j, "cells", w->log->lost_cells);
	json_number(j, "busy", w->log->lost_busy);
	json_number(j, "threads", w->log->lost_threads);
	json_number(j, "records", w->log->lost_records);
	json_close(j, '}');
}
