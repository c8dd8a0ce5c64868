/*
 * Completes the steps of the picture: adds sites of bug.json that the trace lacks, numbers the
 * events of the cause, and adds arrows for conflicts and waits.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/model.h"

static bool same_text(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

struct report_step *report_add_step(struct report_bug *b)
{
	b->steps = xgrow(b->steps, b->step_count, &b->step_capacity, sizeof(*b->steps));
	b->steps[b->step_count] = (struct report_step){ 0 };
	return &b->steps[b->step_count++];
}

void report_add_arrow(struct report_bug *b, enum report_arrow_kind kind, size_t from, size_t to)
{
	b->arrows = xgrow(b->arrows, b->arrow_count, &b->arrow_capacity, sizeof(*b->arrows));
	b->arrows[b->arrow_count++] = (struct report_arrow){ kind, from, to };
}

static bool touch(const struct report_step *a, const struct report_step *b)
{
	return a->addr && b->addr && a->addr < b->addr + (b->size ? b->size : 1) &&
	       b->addr < a->addr + (a->size ? a->size : 1);
}

/*
 * Adds an arrow from each access of the cause to the next access of the cause to the same memory,
 * if another thread makes it and the two conflict.
 */
static void add_conflicts(struct report_bug *b)
{
	for (size_t i = 0; i < b->step_count; i++)
		for (size_t k = i + 1; b->steps[i].role == REPORT_CAUSE && k < b->step_count; k++) {
			const struct report_step *x = &b->steps[i], *y = &b->steps[k];

			if (y->role != REPORT_CAUSE || !touch(x, y))
				continue;
			if (x->thread != y->thread && (x->writes || y->writes))
				report_add_arrow(b, REPORT_CONFLICT, i, k);
			break;
		}
}

static void add_site(struct report_bug *b, struct report_site *s, bool traced)
{
	size_t thread = report_add_thread(b, s->thread);
	struct report_step *step = report_add_step(b);

	*step = (struct report_step){
		.thread = thread, .op = s->op, .at = s->at, .value = s->value,
		.pending = s->pending || (s->cause && traced),
		.object = s->display_name ? s->display_name : s->object, .locks = s->locks,
		.ordinal = UINT64_MAX,
		.writes = strncmp(s->op, "write", 5) == 0 || strcmp(s->op, "atomic-store") == 0,
		.role = s->pending || !s->cause ? REPORT_FAILURE : REPORT_CAUSE,
	};
	s->step = b->step_count - 1;
}

/* Is the place where a thread failed or was blocked also that of a pending event of the cause? */
static bool cause_covers_site(const struct report_bug *b, const struct report_site *s)
{
	for (size_t i = 0; i < b->site_count; i++) {
		const struct report_site *c = &b->sites[i];

		if (c->cause && c->step != REPORT_NONE && b->steps[c->step].pending &&
		    same_text(c->thread, s->thread) && c->at.line == s->at.line &&
		    same_text(c->at.file, s->at.file))
			return true;
	}
	return false;
}

/*
 * Adds the sites that the trace lacks, in this order: events of the cause in which a thread blocked
 * or failed, places of the failure, events of the cause that the run never reached. Without a
 * trace, adds the whole cause in the order of bug.json, then the failure.
 */
static void add_sites(struct report_bug *b, bool traced)
{
	bool any = false;

	for (size_t i = 0; i < b->site_count; i++)
		if (b->sites[i].thread && b->sites[i].cause && b->sites[i].step == REPORT_NONE &&
		    (!traced || b->sites[i].pending)) {
			add_site(b, &b->sites[i], traced);
			any = any || b->steps[b->step_count - 1].role == REPORT_FAILURE;
		}
	for (size_t i = 0; i < b->site_count; i++)
		if (b->sites[i].thread && !b->sites[i].cause &&
		    !cause_covers_site(b, &b->sites[i])) {
			add_site(b, &b->sites[i], traced);
			/* It only waits for the threads of the cause: it is not one of them. */
			if (any)
				b->steps[b->step_count - 1].role = REPORT_CONTEXT;
		}
	for (size_t i = 0; i < b->site_count; i++)
		if (b->sites[i].thread && b->sites[i].cause && b->sites[i].step == REPORT_NONE)
			add_site(b, &b->sites[i], traced);
}

static void number_steps(struct report_bug *b)
{
	unsigned number = 0, rank = 0;

	for (size_t i = 0; i < b->step_count; i++)
		if (b->steps[i].role == REPORT_CAUSE ||
		    (b->steps[i].role == REPORT_FAILURE && b->steps[i].pending))
			b->steps[i].number = ++number;
	for (size_t i = 0; i < b->site_count; i++)
		if (b->sites[i].cause && b->sites[i].step != REPORT_NONE)
			b->steps[b->sites[i].step].rank = ++rank;
}

/*
 * Adds an arrow from each thread that blocked on a lock to the thread that holds it to the end, and
 * extends the bars of such locks to the last row.
 */
static void add_waits(struct report_bug *b)
{
	for (size_t i = 0; i < b->step_count; i++) {
		const struct report_step *s = &b->steps[i];

		for (size_t k = 0; s->pending && s->object && k < b->bar_count; k++) {
			const struct report_bar *bar = &b->bars[k];
			size_t size = strlen(bar->lock);

			if (bar->open && bar->thread != s->thread &&
			    strncmp(bar->lock, s->object, size) == 0 &&
			    (s->object[size] == '\0' || s->object[size] == ' '))
				report_add_arrow(b, REPORT_WAIT, i, bar->from);
		}
	}
	for (size_t k = 0; k < b->bar_count; k++)
		if (b->bars[k].open && b->step_count)
			b->bars[k].to = b->step_count - 1;
}

/*
 * The use of freed memory is not in the trace, so add_conflicts() does not connect it with the
 * free.
 */
static void add_freed(struct report_bug *b)
{
	for (size_t i = 0; i < b->step_count; i++)
		for (size_t k = i + 1; k < b->step_count && same_text(b->steps[i].op, "free"); k++)
			if (b->steps[k].pending && b->steps[k].thread != b->steps[i].thread)
				report_add_arrow(b, REPORT_CONFLICT, i, k);
}

/* Compares thread names number by number: 0.2 before 0.10, a parent before its children. */
static int by_path(const void *x, const void *y)
{
	const struct report_thread *a = x, *b = y;
	const char *p = a->name, *q = b->name;

	while (*p && *q) {
		char *p_end, *q_end;
		unsigned long n = strtoul(p, &p_end, 10), m = strtoul(q, &q_end, 10);

		if (p_end == p || q_end == q)
			break;
		if (n != m)
			return n < m ? -1 : 1;
		p = p_end + (*p_end == '.');
		q = q_end + (*q_end == '.');
	}
	return strcmp(p, q);
}

static void sort_threads(struct report_bug *b)
{
	const char **name = xcalloc(b->thread_count + 1, sizeof(*name));
	size_t *moved = xcalloc(b->thread_count + 1, sizeof(*moved));

	for (size_t i = 0; i < b->thread_count; i++)
		name[i] = b->threads[i].name;
	if (b->thread_count)
		qsort(b->threads, b->thread_count, sizeof(*b->threads), by_path);
	for (size_t i = 0; i < b->thread_count; i++)
		for (size_t k = 0; k < b->thread_count; k++)
			if (b->threads[k].name == name[i])
				moved[i] = k;
	for (size_t i = 0; i < b->step_count; i++)
		b->steps[i].thread = moved[b->steps[i].thread];
	for (size_t i = 0; i < b->bar_count; i++)
		b->bars[i].thread = moved[b->bars[i].thread];
	free(name);
	free(moved);
}

void report_link_passing(const struct report_bug *b, struct report_bug *passing)
{
	for (size_t i = 0; i < b->site_count; i++)
		if (b->sites[i].step != REPORT_NONE && passing->sites[i].step != REPORT_NONE)
			passing->steps[passing->sites[i].step].number =
				b->steps[b->sites[i].step].number;
	sort_threads(passing);
}

void report_link_steps(struct report_bug *b, bool traced)
{
	add_sites(b, traced);
	number_steps(b);
	add_conflicts(b);
	add_freed(b);
	add_waits(b);
	sort_threads(b);
}
