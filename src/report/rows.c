#include "report/rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/read/kinds.h"

/* How many rows without a site are kept, so that the picture stays readable: */
#define ROWS_BEFORE_FIRST 4u	/* before the first row with a site */
#define ROWS_BEFORE_FEW 8u	/* before the first row with a site, if the trace has at most two */
#define ROWS_AROUND 4u		/* after each row with a site, and before each but the first */
#define ROWS_AT_END 24u	/* at the end of the trace, if it has no site */

uint64_t rows_acquires(const struct event *ev)
{
	bool takes = trace_roles(ev->kind) & (ROLE_ACQUIRE | ROLE_WAIT_END);

	return takes && trace_acquired(ev->kind, ev->result)
		       ? trace_lock(ev->kind, ev->addr, ev->arg)
		       : 0;
}

uint64_t rows_releases(const struct event *ev)
{
	bool gives = trace_roles(ev->kind) & (ROLE_RELEASE | ROLE_WAIT_BEGIN);

	return gives && ev->result == 0 ? trace_lock(ev->kind, ev->addr, ev->arg) : 0;
}

static struct rows_thread *thread_of(struct rows *rows, uint32_t id)
{
	while (id >= rows->thread_count) {
		const struct reader_thread *t =
			reader_thread(rows->reader, (uint32_t)rows->thread_count);
		struct rows_thread *new;

		rows->threads = xgrow(rows->threads, rows->thread_count, &rows->thread_capacity,
				      sizeof(*rows->threads));
		new = &rows->threads[rows->thread_count++];
		*new = (struct rows_thread){ 0 };
		for (size_t i = 0; t && i < rows->bug->site_count; i++)
			if (rows->bug->sites[i].thread &&
			    strcmp(rows->bug->sites[i].thread, t->name) == 0)
				new->named = true;
	}
	return &rows->threads[id];
}

static void push_lock(struct rows_thread *t, uint64_t lock, uint64_t ordinal)
{
	if (lock && t->held_count < ROWS_HELD)
		t->held[t->held_count++] = (struct rows_held){ lock, ordinal };
}

static void pop_lock(struct rows_thread *t, uint64_t lock)
{
	for (unsigned i = t->held_count; lock && i-- > 0; )
		if (t->held[i].lock == lock) {
			memmove(&t->held[i], &t->held[i + 1],
				(--t->held_count - i) * sizeof(t->held[0]));
			return;
		}
}

static void follow_call(struct rows_thread *t, const struct event *ev)
{
	if (ev->kind == TRACE_FUNC_ENTRY) {
		t->stack = xgrow(t->stack, t->depth, &t->capacity, sizeof(*t->stack));
		t->stack[t->depth++] = ev->addr;
	} else if (ev->kind == TRACE_FUNC_EXIT && ev->depth < t->depth) {
		t->depth = ev->depth;
	} else if (ev->kind == TRACE_JUMP && ev->arg < t->depth) {
		t->depth = ev->arg;
	}
}

static size_t site_of(const struct rows *rows)
{
	for (size_t i = 0; i < rows->site_count; i++)
		if (rows->found[i].there && rows->found[i].ordinal == rows->ordinal)
			return i;
	return REPORT_NONE;
}

static bool overlaps(const struct rows *rows, uint64_t addr, uint64_t size)
{
	for (size_t i = 0; i < rows->site_count; i++) {
		const struct events_found *f = &rows->found[i];

		if (f->there && addr < f->addr + (f->size ? f->size : 1) &&
		    f->addr < addr + (size ? size : 1))
			return true;
	}
	return false;
}

static bool is_shared(const struct object *o)
{
	return o->kind == OBJECT_GLOBAL || o->kind == OBJECT_HEAP || o->kind == OBJECT_MAPPING;
}

static bool is_named(struct rows *rows, uint32_t id)
{
	return thread_of(rows, id)->named;
}

/*
 * Is the pc in the program or in a file with debug information? Events within libraries are not
 * shown.
 */
static bool in_program(struct rows *rows, uint64_t pc)
{
	const char *module;
	uint64_t offset;

	if (lookup_frame(rows->lookup, pc)->file)
		return true;
	module = symbols_module(rows->lookup->symbols, pc, &offset);
	return !module || !rows->bug->program || strcmp(module, rows->bug->program) == 0;
}

/* Is the event worth a row although it is not a site? */
static bool is_relevant(struct rows *rows, const struct event *ev, const struct object *object)
{
	bool self = is_named(rows, ev->thread);

	switch (kind_class(ev->kind)) {
	case TRACE_CLASS_ACCESS:
	case TRACE_CLASS_ATOMIC:
		if (rows->sites_found)
			return overlaps(rows, ev->addr, ev->size);
		return object && is_shared(object) && ev->kind != TRACE_FENCE;
	case TRACE_CLASS_HEAP:
		return rows->sites_found &&
		       overlaps(rows, ev->addr, ev->kind == TRACE_MALLOC ? ev->arg : 1);
	case TRACE_CLASS_THREAD:
		if (ev->kind == TRACE_THREAD_CREATE)
			return self && ev->arg &&
			       is_named(rows, (uint32_t)ev->arg);
		return self && ev->kind != TRACE_THREAD_START && ev->kind != TRACE_THREAD_EXIT;
	case TRACE_CLASS_MUTEX:
	case TRACE_CLASS_RWLOCK:
	case TRACE_CLASS_SPIN:
	case TRACE_CLASS_COND:
	case TRACE_CLASS_SEM:
	case TRACE_CLASS_BARRIER:
	case TRACE_CLASS_ONCE:
	case TRACE_CLASS_USER: return self || !rows->sites_found;
	default:
		return false;
	}
}

static void remove_row(struct rows *rows, size_t i)
{
	free(rows->at[i].stack);
	if (i + 1 < rows->count) {
		rows->at[i + 1].skipped += rows->at[i].skipped;
		rows->at[i + 1].dropped += rows->at[i].dropped + 1;
	}
	memmove(&rows->at[i], &rows->at[i + 1], (rows->count - i - 1) * sizeof(rows->at[0]));
	rows->count--;
}

/*
 * Returns the row to remove: the first that is no access, as accesses say more about the bug, and
 * that is not among the last ROWS_BEFORE_FIRST. If there is none, the first row.
 */
static size_t least_relevant(const struct rows *rows)
{
	for (size_t i = 0; i + ROWS_BEFORE_FIRST < rows->count; i++)
		if (kind_class(rows->at[i].ev.kind) != TRACE_CLASS_ACCESS &&
		    kind_class(rows->at[i].ev.kind) != TRACE_CLASS_ATOMIC)
			return i;
	return 0;
}

/*
 * Removes a row if too many follow the last row with a site. Between two rows with sites, the first
 * and the last ROWS_AROUND stay.
 */
static void limit_context(struct rows *rows)
{
	size_t many = rows->count - rows->segment;

	if (!rows->site_seen) {
		if (many > (rows->sites_found == 0 ? ROWS_AT_END :
			    rows->sites_found > 2 ? ROWS_BEFORE_FIRST : ROWS_BEFORE_FEW))
			remove_row(rows, rows->sites_found ? least_relevant(rows) : 0);
	} else if (many > 2 * ROWS_AROUND) {
		remove_row(rows, rows->segment + ROWS_AROUND);
	}
}

static void copy_stack(struct row *row, const struct rows_thread *t)
{
	row->stack = xmalloc((t->depth + 1) * sizeof(*row->stack));
	for (size_t i = 0; i < t->depth; i++)
		row->stack[i] = t->stack[t->depth - 1 - i];
	row->stack_count = t->depth;
}

static void add_row(struct rows *rows, const struct event *ev, size_t site,
		    const struct object *object)
{
	struct rows_thread *t = thread_of(rows, ev->thread);
	uint64_t lock = rows_acquires(ev),
		 *released = lock ? map_find(&rows->released, lock) : NULL;
	struct row *row;

	rows->at = xgrow(rows->at, rows->count, &rows->capacity, sizeof(*rows->at));
	row = &rows->at[rows->count++];
	*row = (struct row){ .ev = *ev,
			     .ordinal = rows->ordinal,
			     .event = rows->event,
			     .site = site,
			     .skipped = rows->skipped,
			     .held_count = t->held_count,
			     .released_at = released ? *released : 0,
			     .has_object = object != NULL };
	rows->skipped = 0;
	if (object)
		row->object = *object;
	memcpy(row->held, t->held, sizeof(row->held));
	if (site == REPORT_NONE) {
		limit_context(rows);
		return;
	}
	copy_stack(row, t);
	rows->site_seen = true;
	rows->segment = rows->count;
}

/* Attaches a `value` event to the row of the event before it. */
static void add_value(struct rows *rows, const struct event *ev)
{
	struct row *row = rows->count ? &rows->at[rows->count - 1] : NULL;

	if (row && row->ordinal + 1 == rows->ordinal && row->ev.thread == ev->thread &&
	    row->values < ARRAY_SIZE(row->value))
		row->value[row->values++] = ev->arg;
}

static void add_event(struct rows *rows, const struct event *ev)
{
	struct rows_thread *t = thread_of(rows, ev->thread);
	struct object object;
	bool known = objects_step(rows->objects, ev, &object);
	size_t site = site_of(rows);

	rows->event += kind_class(ev->kind) != TRACE_CLASS_FUNC;
	if (kind_class(ev->kind) == TRACE_CLASS_FUNC || ev->kind == TRACE_JUMP)
		follow_call(t, ev);
	if (ev->kind == TRACE_THREAD_START)
		t->start_pc = ev->pc;
	push_lock(t, rows_acquires(ev), rows->ordinal);
	if (site != REPORT_NONE ||
	    (is_relevant(rows, ev, known ? &object : NULL) && in_program(rows, ev->pc)))
		add_row(rows, ev, site, known ? &object : NULL);
	else
		rows->skipped += kind_class(ev->kind) != TRACE_CLASS_FUNC &&
				 ev->kind != TRACE_THREAD_START &&
				 ev->kind != TRACE_THREAD_EXIT;
	t = thread_of(rows, ev->thread);
	pop_lock(t, rows_releases(ev));
	if (rows_releases(ev))
		*map_put(&rows->released, rows_releases(ev), NULL) = rows->ordinal + 1;
	rows->ordinal++;
}

int rows_collect(struct rows *rows, struct err *err)
{
	struct event ev;
	int got;

	for (size_t i = 0; i < rows->site_count; i++)
		rows->sites_found += rows->found[i].there;
	while ((got = reader_next(rows->reader, &ev, err)) > 0)
		if (ev.kind == TRACE_VALUE)
			add_value(rows, &ev);
		else
			add_event(rows, &ev);
	return got;
}

void rows_free(struct rows *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		free(rows->at[i].stack);
	for (size_t i = 0; i < rows->thread_count; i++)
		free(rows->threads[i].stack);
	free(rows->threads);
	free(rows->at);
	map_free(&rows->released);
}
