#include "explore/bug/verdict.h"

#include "explore/bug/same_cause.h"

/*
 * After this number of replayed failures with cause and symptom of an earlier bug, its symptom
 * alone makes a failure a duplicate. To replay each of thousands would use up the budget.
 */
#define EXACT_DUPLICATES_ENOUGH 20u
#define FRAMES 16	/* inlined frames of one site; more are ignored */

/* True if a suppression line of this type matches a function, file or module of the site. */
static bool site_matches(const struct suppressions *s, enum suppress_type type,
			 struct places *places, uint64_t pc)
{
	const struct places_module *m = places_module(places, pc);
	const char *module = m ? m->path : NULL;
	struct symbol_frame frames[FRAMES];
	size_t count = symbols_frames(places->symbols, pc, frames, FRAMES);

	return suppress_frames(s, type, frames, count, module) ||
	       suppress_name(s, SUPPRESS_CALLED_FROM_LIB, module) ||
	       (type == SUPPRESS_RACE && suppress_frames(s, SUPPRESS_RACE_TOP, frames, 1, NULL));
}

/*
 * True if suppression lines cover all key sites of the failure. Only deadlocks, misuse, overflows,
 * use after free and double free can be suppressed by their sites.
 */
static bool sites_match(const struct oracle_result *r, const struct suppressions *s,
			struct places *places)
{
	enum suppress_type type;

	switch (r->failure) {
	case ORACLE_DEADLOCK: type = SUPPRESS_DEADLOCK; break;
	case ORACLE_MISUSE: type = SUPPRESS_MUTEX; break;
	case ORACLE_UAF: case ORACLE_DOUBLE_FREE: case ORACLE_OVERFLOW: type = SUPPRESS_RACE; break;
	default: return false;
	}
	for (size_t i = 0; i < r->key_site_count; i++)
		if (!site_matches(s, type, places, r->sites[i].pc))
			return false;
	return r->key_site_count > 0;
}

static bool has_same_cause(const struct bug *b, const struct lead *lead, struct places *places)
{
	return lead && bug_cause(b) && same_cause_matches(bug_cause(b), lead, places);
}

bool verdict_is_duplicate(const struct judge *j, const struct search_failure *f)
{
	for (size_t i = 0; i < j->results.count && !j->separate; i++) {
		const struct bug *b = j->results.items[i].bug;

		if (j->results.items[i].proved && bug_has_symptom(b, &f->result, j->places) &&
		    (j->exact_duplicates >= EXACT_DUPLICATES_ENOUGH ||
		     has_same_cause(b, f->lead, j->places)))
			return true;
	}
	return false;
}

/* The proved bug of this session that has the same cause; NULL: none. */
static struct bug *find_original(const struct judge *j, const struct bug *b)
{
	for (size_t i = 0; i < j->results.count && !j->separate; i++)
		if (j->results.items[i].proved && bug_same(j->results.items[i].bug, b, j->places))
			return j->results.items[i].bug;
	return NULL;
}

void verdict_decide(struct judge *j, struct bug *b, bool proved, const struct cause_config *cause,
		    struct verdict *out)
{
	out->bug = b;
	if (!proved) {
		out->kind = VERDICT_UNPROVED;
	} else if (j->suppress && (sites_match(&b->failure->result, j->suppress, j->places) ||
				   cause_is_suppressed(b, j->suppress, cause))) {
		out->kind = VERDICT_SUPPRESSED;
	} else if ((out->of = find_original(j, b))) {
		out->kind = VERDICT_DUPLICATE;
	} else {
		out->known_as = j->baseline ? baseline_find(j->baseline, b, j->places) : NULL;
		out->kind = out->known_as ? VERDICT_KNOWN : VERDICT_NEW;
	}
}
