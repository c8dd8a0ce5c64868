#include "explore/bug/results.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "explore/bug/finding.h"

static void drop(struct results *r, size_t i)
{
	bug_free(r->items[i].bug);
	free(r->items[i].bug);
	memmove(&r->items[i], &r->items[i + 1], (--r->count - i) * sizeof(*r->items));
}

struct bug *results_find(const struct results *r, const struct oracle_result *symptom,
			 struct places *places)
{
	for (size_t i = 0; i < r->count; i++)
		if (bug_has_symptom(r->items[i].bug, symptom, places))
			return r->items[i].bug;
	return NULL;
}

const struct bug *results_add(struct results *r, struct bug *b, bool proved, struct places *places)
{
	struct bug *known = proved ? NULL : results_find(r, &b->failure->result, places);

	if (known) {
		known->seen++;
		bug_free(b);
		free(b);
		return known;
	}
	for (size_t i = r->count; proved && i-- > 0;)
		if (!r->items[i].proved &&
		    bug_has_symptom(b, &r->items[i].bug->failure->result, places))
			drop(r, i);
	r->items = xgrow(r->items, r->count, &r->capacity, sizeof(*r->items));
	r->items[r->count].bug = b;
	r->items[r->count++].proved = proved;
	r->proved += proved;
	return b;
}

void results_free(struct results *r)
{
	for (size_t i = 0; i < r->count; i++) {
		bug_free(r->items[i].bug);
		free(r->items[i].bug);
	}
	free(r->items);
	*r = (struct results){ 0 };
}

void results_bugs_json(const struct results *r, struct json *j, struct places *places)
{
	json_open(j, "bugs", '[');
	for (size_t i = 0; i < r->count; i++) {
		const struct bug *b = r->items[i].bug;
		char *folder;

		if (!r->items[i].proved)
			continue;
		folder = xasprintf("bugs/%s/", b->id);
		json_open(j, NULL, '{');
		bug_json(b, j, folder, places);
		json_close(j, '}');
		free(folder);
	}
	json_close(j, ']');
	json_open(j, "findings", '[');
	for (size_t i = 0; i < r->count; i++) {
		if (r->items[i].proved)
			continue;
		json_open(j, NULL, '{');
		finding_json(r->items[i].bug, j, places);
		json_close(j, '}');
	}
	json_close(j, ']');
}
