/*
 * Makes a file of rules (abi/rules_format.h) from a description; sites are found in a trace of the
 * program.
 *
 *   rules OUT TRACE <TEXT
 *
 *   LINE r|w|l|c FLAGS [LINE r|w|l[!|<]]…
 *                         a site (r: read, w: write, l: mutex lock, c: cancellation), and its
 *                         predecessors: "!" marks one it must not follow, "<" one of its own thread
 *   FUNCTION = NUMBER     rules_function.flags
 *
 * FLAGS are letters: I invariant, P predecessor list, O open, S source, T in a transaction, C cut,
 * L never first, W watched by check, B breakable: check judges it, - none.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/rules_format.h"
#include "base/buf.h"
#include "base/mem.h"
#include "symbol/symbol.h"
#include "trace/codec/codec.h"
#include "trace/read/reader.h"

#define MOST 256

struct site {
	uint64_t pc;
	unsigned line;
	bool write, function, lock, cancel;
	char name[64];
	uint32_t flags;
	uint32_t before[MOST], before_count;
};

static struct site sites[MOST];
static unsigned count;

static __attribute__((noreturn)) void die(const char *what, const char *more)
{
	fprintf(stderr, "rules: %s %s\n", what, more);
	exit(3);
}

static void add(struct symbols *symbols, const struct event *ev, bool write, bool function)
{
	struct symbol_frame frames[8];
	size_t n;

	for (unsigned i = 0; i < count; i++)
		if (sites[i].pc == ev->pc && sites[i].write == write &&
		    sites[i].function == function)
			return;
	if (count == MOST)
		die("too many sites", "");
	n = symbols_frames(symbols, ev->pc, frames, 8);
	sites[count] = (struct site){ .pc = ev->pc, .line = frames[0].line, .write = write,
				      .function = function, .lock = ev->kind == TRACE_MUTEX_LOCK,
				      .cancel = ev->kind == TRACE_THREAD_CANCEL };
	snprintf(sites[count].name, sizeof(sites[count].name), "%s", frames[n - 1].function);
	count++;
}

static void read_trace(struct reader *r, struct symbols *symbols)
{
	struct event ev;
	struct err err;

	while (reader_next(r, &ev, &err) > 0)
		switch (ev.kind) {
		case TRACE_READ: case TRACE_READ_RANGE: case TRACE_ATOMIC_LOAD:
			add(symbols, &ev, false, false);
			break;
		case TRACE_FUNC_ENTRY:
			add(symbols, &ev, false, true);
			break;
		case TRACE_WRITE:
		case TRACE_WRITE_RANGE:
		case TRACE_MUTEX_LOCK:
		case TRACE_THREAD_CANCEL: add(symbols, &ev, true, false); break;
		default:
			if (ev.kind >= TRACE_ATOMIC_STORE && ev.kind <= TRACE_ATOMIC_CAS_FAIL)
				add(symbols, &ev, true, false);
		}
}

static int by_pc(const void *a, const void *b)
{
	const struct site *x = a, *y = b;

	if (x->function != y->function)
		return x->function - y->function;
	if (x->pc != y->pc)
		return x->pc < y->pc ? -1 : 1;
	return x->write - y->write;
}

static uint32_t letters(const char *text)
{
	static const char names[] = "IPOSTC  WL  B";
	uint32_t flags = 0;

	for (; *text; text++) {
		const char *at = strchr(names, *text);

		if (at)
			flags |= 1u << (at - names);
	}
	return flags;
}

static bool is(const struct site *s, const char *line, const char *access)
{
	return !s->function && s->line == (unsigned)atoi(line) && s->write == (access[0] != 'r') &&
	       s->lock == (access[0] == 'l') && s->cancel == (access[0] == 'c');
}

static void describe(char *text)
{
	char *word[64];
	unsigned n = 0;
	bool found = false;

	for (char *w = strtok(text, " \n"); w && n < 63; w = strtok(NULL, " \n"))
		word[n++] = w;
	if (n < 3 || word[0][0] == '#')
		return;
	for (unsigned i = 0; i < count; i++) {
		struct site *s = &sites[i];

		if (word[1][0] == '=') {
			if (s->function && strcmp(s->name, word[0]) == 0) {
				s->flags = (uint32_t)atoi(word[2]);
				found = true;
			}
			continue;
		}
		if (!is(s, word[0], word[1]))
			continue;
		found = true;
		s->flags |= letters(word[2]);
		for (unsigned k = 3; k + 1 < n; k += 2)
			for (unsigned p = 0; p < count; p++)
				if (is(&sites[p], word[k], word[k + 1]))
					s->before[s->before_count++] =
						(p + 1) | (word[k + 1][1] == '!' ? RULES_UNFINISHED
							   : word[k + 1][1] == '<' ? RULES_OWN
										   : 0);
	}
	if (!found)
		die("nothing in the trace is at", word[0]);
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void write_out(const char *path, const struct reader_module *m)
{
	struct rules_header h = {
		.magic = RULES_MAGIC, .version = RULES_VERSION, .modules = 1, .sites = 1
	};
	struct rules_module module = { .first_site = 1, .id_size = (uint32_t)m->build_id_size };
	struct buf out = { 0 }, functions = { 0 }, numbers = { 0 };
	FILE *f = fopen(path, "wb");

	memcpy(module.id, m->build_id, m->build_id_size);
	buf_add(&out, &(struct rules_site){ 0 }, sizeof(struct rules_site));
	for (unsigned i = 0; i < count; i++) {
		struct site *s = &sites[i];
		struct rules_site r = { .offset = s->pc - m->base,
					.flags = s->flags | (s->write ? RULES_WRITE : 0) |
						 (s->lock ? RULES_LOCK : 0) |
						 (s->cancel ? RULES_CANCEL : 0),
					.before = h.numbers,
					.before_count = s->before_count };

		if (s->function) {
			struct rules_function fn = { .offset = s->pc - m->base, .flags = s->flags };

			if (s->flags)
				buf_add(&functions, &fn, sizeof(fn)), h.functions++;
			continue;
		}
		qsort(s->before, s->before_count, sizeof(s->before[0]), by_number);
		buf_add(&numbers, s->before, s->before_count * sizeof(s->before[0]));
		h.numbers += s->before_count;
		buf_add(&out, &r, sizeof(r));
		h.sites++;
	}
	if (h.numbers % 2)
		buf_add(&numbers, "\0\0\0", 4);
	module.sites = h.sites - 1;
	module.functions = h.functions;
	h.modules_at = sizeof(h);
	h.sites_at = (h.modules_at + sizeof(module) + 7) & ~7ull;
	h.functions_at = h.sites_at + out.size;
	h.numbers_at = h.functions_at + functions.size;
	h.size = h.numbers_at + numbers.size;
	{
		struct buf all = { 0 };

		buf_add(&all, &module, sizeof(module));
		buf_add(&all, "\0\0\0\0\0\0\0", h.sites_at - h.modules_at - sizeof(module));
		buf_add(&all, out.data, out.size);
		if (functions.size)
			buf_add(&all, functions.data, functions.size);
		if (numbers.size)
			buf_add(&all, numbers.data, numbers.size);
		h.check = trace_check(all.data, all.size);
		if (!f || fwrite(&h, sizeof(h), 1, f) != 1 ||
		    fwrite(all.data, all.size, 1, f) != 1 || fclose(f) != 0)
			die("cannot write", path);
		buf_free(&all);
	}
	buf_free(&out);
	buf_free(&functions);
	buf_free(&numbers);
}

int main(int argc, char **argv)
{
	struct symbols *symbols = symbols_new();
	struct reader *r;
	struct err err;
	const struct reader_module *m;
	char line[1024];

	if (argc != 3 || !(r = reader_open(argv[2], &err)))
		die("usage: rules OUT TRACE", "");
	m = &reader_info(r)->modules[0];
	symbols_add(symbols, m->path, m->build_id, m->build_id_size, m->base, m->start, m->end,
		    &err);
	read_trace(r, symbols);
	qsort(sites, count, sizeof(sites[0]), by_pc);
	while (fgets(line, sizeof(line), stdin))
		describe(line);
	write_out(argv[1], m);
	reader_close(r);
	symbols_free(symbols);
	return 0;
}
