/*
 * The parts of the history that every access runs through, inlined into atomicity.c and
 * history_cell.c. Most accesses find here that nothing about them is new.
 */
#ifndef ANALYZE_ATOMICITY_HISTORY_INLINE_H
#define ANALYZE_ATOMICITY_HISTORY_INLINE_H

#include "analyze/atomicity/history_slots.h"
#include "analyze/atomicity/history_single_pair.h"
#include "base/hash.h"

/*
 * Slow paths of history_lookup(): more memory; a line other than the latest; a cell that is new,
 * one of several, or a single pair.
 */
void history_make_room(struct history *h);
void history_enter_line(struct history *h, uint64_t line, uint32_t thread, unsigned g);
void history_lookup_slow(struct history *h, struct history_cell *first, uint32_t epoch,
			 uint8_t bytes, struct history_lookup *out);

/* False if the next access to a granule may need more memory than there is. */
static inline bool history_has_room(const struct history *h)
{
	return h->block_count <= h->block_threshold && h->unit_count <= h->unit_threshold &&
	       h->extent_count <= HISTORY_EXTENTS;
}

/* Updates the shared state of the granule for an access of `thread`, and completes *out. */
static inline void history_visit_shared(const struct history *h, unsigned g, uint32_t thread,
					uint32_t epoch, struct history_lookup *out)
{
	struct history_share *share = history_share(h, h->current.share, g);

	if (share->last_thread != thread) {
		share->last_thread = thread;
		out->undisturbed = false;
		if (share->ordered_epoch &&
		    !contexts_ordered(h->contexts, share->ordered_epoch, epoch))
			share->ordered_epoch = 0;
	}
	if (share->ordered_epoch)
		share->ordered_epoch = epoch;
	out->ordered = share->ordered_epoch != 0;
}

/*
 * Finds the thread's cell for these bytes of the granule, or makes it. `epoch` is that of the
 * access. The result is valid until the next call.
 */
static inline void history_lookup(struct history *h, uint64_t granule, uint32_t thread,
				  uint32_t epoch, uint8_t bytes, struct history_lookup *out)
{
	uint64_t line = granule / HISTORY_LINE;
	unsigned g = granule % HISTORY_LINE;
	struct history_cell *c;

	if (__builtin_expect(!history_has_room(h), 0))
		history_make_room(h);
	/* Mostly the access is to the line of the one before. */
	if (h->current.key != key_of(line, thread))
		history_enter_line(h, line, thread, g);
	c = history_cell(h, h->current.block, g);
	out->ordered = true;
	if (__builtin_expect(c->bytes == bytes && !c->next && !c->single_pair, 1)) {
		out->cell = out->recent = c;
		out->undisturbed = true;
	} else {
		history_lookup_slow(h, c, epoch, bytes, out);
	}
	if (out->cell->shared)
		history_visit_shared(h, g, thread, epoch, out);
}

static inline void *unit_at(const struct history *h, uint32_t unit)
{
	return h->units + (size_t)unit * HISTORY_UNIT;
}

static inline uint64_t *rep_keys(const struct history *h, const struct history_cell *c)
{
	return unit_at(h, c->reps + c->older_write_unit);
}

static inline struct access_context *older_write_of(const struct history *h,
						    const struct history_cell *c)
{
	return unit_at(h, c->reps);
}

static inline uint64_t *pair_keys(const struct history *h, const struct history_cell *c)
{
	return unit_at(h, c->pairs);
}

static inline bool is_noted(const struct history_cell *c)
{
	return c->last_flags & HISTORY_NOTED;
}

/* Returns the key of representative n: rep_key() of its context. */
static inline uint64_t history_rep_key(const struct history *h, const struct history_cell *c,
				       unsigned n)
{
	if (c->rep_count == 1)
		return rep_key(&c->last);
	return c->single_pair ? single_pair_rep_key(h, c, n) : rep_keys(h, c)[n];
}

#define TWO_CLOCKS (1ull << 63)

/*
 * The key of a pair. Lower half: hash of the shape. Upper half: the epoch of both accesses, or
 * TWO_CLOCKS and a hash of the two epochs.
 */
static inline uint64_t history_probe_key(const struct history_probe *p)
{
	uint64_t hash = hash_add(hash_add(0, (uint64_t)p->p->tag << 32 | p->i->tag),
				 (uint64_t)p->bytes << 8 | (uint64_t)p->cuts << 1 | p->spans_reads);

	for (unsigned i = 0; i < p->cuts; i++)
		hash = hash_add(hash, p->cut[i]);
	if (p->p->epoch == p->i->epoch)
		return (uint64_t)p->i->epoch << 32 | (uint32_t)hash;
	return TWO_CLOCKS | hash_add(hash_add(0, p->p->epoch), p->i->epoch) << 32 |
	       (uint32_t)hash;
}

/*
 * Returns the index of `key`, `count` if there is none. Tries the one found last and its successor
 * first: code that runs again makes the same accesses and pairs in the same order.
 */
static inline unsigned key_find(const uint64_t *keys, unsigned count, unsigned last, uint64_t key)
{
	unsigned i = 0;

	if (last < count && keys[last] == key)
		return last;
	if (last + 1 < count && keys[last + 1] == key)
		return last + 1;
	while (i < count && keys[i] != key)
		i++;
	return i;
}

/*
 * True if the cell has a representative with this key (signature and epoch). Else *new_signature is
 * true if the search found none with this signature under any epoch.
 */
static inline bool history_has_key(const struct history *h, struct history_cell *c, uint64_t key,
				   bool *new_signature)
{
	unsigned n = c->rep_hint, count = c->rep_count;
	const uint64_t *keys = rep_keys(h, c);

	*new_signature = false;
	if (rep_key(&c->last) == key && is_noted(c))
		return true;
	if (count <= 1)
		return false;
	if (n < count && keys[n] == key)
		return true;
	if (n + 1 < count && keys[n + 1] == key) {
		c->rep_hint = (uint8_t)(n + 1);
		return true;
	}
	*new_signature = true;
	for (n = 0; n < count; n++) {
		if ((uint32_t)keys[n] != (uint32_t)key)
			continue;
		*new_signature = false;
		if (keys[n] == key) {
			c->rep_hint = (uint8_t)n;
			return true;
		}
	}
	return false;
}

static inline bool history_has(const struct history *h, struct history_cell *c,
			       const struct access_context *now, bool *new_signature)
{
	return history_has_key(h, c, rep_key(now), new_signature);
}

/* True if the cell has a pair like the probe. */
static inline bool history_has_pair(const struct history *h, struct history_cell *c,
				    const struct history_probe *probe)
{
	unsigned n = key_find(pair_keys(h, c), c->pair_count, c->pair_hint, probe->key);

	if (n == c->pair_count)
		return false;
	c->pair_hint = (uint8_t)n;
	return true;
}

/*
 * The functions below take cells of the current line, so they find its shared state by
 * h->current.share.
 */

/* Returns the current line's first block, which has the members that concern the whole line. */
static inline struct history_block *history_leader(const struct history *h)
{
	return &h->blocks[h->blocks[h->current.block].leader];
}

/* True if a thread other than the cell's wrote to the granule. */
static inline bool history_written(const struct history *h, const struct history_cell *c)
{
	uint32_t writer = 0;

	if (h->current.share)
		writer = history_share(h, h->current.share, history_granule_of(h, c))->writer;
	return writer &&
	       (writer == HISTORY_MANY || writer != h->blocks[history_block_of(h, c)].thread);
}

/*
 * Returns the kinds of the cell's granule, which include the cell's own. NULL if few threads share
 * the line, or if there are too many kinds. Valid until an access or pair is noted.
 */
static inline struct history_kinds *history_kinds_here(struct history *h,
						       const struct history_cell *c)
{
	uint32_t unit;
	struct history_kinds *k;

	if (!h->current.share)
		return NULL;
	unit = history_share(h, h->current.share, history_granule_of(h, c))->kinds;
	if (!unit && history_leader(h)->other_blocks < HISTORY_MANY_BLOCKS)
		return NULL;
	if (!unit)
		return history_kinds_make(h, c);
	k = unit_at(h, unit);
	return k->count[0] == HISTORY_UNKNOWN ? NULL : k;
}

/* Returns where the unit of the granule's kinds is stored; NULL if there are no kinds yet. */
static inline uint32_t *history_kinds_unit(struct history *h, const struct history_cell *c)
{
	uint32_t *unit =
		c->shared ? &history_share(h, h->current.share, history_granule_of(h, c))->kinds
			  : NULL;

	return unit && *unit ? unit : NULL;
}

static inline void history_kinds_note(struct history *h, const struct history_cell *c,
				      uint32_t signature)
{
	uint32_t *unit = history_kinds_unit(h, c);

	if (unit)
		history_kinds_access(h, unit, signature);
}

/* True if some thread may have a pair of two writes at the cell's granule. */
static inline bool history_has_write_pair(const struct history *h, const struct history_cell *c)
{
	return history_leader(h)->write_pairs >> history_granule_of(h, c) & 1;
}

/*
 * Updates the granule's state for a new pair of the cell. `both` are the enum access bits that both
 * accesses of the pair have.
 */
static inline void history_pair_noted(struct history *h, const struct history_cell *c,
				      uint32_t shape, unsigned both)
{
	uint32_t *unit = history_kinds_unit(h, c);

	if (both & ACCESS_WRITE)
		history_leader(h)->write_pairs |= 1u << history_granule_of(h, c);
	if (unit)
		history_kinds_pair(h, unit, shape);
}

/* Notes the first access to the cell. history_set_last() makes it the only representative. */
static inline void history_note_first(struct history *h, struct history_cell *c,
				      const struct access_context *now)
{
	history_kinds_note(h, c, now->tag);
	c->rep_count = 1;
}

/* For history_set_last(): the last access becomes the older write, because a read follows it. */
void history_set_older_write(struct history *h, struct history_cell *c);

/* Ends an access: makes it the cell's last one. The caller has to set c->last afterwards. */
static inline void history_set_last_flags(struct history *h, struct history_cell *c,
					  const struct history_signature *signature, bool noted)
{
	if (signature->access & ACCESS_WRITE) {
		c->older_write = 0;
		if (!c->wrote) {
			if (h->current.share)
				history_wrote(h, c);
			c->wrote = 1;
		}
	} else if (c->last_flags & ACCESS_WRITE) {
		history_set_older_write(h, c);
	}
	c->last_flags = (uint8_t)(signature->access | (signature->own_read ? HISTORY_OWN_READ : 0) |
				  (noted ? HISTORY_NOTED : 0));
}

static inline void history_set_last(struct history *h, struct history_cell *c,
				    const struct access_context *now,
				    const struct history_signature *signature, bool noted)
{
	history_set_last_flags(h, c, signature, noted);
	c->last = *now;
}

/* Returns the cell's last write, if reads followed it (c->older_write). */
static inline const struct access_context *history_older_write(const struct history *h,
							       const struct history_cell *c)
{
	return older_write_of(h, c);
}

#endif
