/*
 * A timeline for ui.perfetto.dev and chrome://tracing: a process for each bug, a track for each
 * thread and for each lock that it held. Time is the order of events: the n-th event comes n
 * microseconds in.
 *
 * Track numbers are unique over all processes, because Perfetto names threads by that number alone.
 * A process has the number of its first track, which makes that track its main thread.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "report/describe.h"
#include "report/format.h"

struct timeline {
	struct json j;
	const struct report_bug *bug;
	uint64_t process;	/* its number and first track; further threads follow */
	uint64_t *time;		/* [step_count] time of each step */
	uint64_t end;		/* time after the last step */
	uint64_t track;		/* the last track number in use */
	uint64_t *arrows;	/* number of arrows of all bugs so far: their ids */
	struct buf text;	/* scratch; empty between uses */
};

static void begin(struct timeline *t, const char *phase, const char *name, uint64_t track)
{
	json_open(&t->j, NULL, '{');
	json_text(&t->j, "ph", phase);
	json_text(&t->j, "name", name);
	json_number(&t->j, "pid", t->process);
	json_number(&t->j, "tid", track);
}

/* Names a process or track after `text`, and clears it. */
static void put_name(struct timeline *t, const char *what, uint64_t track)
{
	begin(t, "M", what, track);
	json_open(&t->j, "args", '{');
	json_text(&t->j, "name", buf_string(&t->text));
	json_close(&t->j, '}');
	json_close(&t->j, '}');
	buf_clear(&t->text);
}

/* Sets the position of a process or track, counted from above. */
static void put_sort(struct timeline *t, const char *what, uint64_t track, uint64_t order)
{
	begin(t, "M", what, track);
	json_open(&t->j, "args", '{');
	json_number(&t->j, "sort_index", order);
	json_close(&t->j, '}');
	json_close(&t->j, '}');
}

static void put_known(struct timeline *t, const char *key, const char *text)
{
	if (text)
		json_text(&t->j, key, text);
}

static void put_step(struct timeline *t, size_t i)
{
	static const char *const roles[] = { "context", "cause", "failure" };
	const struct report_step *s = &t->bug->steps[i];

	if (s->number)
		buf_addf(&t->text, "%u: ", s->number);
	describe_step(t->bug, s, &t->text);
	begin(t, "X", buf_string(&t->text), t->process + s->thread);
	buf_clear(&t->text);
	json_text(&t->j, "cat", roles[s->role]);
	json_number(&t->j, "ts", t->time[i]);
	json_number(&t->j, "dur", 1);
	json_open(&t->j, "args", '{');
	json_text(&t->j, "op", s->op);
	put_known(t, "object", s->object);
	put_known(t, "value", s->value);
	put_known(t, "locks", s->locks);
	put_known(t, "function", s->at.function);
	put_known(t, "file", s->at.file);
	if (s->at.line)
		json_number(&t->j, "line", s->at.line);
	put_known(t, "source", s->at.source);
	if (s->pending)
		json_bool(&t->j, "pending", true);
	json_close(&t->j, '}');
	json_close(&t->j, '}');
}

/* Returns the first bar of the same thread and lock, whose track the bar uses. */
static size_t first_of(const struct report_bug *b, size_t bar)
{
	size_t i = 0;

	while (b->bars[i].thread != b->bars[bar].thread ||
	       strcmp(b->bars[i].lock, b->bars[bar].lock) != 0)
		i++;
	return i;
}

/*
 * Writes the locks of a thread. Slices of a track must nest, which periods of holding locks need
 * not: each lock has a track of its own below that of the thread.
 */
static void put_bars(struct timeline *t, size_t thread)
{
	const struct report_bug *b = t->bug;
	uint64_t *tracks = xcalloc(b->bar_count + 1, sizeof(*tracks));

	for (size_t i = 0; i < b->bar_count; i++) {
		const struct report_bar *bar = &b->bars[i];
		size_t first = first_of(b, i);

		if (bar->thread != thread)
			continue;
		if (first == i) {
			tracks[i] = ++t->track;
			describe_thread(b, thread, &t->text);
			buf_add_text(&t->text, " holds ");
			describe_object(bar->lock, &t->text);
			put_name(t, "thread_name", t->track);
			put_sort(t, "thread_sort_index", t->track, t->track);
		}
		describe_object(bar->lock, &t->text);
		begin(t, "X", buf_string(&t->text), tracks[first]);
		buf_clear(&t->text);
		json_text(&t->j, "cat", "lock");
		json_number(&t->j, "ts", t->time[bar->from]);
		json_number(&t->j, "dur",
			    (bar->open ? t->end : t->time[bar->to] + 1) - t->time[bar->from]);
		json_open(&t->j, "args", '{');
		json_bool(&t->j, "released", !bar->open);
		json_close(&t->j, '}');
		json_close(&t->j, '}');
	}
	free(tracks);
}

/* Writes an end of an arrow, in the middle of a step so that the step is unambiguous. */
static void put_end(struct timeline *t, const char *phase, const char *name, size_t step)
{
	begin(t, phase, name, t->process + t->bug->steps[step].thread);
	json_text(&t->j, "cat", "flow");
	json_number(&t->j, "id", *t->arrows);
	json_decimal(&t->j, "ts", (double)t->time[step] + 0.5);
	if (*phase == 'f')
		json_text(&t->j, "bp", "e");
	json_close(&t->j, '}');
}

/* Arrows must point forward in time; a wait points from the holder of the lock to the waiter. */
static void put_arrow(struct timeline *t, const struct report_arrow *a)
{
	static const char *const names[] = { "conflict", "lock handed over", "waited for" };
	bool back = t->time[a->from] > t->time[a->to];

	++*t->arrows;
	put_end(t, "s", names[a->kind], back ? a->to : a->from);
	put_end(t, "f", names[a->kind], back ? a->from : a->to);
}

/* Steps that are not in the trace come after all others. */
static void set_times(struct timeline *t)
{
	const struct report_bug *b = t->bug;

	t->time = xcalloc(b->step_count + 1, sizeof(*t->time));
	for (size_t i = 0; i < b->step_count; i++) {
		t->time[i] = b->steps[i].ordinal == UINT64_MAX ? t->end : b->steps[i].ordinal;
		t->end = t->time[i] + 1;
	}
}

static void put_bug(struct timeline *t)
{
	const struct report_bug *b = t->bug;

	set_times(t);
	buf_addf(&t->text, "%s: ", b->id);
	describe_title(b, &t->text);
	put_name(t, "process_name", t->process);
	put_sort(t, "process_sort_index", t->process, t->process);
	t->track = t->process + b->thread_count;
	for (size_t i = 0; i < b->thread_count; i++) {
		describe_thread(b, i, &t->text);
		put_name(t, "thread_name", t->process + i);
		put_sort(t, "thread_sort_index", t->process + i, ++t->track);
		put_bars(t, i);
	}
	for (size_t i = 0; i < b->step_count; i++)
		put_step(t, i);
	for (size_t i = 0; i < b->arrow_count; i++)
		put_arrow(t, &b->arrows[i]);
	free(t->time);
	buf_free(&t->text);
}

static void perfetto_all(const struct report *r, const struct report_style *style, struct buf *out)
{
	struct json j = { .out = out };
	uint64_t arrows = 0, track = 0;

	(void)style;
	json_open(&j, NULL, '{');
	json_text(&j, "displayTimeUnit", "ns");
	json_open(&j, "traceEvents", '[');
	for (size_t i = 0; i < r->bug_count; i++) {
		struct timeline t = {
			.j = j, .bug = &r->bugs[i], .process = track + 1, .arrows = &arrows
		};

		put_bug(&t);
		j = t.j;
		track = t.track;
	}
	json_close(&j, ']');
	json_close(&j, '}');
	buf_add_char(out, '\n');
}

const struct report_format report_perfetto = {
	.name = "perfetto", .summary = "a timeline for ui.perfetto.dev or chrome://tracing",
	.all = perfetto_all,
};
