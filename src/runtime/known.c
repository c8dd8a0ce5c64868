#include "runtime/known.h"

#define FIRST 4u	/* looks until something is learnt */
#define BEYOND 16u	/* units that are looked at on either side */

uint8_t snarlrt_stirred[(SHADOW_MAX_ID + 1u) * 64] SNARLRT_BIG;

/* Numbers in loop_end_x86_64.S. */
_Static_assert(KNOWN_UNIT_SHIFT == 8 && KNOWN_SLOT_SHIFT == 18 && KNOWN_COUNT_BITS == 26 && SNARLRT_KNOWN == 16 &&
	       offsetof(struct snarlrt_thread, known) == 608 && offsetof(struct snarlrt_thread, unlearnt) == 736, "numbers");

static void forget(struct snarlrt_thread *self)
{
	for (unsigned i = 0; i < SNARLRT_KNOWN; i++)
		__atomic_store_n(&self->known[i], 0, __ATOMIC_RELAXED);
}

void known_init(struct snarlrt_thread *self)
{
	forget(self);
	self->unlearnt = FIRST;
}

static bool is_own(uint64_t unit, uint64_t own4)
{
	const volatile uint64_t *at = (const volatile uint64_t *)(unit << KNOWN_UNIT_SHIFT);

	for (unsigned i = 0; i < (1u << KNOWN_UNIT_SHIFT) / sizeof(*at); i++)
		if (at[i] != own4)
			return false;
	return true;
}

void snarlrt_known_learn(const uint16_t *first, const uint16_t *end)
{
	struct snarlrt_tls *tls = &__snarl_tls;
	struct snarlrt_thread *self = tls->self;
	uint64_t *slot = &self->known[(uint64_t)first >> KNOWN_SLOT_SHIFT & (SNARLRT_KNOWN - 1)];
	uint64_t low = ((uint64_t)first >> KNOWN_UNIT_SHIFT) - BEYOND, high = ((uint64_t)end >> KNOWN_UNIT_SHIFT) + BEYOND;
	uint64_t from = low / 2 + high / 2, to = from, known, start, units;
	uint8_t *stirred = &snarlrt_stirred[(size_t)tls->own << 5];

	/* Never so many that it is at the same place each time round. */
	self->unlearnt = 4 + (++self->learnt * 5 & 7);
	/* A full barrier: what is read of the shadow from here on is not older. */
	if (__atomic_load_n(stirred, __ATOMIC_RELAXED) && __atomic_exchange_n(stirred, 0, __ATOMIC_SEQ_CST))
		forget(self);
	while (from > low && is_own(from - 1, tls->own4))
		from--;
	while (to < high && is_own(to, tls->own4))
		to++;
	if (from == to)
		return;
	known = __atomic_load_n(slot, __ATOMIC_RELAXED);
	start = known >> KNOWN_COUNT_BITS;
	units = known & ((1u << KNOWN_COUNT_BITS) - 1);
	if (units && from <= start + units && start <= to) {
		from = from < start ? from : start;
		to = to > start + units ? to : start + units;
	}
	if (to - from < 1u << KNOWN_COUNT_BITS)
		__atomic_store_n(slot, from << KNOWN_COUNT_BITS | (to - from), __ATOMIC_RELAXED);
}

void known_owners(struct known_owners *o, const uint16_t *first, const uint16_t *end)
{
	uint16_t last = 0;

	o->count = 0;
	for (; first < end; first++) {
		uint16_t own = *first;

		if (own == last || own == 0 || own >= SHADOW_TIMED)
			continue;
		last = own;
		if (o->count < ARRAY_SIZE(o->own))
			o->own[o->count] = own | 1;
		o->count++;
	}
}

void known_stir_all(const struct known_owners *o)
{
	uint32_t all = __atomic_load_n(&snarlrt.next_thread, __ATOMIC_RELAXED);

	if (o->count <= ARRAY_SIZE(o->own)) {
		for (unsigned i = 0; i < o->count; i++)
			known_stir(o->own[i]);
		return;
	}
	for (uint32_t id = 1; id <= all && id <= SHADOW_MAX_ID; id++)
		known_stir((uint16_t)(id * 2 + 1));
}
