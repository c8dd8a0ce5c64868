#include "explore/cover/cover_search.h"

#include <stdio.h>

#include "base/mem.h"

struct searching {
	struct cover_search *s;
	struct cover *cover;
	volatile sig_atomic_t stop;
	struct err err;
	bool broken;		/* … the database cannot be written to */
};

static const struct {
	const char *strategy;
	uint32_t permille;
} mix[] = {
	{ "random", 20 }, { "pct", 0 }, { "pos", 0 }, { "random", 200 }, { "surw", 0 },
	{ "pct-large", 0 }, { "delay", 0 }, { "random", 500 },
};

static void on_shape(void *ctx, uint64_t run, struct server *server)
{
	const struct searching *x = ctx;
	struct ctl_request *q = server_request(server);

	q->flags |= CTL_PROFILE;
	if (x->s->parallel)
		snprintf(q->strategy, sizeof(q->strategy), "parallel");	/* a name for the database */
	if (x->s->parallel)
		return;
	if (x->s->search.strategy)
		return;
	snprintf(q->strategy, sizeof(q->strategy), "%s", mix[run % ARRAY_SIZE(mix)].strategy);
	q->switch_permille = mix[run % ARRAY_SIZE(mix)].permille;
}

static void on_judged(void *ctx, uint64_t run, const struct server *server,
		      const struct oracle_result *result)
{
	struct searching *x = ctx;
	struct ctl_block *b = server->block;
	struct memo_run r = { .strategy = b->request.strategy, .seed = b->request.seed, .number = run,
			      .failed = result->verdict == ORACLE_FAILED };

	if (x->broken)
		return;
	if (cover_add_run(x->cover, server, &r, &x->err) < 0) {
		x->broken = true;
		x->stop = 1;
		return;
	}
	x->s->failed += r.failed;
	x->s->exposed += r.new_exposed;
	x->s->predicted += r.new_predicted;
	x->s->idle = r.new_predicted || (r.new_exposed && !x->s->candidates) ? 0 : x->s->idle + 1;
	x->s->saturated = x->s->saturation && x->s->idle >= x->s->saturation;
	if (x->s->saturated || (x->s->stop && *x->s->stop))
		x->stop = 1;
}

static enum search_answer on_found(void *ctx, struct search_failure *f)
{
	const struct search_config *c = &((struct searching *)ctx)->s->search;

	if (c->found)
		return c->found(c->ctx, f);
	search_failure_free(f);
	return SEARCH_MORE;
}

static void on_progress(void *ctx, const struct search_stats *stats)
{
	struct searching *x = ctx;

	if (x->s->stop && *x->s->stop)
		x->stop = 1;
	if (x->s->search.progress)
		x->s->search.progress(x->s->search.ctx, stats);
}

int cover_search_run(struct cover_search *s, struct cover *c, struct search_stats *stats, struct err *err)
{
	struct searching x = { .s = s, .cover = c };
	struct search_config config = s->search;
	struct err flushing;
	int result;

	cover_config(c, &config.server);
	if (s->parallel) {
		config.server.exec = true;
		config.server.options = "mode=profile";
	}
	config.keep_going |= !config.found;
	config.stop = &x.stop;
	config.shape = on_shape;
	config.judged = on_judged;
	config.found = on_found;
	config.progress = on_progress;
	config.ctx = &x;
	if (!config.strategy)
		config.strategy = strategy_find(mix[0].strategy);
	result = search_run(&config, c->places, stats, err);
	if (x.broken) {
		*err = x.err;
		return -1;
	}
	if (cover_flush(c, &flushing) < 0 && result == 0) {
		*err = flushing;
		return -1;
	}
	return result;
}
