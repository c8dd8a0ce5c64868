#include "explore/story.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "explore/source.h"
#include "trace/kinds.h"

#define WIDTH 92u		/* of all columns together */
#define COLUMN_LEAST 26u

struct story {
	const struct lead *lead;
	struct places *places;
	uint8_t event[CANDIDATE_EVENTS];	/* in the order told */
	size_t count;
	const char *thread[CANDIDATE_EVENTS];	/* in the order they come in */
	size_t threads;
	struct buf *out;
};

/* What happened is told as it did. */
static void sort_by_time(struct story *s)
{
	const struct candidate_event *e = s->lead->c.event;

	for (size_t i = 1; i < s->count; i++)
		for (size_t k = i; k > 0 && e[s->event[k]].time < e[s->event[k - 1]].time; k--) {
			uint8_t other = s->event[k];

			s->event[k] = s->event[k - 1];
			s->event[k - 1] = other;
		}
}

static void open_story(struct story *s, const struct lead *lead, struct places *places, struct buf *out)
{
	*s = (struct story){ .lead = lead, .places = places, .out = out };
	s->count = lead_events(lead, s->event);
	if (lead->c.seen)
		sort_by_time(s);
	for (size_t i = 0; i < s->count; i++) {
		const char *thread = lead->event[s->event[i]].thread;
		size_t k = 0;

		while (k < s->threads && strcmp(s->thread[k], thread) != 0)
			k++;
		if (k == s->threads)
			s->thread[s->threads++] = thread;
	}
}

static const struct lead_event *event(const struct story *s, size_t i)
{
	return &s->lead->event[s->event[i]];
}

static uint64_t pc(const struct story *s, size_t i)
{
	return s->lead->c.event[s->event[i]].pc;
}

/* "bank.c:22", without the folder; a place without a line by function or address. */
static void add_place(struct story *s, size_t i, struct buf *out)
{
	struct symbol_frame f;
	const char *slash;

	places_frame(s->places, pc(s, i), &f);
	if (!f.file || !f.line) {
		places_describe(s->places, pc(s, i), out);
		return;
	}
	slash = strrchr(f.file, '/');
	buf_addf(out, "%s:%u", slash ? slash + 1 : f.file, f.line);
}

/* A line in the column of a thread. */
static void add_cell(struct story *s, size_t column, size_t width, const char *text)
{
	size_t bytes = source_fit(text, width - 2);

	buf_addf(s->out, "  %*s", (int)(column * width), "");
	if (text[bytes]) {
		bytes = source_fit(text, width - 3);
		buf_addf(s->out, "%.*s…\n", (int)bytes, text);
	} else {
		buf_addf(s->out, "%s\n", text);
	}
}

static void add_event(struct story *s, size_t i, size_t width)
{
	const struct lead_event *e = event(s, i);
	struct buf line = { 0 }, what = { 0 }, source = { 0 };
	struct symbol_frame f;
	size_t column = 0;

	while (strcmp(s->thread[column], e->thread) != 0)
		column++;
	add_place(s, i, &line);
	places_frame(s->places, pc(s, i), &f);
	if (source_line(s->places, pc(s, i), f.file, f.line, &source))
		buf_addf(&line, "  %s", buf_string(&source));
	else if (f.file && f.line && f.function)
		buf_addf(&line, "  %s()", f.function);
	buf_addf(&what, "  %s %s", kind_name(s->lead->c.event[s->event[i]].kind), e->object);
	if (*e->locks && s->lead->c.class != CANDIDATE_DEADLOCK)
		buf_addf(&what, ", holding %s", e->locks);
	add_cell(s, column, width, buf_string(&line));
	add_cell(s, column, width, buf_string(&what));
	buf_free(&line);
	buf_free(&what);
	buf_free(&source);
}

static void add_table(struct story *s)
{
	size_t width = WIDTH / s->threads;

	width = width < COLUMN_LEAST ? COLUMN_LEAST : width;
	buf_add_text(s->out, " ");
	for (size_t i = 0; i < s->threads; i++) {
		buf_addf(s->out, " thread %s", s->thread[i]);
		if (i + 1 < s->threads)
			buf_addf(s->out, "%*s", (int)(width - strlen(s->thread[i]) - 8), "");
	}
	buf_add_char(s->out, '\n');
	for (size_t i = 0; i < s->count; i++)
		add_event(s, i, width);
}

void story_tell(const struct lead *lead, struct places *places, struct buf *out)
{
	const struct candidate *c = &lead->c;
	struct story s;

	open_story(&s, lead, places, out);
	buf_addf(out, "%s %s on %s%s%s\n", lead_class(lead), c->pattern, lead->event[0].object,
		 c->note ? ": " : "", c->note ? c->note : "");
	if (s.threads)
		add_table(&s);
	story_locks(lead, places, out);
}

/* Is one of "a, b" among "b, c"? Appends the first that is, unless `out` is NULL. */
static bool in_common(const char *a, const char *b, struct buf *out)
{
	while (*a) {
		size_t size = strcspn(a, ",");

		for (const char *p = b; *p;) {
			size_t other = strcspn(p, ",");

			if (other == size && memcmp(a, p, size) == 0) {
				if (out)
					buf_add(out, a, size);
				return true;
			}
			p += other + strspn(p + other, ", ");
		}
		a += size + strspn(a + size, ", ");
	}
	return false;
}

static void add_holding(struct story *s, size_t i)
{
	buf_addf(s->out, "thread %s holds %s at ", event(s, i)->thread,
		 *event(s, i)->locks ? event(s, i)->locks : "none");
	add_place(s, i, s->out);
}

/* "no lock in common: thread 0.1 holds log_lock at log.c:39, thread 0.2 holds none at log.c:48" */
static void tell_missing(struct story *s, size_t a, size_t b)
{
	buf_add_text(s->out, "  no lock in common: ");
	if (!*event(s, a)->locks && !*event(s, b)->locks) {
		buf_add_text(s->out, "none is held at ");
		add_place(s, a, s->out);
		buf_add_text(s->out, " nor at ");
		add_place(s, b, s->out);
	} else {
		add_holding(s, a);
		buf_add_text(s->out, ", ");
		add_holding(s, b);
	}
	buf_add_char(s->out, '\n');
}

/* Events of two threads without a common lock, of one object if so wanted; false if there are none. */
static bool find_missing(struct story *s, bool one_object)
{
	bool found = false;

	for (size_t a = 0; a < s->count && !found; a++)
		for (size_t b = a + 1; b < s->count && !found; b++) {
			if (strcmp(event(s, a)->thread, event(s, b)->thread) == 0 ||
			    (one_object && strcmp(event(s, a)->object, event(s, b)->object) != 0))
				continue;
			if (!in_common(event(s, a)->locks, event(s, b)->locks, NULL)) {
				tell_missing(s, a, b);
				found = true;
			}
		}
	return found;
}

/* A thread that comes twice, and lets go of the lock it has in common with itself in between. */
static bool tell_two_sections(struct story *s)
{
	for (size_t a = 0; a < s->count; a++)
		for (size_t b = a + 1; b < s->count; b++) {
			struct buf lock = { 0 };
			bool same = strcmp(event(s, a)->thread, event(s, b)->thread) == 0 &&
				    in_common(event(s, a)->locks, event(s, b)->locks, &lock);

			/* Whoever came in between had it, too. */
			if (same && b > a + 1 &&
			    in_common(buf_string(&lock), event(s, a + 1)->locks, NULL)) {
				buf_addf(s->out, "  every access holds %s, but thread %s lets go of it between ",
					 buf_string(&lock), event(s, a)->thread);
				add_place(s, a, s->out);
				buf_add_text(s->out, " and ");
				add_place(s, b, s->out);
				buf_add_text(s->out, ": two critical sections where one is needed\n");
				buf_free(&lock);
				return true;
			}
			buf_free(&lock);
		}
	return false;
}

/* "length is guarded by length_lock, text by text_lock, but nothing guards both together" */
static void tell_two_locks(struct story *s)
{
	const char *done = NULL;

	buf_add_text(s->out, "  ");
	for (size_t i = 0; i < s->count; i++) {
		const char *object = event(s, i)->object;

		if (done && strcmp(done, object) == 0)
			continue;
		buf_addf(s->out, "%s%s by %s", object, done ? "" : " is guarded", event(s, i)->locks);
		buf_add_text(s->out, done ? ", but nothing guards both together\n" : ", ");
		if (done)
			return;
		done = object;
	}
	buf_add_text(s->out, "but not for as long as both are used\n");
}

/* "lock order: thread 0.1 takes left, then right; thread 0.2 takes right, then left" */
static void tell_lock_order(struct story *s)
{
	buf_add_text(s->out, "  lock order:");
	for (size_t t = 0; t < s->threads; t++) {
		bool first = true;

		buf_addf(s->out, "%s thread %s takes ", t ? ";" : "", s->thread[t]);
		for (size_t i = 0; i < s->count; i++)
			if (strcmp(event(s, i)->thread, s->thread[t]) == 0) {
				buf_addf(s->out, "%s%s", first ? "" : ", then ", event(s, i)->object);
				first = false;
			}
	}
	buf_add_char(s->out, '\n');
}

void story_locks(const struct lead *lead, struct places *places, struct buf *out)
{
	struct story s;

	open_story(&s, lead, places, out);
	switch (lead->c.class) {
	case CANDIDATE_DEADLOCK:
		if (strcmp(lead->c.pattern, "lock-cycle") == 0)
			tell_lock_order(&s);
		break;
	case CANDIDATE_ORDER:
		buf_add_text(out, strcmp(lead->c.pattern, "no-recheck") == 0 ?
			     "  what was waited for has to be looked at again after each wait: in a loop\n" :
			     "  nothing makes one thread wait for the other here; a lock alone would not\n");
		break;
	case CANDIDATE_ATOMICITY2:
		if (!find_missing(&s, true) && !tell_two_sections(&s))
			tell_two_locks(&s);
		break;
	case CANDIDATE_RACE:
	case CANDIDATE_ATOMICITY:
		if (!find_missing(&s, false))
			tell_two_sections(&s);
		break;
	case CANDIDATE_MISUSE: break;
	}
}
