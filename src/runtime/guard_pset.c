/*
 * PSet (Yu, Narayanasamy: ISCA 2009): an access that would immediately follow a place of another
 * thread that it never followed in a passing run is delayed until another one came in between.
 * What "immediately follow" means is in learn/pset.h; both sides count alike.
 *
 * Besides, a read that always found what another thread had left, and finds memory that nobody
 * has touched yet, waits for somebody to do so: the paper rolls back for that.
 */
#include "runtime/guard.h"

static int read_by(const struct cell *c, uint16_t serial)
{
	for (int i = (int)c->count - 1; i >= 0; i--)
		if (c->read[i].serial == serial)
			return i;
	return -1;
}

/* The one before that it must not follow; NULL: none. */
static const struct cell_last *stranger(const struct cell *c, const struct rules_place *place,
					bool write)
{
	uint16_t me = (uint16_t)watch_self.serial;
	const struct cell_last *w = &c->write;
	int own = read_by(c, me);

	if (write)
		for (int i = (int)c->count - 1; i > own; i--)
			if (!rules_follows(c->read[i].site, place->site))
				return &c->read[i];
	if (!w->site || w->serial == me || rules_follows(w->site, place->site))
		return NULL;
	if (write)
		return c->count == 0 ? w : NULL;
	return own < 0 && read_by(c, w->serial) < 0 ? w : NULL;
}

bool pset_conflict(struct cell *c, const struct rules_place *place, bool write,
		   struct guard_conflict *out)
{
	const struct cell_last *p;
	bool early;

	/* Who is in a transaction is waited for: it goes on. */
	if (!(place->flags & RULES_OPEN) || watch_me()->epoch & 1)
		return false;
	p = stranger(c, place, write);
	early = !write && !c->write.site && c->count == 0 && rules_has_list(place->site);
	if (!p && !early)
		return false;
	*out = (struct guard_conflict){ .kind = WATCHLOG_PSET,
					.site = p ? p->site : 0,
					.place = p ? p->place : WATCH_ANYBODY,
					.word = &c->version,
					.value = c->version };
	return true;
}

void pset_done(struct cell *c, const struct rules_place *place, bool write)
{
	struct cell_last now = { place->site, (uint16_t)watch_self.serial,
				 (uint16_t)(watch_self.place - 1) };
	int own;

	if (write) {
		c->write = now;
		c->count = 0;
		return;
	}
	own = read_by(c, now.serial);
	if (own < 0 && c->count < CELL_READS) {
		c->read[c->count++] = now;
		return;
	}
	/* Its old place goes, or, without room, the oldest. */
	for (uint32_t i = own < 0 ? 0 : (uint32_t)own; i + 1 < c->count; i++)
		c->read[i] = c->read[i + 1];
	c->read[c->count - 1] = now;
}
