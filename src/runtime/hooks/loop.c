/*
 * Updates the shadow of the memory that a loop accessed, makes the group of records, and appends it
 * if the ring has room. Compiled without vector registers (Makefile): they hold values of the
 * program, and __snarl_loop does not save them before it calls these functions.
 */
#include "runtime/hooks/loop.h"
#include "runtime/record/clock.h"
#include "runtime/record/shadow.h"

/* The largest stride, up or down, with which no address of a group can overflow. */
#define MAX_STRIDE (SHADOW_USER_END / TRACE_LOOP_ITERATIONS)
#define FRAMES 8u	/* most pending function entries that the fast path records */
#define AT_ONCE 64u	/* iterations scanned per call; if one differs, each is checked by itself */

/* States of memory, one bit each. */
#define PRIVATE (1u << SHADOW_DROP)
#define UNDECIDED (1u << SHADOW_UNDECIDED)
#define SHARED (1u << SHADOW_KEEP)
#define UNKNOWN 0u

static inline const uint8_t *shadow_at(uint64_t addr)
{
	return (const uint8_t *)shadow_of(addr);
}

static inline uint16_t one_word(const uint8_t *s)
{
	return *(const volatile uint16_t *)(const void *)s;
}

static inline uint64_t four_words(const uint8_t *s)
{
	uint64_t v;

	__builtin_memcpy(&v, s, sizeof(v));
	return v;
}

/*
 * True if the shadow words from `s` to `last`, both included, have one value; `four` is that value
 * four times. May read 6 bytes behind `last`: there is shadow behind all memory.
 */
static inline bool all_are(const uint8_t *s, const uint8_t *last, uint64_t four)
{
	for (; s + 30 <= last; s += 32)
		if (four_words(s) != four || four_words(s + 8) != four ||
		    four_words(s + 16) != four || four_words(s + 24) != four)
			return false;
	for (; s + 6 <= last; s += 8)
		if (four_words(s) != four)
			return false;
	return s > last || (four_words(s) ^ four) << (48 - 8 * (last - s)) == 0;
}

/* The state of memory whose shadow words all have this value; UNKNOWN: call shadow_touch(). */
static inline unsigned state_of(uint16_t value, uint16_t own)
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

/*
 * For strides 16 and 32: returns the number of iterations, from the first one on, whose shadow
 * words have the value in `four`; it may be up to a batch too low. `mask` selects the words of an
 * iteration. 16 bytes of shadow are `block` iterations.
 */
static uint64_t scan_iterations(uint64_t addr, uint64_t stride, uint64_t iterations, uint64_t four,
				uint64_t mask)
{
	unsigned block = stride == 16 ? 4 : 2, batch = AT_ONCE;
	uint64_t done = 0;

	if (stride == 16)
		mask |= mask << 32;
	while (iterations - done >= block) {
		if (iterations - done < batch)
			batch = (unsigned)(iterations - done) & -block;
		if (!snarlrt_loop_scan(shadow_at(addr + done * stride), batch / block, four, mask))
			break;
		done += batch;
	}
	return done;
}

/*
 * touch() for an access with gaps between its iterations. Stops where the memory would be mixed:
 * *iterations becomes the number of iterations before that.
 */
static __attribute__((noinline)) unsigned touch_strided(uint64_t addr, uint64_t stride,
						       uint64_t *iterations, unsigned size,
						       uint16_t own)
{
	/* Each iteration's access lies in one granule, or if 16 bytes long in two. */
	bool aligned = ((addr | stride) & (size < 8 ? size - 1 : 7)) == 0;
	uint64_t last = addr + (*iterations - 1) * stride + size - 1;
	uint64_t mask = size > 8 ? 0xffffffff : 0xffff, each, t = 0;
	unsigned found = 0, state, now;
	uint16_t value;

	if (stride + MAX_STRIDE >= 2 * MAX_STRIDE || (addr | last) >= SHADOW_USER_END - 16)
		return UNKNOWN;
	value = one_word(shadow_at(addr));
	each = value * SHADOW_FOUR & mask;
	state = state_of(value, own);
	/* Every second granule, or every second pair of granules: many iterations at once. */
	if (aligned && *iterations >= 8 && (stride == 16 || stride == 32) && state)
		t = scan_iterations(addr, stride, *iterations, value * SHADOW_FOUR, mask);
	if (t > 0)
		found = state;
	for (addr += t * stride; t < *iterations; t++, addr += stride) {
		uint64_t seen = four_words(shadow_at(addr)) & mask;

		if (seen != each) {
			each = (uint16_t)seen * SHADOW_FOUR & mask;
			state = state_of((uint16_t)seen, own);
		}
		now = state && aligned && seen == each ? state : 1u << shadow_touch(addr, size);
		if (is_mixed(found | now))
			break;
		found |= now;
	}
	*iterations = t;
	return found;
}

/*
 * touch() for an access without gaps whose shadow words differ. Stops where the memory would be
 * mixed: *iterations becomes the number of iterations before that. If that number is not known, the
 * result has both PRIVATE and SHARED.
 */
static __attribute__((noinline)) unsigned touch_mixed(uint64_t first, uint64_t stride,
						     uint64_t *iterations, unsigned size)
{
	uint64_t all = (*iterations - 1) * stride + size, some = all;
	unsigned found;

	if ((int64_t)stride < 0)
		return shadow_touch_all(first + (*iterations - 1) * stride,
					size - (*iterations - 1) * stride);
	found = shadow_touch_run(first, &some);
	if (some == all)
		return found;
	if (some < size || stride == 0)
		return PRIVATE | SHARED;
	*iterations = (some - size) / stride + 1;
	return found;
}

/*
 * Updates the shadow of the memory that an access touched in *iterations iterations: untouched
 * memory becomes the thread's own, other threads' memory shared. Returns the set of states found,
 * or UNKNOWN if the addresses are invalid. If the memory is mixed, part private and part shared,
 * *iterations becomes the number of iterations before it is, or the set has both states.
 */
static inline __attribute__((always_inline)) unsigned touch(uint64_t first, uint64_t stride,
							    uint64_t *iterations,
							    unsigned size, uint16_t own)
{
	uint64_t low = first, high = first + (*iterations - 1) * stride;
	uint16_t value;
	unsigned state;

	if (unlikely(stride + 8 > 16 && stride != size))
		return touch_strided(first, stride, iterations, size, own);
	if (unlikely((int64_t)stride < 0)) {
		low = high;
		high = first;
	}
	high += size - 1;
	if (unlikely((low | high) >> 47))
		return UNKNOWN;
	value = one_word(shadow_at(low));
	state = state_of(value, own);
	if (likely(state) && all_are(shadow_at(low), shadow_at(high), value * SHADOW_FOUR))
		return state;
	return touch_mixed(first, stride, iterations, size);
}

unsigned loop_make_group(struct trace_record group[TRACE_LOOP_RECORDS], const struct loop *l,
			 const uint64_t *values, uint64_t from, uint64_t *iterations,
			 uint32_t *undecided)
{
	const struct loop_access *a = l->access, *end = a + l->accesses;
	struct trace_record *r = group + 1;
	uint8_t found_of[TRACE_LOOP_ACCESSES], *found_at = found_of;
	unsigned count = 0, unclear = 0;

	for (; a < end; a++) {
		uint64_t stride = loop_stride(a, values);
		uint64_t first = loop_first_address(a, values) + from * stride;
		unsigned found, same = loop_equal_before(a);

		found = same ? found_at[-(int)same]
			     : touch(first, stride, iterations, loop_access_size(a),
				     __snarl_tls.own);
		*found_at++ = (uint8_t)found;
		if (found == PRIVATE)
			continue;
		if (found == UNKNOWN || is_mixed(found))
			return LOOP_MIXED;
		unclear += (found & UNDECIDED) != 0;
		r = trace_loop_put(r, first, stride, a->site);
		count++;
	}
	*undecided = unclear * (uint32_t)*iterations;
	if (count == 0)
		return 0;
	trace_loop_head(group, *iterations, count);
	return (unsigned)(r - group);
}

/*
 * Writes the record before `end`, and returns its address. Readers of a killed program's ring stop
 * at a record whose site is 0. So records are written from the last to the first, and in each the
 * site is written last.
 */
static inline struct trace_record *put(struct trace_record *end, uint64_t addr, uint64_t site)
{
	volatile struct trace_record *to = --end;

	to->addr = addr;
	to->site = site;
	return end;
}

/*
 * Appends a group, with pending function entries before it. Returns LOOP_SLOW if the ring has no
 * room. Accesses have no times of their own, so a time stamp follows a long group, and a group that
 * ends in another page of the ring.
 */
static inline enum loop_result append(const struct trace_record *group, unsigned count)
{
	struct snarlrt_tls *tls = &__snarl_tls;
	struct snarlrt_thread *self = tls->self;
	struct trace_record *cur = tls->cur ? tls->cur : tls->saved, *end, *at;
	unsigned frames = (unsigned)(tls->frame - tls->emitted);
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
	for (struct snarlrt_frame *f = tls->frame; f-- > tls->emitted;) {
		self->empty_calls[f->pc % SNARLRT_EMPTY_CALLS] = 0;
		at = put(at, f->caller & TRACE_ADDR_MASK, TRACE_SITE(TRACE_FUNC_ENTRY, 0, f->pc));
	}
	tls->emitted = tls->frame;
	tls->cur = end;
	return LOOP_DONE;
}

/* Whether the thread records, and is not inside the runtime. */
static inline bool can_append(const struct snarlrt_tls *tls)
{
	return likely(tls->self && !tls->busy && !tls->hidden);
}

static inline enum loop_result record_group(const struct trace_record *group, unsigned count,
					    uint32_t undecided)
{
	struct snarlrt_tls *tls = &__snarl_tls;
	enum loop_result done;

	if (!can_append(tls))
		return LOOP_SLOW;
	tls->busy = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	done = append(group, count);
	if (done == LOOP_DONE)
		loop_count_events(tls->self, group, count, undecided);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	tls->busy = 0;
	if (unlikely(tls->self->deferred_count) && done == LOOP_DONE)
		return LOOP_DELIVER;
	return done;
}

enum loop_result snarlrt_loop_append(struct trace_record *group, struct trace_record *end,
				     uint64_t iterations)
{
	unsigned count = (unsigned)(end - group);

	trace_loop_head(group, iterations, count - 1);
	return record_group(group, count, 0);
}

enum loop_result snarlrt_loop_fast(const struct loop *l, const uint64_t *values)
{
	struct trace_record group[TRACE_LOOP_RECORDS];
	uint64_t iterations = loop_iterations(l, values), covered = iterations;
	uint32_t undecided;
	unsigned count;

	if (iterations == 0)
		return LOOP_DONE;
	if (!can_append(&__snarl_tls) || iterations > TRACE_LOOP_ITERATIONS)
		return LOOP_SLOW;
	count = loop_make_group(group, l, values, 0, &covered, &undecided);
	if (count == LOOP_MIXED || covered != iterations)
		return LOOP_SLOW;
	return count == 0 ? LOOP_DONE : record_group(group, count, undecided);
}
