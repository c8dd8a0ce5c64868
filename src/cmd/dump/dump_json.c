/*
 * snarl dump --json: one JSON object per line; docs/dump.md lists the members.
 */
#include "base/json.h"
#include "cmd/dump/dump.h"
#include "trace/read/kinds.h"

#include <string.h>

#define FRAMES_MAX 16

static void add_frame(struct json *j, const struct symbol_frame *frame)
{
	json_text(j, "function", frame->function);
	if (frame->file)
		json_text(j, "file", frame->file);
	if (frame->line)
		json_number(j, "line", frame->line);
	if (frame->column)
		json_number(j, "column", frame->column);
}

/* The members that follow "pc". */
static void make_site_text(struct dump *d, uint64_t pc, struct buf *out)
{
	struct symbol_frame frames[FRAMES_MAX];
	size_t count = symbols_frames(d->symbols, pc, frames, FRAMES_MAX);
	const char *label = dump_label(d, pc), *module;
	struct json j = { .out = out };
	uint64_t offset;

	if (label)
		json_text(&j, "label", label);
	else if (strcmp(frames[0].function, "??") != 0 || frames[0].file)
		add_frame(&j, &frames[0]);
	if (count > 1) {
		json_open(&j, "inlined_in", '[');
		for (size_t i = 1; i < count; i++) {
			json_open(&j, NULL, '{');
			add_frame(&j, &frames[i]);
			json_close(&j, '}');
		}
		json_close(&j, ']');
	}
	module = symbols_module(d->symbols, pc, &offset);
	if (module) {
		json_text(&j, "module", module);
		json_hex(&j, "module_offset", offset);
	}
}

static void add_object(struct dump *d, struct json *j, const struct object *object)
{
	const char *label = object->kind == OBJECT_RAW ? dump_label(d, object->addr) : NULL;

	json_open(j, "object", '{');
	json_text(j, "kind", object_kind_name(object->kind));
	if (object->name || label)
		json_text(j, "name", object->name ? object->name : label);
	if (object->part && *object->part)
		json_text(j, "part", object->part);
	if (object->kind != OBJECT_RAW) {
		json_number(j, "offset", object->offset);
		json_number(j, "size", object->size);
	}
	if (object->kind == OBJECT_HEAP || object->kind == OBJECT_MAPPING) {
		if (strcmp(object->function, "??") != 0)
			json_text(j, "function", object->function);
		json_hex(j, "site", object->site);
		json_number(j, "order", object->order);
		json_number(j, "thread_order", object->thread_order);
	}
	if (object->thread_name)
		json_text(j, "thread", object->thread_name);
	if (object->file) {
		json_text(j, "file", object->file);
		json_number(j, "line", object->line);
	}
	if (object->gone)
		json_bool(j, "gone", true);
	json_close(j, '}');
}

static void add_value(struct dump *d, struct json *j, const struct event *ev,
		      const struct object *object)
{
	buf_clear(&d->scratch);
	symbol_value(object->type, ev->arg, ev->size, &d->scratch);
	json_text(j, "value", buf_string(&d->scratch));
}

static void add_result(struct json *j, const struct event *ev)
{
	bool cas = ev->kind == TRACE_ATOMIC_CAS || ev->kind == TRACE_ATOMIC_CAS_FAIL;
	const char *name;

	if (cas) {
		name = order_name(ev->result);
		if (name)
			json_text(j, "failure_order", name);
		return;
	}
	if (!ev->result)
		return;
	json_number(j, "result", ev->result);
	name = ev->kind != TRACE_GUARD_ACQUIRE ? strerrorname_np(ev->result) : NULL;
	if (name)
		json_text(j, "error", name);
}

static void add_detail(struct json *j, const struct event *ev)
{
	enum trace_class class = kind_class(ev->kind);

	if (class == TRACE_CLASS_ACCESS) {
		if (ev->detail & TRACE_VOLATILE)
			json_bool(j, "volatile", true);
		if (ev->detail & TRACE_VPTR)
			json_bool(j, "vptr", true);
	} else if (class == TRACE_CLASS_ATOMIC) {
		const char *name = order_name(ev->detail >> TRACE_ORDER_SHIFT & TRACE_ORDER_MASK);

		if (name)
			json_text(j, "order", name);
	} else if (ev->kind == TRACE_CALL_ENTER || ev->kind == TRACE_CALL_LEAVE) {
		const char *name = call_name(ev->detail & ~TRACE_CALL_UNWOUND);

		if (name)
			json_text(j, "call", name);
	} else if (ev->detail && ev->kind != TRACE_VALUE) {
		json_number(j, "detail", ev->detail);
	}
}

static void add_arg(struct dump *d, struct json *j, const struct event *ev)
{
	const struct reader_thread *other;
	unsigned roles = trace_roles(ev->kind);

	if (roles & ROLE_RANGE)
		return;
	if (roles & ROLE_THREAD) {
		other = ev->arg <= UINT32_MAX ? reader_thread(d->reader, (uint32_t)ev->arg) : NULL;
		if (other)
			json_text(j, "other", other->name);
		return;
	}
	if (roles & (ROLE_WAIT_BEGIN | ROLE_WAIT_END)) {
		json_hex(j, "mutex", ev->arg);
		return;
	}
	switch (ev->kind) {
	case TRACE_BLOCKED:
		if (ev->arg < TRACE_KIND_COUNT)
			json_text(j, "waiting_in", kind_name((unsigned)ev->arg));
		return;
	case TRACE_THREAD_START:
		return;
	default:
		if (kind_extra(ev->kind) > 0 &&
		    (ev->arg || kind_class(ev->kind) == TRACE_CLASS_ATOMIC ||
		     ev->kind == TRACE_VALUE))
			json_number(j, "arg", ev->arg);
	}
}

static void event(struct dump *d, const struct event *ev, const struct object *object)
{
	const struct reader_thread *thread = reader_thread(d->reader, ev->thread);
	struct json j = { .out = &d->out };
	const char *place;

	json_open(&j, NULL, '{');
	json_text(&j, "thread", thread ? thread->name : "?");
	if (d->ticks_per_us > 0)
		json_decimal(&j, "us", dump_time(d, ev));
	else
		json_number(&j, "time", ev->time);
	json_text(&j, "op", kind_name(ev->kind));
	if (ev->addr)
		json_hex(&j, "addr", ev->addr);
	if (ev->size)
		json_number(&j, "size", ev->size);
	add_arg(d, &j, ev);
	add_detail(&j, ev);
	add_result(&j, ev);
	if (object)
		add_object(d, &j, object);
	if (object && ev->kind == TRACE_VALUE)
		add_value(d, &j, ev, object);
	if (ev->pc) {
		json_hex(&j, "pc", ev->pc);
		if (d->symbols) {
			place = dump_site_text(d, ev->pc, make_site_text);
			json_members(&j, place, strlen(place));
		}
	}
	json_number(&j, "depth", ev->depth);
	json_close(&j, '}');
	buf_add_char(&d->out, '\n');
}

const struct dump_form dump_json = { .event = event };
