/*
 * The reader functions for text traces: events from the parser, with function calls in canonical
 * form (read/frames.h).
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "trace/read/reader_internal.h"
#include "trace/read/stream.h"
#include "trace/text/text.h"

static struct frames *text_frames(struct reader *r, uint32_t thread)
{
	uint64_t *at = map_put(&r->frames_of, thread, NULL);

	if (!*at) {
		r->frames = xgrow(r->frames, r->frame_count, &r->frame_capacity,
				  sizeof(*r->frames));
		r->frames[r->frame_count++] = (struct frames){ 0 };
		*at = r->frame_count;
	}
	return &r->frames[*at - 1];
}

static void count_event(struct reader *r, uint32_t thread)
{
	struct reader_thread *t = catalog_find(&r->catalog, thread);

	if (t)
		t->events++;
}

/* Returns 1 and the next event, pending function entries first; 0 at the end. */
static int next_event(struct reader *r, struct event *ev)
{
	const struct trace_record *entry;
	struct frames *f;

	while (!r->holding) {
		struct trace_record call;
		int got = text_next(r->text, &r->held);

		if (got <= 0)
			return got;
		call.addr = r->held.addr | (uint64_t)r->held.result << 48;
		call.site = TRACE_SITE(r->held.kind, r->held.detail, r->held.pc);
		r->holding = !frames_hold(text_frames(r, r->held.thread), &call);
	}
	f = text_frames(r, r->held.thread);
	count_event(r, r->held.thread);
	entry = frames_deliver(f, &ev->depth);
	if (entry) {
		stream_event(ev, r->held.thread, entry, 1);
		ev->time = r->held.time;
		return 1;
	}
	*ev = r->held;
	ev->depth = frames_apply(f, ev->kind, ev->arg);
	r->holding = false;
	return 1;
}

int reader_text_open(struct reader *r, const uint8_t *data, uint64_t size, struct err *err)
{
	r->text_data = data;
	r->text_size = size;
	r->text = text_open((const char *)data, size, &r->catalog, &r->header, err);
	return r->text ? 0 : -1;
}

unsigned reader_text_some(struct reader *r, struct event *ev, unsigned room, int *got)
{
	unsigned n = 0;

	while (n < room && (*got = next_event(r, &ev[n])) > 0)
		n += ev[n].kind != TRACE_VALUE || !r->no_values;
	return n;
}

int reader_text_accesses(struct reader *r, reader_access *fn, void *ctx, struct err *err)
{
	struct trace_record one;
	struct event ev;
	int got;

	while ((got = reader_next(r, &ev, err)) > 0) {
		one = (struct trace_record){ ev.addr, TRACE_SITE(ev.kind, ev.detail, ev.pc) };
		if (ev.size && !fn(ctx, ev.thread, &one, 1, ev.size))
			return 0;
	}
	return got;
}

void reader_text_rewind(struct reader *r)
{
	text_rewind(r->text);
	r->holding = false;
	for (size_t i = 0; i < r->frame_count; i++)
		frames_reset(&r->frames[i]);
	for (size_t i = 0; i < r->catalog.thread_count; i++)
		r->catalog.threads[i].events = 0;
}

void reader_text_free(struct reader *r)
{
	text_close(r->text);
	if (r->text_data)
		munmap((void *)r->text_data, r->text_size);
	for (size_t i = 0; i < r->frame_count; i++)
		frames_free(&r->frames[i]);
	free(r->frames);
	map_free(&r->frames_of);
}
