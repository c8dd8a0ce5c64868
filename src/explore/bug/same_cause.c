#include "explore/bug/same_cause.h"

#include <string.h>

#include "base/hash.h"
#include "explore/target/capture.h"

/* Hash of the file and line of an event; of its address without debug information. */
static uint64_t line_of(const struct lead *lead, unsigned event, struct places *places)
{
	uint64_t pc = lead->c.event[event].pc;
	struct symbol_frame f;

	places_frame(places, pc, &f);
	if (!f.file || !f.line)
		return hash_bytes(HASH_START, &pc, sizeof(pc));
	return hash_bytes(hash_bytes(HASH_START, f.file, strlen(f.file)), &f.line, sizeof(f.line));
}

static bool has_line(const struct lead *lead, uint64_t line, struct places *places)
{
	uint8_t events[CANDIDATE_EVENTS];
	size_t count = lead_events(lead, events);

	for (size_t i = 0; i < count; i++)
		if (line_of(lead, events[i], places) == line)
			return true;
	return false;
}

static bool has_object(const struct lead *lead, const char *object)
{
	uint8_t events[CANDIDATE_EVENTS];
	size_t count = lead_events(lead, events);

	for (size_t i = 0; i < count; i++)
		if (strcmp(lead->event[events[i]].object, object) == 0)
			return true;
	return false;
}

/*
 * *objects becomes the number of events of `a` whose object some event of `b` has; *lines, whose
 * line some event of `b` has. Returns the number of events of `a`.
 */
static size_t count_common(const struct lead *a, const struct lead *b, struct places *places,
			   size_t *objects, size_t *lines)
{
	uint8_t events[CANDIDATE_EVENTS];
	size_t count = lead_events(a, events);

	*objects = *lines = 0;
	for (size_t i = 0; i < count; i++) {
		*objects += has_object(b, a->event[events[i]].object);
		*lines += has_line(b, line_of(a, events[i], places), places);
	}
	return count;
}

bool same_cause_matches(const struct lead *a, const struct lead *b, struct places *places)
{
	size_t objects, lines, back_objects, back_lines;
	size_t count = count_common(a, b, places, &objects, &lines);
	size_t back = count_common(b, a, places, &back_objects, &back_lines);

	if (lines == count && back_lines == back)
		return true;
	if (a->c.class != CANDIDATE_DEADLOCK && b->c.class != CANDIDATE_DEADLOCK)
		return objects > 0;
	return a->c.class == b->c.class && objects == count && back_objects == back;
}

/* Hash of the operation and line of an event, without its thread and n-th visit. */
static uint64_t shape_of_event(const struct lead *lead, unsigned event, struct places *places)
{
	uint64_t line = line_of(lead, event, places);
	uint16_t kind = lead->c.event[event].kind;

	return hash_bytes(hash_bytes(HASH_START, &line, sizeof(line)), &kind, sizeof(kind));
}

static uint64_t shape_of_order(const struct lead *lead, unsigned order, struct places *places)
{
	uint64_t first = shape_of_event(lead, lead->c.order[order].first, places);
	uint64_t second = shape_of_event(lead, lead->c.order[order].second, places);

	return hash_bytes(hash_bytes(HASH_START, &first, sizeof(first)), &second, sizeof(second));
}

bool same_cause_implies(const struct lead *a, const struct lead *b, struct places *places)
{
	for (unsigned i = 0; i < b->c.orders; i++) {
		uint64_t wanted = shape_of_order(b, i, places);
		bool has = false;

		for (unsigned k = 0; k < a->c.orders && !has; k++)
			has = shape_of_order(a, k, places) == wanted;
		if (!has)
			return false;
	}
	return true;
}
