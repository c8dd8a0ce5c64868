/*
 * Events to text, which text_read.c reads back to the same event. A field is written as a word only
 * if the word stands for its exact value, otherwise as a number.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "trace/read/kinds.h"
#include "trace/text/text.h"
#include "trace/text/text_words.h"

/* Appends text; bytes that would end or split the field become \xNN. */
static void add_escaped(struct buf *out, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c < 0x20 || c == 0x7f || strchr("\\ ;#", c))
			buf_addf(out, "\\x%02x", c);
		else
			buf_add_char(out, (char)c);
	}
}

static void add_module(struct buf *out, const struct reader_module *m)
{
	buf_addf(out, "module %#llx %#llx-%#llx t=%llu ", (unsigned long long)m->base,
		 (unsigned long long)m->start, (unsigned long long)m->end,
		 (unsigned long long)m->time);
	for (size_t i = 0; i < m->build_id_size; i++)
		buf_addf(out, "%02x", m->build_id[i]);
	buf_add_text(out, m->build_id_size ? " " : "- ");
	add_escaped(out, m->path);
	buf_add_char(out, '\n');
}

void text_format_head(struct buf *out, const struct reader *r)
{
	const struct reader_info *info = reader_info(r);
	const char *key, *value;

	buf_addf(out, TEXT_MAGIC " %u\n", TEXT_VERSION);
	buf_addf(out, "begin start=%llu unix=%llu pid=%u%s\n",
		 (unsigned long long)info->header->start_time,
		 (unsigned long long)info->header->start_unix_ns, info->header->pid,
		 info->header->flags & TRACE_UNFILTERED ? " unfiltered" : "");
	for (size_t i = 0; i < info->thread_count; i++) {
		const struct reader_thread *t = &info->threads[i];

		buf_addf(out, "thread %s id=%u", t->name, t->id);
		if (t->stack_low || t->stack_high)
			buf_addf(out, " stack=%#llx-%#llx", (unsigned long long)t->stack_low,
				 (unsigned long long)t->stack_high);
		buf_add_char(out, '\n');
	}
	for (size_t i = 0; i < info->module_count; i++)
		add_module(out, &info->modules[i]);
	for (size_t i = 0; reader_meta_at(r, i, &key, &value); i++) {
		if (!strncmp(key, "thread:", 7))
			continue;	/* written as thread lines */
		buf_add_text(out, "meta ");
		add_escaped(out, key);
		buf_add_char(out, ' ');
		add_escaped(out, value);
		buf_add_char(out, '\n');
	}
}

static void add_thread(struct buf *out, const struct reader *r, uint64_t id)
{
	const struct reader_thread *t = id <= UINT32_MAX ? reader_thread(r, (uint32_t)id) : NULL;

	if (t)
		buf_add_text(out, t->name);
	else
		buf_addf(out, "?%llu", (unsigned long long)id);
}

static void add_detail(struct buf *out, const struct event *ev)
{
	unsigned left = ev->detail;

	if (kind_has_size(ev->kind))
		left &= ~TRACE_SIZE_MASK;
	if ((ev->kind == TRACE_CALL_ENTER || ev->kind == TRACE_CALL_LEAVE) &&
	    call_name(left & ~TRACE_CALL_UNWOUND))
		left &= TRACE_CALL_UNWOUND;
	for (const struct text_word *w = text_words(ev->kind); w && w->name; w++)
		if ((ev->detail & w->mask) == w->bits) {
			buf_add_char(out, ' ');
			buf_add_text(out, w->name);
			left &= ~w->mask;
		}
	if (left)
		buf_addf(out, " detail=%#x", ev->detail);
}

static void add_result(struct buf *out, const struct event *ev)
{
	const char *name = ev->kind != TRACE_GUARD_ACQUIRE ? strerrorname_np(ev->result) : NULL;

	if (!ev->result)
		return;
	if ((ev->kind == TRACE_ATOMIC_CAS || ev->kind == TRACE_ATOMIC_CAS_FAIL) &&
	    order_name(ev->result))
		buf_addf(out, " fail=%s", order_name(ev->result));
	else if (name)
		buf_addf(out, " =%s", name);
	else
		buf_addf(out, " =%u", ev->result);
}

static void add_arg(struct buf *out, const struct reader *r, const struct event *ev)
{
	const char *kind;

	switch (text_arg_form(ev->kind)) {
	case TEXT_ARG_NONE:
		if (ev->arg)
			buf_addf(out, " arg=%llu", (unsigned long long)ev->arg);
		return;
	case TEXT_ARG_START: {
		const struct reader_thread *t = reader_thread(r, ev->thread);

		if (*t->name == '?' || ev->arg != ((uint64_t)t->parent << 32 | t->ordinal))
			buf_addf(out, " arg=%#llx", (unsigned long long)ev->arg);
		if (ev->extra[0] || ev->extra[1])
			buf_addf(out, " stack=%#llx-%#llx", (unsigned long long)ev->extra[0],
				 (unsigned long long)ev->extra[1]);
		return;
	}
	case TEXT_ARG_THREAD:
		return;		/* text_format() has written it before the object */
	case TEXT_ARG_KIND:
		kind = ev->arg < TRACE_KIND_COUNT ? kind_name((unsigned)ev->arg) : NULL;
		buf_add_text(out, ev->addr ? " " : " arg=");
		if (kind)
			buf_add_text(out, kind);
		else
			buf_add_dec(out, ev->arg);
		return;
	case TEXT_ARG_NUMBER:
	case TEXT_ARG_SIGNED:
	case TEXT_ARG_HEX: break;
	}
	if (!ev->arg && ev->kind != TRACE_VALUE)
		return;
	buf_add_text(out, ev->addr ? " " : " arg=");
	if (text_arg_form(ev->kind) == TEXT_ARG_HEX) {
		buf_add_hex(out, ev->arg);
	} else if (text_arg_form(ev->kind) == TEXT_ARG_SIGNED && ev->arg >> 63) {
		buf_add_char(out, '-');
		buf_add_dec(out, -ev->arg);
	} else {
		buf_add_dec(out, ev->arg);
	}
}

void text_format(struct buf *out, const struct reader *r, const struct event *ev)
{
	bool range = trace_roles(ev->kind) & ROLE_RANGE;
	bool sized = kind_has_size(ev->kind);

	add_thread(out, r, ev->thread);
	buf_add_char(out, ' ');
	buf_add_text(out, kind_name(ev->kind));
	if (text_arg_form(ev->kind) == TEXT_ARG_THREAD) {
		buf_add_char(out, ' ');
		add_thread(out, r, ev->arg);
	}
	if (ev->kind == TRACE_CALL_ENTER || ev->kind == TRACE_CALL_LEAVE) {
		const char *call = call_name(ev->detail & ~TRACE_CALL_UNWOUND);

		buf_add_char(out, ' ');
		buf_add_text(out, call ? call : call_name(TRACE_CALL_OTHER));
	}
	if (ev->addr || sized || range) {
		buf_add_char(out, ' ');
		buf_add_hex(out, ev->addr);
	}
	if (sized || range) {
		buf_add_char(out, ':');
		buf_add_dec(out, ev->size);
	}
	if (!range)
		add_arg(out, r, ev);
	add_detail(out, ev);
	if (ev->pc) {
		buf_add_text(out, " @");
		buf_add_hex(out, ev->pc);
	}
	add_result(out, ev);
	buf_add_text(out, " t=");
	buf_add_dec(out, ev->time);
}

int text_write(FILE *out, const struct reader *r, const struct event *ev)
{
	struct buf line = { 0 };
	size_t size;

	text_format(&line, r, ev);
	buf_add_char(&line, '\n');
	size = fwrite(line.data, 1, line.size, out);
	buf_free(&line);
	return size && !ferror(out) ? 0 : -1;
}

int text_write_all(FILE *out, struct reader *r, struct err *err)
{
	struct buf text = { 0 };
	struct event ev;
	int got;

	if (reader_rewind(r, err) < 0)
		return -1;
	text_format_head(&text, r);
	while ((got = reader_next(r, &ev, err)) > 0) {
		text_format(&text, r, &ev);
		buf_add_char(&text, '\n');
		if (text.size > 60000) {
			if (fwrite(text.data, 1, text.size, out) != text.size)
				break;
			buf_clear(&text);
		}
	}
	if (got >= 0 && (fwrite(text.data, 1, text.size, out) != text.size || fflush(out)))
		got = err_set(err, "cannot write: %s", strerror(errno));
	buf_free(&text);
	return got < 0 ? -1 : 0;
}
