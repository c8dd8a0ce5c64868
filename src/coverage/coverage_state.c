#include "coverage/coverage_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/mem.h"

/* The choice of a program from the database. */
struct program_choice {
	const char *wanted;	/* name of the program; NULL: any */
	int64_t id;		/* of the last match */
	char *name;		/* of the last match */
	uint64_t count;		/* matches */
	uint64_t runs;		/* of the last match */
	struct buf names;	/* all programs, for the message */
};

static int choose(void *ctx, int64_t id, const char *name, const char *build_id, uint64_t runs)
{
	struct program_choice *c = ctx;

	(void)build_id;
	buf_addf(&c->names, "%s%s", c->names.size ? ", " : "", name);
	if (c->wanted && strcmp(c->wanted, name) != 0)
		return 0;
	c->count++;
	c->id = id;
	c->runs = runs;
	free(c->name);
	c->name = xstrdup(name);
	return 0;
}

static int load_event(void *ctx, int64_t id, const struct memo_event *e)
{
	struct cover_state *s = ctx;

	s->events = xgrow(s->events, s->event_count, &s->event_capacity, sizeof(*s->events));
	s->events[s->event_count] = (struct cover_event){
		.key = xstrdup(e->key), .function = xstrdup(e->function), .file = xstrdup(e->file),
		.line = e->line, .column = e->column, .access = e->access };
	*map_put(&s->numbers, (uint64_t)id, NULL) = ++s->event_count;
	return 0;
}

void cover_state_judge(struct cover_item *i)
{
	i->verdict = i->exposed ? COVER_EXPOSED :
		     i->failed >= MEMO_ATTEMPTS ? COVER_INFEASIBLE : COVER_UNTESTED;
}

static int load_root(void *ctx, const struct memo_root *r)
{
	struct cover_state *s = ctx;
	struct cover_item item = { .idiom = r->idiom, .exposed = r->exposed,
				   .predicted = r->predicted,
				   .attempts = r->attempts, .failed = r->failed };

	for (unsigned i = 0; i < IROOT_EVENTS && r->event[i]; i++) {
		const uint64_t *number = map_find(&s->numbers, (uint64_t)r->event[i]);

		item.event[i] = number ? (uint32_t)*number : 0;
	}
	if (item.idiom < 1 || item.idiom > IROOT_IDIOMS || !item.event[0] || !item.event[1])
		return 0;
	cover_state_judge(&item);
	s->items = xgrow(s->items, s->count, &s->capacity, sizeof(*s->items));
	s->items[s->count++] = item;
	return 0;
}

static int load_run(void *ctx, const struct memo_run *r)
{
	struct cover_state *s = ctx;

	s->failed_runs += r->failed;
	s->points = xgrow(s->points, s->point_count, &s->point_capacity, sizeof(*s->points));
	s->points[s->point_count] = (struct cover_point){ .run = s->point_count + 1,
							  .exposed = r->exposed,
							  .known = r->known,
							  .strategy = xstrdup(r->strategy) };
	s->point_count++;
	return 0;
}

int cover_state_load(struct cover_state *s, struct memo *m, const char *program, struct err *err)
{
	struct program_choice c = { .wanted = program };
	int result = -1;

	*s = (struct cover_state){ 0 };
	if (memo_each_program(m, choose, &c, err) < 0) {
		/* *err is set */
	} else if (c.count == 0) {
		err_set(err, program ? "the database knows no program %s (but %s)" :
				       "the database is empty: snarl cover -- PROGRAM fills it%s%s",
			program ? program : "",
			program ? buf_string(&c.names) : "");
	} else if (c.count > 1) {
		err_set(err, "the database knows several programs, choose with --program: %s",
			buf_string(&c.names));
	} else {
		s->program = c.name;
		s->runs = c.runs;
		c.name = NULL;
		result = memo_each_event(m, c.id, load_event, s, err) < 0 ||
			 memo_each_root(m, c.id, load_root, s, err) < 0 ||
			 memo_each_run(m, c.id, load_run, s, err) < 0 ? -1 : 0;
		cover_state_sum(s);
	}
	free(c.name);
	buf_free(&c.names);
	return result;
}

void cover_state_free(struct cover_state *s)
{
	for (size_t i = 0; i < s->event_count; i++) {
		free(s->events[i].key);
		free(s->events[i].function);
		free(s->events[i].file);
	}
	for (size_t i = 0; i < s->point_count; i++)
		free(s->points[i].strategy);
	free(s->program);
	free(s->events);
	free(s->items);
	free(s->points);
	free(s->files);
	map_free(&s->numbers);
	*s = (struct cover_state){ 0 };
}

static struct cover_file *file_of(struct cover_state *s, const char *name)
{
	for (size_t i = 0; i < s->file_count; i++)
		if (strcmp(s->files[i].name, name) == 0)
			return &s->files[i];
	s->files = xgrow(s->files, s->file_count, &s->file_capacity, sizeof(*s->files));
	s->files[s->file_count] = (struct cover_file){ .name = name };
	return &s->files[s->file_count++];
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct cover_file *)a)->name, ((const struct cover_file *)b)->name);
}

/* Counts the iRoot once for each file with one of its events. */
static void sum_files(struct cover_state *s, const struct cover_item *item)
{
	for (unsigned i = 0; i < IROOT_EVENTS && item->event[i]; i++) {
		const char *name = s->events[item->event[i] - 1].file;
		bool again = false;

		for (unsigned k = 0; k < i; k++)
			again |= strcmp(name, s->events[item->event[k] - 1].file) == 0;
		if (!again)
			file_of(s, name)->figures.at[item->verdict]++;
	}
}

void cover_state_sum(struct cover_state *s)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct cover_item *item = &s->items[i];

		s->idioms[item->idiom].at[item->verdict]++;
		s->all.at[item->verdict]++;
		sum_files(s, item);
	}
	if (s->file_count > 1)
		qsort(s->files, s->file_count, sizeof(*s->files), by_name);
}

uint64_t cover_total(const struct cover_figures *f)
{
	return f->at[COVER_EXPOSED] + f->at[COVER_UNTESTED] + f->at[COVER_INFEASIBLE];
}

double cover_percent(const struct cover_figures *f)
{
	uint64_t all = f->at[COVER_EXPOSED] + f->at[COVER_UNTESTED];

	return all ? 100.0 * (double)f->at[COVER_EXPOSED] / (double)all : 100.0;
}

const char *cover_access_name(enum iroot_access access)
{
	static const char *const names[] = { "read", "write", "lock", "unlock" };

	return (unsigned)access < ARRAY_SIZE(names) ? names[access] : "?";
}

const char *cover_verdict_name(enum cover_verdict verdict)
{
	static const char *const names[] = { "exposed", "untested", "infeasible" };

	return names[verdict];
}

struct cover_index {
	const struct cover_state *state;
	struct map at;		/* hash of idiom and events -> 1 + index in state->items */
};

static uint64_t hash_item(const struct cover_state *s, const struct cover_item *item)
{
	uint64_t hash = HASH_START + item->idiom;

	for (unsigned i = 0; i < IROOT_EVENTS && item->event[i]; i++) {
		const struct cover_event *e = &s->events[item->event[i] - 1];

		hash = hash_bytes(hash, e->key, strlen(e->key) + 1) + hash_spread(e->access);
	}
	return hash;
}

struct cover_index *cover_index_new(const struct cover_state *s)
{
	struct cover_index *x = xcalloc(1, sizeof(*x));

	x->state = s;
	for (size_t i = 0; i < s->count; i++)
		*map_put(&x->at, hash_item(s, &s->items[i]), NULL) = i + 1;
	return x;
}

void cover_index_free(struct cover_index *x)
{
	map_free(&x->at);
	free(x);
}

const struct cover_item *cover_index_find(const struct cover_index *x, const struct cover_state *of,
					  const struct cover_item *item)
{
	const uint64_t *at = map_find(&x->at, hash_item(of, item));

	return at ? &x->state->items[*at - 1] : NULL;
}

void cover_place(const struct cover_state *s, uint32_t event, struct buf *out)
{
	const struct cover_event *e = &s->events[event - 1];

	const char *slash = strrchr(e->file, '/');

	if (*e->file && e->line)
		buf_addf(out, "%s:%u", slash ? slash + 1 : e->file, e->line);
	else
		buf_add_text(out, e->key);
	buf_addf(out, " %s", cover_access_name(e->access));
}

void cover_describe(const struct cover_state *s, const struct cover_item *item, struct buf *out)
{
	/* Text before each event. */
	static const char *const between[IROOT_IDIOMS + 1][IROOT_EVENTS] = {
		[1] = { "", " → " },
		[2] = { "", " → ", " → " },
		[3] = { "", " → ", " … ", " → " },
		[4] = { "", " → ", " … ", " → " },
		[5] = { "", " → ", " and ", " → " },
		[6] = { "", " → ", " then ", " → " },
	};

	for (unsigned i = 0; i < IROOT_EVENTS && item->event[i]; i++) {
		buf_add_text(out, between[item->idiom][i] ? between[item->idiom][i] : " ? ");
		cover_place(s, item->event[i], out);
	}
}
