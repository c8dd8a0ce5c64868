#include "report/locate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "explore/schedule/schedule.h"
#include "trace/read/kinds.h"

#define FRAMES 16
#define EVENTS_MAX 65536u	/* of a site; later ones take the place of earlier ones */

struct events {
	struct found *at;	/* ascending */
	size_t count, capacity;
};

/* An event that a goal names. */
struct goal {
	const char *thread;
	uint64_t pc, nth, met;
	uint64_t ordinal;	/* UINT64_MAX: not met */
};

struct finder {
	const struct report_bug *bug;
	size_t count;
	struct events sites[FIND_SITES];
	struct schedule schedule;
	struct goal *goals;
	size_t goal_count;
};

void lookup_free(struct lookup *l)
{
	map_free(&l->index);
	free(l->places);
	pool_free(&l->names);
}

/* What a text trace calls it; NULL: nothing. `kind`: "label" or "object". */
static const char *label_of(const struct lookup *l, const char *kind, uint64_t addr)
{
	char key[40];

	snprintf(key, sizeof(key), "%s:0x%llx", kind, (unsigned long long)addr);
	return reader_meta(l->reader, key, 0);
}

void lookup_origin(struct lookup *l, struct object *object)
{
	const struct symbol_frame *frame;

	if ((object->kind != OBJECT_HEAP && object->kind != OBJECT_MAPPING) || object->file)
		return;
	frame = &lookup_place(l, object->site)->frame;
	object->file = frame->file;
	object->line = frame->line;
	object->function = frame->function;
}

void lookup_object(struct lookup *l, const struct object *object, struct buf *out)
{
	const char *label = object->kind == OBJECT_RAW ? label_of(l, "object", object->addr) : NULL;
	struct object now = *object;

	lookup_origin(l, &now);
	now.gone = false;
	if (label)
		buf_add_text(out, label);
	else
		object_describe(&now, out);
}

static bool frame_of_label(struct lookup *l, uint64_t pc, struct symbol_frame *out)
{
	const char *label = label_of(l, "label", pc), *file, *line;

	if (!label)
		return false;
	*out = (struct symbol_frame){ .function = label };
	line = strrchr(label, ':');
	if (!line)
		return true;
	file = memchr(label, ':', (size_t)(line - label));
	out->function = file ? pool_bytes(&l->names, label, (size_t)(file - label)) : "??";
	file = file ? file + 1 : label;
	out->file = pool_bytes(&l->names, file, (size_t)(line - file));
	out->line = (unsigned)strtoul(line + 1, NULL, 10);
	return true;
}

static bool same_text(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

static uint64_t sites_at(const struct report_bug *b, const struct symbol_frame *frame)
{
	uint64_t sites = 0;

	for (size_t i = 0; i < b->site_count && i < FIND_SITES; i++) {
		const struct report_place *at = &b->sites[i].at;

		if (at->file ? same_text(at->file, frame->file) && at->line == frame->line :
			       same_text(at->function, frame->function))
			sites |= 1ull << i;
	}
	return sites;
}

const struct lookup_place *lookup_place(struct lookup *l, uint64_t pc)
{
	struct symbol_frame frames[FRAMES];
	const struct symbol_frame *shown;
	bool added;
	uint64_t *place = map_put(&l->index, pc, &added);
	size_t count;

	if (!added)
		return &l->places[*place];
	*place = l->count;
	count = frame_of_label(l, pc, frames) ? 1 : symbols_frames(l->symbols, pc, frames, FRAMES);
	shown = symbol_own_frame(frames, count);	/* as bug.json has it, or its sites are not found */
	l->places = xgrow(l->places, l->count, &l->capacity, sizeof(*l->places));
	l->places[l->count] = (struct lookup_place){ *shown, sites_at(l->bug, shown) };
	return &l->places[l->count++];
}

static bool same_place(const struct report_site *a, const struct report_site *b)
{
	return same_text(a->thread, b->thread) && same_text(a->at.file, b->at.file) &&
	       a->at.line == b->at.line;
}

/* Nobody waits at an access, though there may be one in the line of a wait. */
static bool is_past(const struct report_bug *b, const struct report_site *s)
{
	static const char *const accesses[] = { "read", "write", "atomic-" };
	bool access = false;

	for (size_t i = 0; i < ARRAY_SIZE(accesses); i++)
		access = access || (s->op && strncmp(s->op, accesses[i], strlen(accesses[i])) == 0);
	return access && (same_text(b->failure, "deadlock") || same_text(b->failure, "misuse"));
}

bool find_pending(const struct report_bug *b, const struct report_site *s)
{
	static const char *const stuck[] = { "deadlock", "hang", "uaf", "double-free", "bad-free",
					    "misuse" };
	bool stands = false;

	if (is_past(b, s))
		return false;

	for (size_t i = 0; i < ARRAY_SIZE(stuck); i++)
		stands = stands || same_text(b->failure, stuck[i]);
	/* It stands at its last one: locks may all be taken at one line, as by a function for that. */
	for (size_t i = (size_t)(s - b->sites) + 1; stands && i < b->site_count; i++)
		if (b->sites[i].cause && same_place(&b->sites[i], s))
			return false;
	for (size_t i = 0; stands && i < b->site_count; i++)
		if (!b->sites[i].cause && same_place(&b->sites[i], s))
			return true;
	return false;
}

static uint64_t pc_of(const struct reader_info *info, const struct schedule_event *e)
{
	for (size_t i = 0; e->build_id && i < info->module_count; i++) {
		const struct reader_module *m = &info->modules[i];
		struct buf hex = { 0 };
		bool same;

		for (size_t k = 0; k < m->build_id_size; k++)
			buf_addf(&hex, "%02x", m->build_id[k]);
		same = strcmp(buf_string(&hex), e->build_id) == 0;
		buf_free(&hex);
		if (same && e->offset < m->end - m->base)
			return m->base + e->offset;
	}
	return 0;
}

static void add_goal(struct finder *f, const struct reader_info *info, const struct schedule_event *e)
{
	uint64_t pc = pc_of(info, e);

	if (pc && e->thread)
		f->goals[f->goal_count++] = (struct goal){ e->thread, pc, e->nth ? e->nth : 1, 0,
							   UINT64_MAX };
}

static void read_goals(struct finder *f, struct reader *r)
{
	char *path = xasprintf("%s/schedule.txt", f->bug->path);
	struct schedule *s = &f->schedule;
	struct err err;

	if (schedule_read(s, path, &err) == 0) {
		f->goals = xcalloc(2 * s->goal_count + 1, sizeof(*f->goals));
		for (size_t i = 0; i < s->goal_count; i++) {
			add_goal(f, reader_info(r), &s->goals[i].first);
			add_goal(f, reader_info(r), &s->goals[i].second);
		}
	}
	free(path);
}

static void add_event(struct events *e, const struct event *ev, uint64_t ordinal)
{
	if (e->count == EVENTS_MAX) {
		memmove(e->at, e->at + EVENTS_MAX / 2, EVENTS_MAX / 2 * sizeof(*e->at));
		e->count = EVENTS_MAX / 2;
	}
	e->at = xgrow(e->at, e->count, &e->capacity, sizeof(*e->at));
	e->at[e->count++] = (struct found){ ordinal, ev->addr, ev->size };
}

/* Blocks of one place are numbered by the run, and this may be another one than that of the site. */
static size_t without_number(const char *object, char *out, size_t size)
{
	const char *hash = strncmp(object, "heap@", 5) == 0 || strncmp(object, "mmap@", 5) == 0 ?
			   strrchr(object, '#') : NULL;
	const char *plus = hash ? strchr(hash, '+') : NULL;

	if (!hash)
		return (size_t)snprintf(out, size, "%s", object);
	return (size_t)snprintf(out, size, "%.*s%s", (int)(hash - object), object, plus ? plus : "");
}

static bool same_object(struct lookup *l, const char *wanted, const struct object *object)
{
	char a[256], b[256];
	struct buf text = { 0 };
	bool same;

	lookup_object(l, object, &text);
	without_number(wanted, a, sizeof(a));
	without_number(buf_string(&text), b, sizeof(b));
	same = strcmp(a, b) == 0;
	buf_free(&text);
	return same;
}

static void look_at(struct finder *f, const char *thread, const struct event *ev, uint64_t ordinal,
		    struct lookup *l, const struct object *object)
{
	uint64_t sites = lookup_place(l, ev->pc)->sites;

	for (size_t i = 0; i < f->goal_count; i++) {
		struct goal *g = &f->goals[i];

		if (g->pc == ev->pc && strcmp(g->thread, thread) == 0 && ++g->met == g->nth)
			g->ordinal = ordinal;
	}
	for (size_t i = 0; sites && i < f->count; i++) {
		const struct report_site *s = &f->bug->sites[i];

		if (sites >> i & 1 && s->cause && same_text(s->thread, thread) &&
		    same_text(s->op, kind_name(ev->kind)) && !find_pending(f->bug, s) &&
		    (!object || !s->object || same_object(l, s->object, object)))
			add_event(&f->sites[i], ev, ordinal);
	}
}

static bool is_goal(const struct finder *f, uint64_t ordinal)
{
	for (size_t i = 0; i < f->goal_count; i++)
		if (f->goals[i].ordinal == ordinal)
			return true;
	return false;
}

/* Where goals say which events it was (several, if sites are at one place), no others will do. */
static void keep_goals(struct finder *f)
{
	for (size_t i = 0; i < f->count; i++) {
		struct events *e = &f->sites[i];
		size_t kept = 0;

		for (size_t k = 0; k < e->count; k++)
			if (is_goal(f, e->at[k].ordinal))
				e->at[kept++] = e->at[k];
		e->count = kept ? kept : e->count;
	}
}

/* The last event of `e` before `limit`; NULL: none. */
static const struct found *last_before(const struct events *e, uint64_t limit)
{
	size_t low = 0, high = e->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (e->at[middle].ordinal < limit)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &e->at[low - 1] : NULL;
}

/* All in the order of the list, in as short a time as can be. */
static bool in_order(struct finder *f, const size_t *sites, size_t count, struct found *out)
{
	const struct events *last = &f->sites[sites[count - 1]];
	uint64_t best = UINT64_MAX;

	for (size_t i = 0; i < last->count; i++) {
		struct found now[FIND_SITES];
		size_t k = count - 1;

		now[k] = last->at[i];
		while (k > 0) {
			const struct found *before = last_before(&f->sites[sites[k - 1]], now[k].ordinal);

			if (!before)
				break;
			now[--k] = *before;
		}
		if (k == 0 && now[count - 1].ordinal - now[0].ordinal < best) {
			best = now[count - 1].ordinal - now[0].ordinal;
			for (size_t n = 0; n < count; n++)
				out[sites[n]] = now[n];
		}
	}
	return best != UINT64_MAX;
}

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a < b ? b - a : a - b;
}

/* Each thread's in the order of the list, around an event of the first. */
static void nearby(struct finder *f, const size_t *sites, size_t count, struct found *out)
{
	const struct events *first = &f->sites[sites[0]];
	uint64_t best = UINT64_MAX;

	for (size_t i = 0; i < first->count; i++) {
		struct found now[FIND_SITES] = { first->at[i] };
		uint64_t far = 0;

		for (size_t k = 1; k < count; k++) {
			const struct events *e = &f->sites[sites[k]];
			size_t near = 0;

			for (size_t n = 1; n < e->count; n++)
				if (apart(e->at[n].ordinal, now[0].ordinal) <
				    apart(e->at[near].ordinal, now[0].ordinal))
					near = n;
			now[k] = e->at[near];
			if (apart(now[k].ordinal, now[0].ordinal) > far)
				far = apart(now[k].ordinal, now[0].ordinal);
		}
		if (far < best) {
			best = far;
			for (size_t n = 0; n < count; n++)
				out[sites[n]] = now[n];
		}
		if (i > 1000)	/* enough of them, for what it costs */
			break;
	}
}

static void choose(struct finder *f, struct found *out, bool *has)
{
	size_t sites[FIND_SITES], count = 0;

	for (size_t i = 0; i < f->count; i++)
		if (f->sites[i].count) {
			sites[count++] = i;
			has[i] = true;
		}
	if (count && !in_order(f, sites, count, out))
		nearby(f, sites, count, out);
}

int find_sites(const struct report_bug *b, struct reader *r, struct lookup *l,
	       struct found *out, bool *has, struct err *err)
{
	struct finder *f = xcalloc(1, sizeof(*f));
	struct objects *objects = objects_new(r, l->symbols);
	struct object object;
	struct event ev;
	uint64_t ordinal = 0;
	int got;

	f->bug = b;
	f->count = b->site_count < FIND_SITES ? b->site_count : FIND_SITES;
	read_goals(f, r);
	while ((got = reader_next(r, &ev, err)) > 0) {
		const struct reader_thread *t = reader_thread(r, ev.thread);
		bool known = objects_step(objects, &ev, &object);

		if (ev.kind == TRACE_VALUE)
			continue;
		if (ev.pc && t)
			look_at(f, t->name, &ev, ordinal, l, known ? &object : NULL);
		ordinal++;
	}
	keep_goals(f);
	choose(f, out, has);
	for (size_t i = 0; i < f->count; i++)
		free(f->sites[i].at);
	free(f->goals);
	schedule_free(&f->schedule);
	objects_free(objects);
	free(f);
	return got;
}
