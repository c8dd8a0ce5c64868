#include "explore/bug/same_failure.h"

#include <string.h>

#include "explore/search/fingerprint.h"

/* Indexes of the sites of a use after free, or of a double free. */
enum { USE, FREE, MALLOC };

static bool has_both(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

static bool same_function(const struct oracle_site *a, const struct oracle_site *b,
			  struct places *places)
{
	struct symbol_frame f, g;

	places_frame(places, a->pc, &f);
	places_frame(places, b->pc, &g);
	return has_both(f.function, g.function) && (!f.file || !g.file || has_both(f.file, g.file));
}

static bool same_line(const struct oracle_site *a, const struct oracle_site *b,
		      struct places *places)
{
	struct symbol_frame f, g;

	places_frame(places, a->pc, &f);
	places_frame(places, b->pc, &g);
	return a->pc == b->pc || (f.line && f.line == g.line && has_both(f.file, g.file));
}

bool same_failure_of_memory(const struct oracle_result *a, const struct oracle_result *b,
			    struct places *places)
{
	const struct oracle_site *s = a->sites, *t = b->sites;

	if (a->failure != b->failure ||
	    (a->failure != ORACLE_UAF && a->failure != ORACLE_DOUBLE_FREE) ||
	    a->site_count <= FREE || b->site_count <= FREE)
		return false;
	/* Addresses hardly depend on the schedule. Lines alone could be those of a wrapper of
	 * free(). */
	if (a->site_count > MALLOC && b->site_count > MALLOC && s[USE].object == t[USE].object &&
	    same_line(&s[FREE], &t[FREE], places) && same_line(&s[MALLOC], &t[MALLOC], places))
		return true;
	return same_function(&s[USE], &t[USE], places) && same_function(&s[FREE], &t[FREE], places);
}

static bool is_fault_at_exit(const struct oracle_result *r)
{
	switch (r->failure) {
	case ORACLE_SIGNAL: case ORACLE_UAF: case ORACLE_DOUBLE_FREE: case ORACLE_BAD_FREE:
	case ORACLE_MISUSE:
		return r->outlives_exit;
	default:
		return false;
	}
}

bool same_failure_at_exit(const struct oracle_result *a, const struct oracle_result *b)
{
	return is_fault_at_exit(a) && is_fault_at_exit(b);
}

bool same_failure_symptom(const struct oracle_result *a, const struct oracle_result *b,
			  struct places *places)
{
	char x[FINGERPRINT_SIZE], y[FINGERPRINT_SIZE];

	if (oracle_identity(a, places) == oracle_identity(b, places))
		return true;
	/* The fingerprint of an assertion leaves its numbers out; without sites it says only the
	 * kind. */
	if (a->failure == ORACLE_ASSERT || !a->key_site_count || !b->key_site_count)
		return false;
	fingerprint_of(a, places, x);
	fingerprint_of(b, places, y);
	return strcmp(x, y) == 0;
}
