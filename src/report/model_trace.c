/*
 * Builds the picture from the trace: turns its rows (rows.h) into steps with readable names, and
 * adds the locks held and their handovers. Without a trace, only the events of bug.json are shown.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/rows.h"
#include "trace/read/kinds.h"

#define STACK_SHOWN 16u	/* frames of a call stack that reports show */

/* The picture of one run while it is built. */
struct picture_builder {
	struct report_bug *bug;
	struct rows rows;
	struct lookup lookup;
	struct reader *reader;
};

static bool same_text(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

static struct report_place place_of(struct picture_builder *pb, uint64_t pc)
{
	const struct symbol_frame *f = lookup_frame(&pb->lookup, pc);
	struct pool *pool = &pb->bug->pool;

	return (struct report_place){
		.function = strcmp(f->function, "??") ? pool_text(pool, f->function) : NULL,
		.file = pool_text(pool, f->file), .line = f->line,
	};
}

/* Adds the offset of objects on a stack, without which two locks of main are both "stack of 0". */
static const char *object_name(struct picture_builder *pb, const struct object *object)
{
	struct buf text = { 0 };
	const char *name;

	lookup_object(&pb->lookup, object, &text);
	if (object->kind == OBJECT_STACK && object->offset)
		buf_addf(&text, "-%llu", (unsigned long long)(object->size - object->offset));
	name = pool_text(&pb->bug->pool, buf_string(&text));
	buf_free(&text);
	return name;
}

static const char *lock_name(struct picture_builder *pb, uint64_t lock)
{
	struct object object;

	objects_at(pb->rows.objects, lock, &object);
	return object_name(pb, &object);
}

static const char *locks_text(struct picture_builder *pb, const struct row *row)
{
	struct buf text = { 0 };
	const char *result;

	for (unsigned i = 0; i < row->held_count; i++)
		buf_addf(&text, "%s%s", i ? ", " : "", lock_name(pb, row->held[i].lock));
	result = text.size ? pool_text(&pb->bug->pool, buf_string(&text)) : NULL;
	buf_free(&text);
	return result;
}

static void add_values(const struct row *row, struct buf *out)
{
	if (row->ev.size <= 8)
		symbol_value(row->object.type, row->value[0], row->ev.size, out);
	else if (row->values == 2 && row->value[1])
		buf_addf(out, "%#llx%016llx", (unsigned long long)row->value[1],
			 (unsigned long long)row->value[0]);
	else if (row->values == 2)
		buf_add_hex(out, row->value[0]);
}

/* The value read or written; of an atomic operation also the value afterwards: "40, now 42". */
static const char *value_text(struct picture_builder *pb, const struct row *row)
{
	const struct event *ev = &row->ev;
	struct buf text = { 0 };
	const char *result;

	if (trace_roles(ev->kind) & ROLE_ATOMIC && ev->size <= 8)
		symbol_value(row->object.type, ev->arg, ev->size, &text);
	if (row->values) {
		if (text.size)
			buf_add_text(&text, ", now ");
		add_values(row, &text);
	}
	result = text.size ? pool_text(&pb->bug->pool, buf_string(&text)) : NULL;
	buf_free(&text);
	return result;
}

static void add_stack(struct picture_builder *pb, struct report_step *s, const struct row *row)
{
	struct symbol_frame frames[STACK_SHOWN];
	struct pool *pool = &pb->bug->pool;

	s->stack = xcalloc(STACK_SHOWN, sizeof(*s->stack));
	for (size_t i = 0; i <= row->stack_count && s->stack_count < STACK_SHOWN; i++) {
		uint64_t pc = i ? row->stack[i - 1] : row->ev.pc;
		size_t count = symbols_frames(pb->lookup.symbols, pc, frames, STACK_SHOWN);

		if (strcmp(frames[0].function, "??") == 0)
			frames[0] = *lookup_frame(&pb->lookup, pc);	/* may have a label */

		for (size_t k = 0; k < count && s->stack_count < STACK_SHOWN; k++) {
			if (i > 0 &&
			    (!frames[k].file || strcmp(frames[k].function, "ctl_thread_main") == 0))
				continue;	/* callers of main, and the runtime's own code */
			s->stack[s->stack_count++] =
				(struct report_place){ pool_text(pool, frames[k].function),
						       pool_text(pool, frames[k].file),
						       frames[k].line, NULL, NULL };
		}
	}
}

static const char *event_object(struct picture_builder *pb, const struct row *row)
{
	const struct reader_thread *t;

	switch (row->ev.kind) {
	case TRACE_THREAD_CREATE: case TRACE_THREAD_JOIN: case TRACE_THREAD_DETACH:
		t = reader_thread(pb->reader, (uint32_t)row->ev.arg);
		return t ? pool_format(&pb->bug->pool, "thread %s", t->name) : NULL;
	default:
		return row->has_object ? object_name(pb, &row->object) : NULL;
	}
}

static bool is_write(const struct event *ev)
{
	return trace_roles(ev->kind) & ROLE_WRITE || ev->kind == TRACE_FREE;
}

static void add_row(struct picture_builder *pb, const struct row *row)
{
	const struct reader_thread *t = reader_thread(pb->reader, row->ev.thread);
	struct report_site *site = row->site == REPORT_NONE ? NULL : &pb->bug->sites[row->site];
	size_t thread = report_add_thread(pb->bug, t ? t->name : "?");
	struct report_step *s = report_add_step(pb->bug);

	s->thread = thread;
	s->op = kind_name(row->ev.kind);
	s->at = place_of(pb, row->ev.pc);
	s->object = event_object(pb, row);
	s->locks = locks_text(pb, row);
	s->value = value_text(pb, row);
	/* The reader need not know of fewer than 5 events that are not related to the bug. */
	s->skipped = row->dropped || row->skipped >= 5 ? row->skipped + row->dropped : 0;
	s->ordinal = row->ordinal;
	s->event = row->event;
	s->addr = row->ev.addr;
	s->size = row->ev.size;
	if (row->ev.kind == TRACE_FREE && row->has_object)
		s->size = row->object.size;
	s->writes = is_write(&row->ev);
	if (!site)
		return;
	s->role = REPORT_CAUSE;
	site->step = pb->bug->step_count - 1;
	if (site->value)
		s->value = site->value;
	add_stack(pb, s, row);
}

static void add_bar(struct report_bug *b, size_t thread, size_t row, const char *lock)
{
	b->bars = xgrow(b->bars, b->bar_count, &b->bar_capacity, sizeof(*b->bars));
	b->bars[b->bar_count++] = (struct report_bar){ thread, row, row, lock, false };
}

/*
 * Adds a bar for each lock held: from the first to the last row of the thread that holds it.
 * `since`, the ordinal of the acquisition, distinguishes periods in which it holds the same lock.
 */
static void add_bars(struct picture_builder *pb)
{
	struct report_bug *b = pb->bug;
	uint64_t *since = xcalloc(pb->rows.count * ROWS_HELD + 1, sizeof(*since));

	for (size_t i = 0; i < pb->rows.count; i++)
		for (unsigned k = 0; k < pb->rows.at[i].held_count; k++) {
			const struct rows_held *held = &pb->rows.at[i].held[k];
			size_t bar = 0;

			while (bar < b->bar_count && (since[bar] != held->since ||
						      b->bars[bar].thread != b->steps[i].thread))
				bar++;
			if (bar == b->bar_count) {
				since[bar] = held->since;
				add_bar(b, b->steps[i].thread, i, lock_name(pb, held->lock));
			}
			b->bars[bar].to = i;
		}
	for (size_t i = 0; i < b->bar_count; i++)
		for (size_t id = 0; id < pb->rows.thread_count; id++)
			for (unsigned k = 0; k < pb->rows.threads[id].held_count; k++)
				if (pb->rows.threads[id].held[k].since == since[i])
					b->bars[i].open = true;
	free(since);
}

static size_t row_at(const struct rows *rows, uint64_t ordinal)
{
	for (size_t i = 0; i < rows->count; i++)
		if (rows->at[i].ordinal == ordinal)
			return i;
	return REPORT_NONE;
}

static void add_handovers(struct picture_builder *pb)
{
	const struct rows *rows = &pb->rows;

	for (size_t i = 0; i < rows->count; i++) {
		uint64_t after = rows->at[i].released_at;
		size_t from = after ? row_at(rows, after - 1) : REPORT_NONE;

		if (from != REPORT_NONE && rows->at[from].ev.thread != rows->at[i].ev.thread)
			report_add_arrow(pb->bug, REPORT_HANDOVER, from, i);
	}
}

static const char *object_text(struct picture_builder *pb, const struct object *o)
{
	struct pool *pool = &pb->bug->pool;

	switch (o->kind) {
	case OBJECT_GLOBAL:
		if (!o->file)
			return pool_format(pool, "variable of %llu bytes",
					   (unsigned long long)o->size);
		return pool_format(pool, "variable of %llu bytes, declared at %s:%u",
				   (unsigned long long)o->size, o->file, o->line);
	case OBJECT_HEAP:
	case OBJECT_MAPPING:
		return pool_format(pool, "%s of %llu bytes, allocated by thread %s in %s%s",
				   o->kind == OBJECT_HEAP ? "heap block" : "mapping",
				   (unsigned long long)o->size,
				   o->thread_name ? o->thread_name : "?", o->function,
				   o->file ? pool_format(pool, " (%s:%u)", o->file, o->line) : "");
	case OBJECT_STACK:
		return pool_format(pool, "on the stack of thread %s", o->thread_name);
	default:
		return NULL;
	}
}

static void add_object(struct picture_builder *pb, const struct object *object)
{
	struct report_bug *b = pb->bug;
	struct object whole = *object;
	const char *text, *name;

	lookup_origin(&pb->lookup, &whole);
	object_whole(&whole);
	text = object_text(pb, &whole);
	name = object_name(pb, &whole);
	for (size_t i = 0; i < b->object_count; i++)
		if (strcmp(b->objects[i].name, name) == 0)
			return;
	if (!text)
		return;
	b->objects = xgrow(b->objects, b->object_count, &b->object_capacity, sizeof(*b->objects));
	b->objects[b->object_count++] = (struct report_object){ name, text };
}

static void add_objects(struct picture_builder *pb)
{
	for (size_t i = 0; i < pb->rows.count; i++) {
		const struct row *row = &pb->rows.at[i];
		struct object lock;

		if (row->site == REPORT_NONE)
			continue;
		if (row->has_object)
			add_object(pb, &row->object);
		for (unsigned k = 0; k < row->held_count; k++) {
			objects_at(pb->rows.objects, row->held[k].lock, &lock);
			add_object(pb, &lock);
		}
	}
}

static void name_threads(struct picture_builder *pb)
{
	for (size_t id = 0; id < pb->rows.thread_count; id++) {
		const struct reader_thread *t = reader_thread(pb->reader, (uint32_t)id);
		uint64_t pc = pb->rows.threads[id].start_pc;

		for (size_t i = 0; t && i < pb->bug->thread_count; i++)
			if (strcmp(pb->bug->threads[i].name, t->name) == 0)
				pb->bug->threads[i].function = pc ? place_of(pb, pc).function :
					strcmp(t->name, "0") == 0 ? "main" : NULL;
	}
}

/*
 * If a block is freed and then used, narrows the free to the part that is used: rows for other
 * accesses are chosen by that address. Example: +8 for a free of "heap@q.c:31#1" and a use of
 * "heap@q.c:31#1+8".
 */
static void narrow_to_used_part(const struct report_bug *b, struct events_found *found)
{
	for (size_t i = 0; i < b->site_count && i < EVENTS_MAX; i++)
		for (size_t k = 0;
		     found[i].there && same_text(b->sites[i].op, "free") && k < b->site_count;
		     k++) {
			const char *whole = b->sites[i].object, *part = b->sites[k].object;
			size_t size = whole ? strlen(whole) : 0;

			if (!size || !part || !b->sites[k].cause || k == i ||
			    strncmp(whole, part, size) != 0)
				continue;
			if (part[size] == '+')
				found[i].addr += strtoull(part + size + 1, NULL, 10);
			break;
		}
}

/*
 * Names the objects of pending events, which the trace lacks. If such an object is on a stack, only
 * the site of the failure has its address.
 */
static void name_pending_objects(struct picture_builder *pb)
{
	struct report_bug *b = pb->bug;

	for (size_t i = 0; i < b->site_count; i++)
		for (size_t k = 0; k < b->site_count; k++) {
			struct report_site *s = &b->sites[i], *f = &b->sites[k];
			struct object object;

			if (!s->cause || f->cause || !f->object ||
			    strncmp(f->object, "0x", 2) != 0 || !same_text(s->thread, f->thread) ||
			    !s->pending)
				continue;
			objects_at(pb->rows.objects, strtoull(f->object, NULL, 16), &object);
			if (object.kind == OBJECT_STACK)
				s->display_name = object_name(pb, &object);
		}
}

static void build_picture(struct picture_builder *pb, struct err *err)
{
	struct events_found found[EVENTS_MAX] = { { false } };
	struct report_bug *b = pb->bug;
	int result = events_find(b, pb->reader, pb->lookup.symbols, found, err);

	narrow_to_used_part(b, found);
	if (reader_rewind(pb->reader, err) < 0)
		return;
	pb->rows = (struct rows){ .bug = b,
				  .reader = pb->reader,
				  .found = found,
				  .objects = objects_new(pb->reader, pb->lookup.symbols),
				  .lookup = &pb->lookup,
				  .site_count =
					  b->site_count < EVENTS_MAX ? b->site_count : EVENTS_MAX };
	if (rows_collect(&pb->rows, err) < 0 || result < 0)
		report_note(b, "The trace is damaged, so later events are missing: %s", err->text);
	for (size_t i = 0; i < pb->rows.count; i++)
		add_row(pb, &pb->rows.at[i]);
	add_bars(pb);
	add_handovers(pb);
	add_objects(pb);
	name_pending_objects(pb);
	name_threads(pb);
	objects_free(pb->rows.objects);
	rows_free(&pb->rows);
}

static void read_modules(struct picture_builder *pb)
{
	const struct reader_info *info = reader_info(pb->reader);
	struct err err;

	for (size_t i = 0; i < info->module_count; i++) {
		const struct reader_module *m = &info->modules[i];

		if (symbols_add(pb->lookup.symbols, m->path, m->build_id, m->build_id_size, m->base,
				m->start, m->end, &err) < 0 && same_text(m->path, pb->bug->program))
			report_note(pb->bug, "Source places are missing: %s", err.text);
	}
}

/* Returns false and adds a note if the trace cannot be opened. */
static bool read_trace(struct report_bug *b, const char *name, const struct symbols *loaded)
{
	char *path = xasprintf("%s/%s", b->path, name);
	struct picture_builder pb = { .bug = b };
	struct err err = { "" };

	for (size_t i = 0; i < b->site_count; i++)
		if (b->sites[i].thread)
			report_add_thread(b, b->sites[i].thread);
	pb.reader = reader_open(path, &err);
	if (pb.reader) {
		pb.lookup = (struct lookup){ .symbols = symbols_new(), .reader = pb.reader };
		symbols_share(pb.lookup.symbols, loaded);
		read_modules(&pb);
		build_picture(&pb, &err);
		lookup_free(&pb.lookup);
		symbols_free(pb.lookup.symbols);
		reader_close(pb.reader);
	} else {
		report_note(b, "Only the events named in bug.json are shown: %s", err.text);
	}
	free(path);
	return pb.reader != NULL;
}

void report_read_trace(struct report_bug *b, const struct symbols *loaded)
{
	report_link_steps(b, read_trace(b, "trace.snarl", loaded));
}

/*
 * Reads the run that passes as a bug without a failure: the events of the cause came in another
 * order.
 */
void report_read_passing(struct report_bug *b, const char *trace, const struct symbols *loaded)
{
	struct report_bug *passing = xcalloc(1, sizeof(*passing));

	*passing = (struct report_bug){ .path = b->path, .program = b->program,
					.site_count = b->site_count,
					.pattern = b->pattern, .class = b->class,
					.has_indexes = b->has_indexes };
	passing->sites = xcalloc(b->site_count + 1, sizeof(*passing->sites));
	for (size_t i = 0; i < b->site_count; i++) {
		passing->sites[i] = b->sites[i];
		passing->sites[i].index = b->sites[i].passing_index;
		passing->sites[i].pending = false;
		passing->sites[i].step = REPORT_NONE;
	}
	if (read_trace(passing, trace, loaded))
		report_link_passing(b, passing);
	b->passing_run = passing;
}
