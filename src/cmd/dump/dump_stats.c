/*
 * snarl dump --stats: counts by kind, thread, place and object, and what the trace lost.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "cmd/dump/dump.h"
#include "trace/read/kinds.h"
#include "trace/sites/sites.h"

#define MAX_LINES 15u	/* of places, and of objects; the rest is summed up */

struct line {
	const char *name;
	uint64_t count;
};

struct stats {
	uint64_t events, first, last;	/* number of events; time of the first and the last */
	uint64_t kinds[TRACE_KIND_COUNT];
	struct map threads, sites;	/* number of events by thread id, by pc */
	struct strmap objects;		/* number of events by name */
	struct buf name;		/* scratch */
};

/* Counts an event of an object. Blocks allocated at the same place count as one object. */
static void count_object(struct stats *s, struct dump *d, const struct object *object)
{
	struct object whole = *object;
	const char *label = object->kind == OBJECT_RAW ? dump_label(d, object->addr) : NULL;
	size_t size;

	object_whole(&whole);
	whole.gone = false;
	buf_clear(&s->name);
	if (label)
		buf_add_text(&s->name, label);
	else if (whole.kind == OBJECT_RAW)
		buf_add_text(&s->name, "unknown memory");
	else
		object_describe(&whole, &s->name);
	size = s->name.size;
	if (whole.kind == OBJECT_HEAP || whole.kind == OBJECT_MAPPING)
		while (size > 0 && s->name.data[--size] != '#')
			;
	++*strmap_put(&s->objects, (const char *)s->name.data, size, NULL);
}

static int gather(struct stats *s, struct dump *d, struct dump_filter *filter, struct err *err)
{
	struct object object;
	struct event ev;
	bool has_object;
	int got;

	while ((got = dump_next(d, filter, &ev, &object, &has_object, err)) > 0) {
		if (s->events++ == 0)
			s->first = ev.time;
		s->last = ev.time;
		s->kinds[ev.kind]++;
		++*map_put(&s->threads, ev.thread, NULL);
		if (ev.pc)
			++*map_put(&s->sites, ev.pc, NULL);
		if (has_object)
			count_object(s, d, &object);
	}
	return got;
}

static int compare_lines(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return strcmp(x->name, y->name);
}

struct collect {
	struct dump *d;
	struct strmap *places;
	struct buf name;
};

/* For map_each(): adds the events of a pc to those of its place, which several pcs may share. */
static void collect_site(void *context, uint64_t pc, uint64_t count)
{
	struct collect *c = context;
	struct symbol_frame frame = { .function = "??" };
	const char *label = dump_label(c->d, pc);

	if (c->d->symbols)
		symbols_frames(c->d->symbols, pc, &frame, 1);
	buf_clear(&c->name);
	if (label)
		buf_add_text(&c->name, label);
	else if (frame.file)
		buf_addf(&c->name, "%s %s:%u", frame.function, frame.file, frame.line);
	else if (strcmp(frame.function, "??") != 0)
		buf_add_text(&c->name, frame.function);
	else
		buf_add_hex(&c->name, pc);
	*strmap_put(c->places, (const char *)c->name.data, c->name.size, NULL) += count;
}

/* Returns the entries of a map, most frequent first. Free the array, not the names. */
static struct line *sorted(const struct strmap *map, size_t *count)
{
	struct line *lines = xcalloc(map->used + 1, sizeof(*lines));

	*count = 0;
	for (size_t i = 0; i < map->capacity; i++)
		if (map->entries[i].key)
			lines[(*count)++] =
				(struct line){ map->entries[i].key, map->entries[i].value };
	qsort(lines, *count, sizeof(*lines), compare_lines);
	return lines;
}

static void show_lines(struct buf *out, struct json *j, const char *title, const char *key,
		       const struct line *lines, size_t count, size_t limit)
{
	size_t shown = count < limit ? count : limit;

	if (j) {
		json_open(j, key, '[');
		for (size_t i = 0; i < shown; i++) {
			json_open(j, NULL, '{');
			json_text(j, "name", lines[i].name);
			json_number(j, "events", lines[i].count);
			json_close(j, '}');
		}
		json_close(j, ']');
		return;
	}
	buf_addf(out, "\n%s\n", title);
	for (size_t i = 0; i < shown; i++)
		buf_addf(out, "%12llu  %s\n", (unsigned long long)lines[i].count, lines[i].name);
	if (shown < count)
		buf_addf(out, "              and %zu more\n", count - shown);
}

static void show_map(struct buf *out, struct json *j, const char *title, const char *key,
		     const struct strmap *map)
{
	size_t count;
	struct line *lines = sorted(map, &count);

	show_lines(out, j, title, key, lines, count, MAX_LINES);
	free(lines);
}

static void show_kinds(struct buf *out, struct json *j, const struct stats *s)
{
	struct line lines[TRACE_KIND_COUNT];
	size_t count = 0;

	for (unsigned k = 0; k < TRACE_KIND_COUNT; k++)
		if (s->kinds[k])
			lines[count++] = (struct line){ kind_name(k), s->kinds[k] };
	qsort(lines, count, sizeof(*lines), compare_lines);
	show_lines(out, j, "by kind", "kinds", lines, count, TRACE_KIND_COUNT);
}

static void show_threads(struct buf *out, struct json *j, const struct stats *s,
			 const struct reader_info *info)
{
	struct line *lines = xcalloc(info->thread_count + 1, sizeof(*lines));
	size_t count = 0;

	for (size_t i = 0; i < info->thread_count; i++) {
		const uint64_t *events = map_find(&s->threads, info->threads[i].id);

		if (events)
			lines[count++] = (struct line){ info->threads[i].name, *events };
	}
	show_lines(out, j, "by thread", "threads", lines, count, j ? count : 40);
	free(lines);
}

/* Metadata of the trace that counts losses, and their meaning. */
static const struct {
	const char *key, *meaning;
} losses[] = {
	{ "lost_records", "records were lost: no room on the disk, in memory or by --max-size" },
	{ "lost_threads", "threads not recorded: too many ran at once" },
	{ "lost_signals", "records of signal handlers were lost" },
	{ "cut_locations",
	  "locations became shared after their early history was dropped: record with a larger "
	  "--window" },
	{ "cut_records", "records of unshared memory were dropped when the window was full" },
};

static uint64_t loss(const struct dump *d, size_t i)
{
	const char *value = reader_meta(d->reader, losses[i].key, 0);

	return value ? strtoull(value, NULL, 10) : 0;
}

static void show_losses(struct buf *out, struct json *j, const struct dump *d)
{
	const struct reader_info *info = reader_info(d->reader);
	struct sites_effect sites;

	sites_effect(d->reader, &sites);
	if (j) {
		sites_json(&sites, j);
		json_open(j, "losses", '{');
		for (size_t i = 0; i < ARRAY_SIZE(losses); i++)
			json_number(j, losses[i].key, loss(d, i));
		json_number(j, "torn_bytes", info->torn_bytes);
		json_close(j, '}');
		json_bool(j, "incomplete", info->incomplete);
		return;
	}
	buf_add_char(out, '\n');
	if (info->incomplete)
		buf_add_text(out, "incomplete: the program was killed, crashed, or still runs\n");
	if (info->torn_bytes)
		buf_addf(out, "%llu bytes at the end are an incomplete chunk\n",
			 (unsigned long long)info->torn_bytes);
	sites_describe(&sites, out);
	if (sites.asked)
		buf_add_char(out, '\n');
	for (size_t i = 0; i < ARRAY_SIZE(losses); i++)
		if (loss(d, i))
			buf_addf(out, "%llu %s\n", (unsigned long long)loss(d, i),
				 losses[i].meaning);
}

static void show_head(struct buf *out, struct json *j, const struct dump *d,
		      const struct stats *s)
{
	const struct reader_info *info = reader_info(d->reader);
	const char *program = reader_meta(d->reader, "arg", 0);
	double seconds = d->ticks_per_us > 0 ?
			 (double)(s->last - s->first) / d->ticks_per_us / 1e6 : 0;

	if (j) {
		json_text(j, "trace", d->path);
		json_text(j, "program", program);
		json_number(j, "events", s->events);
		json_number(j, "bytes", info->file_size);
		json_number(j, "chunks", info->chunks);
		json_decimal(j, "seconds", seconds);
		json_bool(j, "filtered", !(info->header->flags & TRACE_UNFILTERED));
		return;
	}
	buf_addf(out, "%s", d->path);
	if (program)
		buf_addf(out, ": %s", program);
	buf_addf(out, "\n%llu events, %zu threads, %llu bytes in %llu chunks",
		 (unsigned long long)s->events, info->thread_count,
		 (unsigned long long)info->file_size, (unsigned long long)info->chunks);
	if (s->events)
		buf_addf(out, ", %.1f bytes an event",
			 (double)info->file_size / (double)s->events);
	if (d->ticks_per_us > 0)
		buf_addf(out, ", %.3f s", seconds);
	buf_add_char(out, '\n');
}

int dump_stats(struct dump *d, struct dump_filter *filter, bool json, struct err *err)
{
	struct stats s = { 0 };
	struct strmap places = { 0 };
	struct collect collect = { .d = d, .places = &places };
	struct json writer = { .out = &d->out }, *j = json ? &writer : NULL;
	int result = gather(&s, d, filter, err);

	if (result >= 0) {
		map_each(&s.sites, collect_site, &collect);
		if (j)
			json_open(j, NULL, '{');
		show_head(&d->out, j, d, &s);
		show_kinds(&d->out, j, &s);
		show_threads(&d->out, j, &s, reader_info(d->reader));
		show_map(&d->out, j, "by place", "sites", &places);
		show_map(&d->out, j, "by object", "objects", &s.objects);
		show_losses(&d->out, j, d);
		if (j) {
			json_close(j, '}');
			buf_add_char(&d->out, '\n');
		}
	}
	map_free(&s.threads);
	map_free(&s.sites);
	strmap_free(&s.objects);
	strmap_free(&places);
	buf_free(&s.name);
	buf_free(&collect.name);
	return result;
}
