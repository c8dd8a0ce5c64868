#include <linux/membarrier.h>

#include "runtime/call.h"
#include "runtime/known.h"
#include "runtime/shadow_four.h"
#include "runtime/sys.h"

#define FIRST 4u	/* looks until something is learnt */
#define BEYOND 16u	/* units that are looked at on either side */
#define PAUSE 5u	/* looks from one site that is learnt to the next; odd, since loops have two or four */
#define LONG_PAUSE 63u	/* … if nothing stays as it is */
#define AROUND 256	/* granules that are looked at on either side */
#define LONG 4096u	/* bytes that no site is for */
#define KNOWERS 64u	/* the others never know of shared memory */

uint8_t snarlrt_stirred[(SHADOW_MAX_ID + 1u) * 64] SNARLRT_BIG;

/* Numbers in loop_end_x86_64.S. */
_Static_assert(KNOWN_UNIT_SHIFT == 8 && KNOWN_SLOT_SHIFT == 18 && KNOWN_COUNT_BITS == 26 && SNARLRT_KNOWN == 16 &&
	       offsetof(struct snarlrt_thread, known) == 608 && offsetof(struct snarlrt_thread, unlearnt) == 736, "numbers");

_Static_assert(offsetof(struct known_sites, unlearnt) == 8 && offsetof(struct known_sites, site) == 16 &&
	       sizeof(struct known_site) == 24 && offsetof(struct known_site, shared) == 16, "wrap/loops_end.c knows them");

__thread struct known_sites __snarl_known;

/* Threads that may know of shared memory, by their slots; whether there was ever one. */
static uint64_t knowers;
static uint16_t knower[KNOWERS];
static enum knowing { NEVER, SOON, EVER, UNABLE } knowing;

static void forget(struct snarlrt_thread *self)
{
	for (unsigned i = 0; i < SNARLRT_KNOWN; i++)
		__atomic_store_n(&self->known[i], 0, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < KNOWN_SITES; i++)
		__atomic_store_n(&__snarl_known.site[i].last, 0, __ATOMIC_RELAXED);
	if (self->slot < KNOWERS && __atomic_load_n(&knowers, __ATOMIC_RELAXED) >> self->slot & 1)
		__atomic_fetch_and(&knowers, ~(1ull << self->slot), __ATOMIC_RELAXED);
}

void known_init(struct snarlrt_thread *self)
{
	forget(self);
	self->unlearnt = FIRST;
	__snarl_known.unlearnt = __snarl_known.pause = PAUSE;
}

/* Whether it was stirred up. A full barrier if so: what is read of the shadow from here on is not older. */
static bool calm_down(struct snarlrt_thread *self, uint8_t *stirred)
{
	if (!__atomic_load_n(stirred, __ATOMIC_RELAXED))
		return false;
	forget(self);		/* before a signal's handler might believe it again */
	__atomic_exchange_n(stirred, 0, __ATOMIC_SEQ_CST);
	return true;
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
	if (snarlrt_handlers)
		return;
	calm_down(self, stirred);
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

/*
 * Until a thread wants to know of shared memory those who free it need no barrier between the shadow and the question who
 * knows: this is one for all of them.
 */
static bool begin_knowing(void)
{
	enum knowing state = NEVER;

	if (likely(__atomic_load_n(&knowing, __ATOMIC_RELAXED) == EVER))
		return true;
	if (!__atomic_compare_exchange_n(&knowing, &state, SOON, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		return false;
	if (sys_call(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0 ||
	    sys_call(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0)
		state = UNABLE;
	else
		state = EVER;
	__atomic_store_n(&knowing, state, __ATOMIC_RELEASE);
	return state == EVER;
}

/* From now on those who free shared memory stir us up. A full barrier, before the shadow is looked at. */
static bool become_knower(const struct snarlrt_thread *self, uint16_t own)
{
	uint64_t bit;

	if (self->slot >= KNOWERS || !begin_knowing())
		return false;
	bit = 1ull << self->slot;
	if (__atomic_load_n(&knowers, __ATOMIC_RELAXED) & bit)
		return true;
	__atomic_store_n(&knower[self->slot], own, __ATOMIC_RELAXED);
	__atomic_fetch_or(&knowers, bit, __ATOMIC_SEQ_CST);	/* known_stir_knowers reads it */
	return true;
}

static bool is_value(const uint16_t *s, uint64_t four)
{
	return *(const volatile uint16_t *)s == (uint16_t)four;
}

/* Sixteen granules: few branches, since mostly there are many of them. */
static inline __attribute__((always_inline)) bool are_value(const uint16_t *s, uint64_t four)
{
	return (((load_four(s) ^ four) | (load_four(s + 4) ^ four)) | ((load_four(s + 8) ^ four) | (load_four(s + 12) ^ four))) == 0;
}

/* Up to where granules have this value, four times; at most to, or a bit more than, there. */
static const uint16_t *same_up(const uint16_t *s, const uint16_t *most, uint64_t four)
{
	for (; (uint64_t)s % 8; s++)
		if (!is_value(s, four))
			return s;
	while (s + 16 <= most && are_value(s, four))
		s += 16;
	while (s < most && load_four(s) == four)
		s += 4;
	while (s < most && is_value(s, four))
		s++;
	return s;
}

/* Down to where. */
static const uint16_t *same_down(const uint16_t *s, const uint16_t *least, uint64_t four)
{
	for (; (uint64_t)s % 8; s--)
		if (!is_value(s - 1, four))
			return s;
	while (s - 16 >= least && are_value(s - 16, four))
		s -= 16;
	while (s > least && load_four(s - 4) == four)
		s -= 4;
	while (s > least && is_value(s - 1, four))
		s--;
	return s;
}

static void set_site(struct known_site *site, uint64_t first, uint64_t last, bool shared)
{
	__atomic_store_n(&site->last, 0, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);	/* a handler believes all of it or nothing */
	site->first = first;
	site->shared = shared;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&site->last, last, __ATOMIC_RELAXED);
}

void snarlrt_known_learn_site(uint64_t first, uint64_t last, uint32_t at)
{
	struct known_sites *sites = &__snarl_known;
	const uint16_t *s = shadow_of(first), *end = shadow_of(last) + 1, *low, *high;
	struct snarlrt_tls *tls = &__snarl_tls;
	struct snarlrt_thread *self = tls->self;
	uint16_t value;

	sites->unlearnt = sites->pause;
	if (!self || self->id > SHADOW_MAX_ID || snarlrt_handlers || last - first > LONG)
		return;
	sites->stirred = &snarlrt_stirred[(size_t)tls->own << 5];
	if (calm_down(self, (uint8_t *)sites->stirred))
		sites->pause = sites->pause * 2 < LONG_PAUSE ? sites->pause * 2 + 1 : LONG_PAUSE;
	else
		sites->pause = PAUSE;
	value = *(const volatile uint16_t *)s;
	if (value == SHADOW_SHARED ? !become_knower(self, tls->own) : value != tls->own)
		return;
	low = same_down(s, s - AROUND, value * EACH);
	high = same_up(s, end + AROUND, value * EACH);
	if (high >= end)
		set_site((struct known_site *)(void *)((char *)sites + at), granule_of(low) * 8, granule_of(high) * 8 - 1,
			 value == SHADOW_SHARED);
}

void known_stir_knowers(void)
{
	uint64_t all;

	__atomic_signal_fence(__ATOMIC_SEQ_CST);	/* the shadow was changed before; pairs with begin_knowing */
	if (__atomic_load_n(&knowing, __ATOMIC_RELAXED) == NEVER)
		return;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);	/* pairs with become_knower */
	for (all = __atomic_load_n(&knowers, __ATOMIC_RELAXED); all; all &= all - 1)
		known_stir(__atomic_load_n(&knower[__builtin_ctzll(all)], __ATOMIC_RELAXED));
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
