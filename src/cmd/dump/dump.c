/*
 * snarl dump: options, the filter of events, and what the forms of output share (dump.h).
 */
#include "cmd/dump/dump.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "cmd/cmd.h"
#include "trace/read/kinds.h"
#include "trace/sites/sites.h"

#define FLUSH_BYTES (64u << 10)

static const char usage[] =
	"usage: snarl dump [options] TRACE\n"
	"\n"
	"Shows the events of a trace in order. TRACE is a file of snarl record, or a text trace.\n"
	"\n"
	"  --text               print text, with names as comments after ';' (default); it can be\n"
	"                       read back as a trace\n"
	"  --json               print one JSON object per line\n"
	"  --stats              print counts by kind, thread, place and object, and what was "
		"lost;\n"
	"                       with --json one JSON object\n"
	"  --chunks             print the chunks of the file without decoding them\n"
	"  --sites              print the sites that touched shared memory, as a list for\n"
	"                       snarl record --sites\n"
	"  --raw                print text without names\n"
	"  --no-symbols         do not read names from the program's files\n"
	"  -t, --thread NAME,…  show only these threads (0 is main, 0.2 its second child)\n"
	"  -k, --kind KIND,…    show only these kinds (read, lock, …) or classes (access, mutex,\n"
	"                       atomic, heap, thread, …)\n"
	"  -n, --limit N        stop after N events\n"
	"\n"
	"  snarl dump --kind mutex,cond trace.snarl\n"
	"  snarl dump --json trace.snarl | jq 'select(.op == \"write\") | .object.name'\n";

struct dump_filter {
	bool kind[TRACE_KIND_COUNT];
	bool all_kinds;
	const char *threads;	/* names separated by commas; NULL: all threads */
	struct map listed;	/* thread id to 2 if `threads` lists it, else 1; a cache */
	uint64_t remaining;	/* number of events still to show */
};

struct options {
	const struct dump_form *form;
	bool stats, chunks, sites, json, no_symbols;
	struct dump_filter filter;
};

/* Whether a list of words separated by commas contains `word`. */
static bool list_contains(const char *list, const char *word)
{
	size_t length = strlen(word);

	while (*list) {
		size_t n = strcspn(list, ",");

		if (n == length && strncmp(list, word, n) == 0)
			return true;
		list += n + (list[n] == ',');
	}
	return false;
}

/*
 * Returns the first name in the list that no thread of the trace has, with its length in *size, or
 * NULL.
 */
static const char *unknown_thread(const struct dump *d, const char *list, size_t *size)
{
	const struct reader_info *info = reader_info(d->reader);

	while (*list) {
		size_t n = *size = strcspn(list, ","), i = 0;

		while (i < info->thread_count && (strlen(info->threads[i].name) != n ||
						  strncmp(info->threads[i].name, list, n) != 0))
			i++;
		if (i == info->thread_count)
			return list;
		list += n + (list[n] == ',');
	}
	return NULL;
}

/* Whether an event passes the filter. */
static bool is_wanted(struct dump *d, struct dump_filter *filter, const struct event *ev)
{
	const struct reader_thread *thread;
	bool added;
	uint64_t *known;

	if (!filter->all_kinds && !filter->kind[ev->kind])
		return false;
	if (!filter->threads)
		return true;
	known = map_put(&filter->listed, ev->thread, &added);
	if (added) {
		thread = reader_thread(d->reader, ev->thread);
		*known = 1 + (thread && list_contains(filter->threads, thread->name));
	}
	return *known == 2;
}

/* [vdso] and the like have no file to read names from. */
static bool has_file(const struct reader_module *m)
{
	return strchr(m->path, '/') != NULL;
}

static void read_module(struct dump *d, const struct reader_module *m)
{
	struct err err;

	if (symbols_add(d->symbols, m->path, m->build_id, m->build_id_size, m->base, m->start,
			m->end, &err) < 0 && has_file(m))
		log_warn("no names from %s", err.text);
}

/* Whether module `i` occupies addresses of one that was loaded before it. */
static bool reuses_addresses(const struct reader_info *info, size_t i)
{
	const struct reader_module *m = &info->modules[i];

	for (size_t j = 0; j < i; j++)
		if (m->start < info->modules[j].end && info->modules[j].start < m->end)
			return true;
	return false;
}

/*
 * Reads the modules that were the first at their addresses. The trace may announce a module only
 * after the first events in it, so these names apply from the start.
 */
static void read_first_modules(struct dump *d)
{
	const struct reader_info *info = reader_info(d->reader);

	d->symbols = symbols_new();
	for (size_t i = 0; i < info->module_count; i++)
		if (!reuses_addresses(info, i))
			read_module(d, &info->modules[i]);
}

/*
 * Reads the modules loaded up to `time` that reuse addresses, and forgets the texts of the old
 * names.
 */
static void read_later_modules(struct dump *d, uint64_t time)
{
	const struct reader_info *info = reader_info(d->reader);

	for (; d->modules_passed < info->module_count; d->modules_passed++) {
		const struct reader_module *m = &info->modules[d->modules_passed];

		if (m->time > time)
			return;
		if (!reuses_addresses(info, d->modules_passed))
			continue;
		read_module(d, m);
		map_free(&d->site_texts);
		d->site_texts = (struct map){ 0 };
	}
}

int dump_next(struct dump *d, struct dump_filter *filter, struct event *ev,
	      struct object *object, bool *has_object, struct err *err)
{
	int got;

	while ((got = reader_next(d->reader, ev, err)) > 0) {
		if (d->symbols)
			read_later_modules(d, ev->time);
		/* Events that are not shown change objects, too: malloc and free, for example. */
		*has_object = d->objects && objects_step(d->objects, ev, object);
		if (is_wanted(d, filter, ev))
			return 1;
	}
	return got;
}

void dump_flush(struct dump *d, bool now)
{
	size_t done = 0;

	if (d->out.size < FLUSH_BYTES && !now)
		return;
	while (!d->failure && done < d->out.size) {
		ssize_t n = write(STDOUT_FILENO, d->out.data + done, d->out.size - done);

		if (n > 0)
			done += (size_t)n;
		else if (n < 0 && errno != EINTR)
			d->failure = errno;
	}
	buf_clear(&d->out);
}

double dump_time(const struct dump *d, const struct event *ev)
{
	uint64_t start = reader_info(d->reader)->header->start_time;

	return ev->time > start ? (double)(ev->time - start) / d->ticks_per_us : 0;
}

const char *dump_site_text(struct dump *d, uint64_t pc,
		       void (*make)(struct dump *d, uint64_t pc, struct buf *out))
{
	uint64_t *known = map_put(&d->site_texts, pc, NULL);

	if (*known == 0) {
		*known = d->pool.size + 1;
		buf_clear(&d->scratch);
		make(d, pc, &d->scratch);
		buf_add(&d->pool, buf_string(&d->scratch), d->scratch.size + 1);
	}
	return (const char *)d->pool.data + *known - 1;
}

const char *dump_label(struct dump *d, uint64_t addr)
{
	const uint64_t *known = map_find(&d->labels, addr);

	return known ? (const char *)d->pool.data + *known - 1 : NULL;
}

/* Reads the labels of a text trace: its metadata "object:0x…" and "label:0x…". */
static void read_labels(struct dump *d)
{
	const char *key, *value;

	for (size_t i = 0; reader_meta_at(d->reader, i, &key, &value); i++) {
		const char *number = strchr(key, ':');

		if (strncmp(key, "object:0x", 9) != 0 && strncmp(key, "label:0x", 8) != 0)
			continue;
		*map_put(&d->labels, strtoull(number + 1, NULL, 16), NULL) = d->pool.size + 1;
		buf_add(&d->pool, value, strlen(value) + 1);
	}
}

static void read_clock(struct dump *d)
{
	const char *rate = reader_meta(d->reader, "ticks_per_second", 0);

	if (rate && !(reader_info(d->reader)->header->flags & TRACE_TOTAL_ORDER))
		d->ticks_per_us = strtod(rate, NULL) / 1e6;
}

static void show(struct dump *d, struct options *o, struct err *err, int *result)
{
	struct object object;
	struct event ev;
	bool has_object;
	int got = 1;

	if (o->form->begin && o->filter.remaining > 0)
		o->form->begin(d);
	while (o->filter.remaining > 0 && !d->failure &&
	       (got = dump_next(d, &o->filter, &ev, &object, &has_object, err)) > 0) {
		o->form->event(d, &ev, has_object ? &object : NULL);
		o->filter.remaining--;
		dump_flush(d, false);
	}
	*result = got < 0 ? -1 : 0;
}

static int dump_sites(struct dump *d, struct err *err)
{
	struct sites sites = { 0 };
	int result = sites_add(&sites, d->path, NULL, err);

	if (result == 0)
		sites_format(&sites, &d->out);
	sites_free(&sites);
	return result;
}

static int dump_file(struct dump *d, struct options *o)
{
	const struct reader_info *info;
	const char *name;
	struct err err;
	int result = 0;
	size_t size;

	if (o->chunks) {
		result = dump_chunks(d, o->json, &err);
	} else if (o->sites) {
		result = dump_sites(d, &err);
	} else {
		d->reader = reader_open(d->path, &err);
		if (!d->reader)
			return cmd_fail(&cmd_dump, "%s", err.text);
		name = o->filter.threads ? unknown_thread(d, o->filter.threads, &size) : NULL;
		if (name)
			return cmd_usage(&cmd_dump, "no thread of this trace is called '%.*s'",
					 (int)size, name);
		read_labels(d);
		read_clock(d);
		if (!o->no_symbols && o->form != &dump_raw)
			read_first_modules(d);
		if (o->form != &dump_raw)
			d->objects = objects_new(d->reader, d->symbols);
		if (o->stats)
			result = dump_stats(d, &o->filter, o->json, &err);
		else
			show(d, o, &err, &result);
	}
	dump_flush(d, true);
	if (result < 0)
		return cmd_fail(&cmd_dump, "%s", err.text);
	if (d->failure && d->failure != EPIPE)
		return cmd_fail(&cmd_dump, "cannot write the output: %s", strerror(d->failure));
	info = d->reader ? reader_info(d->reader) : NULL;
	if (info && info->incomplete && !o->stats && !d->failure)
		log_warn("%s ends early: the program was killed, crashed, called exec, or still "
			 "runs",
			 d->path);
	return CMD_OK;
}

static void dump_free(struct dump *d)
{
	objects_free(d->objects);
	symbols_free(d->symbols);
	if (d->reader)
		reader_close(d->reader);
	map_free(&d->site_texts);
	map_free(&d->labels);
	buf_free(&d->pool);
	buf_free(&d->scratch);
	buf_free(&d->out);
}

/* Adds a kind, or all kinds of a class, to the filter; false if there is none of this name. */
static bool add_kind(struct dump_filter *filter, const char *name, size_t size)
{
	int kind = kind_find(name, size);
	bool found = kind >= 0;

	if (found)
		filter->kind[kind] = true;
	for (unsigned k = 0; k < TRACE_KIND_COUNT; k++) {
		const char *class = kind_class_name(kind_class(k));

		if (class && strlen(class) == size && strncmp(class, name, size) == 0)
			found = filter->kind[k] = true;
	}
	return found;
}

static int add_kinds(struct dump_filter *filter, const char *list)
{
	filter->all_kinds = false;
	while (*list) {
		size_t n = strcspn(list, ",");

		if (n > 0 && !add_kind(filter, list, n))
			return cmd_usage(&cmd_dump, "no kind of event is called '%.*s'", (int)n,
					 list);
		list += n + (list[n] == ',');
	}
	return CMD_OK;
}

static int parse_limit(uint64_t *limit, const char *text)
{
	char *end;

	errno = 0;
	*limit = strtoull(text, &end, 10);
	if (errno != 0 || end == text || *end || *text < '0' || *text > '9')
		return cmd_usage(&cmd_dump, "--limit needs a number, not '%s'", text);
	return CMD_OK;
}

enum { OPT_TEXT = 256, OPT_JSON, OPT_STATS, OPT_CHUNKS, OPT_RAW, OPT_SITES,
       OPT_NO_SYMBOLS };

static const struct option long_options[] = {
	{ "text", no_argument, NULL, OPT_TEXT },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "stats", no_argument, NULL, OPT_STATS },
	{ "chunks", no_argument, NULL, OPT_CHUNKS },
	{ "sites", no_argument, NULL, OPT_SITES },
	{ "raw", no_argument, NULL, OPT_RAW },
	{ "no-symbols", no_argument, NULL, OPT_NO_SYMBOLS },
	{ "thread", required_argument, NULL, 't' },
	{ "kind", required_argument, NULL, 'k' },
	{ "limit", required_argument, NULL, 'n' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

/* Returns -1 to continue, or an exit code. */
static int parse(struct options *o, int argc, char **argv)
{
	int c, code = CMD_OK;

	while (code == CMD_OK &&
	       (c = getopt_long(argc, argv, ":t:k:n:h", long_options, NULL)) != -1)
		switch (c) {
		case OPT_TEXT: o->form = &dump_text; break;
		case OPT_JSON: o->form = &dump_json; o->json = true; break;
		case OPT_STATS: o->stats = true; break;
		case OPT_CHUNKS: o->chunks = true; break;
		case OPT_SITES: o->sites = true; break;
		case OPT_RAW: o->form = &dump_raw; break;
		case OPT_NO_SYMBOLS: o->no_symbols = true; break;
		case 't': o->filter.threads = optarg; break;
		case 'k': code = add_kinds(&o->filter, optarg); break;
		case 'n': code = parse_limit(&o->filter.remaining, optarg); break;
		case 'h': fputs(usage, stdout); return cmd_flush(&cmd_dump, CMD_OK);
		default: return cmd_bad_option(&cmd_dump, argv, c);
		}
	if (code != CMD_OK)
		return code;
	if (optind == argc)
		return cmd_usage(&cmd_dump, "missing TRACE; usage: snarl dump [options] TRACE");
	if (optind + 1 < argc)
		return cmd_usage(&cmd_dump, "one trace at a time, not also '%s'", argv[optind + 1]);
	return -1;
}

static int run(int argc, char **argv)
{
	struct options o = {
		.form = &dump_text,
		.filter = { .all_kinds = true, .remaining = UINT64_MAX },
	};
	struct dump d = { 0 };
	int code = parse(&o, argc, argv);

	if (code >= 0)
		return code;
	signal(SIGPIPE, SIG_IGN);
	d.path = argv[optind];
	code = dump_file(&d, &o);
	dump_free(&d);
	map_free(&o.filter.listed);
	return code;
}

const struct cmd cmd_dump = {
	.name = "dump",
	.summary = "show the events of a trace",
	.run = run,
};
