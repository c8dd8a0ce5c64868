/*
 * What memory a loop touched, and its group of records, where the ring needs no attention. Built
 * without vector registers (Makefile), which hold values of the caller.
 */
#include "runtime/hooks/loop.h"
#include "runtime/record/clock.h"
#include "runtime/record/shadow.h"

#define LONGEST (SHADOW_USER_END / TRACE_LOOP_TURNS)	/* stride, either way */
#define FRAMES 8u		/* calls that may have to be told first */
/* Turns whose shadow is scanned before it is asked whether it is mixed */
#define AT_ONCE 64u

/* What memory may be, a bit each. */
#define PRIVATE (1u << SHADOW_DROP)
#define UNDECIDED (1u << SHADOW_UNDECIDED)
#define SHARED (1u << SHADOW_KEEP)
#define UNKNOWN 0u

static inline const uint8_t *shadow_at(uint64_t addr)
{
	return (const uint8_t *)shadow_of(addr);
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

/*
 * Memory without gaps, the shadow of at least one granule. Eight bytes may be read where two are: there
 * is shadow behind all memory.
 */
static inline bool all_are(const uint8_t *s, const uint8_t *last, uint64_t four)
{
	for (; s + 30 <= last; s += 32)
		if (eight(s) != four || eight(s + 8) != four || eight(s + 16) != four || eight(s + 24) != four)
			return false;
	for (; s + 6 <= last; s += 8)
		if (eight(s) != four)
			return false;
	return s > last || (eight(s) ^ four) << (48 - 8 * (last - s)) == 0;
}

/* Of memory where one value is everywhere. */
static inline unsigned kind_of(uint16_t value, uint16_t own)
{
	if (value == own)
		return PRIVATE;
	if (value == SHADOW_SHARED)
		return SHARED;
	return value != 0 && (value | 1) == own ? UNDECIDED : UNKNOWN;
}

static inline bool is_mixed(unsigned found)
{
	return found & PRIVATE && found & SHARED;
}

/* As many turns as are all the same value, some at a time: `block` of them in 16 bytes of shadow. */
static uint64_t scan_turns(uint64_t addr, uint64_t stride, uint64_t turns, uint64_t four, uint64_t mask)
{
	unsigned block = stride == 16 ? 4 : 2, some = AT_ONCE;
	uint64_t done = 0;

	if (stride == 16)
		mask |= mask << 32;
	while (turns - done >= block) {
		if (turns - done < some)
			some = (unsigned)(turns - done) & -block;
		if (!snarlrt_loop_scan(shadow_at(addr + done * stride), some / block, four, mask))
			break;
		done += some;
	}
	return done;
}

/* Memory with gaps, turn by turn, up to where it is mixed: so many turns are left. */
static __attribute__((noinline)) unsigned look_apart(uint64_t addr, uint64_t stride, uint64_t *turns,
						     unsigned size, uint16_t own)
{
	/* Whether each turn's is in one granule, 16 bytes in two. */
	bool aligned = ((addr | stride) & (size < 8 ? size - 1 : 7)) == 0;
	uint64_t last = addr + (*turns - 1) * stride + size - 1, mask = size > 8 ? 0xffffffff : 0xffff, each, t = 0;
	unsigned found = 0, kind, now;
	uint16_t value;

	/* Few enough turns for others not to overflow. */
	if (stride + LONGEST >= 2 * LONGEST || (addr | last) >= SHADOW_USER_END - 16)
		return UNKNOWN;
	value = two(shadow_at(addr));
	each = value * SHADOW_FOUR & mask;
	kind = kind_of(value, own);
	/* Pairs of eight bytes, or of 16: many at once. */
	if (aligned && *turns >= 8 && (stride == 16 || stride == 32) && kind)
		t = scan_turns(addr, stride, *turns, value * SHADOW_FOUR, mask);
	if (t > 0)
		found = kind;
	for (addr += t * stride; t < *turns; t++, addr += stride) {
		uint64_t seen = eight(shadow_at(addr)) & mask;

		if (seen != each) {
			each = (uint16_t)seen * SHADOW_FOUR & mask;
			kind = kind_of((uint16_t)seen, own);
		}
		now = kind && aligned && seen == each ? kind : 1u << shadow_touch(addr, size);
		if (is_mixed(found | now))
			break;
		found |= now;
	}
	*turns = t;
	return found;
}

/* Memory without gaps, of more than one kind. */
static __attribute__((noinline)) unsigned look_on(uint64_t first, uint64_t stride, uint64_t *turns, unsigned size)
{
	uint64_t all = (*turns - 1) * stride + size, some = all;
	unsigned found;

	if ((int64_t)stride < 0)
		return shadow_touch_all(first + (*turns - 1) * stride, size - (*turns - 1) * stride);
	found = shadow_touch_run(first, &some);
	if (some == all)
		return found;
	if (some < size || stride == 0)
		return PRIVATE | SHARED;
	*turns = (some - size) / stride + 1;
	return found;
}

/*
 * What the memory is that an access has touched. What is nobody's becomes ours, what is others' shared. Where it is mixed
 * only turns before that may be left; if not, it says so.
 */
static inline __attribute__((always_inline)) unsigned look(uint64_t first, uint64_t stride, uint64_t *turns,
							   unsigned size, uint16_t own)
{
	uint64_t low = first, high = first + (*turns - 1) * stride;
	uint16_t value;
	unsigned kind;

	if (unlikely(stride + 8 > 16 && stride != size))
		return look_apart(first, stride, turns, size, own);
	if (unlikely((int64_t)stride < 0)) {
		low = high;
		high = first;
	}
	high += size - 1;
	if (unlikely((low | high) >> 47))
		return UNKNOWN;
	value = two(shadow_at(low));
	kind = kind_of(value, own);
	if (likely(kind) && all_are(shadow_at(low), shadow_at(high), value * SHADOW_FOUR))
		return kind;
	return look_on(first, stride, turns, size);
}

unsigned loop_group(struct trace_record group[TRACE_LOOP_RECORDS], const struct loop *l,
		    const uint64_t *values, uint64_t from, uint64_t *turns, uint32_t *undecided)
{
	const struct loop_access *a = l->access, *end = a + l->accesses;
	struct trace_record *r = group + 1;
	uint8_t found_of[TRACE_LOOP_ACCESSES], *found_at = found_of;
	unsigned count = 0, open = 0;

	for (; a < end; a++) {
		uint64_t stride = loop_stride(a, values);
		uint64_t first = loop_first(a, values) + from * stride;
		unsigned found, same = loop_same_before(a);

		found = same ? found_at[-(int)same] : look(first, stride, turns, loop_access_size(a), __snarl_tls.own);
		*found_at++ = (uint8_t)found;
		if (found == PRIVATE)
			continue;
		if (found == UNKNOWN || is_mixed(found))
			return LOOP_MIXED;
		open += (found & UNDECIDED) != 0;
		r = trace_loop_put(r, first, stride, a->site);
		count++;
	}
	*undecided = open * (uint32_t)*turns;
	if (count == 0)
		return 0;
	trace_loop_head(group, *turns, count);
	return (unsigned)(r - group);
}

/* A site makes its record valid, and that of the first all of them: it goes in last. */
static inline struct trace_record *put(struct trace_record *end, uint64_t addr, uint64_t site)
{
	volatile struct trace_record *to = --end;

	to->addr = addr;
	to->site = site;
	return end;
}

/*
 * With the calls around it; LOOP_SLOW if the ring is full. Accesses have no times of their own: there is
 * one in each page of the ring, and behind a long loop.
 */
static inline enum loop_done append(const struct trace_record *group, unsigned count)
{
	struct snarlrt_tls *tls = &__snarl_tls;
	struct snarlrt_thread *self = tls->self;
	struct trace_record *cur = tls->cur ? tls->cur : tls->saved, *end, *at;
	unsigned frames = (unsigned)(tls->frame - tls->told);
	bool stamp;

	end = cur + frames + count;
	stamp = loop_is_long(group) || (((uintptr_t)cur - 1) ^ ((uintptr_t)end - 1)) >= STAMP_BYTES;
	at = end += stamp;
	if (unlikely(frames > FRAMES || end >= self->ring_end))
		return LOOP_SLOW;
	if (unlikely(stamp))
		at = put(at, clock_now(self), TRACE_SITE(TRACE_STAMP, 0, 0));
	while (count-- > 0)
		at = put(at, group[count].addr, group[count].site);
	for (struct snarlrt_frame *f = tls->frame; f-- > tls->told;) {
		self->quiet[f->pc % SNARLRT_QUIET] = 0;
		at = put(at, f->caller & TRACE_ADDR_MASK, TRACE_SITE(TRACE_FUNC_ENTRY, 0, f->pc));
	}
	tls->told = tls->frame;
	tls->cur = end;
	return LOOP_DONE;
}

static inline bool is_quiet(const struct snarlrt_tls *tls)
{
	return likely(tls->self && !tls->busy && !tls->hidden);
}

static inline enum loop_done tell(const struct trace_record *group, unsigned count, uint32_t undecided)
{
	struct snarlrt_tls *tls = &__snarl_tls;
	enum loop_done done;

	if (!is_quiet(tls))
		return LOOP_SLOW;
	tls->busy = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	done = append(group, count);
	if (done == LOOP_DONE)
		loop_count(tls->self, group, count, undecided);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	tls->busy = 0;
	if (unlikely(tls->self->deferred_count) && done == LOOP_DONE)
		return LOOP_DELIVER;
	return done;
}

enum loop_done snarlrt_loop_tell(struct trace_record *group, struct trace_record *end, uint64_t turns)
{
	unsigned count = (unsigned)(end - group);

	trace_loop_head(group, turns, count - 1);
	return tell(group, count, 0);
}

enum loop_done snarlrt_loop_quick(const struct loop *l, const uint64_t *values)
{
	struct trace_record group[TRACE_LOOP_RECORDS];
	uint64_t turns = loop_turns(l, values), some = turns;
	uint32_t undecided;
	unsigned count;

	if (turns == 0)
		return LOOP_DONE;
	if (!is_quiet(&__snarl_tls) || turns > TRACE_LOOP_TURNS)
		return LOOP_SLOW;
	count = loop_group(group, l, values, 0, &some, &undecided);
	if (count == LOOP_MIXED || some != turns)
		return LOOP_SLOW;
	return count == 0 ? LOOP_DONE : tell(group, count, undecided);
}
