#include "explore/cover/cover_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/mix.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "coverage/fold/queue.h"
#include "symbol/key.h"

#define FLUSH_SECONDS 2.0	/* most time for which known iRoots seen again are not written */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void cover_key(struct places *places, uint64_t pc, struct buf *out)
{
	const struct places_module *module = places_module(places, pc);
	struct symbol_frame frame;

	places_frame(places, pc, &frame);
	symbol_key(&frame, module ? module->path : NULL, module ? pc - module->base : pc, out);
}

/* The id of an event in the database. Each pc is looked up once. */
static int64_t event_number(struct cover *c, const struct iroot_event *e, struct err *err)
{
	bool added;
	uint64_t *number = map_put(&c->events, mix_add_small(e->site, e->access), &added);
	struct symbol_frame frame;
	struct buf key = { 0 };
	struct memo_event event;

	if (!added && *number)
		return (int64_t)*number;
	cover_key(c->places, e->site, &key);
	places_frame(c->places, e->site, &frame);
	event = (struct memo_event){ .key = buf_string(&key),
				     .access = (enum iroot_access)e->access,
				     .function = frame.function,
				     .file = frame.file,
				     .line = frame.line,
				     .column = frame.column };
	*number = (uint64_t)memo_event(c->memo, c->program, &event, err);
	buf_free(&key);
	if ((int64_t)*number < 0) {
		*number = 0;
		return -1;
	}
	return (int64_t)*number;
}

static struct cover_root *root_of(struct cover *c, const struct memo_root *r)
{
	uint64_t hash = r->idiom, *at;
	bool added;

	for (unsigned i = 0; i < IROOT_EVENTS; i++)
		hash = mix_add_small(hash, (uint64_t)r->event[i]);
	at = map_put(&c->root_index, hash, &added);
	if (added) {
		c->roots = xgrow(c->roots, c->count, &c->capacity, sizeof(*c->roots));
		c->roots[c->count] = (struct cover_root){ .memo = *r };
		c->roots[c->count].memo.exposed = c->roots[c->count].memo.predicted = 0;
		*at = ++c->count;
	}
	return &c->roots[*at - 1];
}

static int load_root(void *ctx, const struct memo_root *r)
{
	struct cover *c = ctx;

	root_of(c, r)->memo = *r;
	c->exposed += r->exposed > 0;
	return 0;
}

static char *describe_input(const struct target *t)
{
	struct buf b = { 0 };
	char *text;

	for (char **arg = t->argv + 1; *t->argv && *arg; arg++)
		buf_addf(&b, "%s%s", b.size ? " " : "", *arg);
	if (t->input >= 0)
		buf_addf(&b, "%s< %016llx", b.size ? " " : "", (unsigned long long)t->input_hash);
	text = xstrdup(buf_string(&b));
	buf_free(&b);
	return text;
}

void cover_input(struct cover *c, const struct target *target)
{
	free(c->input);
	c->input = describe_input(target);
}

int cover_open(struct cover *c, const char *path, const struct target *target,
	       struct places *places, struct err *err)
{
	*c = (struct cover){ .places = places,
			     .input = describe_input(target),
			     .flushed = clock_seconds() };
	c->memo = memo_open(path, true, err);
	if (!c->memo || memo_begin(c->memo, err) < 0)
		return -1;
	c->program = memo_program(c->memo, base_name(target->program), target->build_id, err);
	if (c->program < 0 || memo_each_root(c->memo, c->program, load_root, c, err) < 0)
		return -1;
	return memo_commit(c->memo, err);
}

void cover_close(struct cover *c)
{
	memo_close(c->memo);
	map_free(&c->events);
	map_free(&c->root_index);
	free(c->roots);
	free(c->input);
	*c = (struct cover){ 0 };
}

/* Writes what the database does not have yet of an iRoot. */
static int write_root(struct cover *c, struct cover_root *root, int64_t run, struct err *err)
{
	struct memo_root r = root->memo;
	bool before = root->memo.exposed > 0, is_new = !root->memo.id;

	r.exposed = root->new_exposed;
	r.predicted = root->new_predicted;
	r.attempts = r.failed = 0;
	if (memo_root(c->memo, c->program, &r, run, err) < 0)
		return -1;
	root->memo = r;
	root->added_here |= is_new;
	c->withdrawn -= root->withdrawn;
	root->withdrawn = false;
	root->new_exposed = root->new_predicted = 0;
	c->exposed += !before && r.exposed > 0;
	return 0;
}

/*
 * Counts an iRoot of a run. `flags`: IROOT_PREDICTED, IROOT_EXPOSED. Returns 1 if it is new and has
 * to be written now.
 */
static int count_root(struct cover *c, const struct iroot *root, uint32_t flags,
		      struct cover_root **out, struct err *err)
{
	struct memo_root r = { .idiom = (uint32_t)root->idiom };
	struct cover_root *known;

	for (unsigned i = 0; i < IROOT_EVENTS && (i < 2 || root->event[i].site); i++) {
		r.event[i] = event_number(c, &root->event[i], err);
		if (r.event[i] < 0)
			return -1;
	}
	known = *out = root_of(c, &r);
	if (!known->iroot.idiom)
		known->iroot = *root;
	/* Several roots of a run may have equal names: they count once. */
	if (flags & IROOT_PREDICTED && known->seen_predicted != c->runs) {
		known->new_predicted++;
		known->seen_predicted = c->runs;
	}
	if (flags & IROOT_EXPOSED && known->seen_exposed != c->runs) {
		known->new_exposed++;
		known->seen_exposed = c->runs;
	}
	c->dirty = true;
	return (known->new_exposed && !known->memo.exposed) ||
	       (known->new_predicted && !known->memo.predicted);
}

/* True if the run had all spin flags known by now. Otherwise some of its predictions are wrong. */
static bool knows_flags(const struct cover *c, const struct iroot_profile *p)
{
	struct iroot_flag known[IROOT_FLAGS];
	uint32_t count = iroot_profile_flags(p, known), n = count;

	for (uint32_t i = 0; i < c->flag_count; i++)
		iroot_flag_add(known, &n, &c->flags[i]);
	return n == count;
}

static int add_all(struct cover *c, struct iroot_profile *p, struct memo_run *r, int64_t run,
		   struct err *err)
{
	uint32_t wanted = IROOT_EXPOSED | (knows_flags(c, p) ? IROOT_PREDICTED : 0);
	struct cover_root *root;
	uint32_t cursor = 0, flags;
	struct iroot found;

	while ((flags = iroot_profile_next(p, &cursor, &found))) {
		int is_new = flags & wanted ? count_root(c, &found, flags & wanted, &root, err) : 0;
		bool exposed, known;

		if (is_new < 0)
			return -1;
		if (!is_new)
			continue;
		exposed = root->memo.exposed > 0;
		known = root->memo.id != 0;
		if (write_root(c, root, run, err) < 0)
			return -1;
		r->new_exposed += !exposed && root->memo.exposed == 1;
		r->new_predicted += !known && root->memo.predicted == 1;
	}
	return 0;
}

static int flush_all(struct cover *c, struct err *err)
{
	for (size_t i = 0; c->dirty && i < c->count; i++)
		if ((c->roots[i].new_exposed || c->roots[i].new_predicted) &&
		    write_root(c, &c->roots[i], 0, err) < 0)
			return -1;
	c->dirty = false;
	c->flushed = clock_seconds();
	return 0;
}

int cover_flush(struct cover *c, struct err *err)
{
	if (!c->dirty)
		return 0;
	if (memo_begin(c->memo, err) < 0)
		return -1;
	if (flush_all(c, err) < 0) {
		memo_rollback(c->memo);
		return -1;
	}
	return memo_commit(c->memo, err);
}

int cover_add(struct cover *c, struct iroot_profile *p, struct memo_run *r, struct err *err)
{
	struct iroot_profile_stats stats;
	int64_t run;

	iroot_profile_finish(p);
	iroot_profile_stats(p, &stats);
	c->lost += stats.lost;
	c->runs++;
	r->input = c->input;
	r->new_exposed = r->new_predicted = 0;
	if (memo_begin(c->memo, err) < 0)
		return -1;
	run = memo_run(c->memo, c->program, r, err);
	if (run < 0 || add_all(c, p, r, run, err) < 0)
		goto failed;
	r->exposed = c->exposed;
	r->known = c->count - c->withdrawn;
	if (memo_run_figures(c->memo, run, r, err) < 0 ||
	    (clock_seconds() - c->flushed > FLUSH_SECONDS && flush_all(c, err) < 0))
		goto failed;
	if (memo_commit(c->memo, err) < 0)
		return -1;
	log_debug("cover", "run %llu: %llu of %llu iRoots exposed", (unsigned long long)c->runs,
		  (unsigned long long)r->exposed, (unsigned long long)r->known);
	return 0;
failed:
	memo_rollback(c->memo);
	return -1;
}

/* True if the whole profile can be read: damage may show only there. */
static bool is_whole(struct iroot_profile *p)
{
	uint32_t cursor = 0;
	struct iroot found;

	iroot_profile_finish(p);
	while (iroot_profile_next(p, &cursor, &found))
		;
	return !iroot_profile_damaged(p);
}

void cover_config(const struct cover *c, struct server_config *config)
{
	config->profile_size = IROOT_MEMORY;
	config->flags = c->flags;
	config->flag_count = c->flag_count;
}

/*
 * Removes the predictions of this process after a new spin flag was learnt: runs that did not know
 * the flag predicted iRoots that are impossible. Later runs predict the possible ones again.
 */
static int withdraw_predictions(struct cover *c, struct err *err)
{
	if (memo_begin(c->memo, err) < 0)
		return -1;
	for (size_t i = 0; i < c->count; i++) {
		struct cover_root *r = &c->roots[i];

		if (!r->added_here || r->withdrawn || r->memo.exposed || r->memo.attempts ||
		    r->new_exposed)
			continue;
		if (memo_forget(c->memo, r->memo.id, r->memo.predicted, err) < 0) {
			memo_rollback(c->memo);
			return -1;
		}
		r->memo.id = 0;
		r->memo.predicted = r->new_predicted = 0;
		r->iroot.idiom = 0;
		r->withdrawn = true;
		c->withdrawn++;
	}
	return memo_commit(c->memo, err);
}

/* Passes the spin flags that a run has found on to the next runs. */
static int learn_flags(struct cover *c, const struct iroot_profile *p, struct ctl_block *b,
		       struct err *err)
{
	struct iroot_flag found[IROOT_FLAGS];
	uint32_t count = iroot_profile_flags(p, found), before = c->flag_count;

	for (uint32_t i = 0; i < count; i++)
		iroot_flag_add(c->flags, &c->flag_count, &found[i]);
	memcpy(b->flags, c->flags, sizeof(b->flags));
	b->flag_count = c->flag_count;
	return c->flag_count > before ? withdraw_predictions(c, err) : 0;
}

int cover_add_run(struct cover *c, const struct search_run *run, struct memo_run *r,
		  struct err *err)
{
	struct ctl_block *b = run->server->block;
	struct iroot_profile *p = iroot_profile_open((char *)b + b->profile, b->profile_size);
	struct trace_queue *queue = trace_queue_of((char *)b + b->profile, b->profile_size);

	*r = (struct memo_run){ .strategy = b->request.strategy,
				.seed = b->request.seed,
				.number = run->number,
				.failed = run->result->verdict == ORACLE_FAILED };
	if (run->result->verdict == ORACLE_DAMAGED) {
		c->damaged++;
		return 0;
	}
	/* The records that a parallel run left in its queue, for example because it crashed. */
	if (p && b->profile_size > sizeof(*queue) && queue->magic == TRACE_QUEUE_MAGIC &&
	    !queue->folding)
		trace_queue_fold(queue, p);
	if (!p || !is_whole(p)) {
		c->damaged += p != NULL;
		c->cut += !p;
		return 0;
	}
	return learn_flags(c, p, b, err) < 0 ? -1 : cover_add(c, p, r, err);
}

int cover_attempt(struct cover *c, struct cover_root *root, unsigned runs, bool exposed,
		  struct err *err)
{
	if (memo_begin(c->memo, err) < 0)
		return -1;
	if (memo_attempt(c->memo, root->memo.id, runs, exposed, 0, err) < 0) {
		memo_rollback(c->memo);
		return -1;
	}
	if (memo_commit(c->memo, err) < 0)
		return -1;
	if (exposed && !root->memo.exposed) {
		root->memo.exposed = 1;
		c->exposed++;
	}
	root->memo.attempts += runs;
	root->memo.failed += exposed ? 0 : runs;
	return 0;
}

struct cover_root *cover_untested(struct cover *c, uint32_t idiom, size_t *at)
{
	while (*at < c->count) {
		struct cover_root *r = &c->roots[(*at)++];

		if (r->memo.idiom == idiom && r->iroot.idiom && !r->memo.exposed &&
		    r->memo.failed < MEMO_ATTEMPTS)
			return r;
	}
	return NULL;
}
