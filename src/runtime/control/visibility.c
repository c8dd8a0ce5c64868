/*
 * Visibility: which accesses are scheduling points under control.
 *
 * The shadow words are those of abi/layout.h, with other rules than in mode record. The first
 * thread to touch a granule owns it: the word becomes id * 2 + 1, and its accesses are no steps.
 * When a second thread touches the granule it becomes shared. It stays shared even if the memory
 * is freed. The block lists the granules that were shared in earlier runs, and these are visible
 * from the start. So the steps before the second thread came can be scheduled, too.
 */
#include "runtime/control/control.h"
#include "runtime/core/sys.h"

/*
 * Shadow words of freed memory and red zones. They are even, so no thread owns them. POISON_SHARED
 * becomes shared again when the memory is reused.
 */
#define POISON 2u
#define POISON_SHARED 4u

#define FREED_SCAN_BYTES 4096u	/* scanned of a freed block: shared structs are seldom larger */

static void list_as_shared(uint64_t granule)
{
	struct ctl_block *b = ctl.block;
	uint64_t at = b->request.shared_count + b->report.shared_new;

	if (!(ctl.flags & CTL_LEARN) || ctl.private_child || (at + 1) * 8 > b->shared_size)
		return;
	((uint64_t *)((char *)b + b->shared))[at] = granule;
	b->report.shared_new++;
}

bool ctl_touch(uint64_t addr, uint64_t size, bool write, const void *pc)
{
	uint16_t own = __snarl_tls.own, *s, *end;
	bool visible = false;

	if (size == 0 || addr >> 47 || (addr + size - 1) >> 47)
		return false;
	s = shadow_of(addr);
	end = shadow_of(addr + size - 1);
	for (; s <= end; s++) {
		if (*s == own)
			continue;
		if (*s == 0) {
			*s = own;
		} else if (*s == SHADOW_SHARED) {
			visible = true;
		} else if (*s == POISON || *s == POISON_SHARED) {
			ctl_heap_bad_access(addr, size, write, pc);
			visible = true;
		} else {
			*s = SHADOW_SHARED;
			list_as_shared(shadow_memory(s));
			visible = true;
		}
	}
	return visible;
}

void ctl_object_used(enum trace_kind kind, const void *object, uint64_t arg, const void *pc)
{
	uint64_t addr = (uint64_t)(uintptr_t)object;
	uint16_t word;

	if (addr >> SHADOW_USER_BITS)
		return;
	word = *shadow_of(addr);
	if (unlikely(word == POISON || word == POISON_SHARED))
		ctl_heap_bad_use(kind, object, arg, pc);
}

static bool is_alive(uint16_t owner)
{
	uint32_t number = owner / 2u - 1;

	return number < ctl.count && ctl.threads[number]->state == CTL_LIVE;
}

void ctl_touch_freed(uint64_t addr, uint64_t size)
{
	uint16_t own = __snarl_tls.own, *s, *end;

	if (size == 0)
		return;
	s = shadow_of(addr);
	end = shadow_of(addr + (size < FREED_SCAN_BYTES ? size : FREED_SCAN_BYTES) - 1);
	for (; s <= end; s++) {
		/* Four words at a time if no other thread has touched them, the common case. */
		if (!((uintptr_t)s & 7) && s + 3 <= end &&
		    (*(uint64_t *)s == 0 || *(uint64_t *)s == own * SHADOW_FOUR)) {
			s += 3;
			continue;
		}
		if (*s & 1 && *s != own && *s != SHADOW_SHARED && is_alive(*s)) {
			*s = SHADOW_SHARED;
			list_as_shared(shadow_memory(s));
		}
	}
}

/* Is none of the four words SHADOW_SHARED or POISON_SHARED? A wrong "no" is possible. */
static inline bool four_unshared(uint64_t four)
{
	uint64_t not_shared = four + SHADOW_FOUR;	/* all ones become 0, with a carry */
	uint64_t not_poison = four ^ POISON_SHARED * SHADOW_FOUR;

	return !((not_shared - SHADOW_FOUR) & ~not_shared & SHADOW_FOUR << 15) &&
	       !((not_poison - SHADOW_FOUR) & ~not_poison & SHADOW_FOUR << 15);
}

static void reset_shadow(uint64_t addr, uint64_t size, uint16_t when_private, uint16_t when_shared)
{
	uint16_t *s, *end;

	if (size == 0 || addr >> 47 || (addr + size - 1) >> 47)
		return;
	s = shadow_of(addr);
	end = shadow_of(addr + size - 1);
	while (s <= end) {
		uint64_t *four = (uint64_t *)s;
		uint16_t to;

		/* Four words at a time where none is shared, the common case. */
		if (!((uintptr_t)s & 7) && s + 3 <= end && four_unshared(*four)) {
			if (*four != when_private * SHADOW_FOUR)
				*four = when_private * SHADOW_FOUR;
			s += 4;
			continue;
		}
		to = *s == SHADOW_SHARED || *s == POISON_SHARED ? when_shared : when_private;
		if (*s != to)	/* keeps untouched shadow pages unmapped */
			*s = to;
		s++;
	}
}

void ctl_fresh(uint64_t addr, uint64_t size)
{
	reset_shadow(addr, size, 0, SHADOW_SHARED);
}

void ctl_poison(uint64_t addr, uint64_t size)
{
	reset_shadow(addr, size, POISON, POISON_SHARED);
}

void ctl_unpoison(uint64_t addr, uint64_t size)
{
	reset_shadow(addr, size, 0, SHADOW_SHARED);
}

void ctl_shared_apply(void)
{
	const struct ctl_block *b = ctl.block;
	const uint64_t *list = (const uint64_t *)((const char *)b + b->shared);
	uint64_t count = b->request.shared_count;

	if (count * 8 > b->shared_size)
		count = b->shared_size / 8;
	for (uint64_t i = ctl.shared_applied; i < count; i++) {
		uint16_t *s = shadow_of(list[i] & (SHADOW_USER_END - 1));

		*s = *s == POISON || *s == POISON_SHARED ? POISON_SHARED : SHADOW_SHARED;
	}
	ctl.shared_applied = count;
}

void ctl_mark_shared(uint64_t addr, uint64_t size)
{
	reset_shadow(addr, size, SHADOW_SHARED, SHADOW_SHARED);
}
