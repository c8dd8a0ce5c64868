/*
 * snarl dump --text: the text form of each event, and in a comment the meaning of its numbers.
 */
#include "cmd/dump/dump.h"
#include "trace/read/kinds.h"
#include "trace/text/text.h"

#define FRAMES_MAX 16

static void begin(struct dump *d)
{
	text_format_head(&d->out, d->reader);
}

static void add_file(struct buf *out, const struct symbol_frame *frame)
{
	if (!frame->file)
		return;
	buf_add_char(out, ' ');
	buf_add_text(out, frame->file);
	if (frame->line == 0)
		return;
	buf_add_char(out, ':');
	buf_add_dec(out, frame->line);
	if (frame->column == 0)
		return;
	buf_add_char(out, ':');
	buf_add_dec(out, frame->column);
}

/* Appends "f bank.c:30:5 (inlined in g bank.c:51:3)". */
static void make_site_text(struct dump *d, uint64_t pc, struct buf *out)
{
	struct symbol_frame frames[FRAMES_MAX];
	size_t count = symbols_frames(d->symbols, pc, frames, FRAMES_MAX);
	const char *label = dump_label(d, pc);
	uint64_t offset;
	const char *module;

	if (label) {
		buf_add_text(out, label);
		return;
	}
	if (count == 1 && !frames[0].file) {
		module = symbols_module(d->symbols, pc, &offset);
		if (frames[0].function[0] != '?')
			buf_add_text(out, frames[0].function);
		if (module) {
			buf_addf(out, "%s%s+", frames[0].function[0] != '?' ? " " : "", module);
			buf_add_hex(out, offset);
		}
		return;
	}
	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			buf_add_text(out, i == 1 ? " (inlined in " : ", in ");
		buf_add_text(out, frames[i].function);
		add_file(out, &frames[i]);
	}
	if (count > 1)
		buf_add_char(out, ')');
}

/* Appends "+12.345us"; printf would dominate the time of a dump. */
static void add_time(struct buf *out, double us)
{
	uint64_t ns = us > 0 ? (uint64_t)(us * 1000 + 0.5) : 0;
	unsigned rest = (unsigned)(ns % 1000);

	buf_add_char(out, '+');
	buf_add_dec(out, ns / 1000);
	buf_add_char(out, '.');
	buf_add_char(out, (char)('0' + rest / 100));
	buf_add_char(out, (char)('0' + rest / 10 % 10));
	buf_add_char(out, (char)('0' + rest % 10));
	buf_add_text(out, "us");
}

static void add_object(struct dump *d, const struct object *object)
{
	const char *label = object->kind == OBJECT_RAW ? dump_label(d, object->addr) : NULL;

	if (label)
		buf_add_text(&d->out, label);
	else
		object_describe(object, &d->out);
}

/*
 * Replaces control characters, which file names may contain, so that a comment stays on its line.
 */
static void replace_controls(struct buf *out, size_t start)
{
	for (size_t i = start; i < out->size; i++)
		if (out->data[i] < 0x20)
			out->data[i] = '?';
}

static void event(struct dump *d, const struct event *ev, const struct object *object)
{
	const char *place = d->symbols && ev->pc ? dump_site_text(d, ev->pc, make_site_text) : "";
	const char *separator = "\t; ";
	size_t start;

	text_format(&d->out, d->reader, ev);
	start = d->out.size + 1;
	if (object && (object->kind != OBJECT_RAW || dump_label(d, object->addr))) {
		buf_add_text(&d->out, separator);
		add_object(d, object);
		separator = "  ";
	}
	if (object && ev->kind == TRACE_VALUE) {
		buf_add_text(&d->out, separator[0] == '\t' ? separator : " = ");
		symbol_value(object->type, ev->arg, ev->size, &d->out);
		separator = "  ";
	}
	if (*place) {
		buf_add_text(&d->out, separator);
		buf_add_text(&d->out, place);
		separator = "  ";
	}
	if (d->ticks_per_us > 0) {
		buf_add_text(&d->out, separator);
		add_time(&d->out, dump_time(d, ev));
	}
	replace_controls(&d->out, start);
	buf_add_char(&d->out, '\n');
}

static void raw_event(struct dump *d, const struct event *ev, const struct object *object)
{
	(void)object;
	text_format(&d->out, d->reader, ev);
	buf_add_char(&d->out, '\n');
}

const struct dump_form dump_text = { .begin = begin, .event = event };
const struct dump_form dump_raw = { .begin = begin, .event = raw_event };
