/*
 * The memory of a profile: allocation without freeing, hash tables, and the handling of references
 * that other code has overwritten.
 */
#include "abi/mix.h"
#include "coverage/fold/fold_internal.h"

static void damaged(struct iroot_profile *p)
{
	p->damaged = 1;
	p->limit = 0;
}

void *iroot_bad_ref(const struct iroot_profile *profile, uint32_t ref)
{
	struct iroot_profile *p = (struct iroot_profile *)(uintptr_t)profile;

	if (ref)
		damaged(p);
	for (size_t i = 0; i < sizeof(p->zero_piece) / sizeof(p->zero_piece[0]); i++)
		p->zero_piece[i] = 0;
	return p->zero_piece;
}

uint32_t iroot_alloc(struct iroot_profile *p, uint64_t bytes)
{
	uint64_t at = p->used, end = at + ((bytes + 7) & ~7ull);

	if (end > p->size - IROOT_MAX_PIECE) {
		p->lost++;
		return 0;
	}
	p->used = end;
	return (uint32_t)(at / 8);
}

struct slot {
	uint64_t key;		/* 0: free */
	uint32_t value, pad;
};

static struct slot *find(struct slot *slots, uint32_t mask, uint64_t key)
{
	uint32_t i = (uint32_t)(key >> 20) & mask;

	for (uint32_t n = 0; n < mask && slots[i].key != 0 && slots[i].key != key; n++)
		i = (i + 1) & mask;
	return &slots[i];
}

/* The table has slots, and all of them lie in the memory. */
static bool has_slots(struct iroot_profile *p, const struct iroot_table *t)
{
	uint64_t end = t->slots * 8ull + (t->mask + 1ull) * sizeof(struct slot);

	if (!t->slots)
		return false;
	if (t->mask & (t->mask + 1) || end > p->size)
		damaged(p);
	return !p->damaged;
}

/* Doubles the slots. The old arrays are not reused: together they are as large as the new one. */
static bool grow(struct iroot_profile *p, struct iroot_table *t)
{
	uint32_t mask = t->slots ? t->mask * 2 + 1 : 63;
	uint32_t ref = iroot_alloc(p, (mask + 1ull) * sizeof(struct slot));
	struct slot *old = iroot_at(p, t->slots), *slots = iroot_at(p, ref);

	if (!ref)
		return false;
	for (uint32_t i = 0; t->slots && i <= t->mask; i++)
		if (old[i].key) {
			struct slot *s = find(slots, mask, old[i].key);

			s->key = old[i].key;
			s->value = old[i].value;
		}
	t->slots = ref;
	t->mask = mask;
	return true;
}

/* Mixes a key for find(); 0 is a free slot. Different keys stay different. */
static uint64_t slot_key(uint64_t key)
{
	key = mix_add(key ^ key >> 32, 0);
	return key ? key : 1;
}

uint32_t *iroot_table_put(struct iroot_profile *p, struct iroot_table *t, uint64_t key, bool *added)
{
	struct slot *s;

	key = slot_key(key);
	if (has_slots(p, t)) {
		s = find(iroot_at(p, t->slots), t->mask, key);
		*added = s->key == 0;
		if (!*added)
			return &s->value;
	}
	if (p->damaged || ((!t->slots || t->count + 1 > t->mask / 4 * 3) && !grow(p, t)))
		return NULL;
	s = find(iroot_at(p, t->slots), t->mask, key);
	s->key = key;
	t->count++;
	*added = true;
	return &s->value;
}

uint32_t iroot_table_get(const struct iroot_profile *p, const struct iroot_table *t, uint64_t key)
{
	return has_slots((struct iroot_profile *)(uintptr_t)p, t) ?
	       find(iroot_at(p, t->slots), t->mask, slot_key(key))->value : 0;
}
