/*
 * Where all memory a loop touched is private or shared, and the ring needs no attention. Built
 * without vector registers (Makefile), which hold values of the caller.
 */
#include "runtime/clock.h"
#include "runtime/loop.h"

#define USER_END (1ull << 47)
#define FRAMES 8u		/* calls that may have to be told first */

/* Numbers in loop_x86_64.S. */
_Static_assert(offsetof(struct snarlrt, mode) == 0 && SNARLRT_RECORD == 1 && LOOP_DELIVER == 2, "numbers");

uint8_t __snarl_loops;

/* Hooks must see each access by itself in any other mode. */
void snarlrt_loops_allow(void)
{
	__snarl_loops = snarlrt.mode == SNARLRT_OFF ||
			(snarlrt.mode == SNARLRT_RECORD && snarlrt.filter && !snarlrt_timed &&
			 !snarlrt.profiling);
}

static inline const uint8_t *shadow_at(uint64_t addr)
{
	return (const uint8_t *)(SHADOW_BASE + (addr >> 3) * 2);
}

static inline uint16_t two(const uint8_t *s)
{
	return *(const volatile uint16_t *)(const void *)s;
}

static inline uint64_t eight(const uint8_t *s)
{
	uint64_t v;

	__builtin_memcpy(&v, s, sizeof(v));
	return v;
}

/* Memory without gaps. Eight bytes may be read where two are: there is shadow behind all memory. */
static inline bool all_are(const uint8_t *s, uint64_t bytes, uint16_t value)
{
	uint64_t four = value * 0x0001000100010001ull;

	for (; bytes > 8; bytes -= 8, s += 8)
		if (eight(s) != four)
			return false;
	return (eight(s) ^ four) << (64 - 8 * bytes) == 0;
}

static bool each_is(uint64_t addr, uint64_t stride, uint64_t turns, unsigned size, uint16_t value)
{
	for (; turns > 0; turns--, addr += stride)
		if (two(shadow_at(addr)) != value || two(shadow_at(addr + size - 1)) != value ||
		    (size > 8 && addr % 8))
			return false;
	return true;
}

enum verdict { PRIVATE, SHARED, MIXED };

/* What all the memory is that an access has touched. */
static inline enum verdict look(uint64_t first, uint64_t stride, uint64_t turns, unsigned size)
{
	bool down = (int64_t)stride < 0;
	uint64_t last = first + (turns - 1) * stride, step = down ? -stride : stride;
	uint64_t low = down ? last : first, high = (down ? first : last) + size - 1;
	uint16_t value;
	bool same;

	/* Few enough turns for nothing to overflow. */
	if (unlikely(low >= USER_END || high >= USER_END || step >= USER_END / TRACE_LOOP_TURNS))
		return MIXED;
	value = two(shadow_at(low));
	if (value != SHADOW_SHARED && value != __snarl_tls.own)
		return MIXED;
	if (step <= 8 || step <= size)
		same = all_are(shadow_at(low), ((high >> 3) - (low >> 3)) * 2 + 2, value);
	else
		same = each_is(first, stride, turns, size, value);
	if (!same)
		return MIXED;
	return value == SHADOW_SHARED ? SHARED : PRIVATE;
}

unsigned loop_sort(struct loop_told told[TRACE_LOOP_ACCESSES], const struct loop *l,
		   const uint64_t *values, uint32_t on, uint64_t from, uint64_t turns)
{
	unsigned count = 0;

	for (unsigned i = 0; i < l->accesses; i++, on >>= 1) {
		const struct loop_access *a = &l->access[i];
		struct loop_told *t = &told[count];
		enum verdict verdict;

		if (!(on & 1))
			continue;
		t->access = a;
		t->stride = loop_stride(a, values);
		t->first = loop_first(a, values) + from * t->stride;
		verdict = look(t->first, t->stride, turns, loop_access_size(a));
		if (verdict == MIXED)
			return LOOP_MIXED;
		count += verdict == SHARED;
	}
	return count;
}

static inline struct trace_record *put(struct trace_record *r, uint64_t addr, uint64_t site)
{
	volatile struct trace_record *to = --r;	/* in this order: a site makes its record valid */

	to->addr = addr;
	to->site = site;
	return r;
}

struct trace_record *loop_put(struct trace_record *end, const struct loop_told *told, unsigned count,
			      uint64_t turns)
{
	for (unsigned i = count; i-- > 0;) {
		const struct loop_told *t = &told[i];
		uint64_t site = TRACE_SITE(0, 0, t->access->site);

		if (likely(t->stride + 0x8000 < 0x10000)) {
			end = put(end, t->first | t->stride << 48, site | (uint64_t)t->access->op << 48);
		} else {
			end = put(end, t->first, site | (uint64_t)t->access->op << 48);
			end = put(end, t->stride, site | TRACE_SITE(TRACE_LOOP, 0, 0));
		}
	}
	return put(end, turns, TRACE_SITE(TRACE_LOOP, count, told->access->site));
}

/* With the calls around it; LOOP_SLOW if the ring needs attention. */
static inline enum loop_done append(const struct loop_told *told, unsigned count, uint64_t turns)
{
	struct snarlrt_tls *tls = &__snarl_tls;
	struct snarlrt_thread *self = tls->self;
	struct trace_record *cur = tls->cur ? tls->cur : tls->saved, *end, *at;
	unsigned frames = (unsigned)(tls->frame - tls->told), records = 1 + count + frames;
	bool stamp = turns * count >= LOOP_STAMP;

	for (unsigned i = 0; i < count; i++)
		records += told[i].stride + 0x8000 >= 0x10000;
	records += stamp;
	end = cur + records;
	if (unlikely((uintptr_t)cur % STAMP_BYTES == 0 || frames > FRAMES ||
		     (uintptr_t)cur % STAMP_BYTES + records * sizeof(*cur) > STAMP_BYTES))
		return LOOP_SLOW;
	at = stamp ? put(end, clock_now(self), TRACE_SITE(TRACE_STAMP, 0, 0)) : end;
	at = loop_put(at, told, count, turns);
	for (struct snarlrt_frame *f = tls->frame; f-- > tls->told;)
		at = put(at, f->caller & TRACE_ADDR_MASK, TRACE_SITE(TRACE_FUNC_ENTRY, 0, f->pc));
	tls->told = tls->frame;
	tls->cur = end;
	return LOOP_DONE;
}

enum loop_done snarlrt_loop_quick(const struct loop *l, const uint64_t *values)
{
	struct snarlrt_tls *tls = &__snarl_tls;
	uint64_t turns = loop_turns(l, values);
	struct loop_told told[TRACE_LOOP_ACCESSES];
	enum loop_done done;
	uint32_t on = ~0u;
	unsigned count;

	if (turns == 0)
		return LOOP_DONE;
	if (turns > TRACE_LOOP_TURNS || (unlikely(snarlrt_loop_lists) && !loop_sites_cached(l, &on)))
		return LOOP_SLOW;
	count = loop_sort(told, l, values, on, 0, turns);
	if (count == 0)
		return LOOP_DONE;
	if (count == LOOP_MIXED || unlikely(!tls->self || tls->busy || tls->hidden))
		return LOOP_SLOW;
	tls->busy = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	done = append(told, count, turns);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	tls->busy = 0;
	if (unlikely(tls->self->deferred_count) && done == LOOP_DONE)
		return LOOP_DELIVER;
	return done;
}
