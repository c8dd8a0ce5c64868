#include "analyze/candidate_names.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/context/track.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "symbol/object.h"

#define FRAMES 16	/* inlined frames of a pc; more are cut off */
#define BATCH 64	/* events per call of the reader */

/* The names of an event, its object and then its locks, follow each other in `pool`. */
struct names {
	struct reader *reader;
	const struct analysis_context *ctx;
	struct symbols *symbols;	/* NULL: not wanted */
	struct map events;		/* key_of() to offset in `pool`, plus 1 */
	struct map sets;		/* key_of() to lockset */
	struct map labels;		/* address to offset in `pool`, plus 1 */
	struct buf pool, scratch;
	size_t left;			/* number of events without names so far */
};

static uint64_t key_of(const struct candidate_event *e)
{
	return (uint64_t)e->thread << 44 | e->index;
}

static uint64_t keep(struct names *n, const char *text)
{
	uint64_t at = n->pool.size + 1;

	buf_add(&n->pool, text, strlen(text) + 1);
	return at;
}

static const char *kept(const struct names *n, const uint64_t *at)
{
	return at && *at ? (const char *)n->pool.data + *at - 1 : NULL;
}

static void read_labels(struct names *n)
{
	const char *key, *value;

	for (size_t i = 0; reader_meta_at(n->reader, i, &key, &value); i++)
		if (strncmp(key, "object:0x", 9) == 0 || strncmp(key, "label:0x", 8) == 0)
			*map_put(&n->labels, strtoull(strchr(key, ':') + 1, NULL, 16), NULL) =
				keep(n, value);
}

/* Whether an earlier module had some of its addresses: that one names their sites. */
static bool replaces_earlier(const struct reader_info *info, size_t i)
{
	const struct reader_module *m = &info->modules[i];

	for (size_t j = 0; j < i; j++)
		if (m->start < info->modules[j].end && info->modules[j].start < m->end)
			return true;
	return false;
}

static void read_modules(struct names *n, const struct symbols *known)
{
	const struct reader_info *info = reader_info(n->reader);
	struct err err;

	n->symbols = symbols_new();
	symbols_share(n->symbols, known);
	for (size_t i = 0; i < info->module_count; i++) {
		const struct reader_module *m = &info->modules[i];

		/* The kernel's vdso has no file, so its failure is not worth a warning. */
		if (!replaces_earlier(info, i) &&
		    symbols_add(n->symbols, m->path, m->build_id, m->build_id_size, m->base,
				m->start, m->end, &err) < 0 && strchr(m->path, '/'))
			log_warn("no names from %s", err.text);
	}
}

struct names *names_new(struct reader *r, const struct analysis_context *ctx, bool symbols,
			const struct symbols *known)
{
	struct names *n = xcalloc(1, sizeof(*n));

	n->reader = r;
	n->ctx = ctx;
	read_labels(n);
	if (symbols)
		read_modules(n, known);
	return n;
}

void names_free(struct names *n)
{
	if (!n)
		return;
	symbols_free(n->symbols);
	map_free(&n->events);
	map_free(&n->sets);
	map_free(&n->labels);
	buf_free(&n->pool);
	buf_free(&n->scratch);
	free(n);
}

/* Adds the label that a text trace has for the address, or for the start of its page of 4 KiB. */
static bool add_label(struct names *n, uint64_t addr)
{
	const char *label = kept(n, map_find(&n->labels, addr));
	uint64_t offset = addr & 0xfff;

	if (!label) {
		label = kept(n, map_find(&n->labels, addr - offset));
		if (!label)
			return false;
		buf_addf(&n->scratch, "%s+%llu", label, (unsigned long long)offset);
		return true;
	}
	buf_add_text(&n->scratch, label);
	return true;
}

static void describe(struct names *n, struct objects *objects, uint64_t addr)
{
	struct object object;

	buf_clear(&n->scratch);
	objects_at(objects, addr, &object);
	if (object.kind != OBJECT_RAW || !add_label(n, addr))
		object_describe(&object, &n->scratch);
	keep(n, buf_string(&n->scratch));
}

/* Names the event's object and locks. `object`: the block of a malloc or free, or NULL. */
static void learn(struct names *n, struct objects *objects, const struct event *ev,
		  const struct object *object, uint32_t lockset, uint64_t *at)
{
	struct locks_held held;

	*at = n->pool.size + 1;
	if (object && object->kind != OBJECT_RAW) {
		buf_clear(&n->scratch);
		object_describe(object, &n->scratch);
		keep(n, buf_string(&n->scratch));
	} else {
		describe(n, objects, ev->addr);
	}
	for (size_t i = 0; i < locks_count(n->ctx->locks, lockset); i++) {
		locks_at(n->ctx->locks, lockset, i, &held);
		describe(n, objects, held.lock);
	}
	n->left--;
}

static void want(struct names *n, const struct candidate_event *e)
{
	uint64_t *set = map_put(&n->sets, key_of(e), NULL);
	bool added;

	/* An acquisition at which a thread is only stopped may have no lockset. */
	if (e->lockset != LOCKS_NONE)
		*set = e->lockset;
	map_put(&n->events, key_of(e), &added);
	n->left += added;
}

/* The events to be named, and for each thread how far it has come. */
struct wanted {
	uint64_t *keys;		/* key_of() each, ascending, then UINT64_MAX */
	size_t count;
	struct cursor {
		uint64_t key;	/* of the thread's next event */
		size_t next;	/* index in `keys` of its next key, plus 1; 0: not set */
	} *cursors;		/* by thread */
	size_t cursor_count;
	struct reader_wanted plain;	/* no site: the reader skips all plain accesses it can */
};

static const uint64_t no_sites[READER_SITES];

static void add_key(void *ctx, uint64_t key, uint64_t value)
{
	struct wanted *w = ctx;

	(void)value;
	w->keys[w->count++] = key;
}

static int compare_keys(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void wanted_init(struct wanted *w, const struct map *events)
{
	*w = (struct wanted){
		.keys = xcalloc(map_count(events) + 1, sizeof(*w->keys)), .plain.sites = no_sites,
	};
	map_each(events, add_key, w);
	qsort(w->keys, w->count, sizeof(*w->keys), compare_keys);
	w->keys[w->count] = UINT64_MAX;
}

/* Sets the cursor to the thread's first event. */
static void begin_cursor(struct wanted *w, struct cursor *t, uint32_t thread)
{
	size_t low = 0, high = w->count;

	t->key = (uint64_t)thread << 44;
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (w->keys[middle] < t->key)
			low = middle + 1;
		else
			high = middle;
	}
	t->next = low + 1;
}

/* NULL: the thread's id is too large for analyses. */
static inline struct cursor *cursor_of(struct wanted *w, uint32_t thread)
{
	if (thread >= TRACK_MAX_THREADS)
		return NULL;
	if (thread >= w->cursor_count)
		w->cursors = xreach(w->cursors, thread, &w->cursor_count, sizeof(*w->cursors));
	if (!w->cursors[thread].next)
		begin_cursor(w, &w->cursors[thread], thread);
	return &w->cursors[thread];
}

/* Advances the cursor past the thread's next event, and sets *key. True: name that event. */
static inline bool wanted_next(struct wanted *w, uint32_t thread, uint64_t *key)
{
	struct cursor *t = cursor_of(w, thread);

	if (!t)
		return false;
	*key = t->key++;
	if (w->keys[t->next - 1] != *key)
		return false;
	t->next++;
	return true;
}

/* Skips plain accesses up to the next one that is to be named. */
static void skip_accesses(struct wanted *w, struct reader *r)
{
	uint64_t count = 1;
	uint32_t thread;

	while (count && (thread = reader_whose(r))) {
		struct cursor *t = cursor_of(w, thread);

		count = reader_pass(r, &w->plain, t ? w->keys[t->next - 1] - t->key : UINT64_MAX,
				    &thread);
		if (t)
			t->key += count;
	}
}

static void step(struct names *n, struct objects *objects, struct wanted *wanted,
		 const struct event *ev)
{
	struct object object;
	uint64_t key, *at;
	bool has;

	if (!wanted_next(wanted, ev->thread, &key)) {
		if (ev->kind != TRACE_READ && ev->kind != TRACE_WRITE)
			objects_step(objects, ev, NULL);
		return;
	}
	has = objects_step(objects, ev, &object);
	at = map_find(&n->events, key);
	if (at && !*at)
		learn(n, objects, ev, has ? &object : NULL, (uint32_t)*map_find(&n->sets, key), at);
}

int names_learn(struct names *n, struct findings *f, size_t count, struct err *err)
{
	struct objects *objects = objects_new(n->reader, n->symbols);
	struct event batch[BATCH];
	struct wanted wanted;
	int got = 1;

	for (size_t i = 0; i < count; i++)
		for (uint8_t e = 0; e < findings_at(f, i)->events; e++)
			want(n, &findings_at(f, i)->event[e]);
	wanted_init(&wanted, &n->events);
	if (n->left > 0 && reader_rewind(n->reader, err) < 0)
		got = -1;
	while (n->left > 0 && got > 0) {
		skip_accesses(&wanted, n->reader);
		got = reader_some(n->reader, batch, BATCH, &wanted.plain, err);
		for (int i = 0; i < got; i++)
			step(n, objects, &wanted, &batch[i]);
	}
	free(wanted.keys);
	free(wanted.cursors);
	objects_free(objects);
	return got < 0 ? -1 : 0;
}

size_t names_frames(struct names *n, uint64_t pc, struct symbol_frame *out, size_t max)
{
	const char *label = kept(n, map_find(&n->labels, pc));

	if (!label && n->symbols && pc)
		return symbols_frames(n->symbols, pc, out, max);
	out[0] = (struct symbol_frame){ .function = label ? label : "??" };
	return 1;
}

void names_place(struct names *n, uint64_t pc, struct buf *out)
{
	struct symbol_frame frames[FRAMES];
	size_t count = names_frames(n, pc, frames, FRAMES);
	const struct symbol_frame *f = symbol_own_frame(frames, count);
	const char *module;
	uint64_t offset;

	if (strcmp(f->function, "??") != 0)
		buf_add_text(out, f->function);
	if (f->file) {
		buf_addf(out, " %s:%u", f->file, f->line);
		return;
	}
	module = n->symbols ? symbols_module(n->symbols, pc, &offset) : NULL;
	if (module)
		buf_addf(out, "%s%s+0x%llx", *f->function == '?' ? "" : " in ", module,
			 (unsigned long long)offset);
	else if (*f->function == '?')
		buf_add_hex(out, pc);
}

const char *names_module(struct names *n, uint64_t pc)
{
	uint64_t offset;

	return n->symbols && pc ? symbols_module(n->symbols, pc, &offset) : NULL;
}

const char *names_global(struct names *n, uint64_t addr)
{
	struct symbol_variable v;

	if (n->symbols && symbols_variable(n->symbols, addr, &v))
		return v.name;
	return kept(n, map_find(&n->labels, addr));
}

/* The i-th name of the event; "?" if it was not learnt. */
static const char *nth_of(const struct names *n, const struct candidate_event *e, size_t i)
{
	const char *text = kept(n, map_find(&n->events, key_of(e)));

	for (; text && i > 0; i--)
		text += strlen(text) + 1;
	return text ? text : "?";
}

const char *names_object(struct names *n, const struct candidate_event *e)
{
	return nth_of(n, e, 0);
}

const char *names_lock(struct names *n, const struct candidate_event *e, size_t i)
{
	const uint64_t *set = map_find(&n->sets, key_of(e));

	if (!set || i >= locks_count(n->ctx->locks, (uint32_t)*set))
		return "?";
	return nth_of(n, e, i + 1);
}
