/*
 * Decides which events of a candidate are suppressed.
 */
#include "analyze/suppress.h"

#define FRAMES 16	/* inlined frames of a pc */
#define STACK 64	/* callers; deeper ones are not matched */

static enum suppress_type type_of(const struct candidate *c)
{
	switch (c->class) {
	case CANDIDATE_DEADLOCK: return SUPPRESS_DEADLOCK;
	case CANDIDATE_MISUSE: return SUPPRESS_MUTEX;
	default: return SUPPRESS_RACE;
	}
}

/* Whether a line of this type matches the site. */
static bool site_matches(const struct suppressions *s, struct names *n, enum suppress_type type,
			  uint64_t pc)
{
	struct symbol_frame frames[FRAMES];
	size_t count = names_frames(n, pc, frames, FRAMES);

	return suppress_frames(s, type, frames, count, names_module(n, pc));
}

/* For race_top: matches only the innermost function, inlined or not, and its file. */
static bool top_matches(const struct suppressions *s, struct names *n, uint64_t pc)
{
	struct symbol_frame frames[FRAMES];

	names_frames(n, pc, frames, FRAMES);
	return suppress_frames(s, SUPPRESS_RACE_TOP, frames, 1, NULL);
}

static bool event_matches(const struct suppressions *s, struct names *n,
			  const struct analysis_context *ctx, enum suppress_type type,
			  const struct candidate_event *e)
{
	uint64_t pcs[STACK];
	size_t depth = stacks_pcs(ctx->stacks, e->stack, pcs, STACK);

	if (site_matches(s, n, type, e->pc) ||
	    suppress_name(s, SUPPRESS_CALLED_FROM_LIB, names_module(n, e->pc)))
		return true;
	for (size_t i = 0; i < depth; i++)
		if (site_matches(s, n, type, pcs[i]))
			return true;
	return type == SUPPRESS_RACE && (suppress_name(s, type, names_global(n, e->addr)) ||
					 top_matches(s, n, e->pc));
}

enum suppress_extent suppress_candidate(const struct suppressions *s, struct names *n,
					const struct analysis_context *ctx,
					const struct candidate *c)
{
	unsigned stops = 0, counted = 0, matching = 0;

	if (!s)
		return SUPPRESS_NOTHING;
	for (unsigned i = 0; i < c->events; i++)
		if (c->hold[i] >= 0)
			stops |= 1u << c->hold[i];
	for (unsigned i = 0; i < c->events; i++) {
		if (stops >> i & 1)
			continue;
		counted++;
		matching += event_matches(s, n, ctx, type_of(c), &c->event[i]);
	}
	if (matching == 0)
		return SUPPRESS_NOTHING;
	return matching == counted ? SUPPRESS_ALL : SUPPRESS_SOME;
}
