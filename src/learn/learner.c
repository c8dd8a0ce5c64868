#include "learn/learner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/candidate_names.h"
#include "base/hash.h"
#include "base/mem.h"
#include "learn/learner_write.h"
#include "symbol/key.h"

#define FRAMES 16	/* functions inlined into each other at one pc */
#define PASSES 6	/* over a trace, as long as each pass makes new cuts */

int learner_open(struct learner *l, struct store *store, const char *program, unsigned granularity,
		 uint64_t threshold, struct err *err)
{
	*l = (struct learner){ .store = store, .granularity = granularity, .threshold = threshold };
	if (store_begin(store, err) < 0)
		return -1;
	l->program = store_program(store, program, err);
	if (l->program < 0) {
		store_rollback(store);
		return -1;
	}
	return store_commit(store, err);
}

void learner_close(struct learner *l)
{
	map_free(&l->at);
	free(l->items);
	*l = (struct learner){ 0 };
}

/* Resolves the pcs of a trace. */
struct naming {
	struct reader *reader;
	struct analysis_context ctx;
	/* made at first use, because reading debug information takes time */
	struct names *names;
};

static void naming_free(struct naming *n)
{
	if (!n->names)
		return;
	names_free(n->names);
	analysis_context_free(&n->ctx);
}

static const struct reader_module *module_of(const struct reader *r, uint64_t pc)
{
	const struct reader_info *info = reader_info(r);
	const struct reader_module *found = NULL;

	for (size_t i = 0; i < info->module_count; i++)
		if (pc > info->modules[i].start && pc <= info->modules[i].end)
			found = &info->modules[i];
	return found;
}

static void build_hex(const struct reader_module *m, char *out, size_t size)
{
	*out = '\0';
	for (size_t i = 0; m && i < m->build_id_size && 2 * i + 3 <= size; i++)
		snprintf(out + 2 * i, 3, "%02x", m->build_id[i]);
}

static int64_t name_site(struct learner *l, struct naming *n, const struct learn_site *site,
			 const struct reader_module *m, const char *build, unsigned *cuts,
			 struct err *err)
{
	struct symbol_frame frames[FRAMES];
	const struct symbol_frame *frame;
	struct store_site_info info = { .access = site->access, .build = build,
				     .offset = m ? site->pc - m->base : site->pc };
	struct buf key = { 0 };
	size_t count;
	int64_t id;

	if (!n->names) {
		analysis_context_init(&n->ctx);
		n->ctx.reader = n->reader;
		n->names = names_new(n->reader, &n->ctx, true, NULL);
	}
	count = names_frames(n->names, site->pc, frames, FRAMES);
	frame = symbol_own_frame(frames, count);
	if (!m && strcmp(frame->function, "??") != 0)
		buf_add_text(&key, frame->function);	/* a label of a text trace */
	else
		symbol_key(frame, m ? m->path : NULL, info.offset, &key);
	/* A function inlined at several calls makes several sites. */
	for (const struct symbol_frame *f = frame + 1; f < frames + count; f++) {
		buf_add_text(&key, " in ");
		symbol_key(f, NULL, 0, &key);
	}
	info.key = buf_string(&key);
	info.function = frame->function;
	info.file = frame->file;
	info.line = frame->line;
	info.column = frame->column;
	id = store_site(l->store, l->program, &info, cuts, err);
	buf_free(&key);
	return id;
}

static uint64_t hash_of(const char *build, uint64_t offset, enum learn_access access)
{
	return hash_add(hash_bytes(HASH_START, build, strlen(build)), offset) * 8 + access;
}

static int find_site(struct learner *l, struct naming *n, const struct learn_site *site,
		     struct learner_site *out, struct err *err)
{
	const struct reader_module *m = module_of(n->reader, site->pc);
	char build[2 * 64 + 1];
	uint64_t *at;

	build_hex(m, build, sizeof(build));
	if (!*build) {
		/* Without a build-id, the same address may be another site in the next run. */
		out->id = name_site(l, n, site, m, build, &out->cuts, err);
		return out->id < 0 ? -1 : 0;
	}
	at = map_put(&l->at, hash_of(build, m ? site->pc - m->base : site->pc, site->access), NULL);
	if (!*at) {
		struct learner_site found = { 0 };

		found.id = name_site(l, n, site, m, build, &found.cuts, err);
		if (found.id < 0)
			return -1;
		l->items = xgrow(l->items, l->count, &l->capacity, sizeof(*l->items));
		l->items[l->count] = found;
		*at = ++l->count;
	}
	*out = l->items[*at - 1];
	return 0;
}

int learner_sites(struct learner *l, const struct training_run *run, struct reader *trace,
		  struct learner_site *items, struct err *err)
{
	struct naming n = { .reader = trace };
	int result = 0;

	for (size_t i = 1; i < run->sites.count && result == 0; i++)
		result = find_site(l, &n, &run->sites.items[i], &items[i], err);
	naming_free(&n);
	return result;
}

/*
 * Forgets the builds of earlier runs, unless the program has the same build-id as before: a
 * library may be missing only because this run did not load it. The program is the first module.
 */
static int forget_builds(struct learner *l, const struct reader *trace, struct err *err)
{
	const struct reader_info *info = reader_info(trace);
	char build[2 * 64 + 1] = "";
	int same = 0;

	if (info->module_count)
		build_hex(&info->modules[0], build, sizeof(build));
	if (*build)
		same = store_has_build(l->store, l->program, build, err);
	if (same)
		return same < 0 ? -1 : 0;
	return store_forget_builds(l->store, l->program, err);
}

/* Notes the builds of the modules that sites are in. */
static int note_builds(struct learner *l, const struct training_run *run,
		       const struct reader *trace, struct err *err)
{
	const struct reader_module *last = NULL;
	char build[2 * 64 + 1];

	if (!l->traces++ && forget_builds(l, trace, err) < 0)
		return -1;
	for (size_t i = 1; i < run->sites.count; i++) {
		const struct reader_module *m = module_of(trace, run->sites.items[i].pc);

		if (!m || m == last)
			continue;
		last = m;
		build_hex(m, build, sizeof(build));
		if (store_build(l->store, l->program, build, err) < 0)
			return -1;
	}
	return 0;
}

/*
 * If a run makes new cuts, reads it again with these, because they change what is one
 * transaction.
 */
static int find_transactions(struct learner *l, struct reader *trace, struct training_run *run,
			     uint8_t *cuts, struct err *err)
{
	bool cut = true;

	for (int pass = 0; cut && pass < PASSES; pass++) {
		if (training_run_transactions(run, trace, l->granularity, cuts, err) < 0)
			return -1;
		cut = false;
		for (uint32_t i = 1; i < run->sites.count; i++) {
			cut |= (lifetx_cuts(run->lifetx, i) & ~(unsigned)cuts[i]) != 0;
			cuts[i] |= (uint8_t)lifetx_cuts(run->lifetx, i);
		}
		cut &= run->conflicts.count > 0;
	}
	return 0;
}

static void forget_cached_sites(struct learner *l)
{
	map_free(&l->at);
	l->count = 0;
}

/* Adds everything that was learnt from a passing run; within a transaction of the database. */
static int add_run(struct learner *l, struct learner_reading *r, const struct learner_site *stored,
		   const char *how, struct store_news *news, struct err *err)
{
	struct training_run *run = &r->training;
	uint8_t *cuts = xcalloc(run->sites.count + 1, 1);
	int result;

	for (size_t i = 1; i < run->sites.count; i++)
		cuts[i] = (uint8_t)stored[i].cuts;
	result = find_transactions(l, r->trace, run, cuts, err);
	if (result == 0)
		result = learner_write(l, run, stored, strcmp(how, "parallel") != 0, news, err);
	if (result == 0)
		result = note_builds(l, run, r->trace, err);
	free(cuts);
	return result;
}

void learner_read(struct learner_reading *r, const char *path, enum learner_run kind,
		  unsigned granularity, uint64_t seed, struct pause *pause,
		  const struct deadline *d)
{
	*r = (struct learner_reading){ .kind = kind, .seed = seed, .result = -1 };
	r->trace = reader_open(path, &r->err);
	if (r->trace)
		reader_until(r->trace, d);
	if (r->trace)
		r->result = training_run_read(&r->training, r->trace, granularity,
					      kind == LEARNER_PASSED ? TRAINING_RUN_FULL
								     : TRAINING_RUN_PROBE,
					      seed, pause, &r->err);
}

void learner_reading_free(struct learner_reading *r)
{
	training_run_free(&r->training);
	if (r->trace)
		reader_close(r->trace);
	*r = (struct learner_reading){ 0 };
}

int learner_take(struct learner *l, struct learner_reading *r, const char *input, const char *how,
		 struct store_news *news, struct err *err)
{
	struct learner_site *stored;
	int result;

	*news = (struct store_news){ 0 };
	if (r->result < 0)
		return err_set(err, "%s", r->err.text);
	stored = xcalloc(r->training.sites.count + 1, sizeof(*stored));
	result = store_begin(l->store, err);
	if (result == 0) {
		result = learner_sites(l, &r->training, r->trace, stored, err);
		if (result == 0)
			result = r->kind == LEARNER_PASSED
					 ? add_run(l, r, stored, how, news, err)
					 : learner_write_probe(l, &r->training, stored,
							       r->kind == LEARNER_PROBE, news, err);
		if (result == 0 && r->kind != LEARNER_FAILED)
			result = store_run(l->store, l->program, input, how, r->seed, news, err);
		if (result == 0)
			result = store_commit(l->store, err);
		if (result < 0)
			store_rollback(l->store);
	}
	/*
	 * After an error the cached numbers are not in the database; after new cuts the cached
	 * cuts are out of date.
	 */
	if (result < 0 || news->cuts)
		forget_cached_sites(l);
	l->lost += r->training.lost;
	free(stored);
	return result;
}

int learner_trace(struct learner *l, const char *path, const char *input, const char *how,
		  uint64_t seed, struct store_news *news, struct err *err)
{
	struct learner_reading r;
	int result;

	learner_read(&r, path, LEARNER_PASSED, l->granularity, seed, NULL, NULL);
	result = learner_take(l, &r, input, how, news, err);
	learner_reading_free(&r);
	return result;
}
