/*
 * Which events of a trace are the ones that bug.json names? It knows thread, place and
 * operation, which may have been there many times; the goals of the schedule know
 * which time, if the order was predicted. Otherwise those on the same object nearest to
 * each other are taken, in the order of the list if there are some.
 */
#ifndef REPORT_LOCATE_H
#define REPORT_LOCATE_H

#include "base/map.h"
#include "report/model.h"
#include "symbol/object.h"
#include "symbol/symbol.h"
#include "trace/read/reader.h"

#define FIND_SITES 64u		/* more are left out */

struct found {
	uint64_t ordinal;	/* among all events of the trace but values, from 0 */
	uint64_t addr, size;
};

/*
 * Places of pcs, each looked up once. A label of a text trace that looks like FILE:LINE or
 * FUNCTION:FILE:LINE is such a place.
 */
struct lookup {
	struct symbols *symbols;
	struct reader *reader;
	struct pool names;	/* of labels */
	struct map index;	/* pc to place + 1 */
	struct lookup_place {
		struct symbol_frame frame;	/* symbol_own_frame() */
		uint64_t sites;		/* bit set: sites at this line */
	} *places;
	size_t count, capacity;
	const struct report_bug *bug;
};

void lookup_free(struct lookup *l);
const struct lookup_place *lookup_place(struct lookup *l, uint64_t pc);

/* Where a block was allocated, if only a label says so. */
void lookup_origin(struct lookup *l, struct object *object);

/* Appends what an object is called, whether it is gone or not. */
void lookup_object(struct lookup *l, const struct object *object, struct buf *out);

/*
 * For each of the bug's first FIND_SITES sites; true in `has` where an event was found. Reads the
 * trace from where it stands to its end. -1 if it is damaged; what was found before counts.
 */
int find_sites(const struct report_bug *b, struct reader *r, struct lookup *l,
	       struct found *out, bool *has, struct err *err);

/* A site of `b` that the run came to and never got past: it stands or failed there, and there is no event of it. */
bool find_pending(const struct report_bug *b, const struct report_site *s);

#endif
