/*
 * The report of snarl check-fix: verdicts on stderr, and check-fix.json.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/plural.h"
#include "cmd/check_fix/check_fix_internal.h"
#include "explore/results_json.h"

static unsigned long long ull(uint64_t value)
{
	return value;
}

static size_t count_of(const struct check_fix *cf, enum checkfix_verdict verdict)
{
	size_t count = 0;

	for (size_t i = 0; i < cf->known.count; i++)
		count += cf->known.at[i].verdict == verdict;
	return count;
}

/* Whether the verdict leaves open whether the interleaving still fails. */
static bool is_undecided(const struct checkfix_known *k)
{
	switch (k->verdict) {
	case CHECKFIX_UNTRIED:
	case CHECKFIX_UNREACHED:
	case CHECKFIX_UNSEEN:
	case CHECKFIX_UNPROVED: return true;
	case CHECKFIX_GONE: return k->tries == 0;
	default: return false;
	}
}

static size_t count_undecided(const struct check_fix *cf)
{
	size_t count = 0;

	for (size_t i = 0; i < cf->known.count; i++)
		count += is_undecided(&cf->known.at[i]);
	return count;
}

/* Whether the fix prevents some of the known interleavings from failing, but not all. */
static bool is_partial_fix(const struct check_fix *cf)
{
	size_t fails = count_of(cf, CHECKFIX_FAILS);

	return fails > 0 && fails + count_undecided(cf) < cf->known.count;
}

const char *check_fix_verdict(const struct check_fix *cf)
{
	if (count_of(cf, CHECKFIX_FAILS) && !is_partial_fix(cf))
		return "not-fixed";
	if (is_partial_fix(cf) || count_of(cf, CHECKFIX_LEFT) || cf->related_failure)
		return "incomplete";
	if (cf->other_failure)
		return "other-failure";
	return count_undecided(cf) ? "undecided" : "fixed";
}

/*
 * Appends why an event was not found in the new build, and the result of trying similar accesses.
 */
static void add_missing(const struct checkfix_known *k, struct buf *out)
{
	remap_missing(k->remap, out);
	if (!k->tries)
		return;
	buf_add_text(out, "; the same accesses in other places ");
	if (k->verdict == CHECKFIX_LEFT)
		buf_addf(out, "fail in this order (%llu of %llu tries)", ull(k->came),
			 ull(k->tries));
	else if (k->came)
		buf_addf(out, "came in this order in %llu of %llu tries, and did no harm",
			 ull(k->came), ull(k->tries));
	else
		buf_addf(out, "could not be brought into this order in %llu tries", ull(k->tries));
}

/* Appends the reason of a verdict, or nothing. */
static void add_why(const struct checkfix_known *k, struct buf *out)
{
	const char *strategy = k->schedule.strategy;

	if (k->verdict == CHECKFIX_UNTRIED)
		return;
	if (!k->remap) {
		buf_add_text(out, k->schedule.goal_count ?
					  "its goal is too long to follow" :
					  "its cause is not known, so there is no order to try");
	} else if (k->level == REMAP_MOVED) {
		add_missing(k, out);
	} else {
		buf_addf(out, "the order came about in %llu of %llu tries%s%s", ull(k->came),
			 ull(k->tries),
			 k->level == REMAP_RENAMED ? ", by other threads" : "",
			 k->remap->more ? "; not all places that may correspond to it were tried" :
					  "");
	}
	if (k->weak_tries)
		buf_addf(out, "; %llu run%s by %s: %s", ull(k->weak_tries), plural(k->weak_tries),
			 strategy && strcmp(strategy, "goal") != 0 ? strategy : "random",
			 k->weak ? "one failed" : "none failed, which is weaker evidence");
}

static const struct bug *bug_of(const struct check_fix *cf, const struct checkfix_known *k)
{
	return checkfix_is_failure(k->verdict)
		       ? cf->print.session.judge.results.items[k->failure].bug
		       : NULL;
}

static void print_known(const struct check_fix *cf, const struct checkfix_known *k)
{
	const struct bug *bug = bug_of(cf, k);
	struct buf why = { 0 };

	add_why(k, &why);
	fprintf(stderr, "snarl: %s: %s\n", k->name, checkfix_words(k->verdict));
	if (k->schedule.cause)
		fprintf(stderr, "  %s %s on %s\n", k->schedule.cause, k->schedule.pattern,
			k->schedule.variable);
	if (why.size)
		fprintf(stderr, "  %s\n", buf_string(&why));
	if (bug && bug->path)
		session_print_replay(bug->path);
	buf_free(&why);
}

static void print_verdict(const struct check_fix *cf)
{
	const char *verdict = check_fix_verdict(cf);
	size_t undecided = count_undecided(cf), fails = count_of(cf, CHECKFIX_FAILS);
	const char *all = cf->known.count == 1 ? "interleaving" : "interleavings";

	if (fails)
		fprintf(stderr, "snarl: %s: %zu of %zu known %s still fail%s\n",
			is_partial_fix(cf) ? "the fix is incomplete" : "not fixed", fails,
			cf->known.count, all, fails == 1 ? "s" : "");
	else if (strcmp(verdict, "incomplete") == 0)
		fprintf(stderr,
			"snarl: the fix is incomplete: no known interleaving fails as it did, but "
			"another one of the same accesses does\n");
	else if (strcmp(verdict, "other-failure") == 0)
		fprintf(stderr, "snarl: no known interleaving fails, but the program fails in "
				"another way\n");
	else if (undecided)
		fprintf(stderr,
			"snarl: undecided: no run failed, but %zu of %zu known %s could not be "
			"checked\n",
			undecided, cf->known.count, all);
	else
		fprintf(stderr,
			"snarl: fixed: %zu known %s, none fails: %zu no longer possible, %zu "
			"harmless, %zu no longer there\n",
			cf->known.count, all, count_of(cf, CHECKFIX_IMPOSSIBLE),
			count_of(cf, CHECKFIX_HARMLESS), count_of(cf, CHECKFIX_GONE));
}

void check_fix_print(const struct check_fix *cf)
{
	const struct session *s = &cf->print.session;

	if (cf->print.o->quiet)
		return;
	for (size_t i = 0; i < cf->known.count; i++)
		print_known(cf, &cf->known.at[i]);
	print_verdict(cf);
	fprintf(stderr, "snarl: %llu run%s in %.1f s", ull(s->stats.runs), plural(s->stats.runs),
		s->stats.seconds);
	if (s->hunt)
		fprintf(stderr, ", %llu related candidate%s: %llu tried, %llu proved",
			ull(s->hunt->leads), plural(s->hunt->leads),
			ull(s->hunt->leads - s->hunt->left), ull(s->hunt->proved));
	if (s->stats.damaged)
		fprintf(stderr, ", %llu run%s not judged: the program damaged snarl's memory",
			ull(s->stats.damaged), plural(s->stats.damaged));
	fprintf(stderr, "%s\n", interrupt_stop.signal ? ", interrupted" : "");
}

static void add_known(const struct check_fix *cf, const struct checkfix_known *k, struct json *j)
{
	static const char *const levels[] = { "same", "renamed", "moved" };
	const struct bug *bug = bug_of(cf, k);
	struct buf why = { 0 };

	add_why(k, &why);
	json_open(j, NULL, '{');
	json_text(j, "bug", k->name);
	json_text(j, "schedule", k->path);
	json_text(j, "class", k->schedule.cause);
	json_text(j, "pattern", k->schedule.pattern);
	json_text(j, "variable", k->schedule.variable);
	json_text(j, "verdict", checkfix_name(k->verdict));
	json_text(j, "match", k->remap && k->remap->fit_count ? levels[k->level] : NULL);
	json_number(j, "tries", k->tries);
	json_number(j, "came_about", k->came);
	json_number(j, "strategy_runs", k->weak_tries);
	json_text(j, "why", why.size ? buf_string(&why) : NULL);
	json_text(j, "failure", bug && *bug->id ? bug->id : NULL);
	json_close(j, '}');
	buf_free(&why);
}

static void build(struct check_fix *cf, struct buf *out)
{
	struct session *s = &cf->print.session;
	struct json j = { .out = out };

	json_open(&j, NULL, '{');
	json_number(&j, "version", 1);
	json_text(&j, "program", s->target.program);
	json_open(&j, "arguments", '[');
	for (char **a = s->target.argv; *a; a++)
		json_text(&j, NULL, *a);
	json_close(&j, ']');
	json_number(&j, "runs", s->stats.runs);
	json_decimal(&j, "seconds", s->stats.seconds);
	json_text(&j, "verdict", check_fix_verdict(cf));
	json_open(&j, "known", '[');
	for (size_t i = 0; i < cf->known.count; i++)
		add_known(cf, &cf->known.at[i], &j);
	json_close(&j, ']');
	results_bugs_json(&s->judge.results, &j, &s->places);
	json_number(&j, "not_replayed", s->judge.results.count - s->judge.results.proved);
	results_candidates_json(s->hunt, &j, NULL);
	json_close(&j, '}');
	buf_add_char(out, '\n');
}

int check_fix_write(struct check_fix *cf, struct err *err)
{
	const struct explore_options *o = cf->print.o;
	char *path = xasprintf("%s/check-fix.json", o->out);
	struct buf text = { 0 };
	int result;

	build(cf, &text);
	if (o->json)
		fwrite(text.data, 1, text.size, stdout);
	mkdir(o->out, 0777);
	result = file_replace(path, &text, err);
	buf_free(&text);
	free(path);
	return result;
}
