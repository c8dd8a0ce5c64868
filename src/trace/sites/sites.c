#include "trace/sites/sites.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/site_list_format.h"
#include "base/map.h"
#include "base/mem.h"
#include "trace/read/kinds.h"
#include "trace/read/reader.h"
#include "trace/sites/rarely_touched.h"
#include "trace/sites/shared_granules.h"
#include "trace/write/outfile.h"

#define GRANULE_BITS 3	/* log2: the runtime keeps an owner for each 8 bytes */

/* Adds the sites of a trace to a list. */
struct collector {
	struct sites *sites;
	const struct reader_info *info;
	const struct rarely_touched *rare;
};

static void add_line(struct sites *s, const struct sitelist_line *line)
{
	s->lines = xgrow(s->lines, s->count, &s->capacity, sizeof(*s->lines));
	s->lines[s->count++] = *line;
}

static void add_module_line(struct sites *s, const struct reader_module *m,
			    struct sitelist_line line)
{
	line.id_size = (uint32_t)m->build_id_size;
	memcpy(line.id, m->build_id, m->build_id_size);
	add_line(s, &line);
}

static bool has_id(const struct reader_module *m)
{
	return m->build_id_size > 0 && m->build_id_size <= SITELIST_ID_MAX;
}

/*
 * Adds a line for a pc. Two modules may have been mapped at the address one after the other: the
 * site is listed for both, since a needless site costs little and a missing one loses accesses.
 */
static void add_pc(void *ctx, uint64_t pc, uint64_t value)
{
	struct collector *c = ctx;
	bool found = false, shares = rarely_touched_has(c->rare, pc);

	(void)value;
	for (size_t i = 0; i < c->info->module_count; i++) {
		const struct reader_module *m = &c->info->modules[i];

		if (pc < m->start || pc >= m->end || !has_id(m))
			continue;
		add_module_line(c->sites, m,
				(struct sitelist_line){ .has_site = true, .shares = shares,
							.offset = pc - m->base });
		found = true;
	}
	c->sites->unknown += !found;
}

static uint64_t count_of(const struct reader *r, const char *key)
{
	const char *value = reader_meta(r, key, 0);

	return value ? strtoull(value, NULL, 10) : 0;
}

struct range {
	uint64_t low, high;
};

/* Memory that was some thread's stack, and its parts that other threads touched. */
struct stacks {
	struct range *ranges;	/* ascending, disjoint */
	size_t count;
	struct map foreign;	/* granules of stacks that another thread touched */
	const struct shared_granules *shared;	/* for other memory; NULL: all counts as shared */
	bool own_seen;		/* a thread touched its own stack */
};

static int compare_ranges(const void *pa, const void *pb)
{
	const struct range *a = pa, *b = pb;

	return a->low < b->low ? -1 : a->low > b->low;
}

static void find_stacks(struct stacks *k, const struct reader_info *info)
{
	size_t kept = 0;

	k->ranges = xcalloc(info->thread_count + 1, sizeof(*k->ranges));
	for (size_t i = 0; i < info->thread_count; i++)
		if (info->threads[i].stack_low < info->threads[i].stack_high)
			k->ranges[k->count++] = (struct range){ info->threads[i].stack_low,
								info->threads[i].stack_high };
	qsort(k->ranges, k->count, sizeof(*k->ranges), compare_ranges);
	for (size_t i = 0; i < k->count; i++) {
		if (kept && k->ranges[i].low <= k->ranges[kept - 1].high) {
			if (k->ranges[i].high > k->ranges[kept - 1].high)
				k->ranges[kept - 1].high = k->ranges[i].high;
		} else {
			k->ranges[kept++] = k->ranges[i];
		}
	}
	k->count = kept;
}

/* Adds the granules of stacks that the access touches to k->foreign. */
static void add_foreign(struct stacks *k, const struct event *ev)
{
	uint64_t last = ev->addr + (ev->size ? ev->size : 1) - 1;
	size_t low = 0, high = k->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (k->ranges[mid].high <= ev->addr)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < k->count && k->ranges[low].low <= last; low++) {
		const struct range *s = &k->ranges[low];
		uint64_t from = ev->addr > s->low ? ev->addr : s->low;
		uint64_t to = last < s->high ? last : s->high - 1;

		for (uint64_t g = from >> GRANULE_BITS; g <= to >> GRANULE_BITS; g++)
			map_put(&k->foreign, g, NULL);
	}
}

static bool touches_foreign(const struct stacks *k, const struct event *ev)
{
	for (uint64_t g = ev->addr >> GRANULE_BITS; g <= (ev->addr + ev->size - 1) >> GRANULE_BITS;
	     g++)
		if (map_find(&k->foreign, g))
			return true;
	return false;
}

static bool on_own_stack(const struct reader *r, const struct event *ev)
{
	const struct reader_thread *t = reader_thread(r, ev->thread);

	return t && ev->addr >= t->stack_low && ev->addr + ev->size <= t->stack_high;
}

static bool is_access(const struct event *ev)
{
	enum trace_class class = kind_class(ev->kind);

	return class == TRACE_CLASS_ACCESS || (class == TRACE_CLASS_ATOMIC && ev->addr);
}

/* Whether an access outside of its thread's stack may be to shared memory. */
static bool may_be_shared(const struct stacks *k, const struct event *ev)
{
	return !k->shared || shared_granules_touched(k->shared, ev);
}

/*
 * Collects the pcs of accesses to shared memory in two passes.
 *
 * A thread's stack may reuse the memory of an ended thread's stack. The runtime's shadow does not
 * distinguish the two, so that the memory looks shared. The first pass collects the pcs of accesses
 * outside of their thread's own stack, and the granules of stacks that other threads touch. The
 * second pass collects accesses to the own stack that touch such granules. The trace also has some
 * accesses to private memory; `shared_granules` leaves them out, because a listed site is on for
 * all of the next run.
 */
static int find_pcs(struct reader *r, struct stacks *k, struct map *pcs,
		    struct rarely_touched *rare, bool second, struct err *err)
{
	struct event ev;
	int got;

	while ((got = reader_next(r, &ev, err)) > 0) {
		bool own;

		if (!is_access(&ev))
			continue;
		own = on_own_stack(r, &ev);
		k->own_seen |= own;
		if (!own && !second)
			add_foreign(k, &ev);
		if (kind_class(ev.kind) == TRACE_CLASS_ACCESS && own == second &&
		    (own ? touches_foreign(k, &ev) : may_be_shared(k, &ev)))
			*map_put(pcs, ev.pc, NULL) = 1;
		if (!own && !second && (ev.kind == TRACE_READ || ev.kind == TRACE_WRITE))
			rarely_touched_add(rare, ev.pc, ev.addr, ev.size);
	}
	return got;
}

static int add_events(struct sites *s, struct reader *r, struct err *err)
{
	struct rarely_touched rare = { 0 };
	struct collector c = { s, reader_info(r), &rare };
	struct shared_granules shared = { 0 };
	struct stacks stacks = { 0 };
	struct map pcs = { 0 };
	int got = 0;

	find_stacks(&stacks, c.info);
	if (shared_granules_usable(&shared, r)) {
		stacks.shared = &shared;
		got = shared_granules_read(&shared, r, err);
		got = got ? got : reader_rewind(r, err);
	}
	if (got == 0)
		got = find_pcs(r, &stacks, &pcs, &rare, false, err);
	if (got == 0 && stacks.own_seen && map_count(&stacks.foreign)) {
		got = reader_rewind(r, err);
		if (got == 0)
			got = find_pcs(r, &stacks, &pcs, &rare, true, err);
	}
	if (got == 0) {
		for (size_t i = 0; i < c.info->module_count; i++)
			if (has_id(&c.info->modules[i]))
				add_module_line(s, &c.info->modules[i],
						(struct sitelist_line){ 0 });
		if (!(c.info->header->flags & TRACE_UNFILTERED))
			rarely_touched_finish(&rare, count_of(r, "cut_records"));
		map_each(&pcs, add_pc, &c);
	}
	shared_granules_free(&shared);
	map_free(&stacks.foreign);
	map_free(&pcs);
	rarely_touched_free(&rare);
	free(stacks.ranges);
	return got;
}

static int add_trace(struct sites *s, const char *path, struct sites_source *source,
		     struct err *err)
{
	struct reader *r = reader_open(path, err);
	int got;

	if (!r)
		return -1;
	got = add_events(s, r, err);
	source->unfiltered = reader_info(r)->header->flags & TRACE_UNFILTERED;
	source->lost = count_of(r, "lost_records");
	source->cut = count_of(r, "cut_locations");
	reader_close(r);
	return got;
}

static int add_list(struct sites *s, const char *path, const struct buf *text, struct err *err)
{
	struct sitelist in;
	enum sitelist_got got;

	if (!sitelist_open(&in, (const char *)text->data, text->size))
		return err_set(err, "%s: a list of sites of another version of snarl; "
				    "make it again from a trace", path);
	while ((got = sitelist_next(&in)) == SITELIST_LINE)
		add_line(s, &in.last);
	if (got == SITELIST_BAD)
		return err_set(err, "%s: the list of sites is damaged at line %" PRIu64, path,
			       in.lines);
	return 0;
}

/* Reads the whole file if it is a list, else only its beginning. */
static int read_list(const char *path, struct buf *text, bool *list, struct err *err)
{
	size_t name = strlen(SITELIST_NAME);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	*list = false;
	if (fd < 0)
		return err_set(err, "%s: %s", path, strerror(errno));
	do {
		got = read(fd, buf_reserve(text, 65536), 65536);
		text->size += got > 0 ? (size_t)got : 0;
		*list = text->size >= name && memcmp(text->data, SITELIST_NAME, name) == 0;
	} while (got > 0 ? *list : got < 0 && errno == EINTR);
	if (got < 0)
		err_set(err, "%s: %s", path, strerror(errno));
	close(fd);
	return got < 0 ? -1 : 0;
}

int sites_add(struct sites *s, const char *path, struct sites_source *source, struct err *err)
{
	struct sites_source unused;
	struct buf text = { 0 };
	int got;

	if (!source)
		source = &unused;
	*source = (struct sites_source){ 0 };
	got = read_list(path, &text, &source->list, err);
	if (got == 0)
		got = source->list ? add_list(s, path, &text, err)
				   : add_trace(s, path, source, err);
	buf_free(&text);
	return got;
}

static int compare_lines(const void *a, const void *b)
{
	return sitelist_compare(a, b);
}

static void sort_lines(struct sites *s)
{
	size_t kept = 0;

	if (s->count)
		qsort(s->lines, s->count, sizeof(*s->lines), compare_lines);
	for (size_t i = 0; i < s->count; i++)
		if (!kept || sitelist_compare(&s->lines[kept - 1], &s->lines[i]))
			s->lines[kept++] = s->lines[i];
		else
			s->lines[kept - 1].shares &= s->lines[i].shares;
	s->count = kept;
}

static bool any_shares(const struct sites *s)
{
	size_t i = 0;

	while (i < s->count && !s->lines[i].shares)
		i++;
	return i < s->count;
}

void sites_format(struct sites *s, struct buf *out)
{
	static const char digits[] = "0123456789abcdef";

	sort_lines(s);
	buf_add_text(out, any_shares(s) ? SITELIST_MAGIC_SHARES : SITELIST_MAGIC);
	for (size_t i = 0; i < s->count; i++) {
		const struct sitelist_line *line = &s->lines[i];

		for (uint32_t b = 0; b < line->id_size; b++) {
			buf_add_char(out, digits[line->id[b] >> 4]);
			buf_add_char(out, digits[line->id[b] & 15]);
		}
		if (line->has_site)
			buf_addf(out, " %" PRIx64 "%s", line->offset,
				 line->shares ? SITELIST_SHARES : "");
		buf_add_char(out, '\n');
	}
	buf_add_text(out, SITELIST_END_LINE);
}

int sites_write(struct sites *s, const char *path, struct err *err)
{
	struct outfile out;
	struct buf text = { 0 };

	if (outfile_open(&out, path, err) < 0)
		return -1;
	sites_format(s, &text);
	outfile_write(&out, text.data, text.size);
	buf_free(&text);
	return outfile_commit(&out, err);
}

void sites_free(struct sites *s)
{
	free(s->lines);
	*s = (struct sites){ 0 };
}

static uint64_t sum_of(const struct reader *r, const char *key)
{
	const char *value;
	uint64_t sum = 0;

	for (size_t i = 0; (value = reader_meta(r, key, i)); i++)
		sum += strtoull(value, NULL, 10);
	return sum;
}

void sites_effect(const struct reader *r, struct sites_effect *e)
{
	const char *list = reader_meta(r, "sites_list", 0);

	*e = (struct sites_effect){ .asked = list };
	if (list && strcmp(list, "used") != 0)
		snprintf(e->trouble, sizeof(e->trouble), "%s", list);
	e->total = sum_of(r, "sites_total");
	e->off = sum_of(r, "sites_off");
	e->unknown = sum_of(r, "sites_unknown");
}

void sites_describe(const struct sites_effect *e, struct buf *out)
{
	if (!e->asked)
		return;
	if (e->trouble[0]) {
		buf_addf(out, "all sites were on: the list of sites was not used: %s", e->trouble);
		return;
	}
	if (e->total == 0) {
		buf_add_text(out, "no site was switched off: the program has no inlined ones "
				  "(was it built with --no-inline?)");
		return;
	}
	buf_addf(out, "%" PRIu64 " of %" PRIu64 " inlined sites were switched off", e->off,
		 e->total);
	if (e->unknown)
		buf_addf(out, "; %" PRIu64 " stayed on because the list does not know their module "
			 "(another build?)", e->unknown);
}

void sites_json(const struct sites_effect *e, struct json *j)
{
	if (!e->asked)
		return;
	json_open(j, "known_sites", '{');
	json_bool(j, "used", !e->trouble[0]);
	if (e->trouble[0])
		json_text(j, "trouble", e->trouble);
	json_number(j, "total", e->total);
	json_number(j, "off", e->off);
	json_number(j, "unknown", e->unknown);
	json_close(j, '}');
}
