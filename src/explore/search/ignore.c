#include "explore/search/ignore.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void ignore_add(struct ignore *g, const char *fingerprint)
{
	g->items = xgrow(g->items, g->count, &g->capacity, sizeof(*g->items));
	snprintf(g->items[g->count++], FINGERPRINT_SIZE, "%s", fingerprint);
	map_free(&g->known);
	g->known = (struct map){ 0 };
}

void ignore_free(struct ignore *g)
{
	free(g->items);
	map_free(&g->known);
}

static bool has_fingerprint(const struct ignore *g, const struct oracle_result *r,
			    const struct ctl_report *report)
{
	struct oracle_result refined = *r;
	char text[FINGERPRINT_SIZE];

	oracle_refine(&refined, report, g->places);
	fingerprint_of(&refined, g->places, text);
	for (size_t i = 0; i < g->count; i++)
		if (strcmp(g->items[i], text) == 0)
			return true;
	return false;
}

bool ignore_matches(struct ignore *g, const struct oracle_result *r,
		    const struct ctl_report *report)
{
	bool added;
	uint64_t *known;

	if (!g->count)
		return false;
	known = map_put(&g->known, r->signature, &added);
	if (added)
		*known = has_fingerprint(g, r, report);
	return *known;
}
