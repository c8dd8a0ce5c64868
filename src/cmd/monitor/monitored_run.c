/*
 * Reading of rules.bin, the log shared with the program, and names of the sites in it.
 */
#include "cmd/monitor/monitored_run.h"

#include <errno.h>
#include <fcntl.h>
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

static int read_rules(struct monitored_run *m, const char *path, struct err *err)
{
	FILE *f = fopen(path, "rb");
	struct rules_header *h;
	struct stat st;
	int result = -1;

	if (!f || fstat(fileno(f), &st) != 0) {
		err_set(err, "cannot read the rules %s: %s (snarl learn makes them)", path,
			strerror(errno));
		goto out;
	}
	h = m->rules = xmalloc((size_t)st.st_size + 1);
	if ((size_t)st.st_size < sizeof(*h) || fread(h, (size_t)st.st_size, 1, f) != 1 ||
	    h->magic != RULES_MAGIC)
		err_set(err, "%s is not a rules file (snarl learn makes them)", path);
	else if (h->version != RULES_VERSION)
		err_set(err, "%s was made by another version of snarl: run snarl learn again",
			path);
	else if (h->size != (uint64_t)st.st_size || h->sites == 0 ||
		 h->check != trace_check(h + 1, h->size - sizeof(*h)) || h->sites_at > h->size ||
		 h->sites > (h->size - h->sites_at) / sizeof(struct rules_site) ||
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

static int make_log(struct monitored_run *m, struct err *err)
{
	m->log_fd = memfd_create("snarl-log", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (m->log_fd < 0 || ftruncate(m->log_fd, sizeof(*m->log)) != 0)
		return err_set(err, "cannot create shared memory: %s", strerror(errno));
	/* Without its end, reading the log would kill snarl. */
	fcntl(m->log_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
	m->log = mmap(NULL, sizeof(*m->log), PROT_READ | PROT_WRITE, MAP_SHARED, m->log_fd, 0);
	if (m->log == MAP_FAILED) {
		m->log = NULL;
		return err_set(err, "cannot map shared memory: %s", strerror(errno));
	}
	m->log->version = MONITOR_LOG_VERSION;
	m->log->magic = MONITOR_LOG_MAGIC;
	return 0;
}

void monitored_option(struct monitored_run *m, const char *key, const char *value)
{
	buf_add_option(&m->options, key, value);
}

void monitored_number_option(struct monitored_run *m, const char *key, uint64_t value)
{
	char *text = xasprintf("%llu", (unsigned long long)value);

	monitored_option(m, key, text);
	free(text);
}

int monitored_open(struct monitored_run *m, const char *rules, struct err *err)
{
	char *path;

	m->log_fd = -1;
	places_init(&m->places);
	if ((rules && read_rules(m, rules, err) < 0) || make_log(m, err) < 0)
		return -1;
	if (rules) {
		path = realpath(rules, NULL);
		monitored_option(m, "rules", path ? path : rules);
		free(path);
	}
	path = xasprintf("/proc/%d/fd/%d", (int)getpid(), m->log_fd);
	monitored_option(m, "log", path);
	free(path);
	return 0;
}

void monitored_close(struct monitored_run *m)
{
	if (m->log && !m->ended)
		munmap(m->log, sizeof(*m->log));
	else
		free(m->log);
	if (m->log_fd >= 0)
		close(m->log_fd);
	places_free(&m->places);
	buf_free(&m->options);
	free(m->records);
	free(m->rules);
}

static bool same_place(const struct monitor_log_record *a, const struct monitor_log_record *b)
{
	return a->kind == b->kind && memcmp(a->site, b->site, sizeof(a->site)) == 0;
}

static void add_record(struct monitored_run *m, const struct monitor_log_record *r)
{
	for (size_t i = 0; i < m->count; i++) {
		struct monitor_log_record *to = &m->records[i];

		if (!same_place(to, r))
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
	m->records[m->count++] = *r;
}

static int by_count(const void *a, const void *b)
{
	const struct monitor_log_record *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return memcmp(x->site, y->site, sizeof(x->site));
}

/*
 * Replaces the log by a copy: the program, or a process that it left behind, may overwrite the
 * shared one at any time.
 */
static void copy_log(struct monitored_run *m)
{
	struct monitor_log *copy = xmalloc(sizeof(*copy));

	memcpy(copy, m->log, sizeof(*copy));
	munmap(m->log, sizeof(*m->log));
	m->log = copy;
	m->ended = true;
}

static bool is_record_sane(const struct monitored_run *m, const struct monitor_log_record *r)
{
	for (int k = 0; k < 3; k++)
		if (r->site[k] && (!m->rules || r->site[k] >= m->rules->sites))
			return false;
	return r->kind <= MONITOR_LOG_TX && r->value_size <= sizeof(r->value);
}

static bool is_module_sane(const struct monitored_run *m, const struct monitor_log_module *module)
{
	return memchr(module->path, '\0', sizeof(module->path)) && m->rules &&
	       module->module < m->rules->modules;
}

/* What makes no sense in the copy of the log, or NULL. */
static const char *log_damage(const struct monitored_run *m)
{
	const struct monitor_log *log = m->log;

	if (log->magic != MONITOR_LOG_MAGIC || log->version != MONITOR_LOG_VERSION || log->off > 1)
		return "the log's header";
	for (size_t i = 0; i < MONITOR_LOG_RECORDS; i++)
		if (log->record[i].kind && !is_record_sane(m, &log->record[i]))
			return "a record of the log";
	for (size_t i = 0; i < MONITOR_LOG_MODULES; i++)
		if (log->module[i].used && !is_module_sane(m, &log->module[i]))
			return "a library in the log";
	return NULL;
}

/* Copies the records of the log, and makes the modules of the program known. */
static void collect_records(struct monitored_run *m)
{
	m->records = xcalloc(MONITOR_LOG_RECORDS, sizeof(*m->records));
	for (size_t i = 0; i < MONITOR_LOG_RECORDS; i++)
		if (m->log->record[i].kind && m->log->record[i].count)
			add_record(m, &m->log->record[i]);
	qsort(m->records, m->count, sizeof(*m->records), by_count);
	for (size_t i = 0; i < MONITOR_LOG_MODULES; i++) {
		const struct monitor_log_module *module = &m->log->module[i];

		if (module->used)
			places_add_module(&m->places, module->path, module->base);
	}
}

int monitored_execute(struct monitored_run *m, char **program, bool json, struct err *err)
{
	const char *damage;

	m->run = (struct run){ .argv = program, .options = buf_string(&m->options),
			       .to_stderr = json, .wait = 2 };
	if (run_program(&m->run, err) < 0)
		return -1;
	copy_log(m);
	damage = log_damage(m);
	if (damage)
		return err_set(err, "%s damaged the memory that it shares with snarl: "
			       "%s makes no sense", *program, damage);
	collect_records(m);
	return 0;
}

static const struct rules_site *site_of(const struct monitored_run *m, uint32_t site)
{
	return (const struct rules_site *)((const char *)m->rules + m->rules->sites_at) + site;
}

/* The address of a site in the run; 0 if its module was not loaded. */
static uint64_t pc_of(const struct monitored_run *m, uint32_t site)
{
	for (size_t i = 0; i < MONITOR_LOG_MODULES; i++)
		if (m->log->module[i].used && m->log->module[i].module == site_of(m, site)->module)
			return m->log->module[i].base + site_of(m, site)->offset;
	return 0;
}

void monitored_describe_site(struct monitored_run *m, uint32_t site, const char *none,
			     struct buf *out)
{
	if (site)
		places_describe(&m->places, pc_of(m, site), out);
	else
		buf_addf(out, "%s", none);
}

void monitored_site_json(struct monitored_run *m, const char *key, uint32_t site, struct json *j)
{
	struct symbol_frame frame;

	json_open(j, key, '{');
	if (site) {
		places_frame(&m->places, pc_of(m, site), &frame);
		json_text(j, "function", frame.function);
		json_text(j, "file", frame.file);
		json_number(j, "line", frame.line);
		json_text(j, "op", site_of(m, site)->flags & RULES_WRITE ? "write" : "read");
	}
	json_close(j, '}');
}

void monitored_site_key(const struct monitored_run *m, uint32_t site, struct buf *out)
{
	const struct rules_module *module =
		(const void *)((const char *)m->rules + m->rules->modules_at);

	if (!site || site_of(m, site)->module >= m->rules->modules) {
		buf_add_char(out, '-');
		return;
	}
	module += site_of(m, site)->module;
	for (uint32_t i = 0; i < module->id_size && i < RULES_ID_MAX; i++)
		buf_addf(out, "%02x", module->id[i]);
	buf_addf(out, "+0x%llx", (unsigned long long)site_of(m, site)->offset);
}

void monitored_variable(struct monitored_run *m, const struct monitor_log_record *r,
			struct buf *out)
{
	if (r->addr && places_knows(&m->places, r->addr))
		places_object(&m->places, r->addr, out);
}

const char *monitored_kind_name(enum monitor_log_kind kind)
{
	switch (kind) {
	case MONITOR_LOG_RWR: return avio_pattern_name(AVIO_RWR);
	case MONITOR_LOG_WWR: return avio_pattern_name(AVIO_WWR);
	case MONITOR_LOG_RWW: return avio_pattern_name(AVIO_RWW);
	case MONITOR_LOG_WRW: return avio_pattern_name(AVIO_WRW);
	case MONITOR_LOG_PSET: return "pset";
	case MONITOR_LOG_TX: return "tx";
	default: return "none";
	}
}

void monitored_print_end(const struct monitored_run *m, const char *program)
{
	if (WIFSIGNALED(m->run.status))
		fprintf(stderr, "snarl: %s was killed by signal %d (%s)\n", program,
			WTERMSIG(m->run.status), strsignal(WTERMSIG(m->run.status)));
	else if (WEXITSTATUS(m->run.status) != 0)
		fprintf(stderr, "snarl: %s ended with exit status %d\n", program,
			WEXITSTATUS(m->run.status));
}

void monitored_print_losses(const struct monitored_run *m)
{
	const struct monitor_log *log = m->log;

	if (log->lost_threads)
		fprintf(stderr, "snarl: %llu thread%s not watched: too many at once\n",
			(unsigned long long)log->lost_threads, plural(log->lost_threads));
	if (log->lost_records)
		fprintf(stderr,
			"snarl: the log was full: %llu event%s of further places not recorded\n",
			(unsigned long long)log->lost_records, plural(log->lost_records));
}

void monitored_end_json(const struct monitored_run *m, char **program, struct json *j)
{
	json_open(j, "program", '[');
	for (char **word = program; *word; word++)
		json_text(j, NULL, *word);
	json_close(j, ']');
	if (WIFSIGNALED(m->run.status))
		json_number(j, "signal", (uint64_t)WTERMSIG(m->run.status));
	else
		json_number(j, "status", (uint64_t)WEXITSTATUS(m->run.status));
	json_decimal(j, "seconds", m->run.seconds);
	json_number(j, "places", m->log->places);
	json_open(j, "lost", '{');
	json_number(j, "cells", m->log->lost_cells);
	json_number(j, "busy", m->log->lost_busy);
	json_number(j, "threads", m->log->lost_threads);
	json_number(j, "records", m->log->lost_records);
	json_close(j, '}');
}
