#include "explore/bug/results.h"

#include <stdlib.h>

#include "base/mem.h"

void results_add(struct results *r, struct bug *b, bool proved)
{
	r->items = xgrow(r->items, r->count, &r->capacity, sizeof(*r->items));
	r->items[r->count].bug = b;
	r->items[r->count++].proved = proved;
	r->proved += proved;
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
}
