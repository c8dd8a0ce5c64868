#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/codec/codec.h"
#include "trace/read/catalog.h"

void catalog_free(struct catalog *c)
{
	for (size_t i = 0; i < c->thread_count; i++)
		free((char *)c->threads[i].name);
	free(c->threads);
	map_free(&c->thread_by_id);
	for (size_t i = 0; i < c->module_count; i++) {
		free((char *)c->modules[i].path);
		free((uint8_t *)c->modules[i].build_id);
	}
	free(c->modules);
	for (size_t i = 0; i < c->meta_count; i++) {
		free((char *)c->metas[i].key);
		free((char *)c->metas[i].value);
	}
	free(c->metas);
	*c = (struct catalog){ 0 };
}

struct reader_thread *catalog_find(const struct catalog *c, uint32_t id)
{
	uint64_t *at = map_find(&c->thread_by_id, id);

	return at ? &c->threads[*at - 1] : NULL;
}

struct reader_thread *catalog_thread(struct catalog *c, uint32_t id)
{
	bool added;
	uint64_t *at = map_put(&c->thread_by_id, id, &added);

	if (added) {
		c->threads = xgrow(c->threads, c->thread_count, &c->thread_capacity,
				   sizeof(*c->threads));
		c->threads[c->thread_count++] = (struct reader_thread){ .id = id };
		*at = c->thread_count;
	}
	return &c->threads[*at - 1];
}

void catalog_add_meta(struct catalog *c, const char *key, const char *value)
{
	c->metas = xgrow(c->metas, c->meta_count, &c->meta_capacity, sizeof(*c->metas));
	c->metas[c->meta_count++] = (struct index_meta){ xstrdup(key), xstrdup(value) };
}

void catalog_add_module(struct catalog *c, const struct reader_module *m)
{
	uint8_t *id = xmalloc(m->build_id_size);
	struct reader_module *to;

	c->modules = xgrow(c->modules, c->module_count, &c->module_capacity, sizeof(*c->modules));
	to = &c->modules[c->module_count++];
	*to = *m;
	to->path = xstrdup(m->path);
	if (m->build_id_size)
		memcpy(id, m->build_id, m->build_id_size);
	to->build_id = id;
}

const char *catalog_meta(const struct catalog *c, const char *key, size_t nth)
{
	for (size_t i = 0; i < c->meta_count; i++)
		if (!strcmp(c->metas[i].key, key) && nth-- == 0)
			return c->metas[i].value;
	return NULL;
}

static size_t digits(const char *p, size_t size)
{
	size_t n = 0;

	while (n < size && p[n] >= '0' && p[n] <= '9')
		n++;
	if (n > 10 || (n > 1 && p[0] == '0') || (n == 10 && memcmp(p, "4294967295", 10) > 0))
		return 0;
	return n;
}

ptrdiff_t catalog_name_split(const char *name, size_t size)
{
	size_t at = size && (*name == '~' || *name == '?'), n, part;

	part = at;
	n = digits(name + at, size - at);
	if (!n || (at == 0 && (n != 1 || *name != '0')))
		return -1;
	for (at += n; at < size; at += n) {
		if (name[at++] != '.')
			return -1;
		part = at;
		n = digits(name + at, size - at);
		if (!n)
			return -1;
	}
	return size <= CATALOG_MAX_NAME ? (ptrdiff_t)(part > 1 ? part : 0) : -1;
}

static int compare_threads(const void *pa, const void *pb)
{
	const struct reader_thread *a = pa, *b = pb;

	return a->id < b->id ? -1 : a->id > b->id;
}

/* Gives the thread `name`, which it frees, or ?id if that is NULL or taken. */
static void give_name(struct strmap *taken, struct reader_thread *t, char *name)
{
	bool added = false;

	if (name) {
		*strmap_put(taken, name, strlen(name), &added) = 1;
		if (!added)
			free(name);
	}
	if (!added) {
		name = xasprintf("?%u", t->id);
		*strmap_put(taken, name, strlen(name), NULL) = 1;
	}
	t->name = name;
}

static char *make_name(const struct reader_thread *t, const struct reader_thread *parent)
{
	if (!t->parent)
		return t->ordinal ? xasprintf("~%u", t->ordinal) : xstrdup("0");
	if (!parent)
		return xasprintf("?%u.%u", t->parent, t->ordinal);
	if (strlen(parent->name) > CATALOG_MAX_NAME - 12)
		return NULL;
	return xasprintf("%s.%u", parent->name, t->ordinal);
}

/*
 * Names a thread after its ancestors, which it finds with a stack of indexes instead of recursion.
 * A thread that is its own ancestor, in a damaged trace, is named ?id.
 */
static void name_one(struct catalog *c, const struct map *started, struct strmap *taken,
		     struct map *waiting, size_t *stack, size_t first)
{
	size_t depth = 0;

	stack[depth++] = first;
	while (depth) {
		struct reader_thread *t = &c->threads[stack[depth - 1]], *parent = NULL;
		bool fresh;

		if (t->name) {
			depth--;
			continue;
		}
		if (!map_find(started, t->id)) {
			give_name(taken, t, NULL);
			continue;
		}
		if (t->parent)
			parent = catalog_find(c, t->parent);
		map_put(waiting, t->id, &fresh);
		if (parent && !parent->name && fresh && !map_find(waiting, parent->id)) {
			stack[depth++] = (size_t)(parent - c->threads);
			continue;
		}
		give_name(taken, t, parent && !parent->name ? NULL : make_name(t, parent));
	}
}

void catalog_name_threads(struct catalog *c, const struct map *started)
{
	size_t *stack = xcalloc(c->thread_count + 1, sizeof(*stack));
	struct strmap taken = { 0 };
	struct map waiting = { 0 };

	if (c->thread_count)
		qsort(c->threads, c->thread_count, sizeof(*c->threads), compare_threads);
	for (size_t i = 0; i < c->thread_count; i++) {
		*map_put(&c->thread_by_id, c->threads[i].id, NULL) = i + 1;
		if (c->threads[i].name)
			*strmap_put(&taken, c->threads[i].name, strlen(c->threads[i].name), NULL) =
				1;
	}
	for (size_t i = 0; i < c->thread_count; i++)
		name_one(c, started, &taken, &waiting, stack, i);
	free(stack);
	strmap_free(&taken);
	map_free(&waiting);
}

static int read_module(struct catalog *c, struct index *idx, uint64_t offset, struct err *err)
{
	struct reader_module m = { 0 };
	struct trace_module raw;
	struct trace_chunk chunk;
	struct payload p;
	char *path;

	if (index_payload(idx, offset, &chunk, &p, err) < 0)
		return -1;
	if (p.size < sizeof(raw))
		goto bad;
	memcpy(&raw, p.data, sizeof(raw));
	if (raw.build_id_size > p.size - sizeof(raw) ||
	    raw.path_size > p.size - sizeof(raw) - raw.build_id_size)
		goto bad;
	m.time = raw.time;
	m.base = raw.base;
	m.start = raw.start;
	m.end = raw.end;
	m.build_id = p.data + sizeof(raw);
	m.build_id_size = raw.build_id_size;
	path = xstrndup((const char *)p.data + sizeof(raw) + raw.build_id_size, raw.path_size);
	m.path = path;
	catalog_add_module(c, &m);
	free(path);
	payload_free(&p);
	return 0;
bad:
	payload_free(&p);
	return err_set(err, "damaged at byte %" PRIu64 ": a module's entry is too short", offset);
}

/* Reads THREAD_START of a thread's first chunk, which only STAMP and LOST may precede. */
static int read_start(struct index *idx, uint64_t offset, struct reader_thread *t, bool *found,
		      struct err *err)
{
	struct trace_coder *coder;
	struct trace_record r[3] = { 0 };
	struct trace_chunk chunk;
	const uint8_t *in;
	struct payload p;
	unsigned n;

	*found = false;
	if (index_payload(idx, offset, &chunk, &p, err) < 0)
		return -1;
	coder = index_take_coder(idx);
	trace_coder_init(coder, chunk.time);
	in = p.data;
	for (int i = 0; i < 4 && in && in < p.data + p.size; i++) {
		in = trace_decode(coder, in, p.data + p.size, r, &n);
		if (in && trace_site_kind(r->site) == TRACE_THREAD_START) {
			t->parent = (uint32_t)(r[1].site >> 32);
			t->ordinal = (uint32_t)r[1].site;
			t->stack_low = r[2].addr;
			t->stack_high = r[2].site;
			*found = true;
			break;
		}
	}
	payload_free(&p);
	index_give_coder(idx, coder);
	return 0;
}

/* Takes a thread's name from a key "thread:ID": traces made from text may lack THREAD_START. */
static void read_given_name(struct catalog *c, struct strmap *given, const struct index_meta *m)
{
	const char *number = m->key + strlen("thread:");
	size_t size = strlen(m->value);
	ptrdiff_t last = catalog_name_split(m->value, size);
	struct reader_thread *t;
	bool added;

	if (last < 0 || (last == 0 && *m->value == '?') || digits(number, strlen(number)) == 0 ||
	    number[digits(number, strlen(number))])
		return;
	t = catalog_find(c, (uint32_t)strtoul(number, NULL, 10));
	if (!t || t->name)
		return;
	*strmap_put(given, m->value, size, &added) = t->id;
	if (added)
		t->name = xstrdup(m->value);
}

/* Derives parent and ordinal from given names, which override THREAD_START as in text traces. */
static void find_parents(struct catalog *c, const struct strmap *given)
{
	for (size_t i = 0; i < c->thread_count; i++) {
		struct reader_thread *t = &c->threads[i];
		uint64_t *parent;
		ptrdiff_t last;

		if (!t->name)
			continue;
		last = catalog_name_split(t->name, strlen(t->name));
		parent = last > 0 ? strmap_find(given, t->name, (size_t)last - 1) : NULL;
		t->parent = parent ? (uint32_t)*parent : 0;
		t->ordinal = (uint32_t)strtoul(t->name + last + (t->name[last] == '~'), NULL, 10);
	}
}

int catalog_read(struct catalog *c, struct index *idx, struct err *err)
{
	struct strmap given = { 0 };
	struct map started = { 0 };
	int got = 0;

	for (size_t i = 0; i < idx->other_count && !got; i++)
		if (index_header(idx, idx->others[i]).type == TRACE_CHUNK_MODULE)
			got = read_module(c, idx, idx->others[i], err);
	for (size_t i = 0; i < idx->event_count && !got; i++) {
		struct index_chunk *chunk = &idx->events[i];
		bool found;

		if (i && chunk[-1].thread == chunk->thread)
			continue;
		got = read_start(idx, chunk->offset, catalog_thread(c, chunk->thread), &found, err);
		if (!got && found)
			*map_put(&started, chunk->thread, NULL) = 1;
	}
	for (size_t i = 0; i < idx->meta_count; i++) {
		if (!strncmp(idx->metas[i].key, "thread:", 7))
			read_given_name(c, &given, &idx->metas[i]);
		else if (strcmp(idx->metas[i].key, INDEX_TRAILER))
			catalog_add_meta(c, idx->metas[i].key, idx->metas[i].value);
	}
	find_parents(c, &given);
	catalog_name_threads(c, &started);
	map_free(&started);
	strmap_free(&given);
	return got;
}
