/*
 * The allocator of control mode: blocks, poison, reports of misuse. heap.h is its contract, slot.c
 * provides the memory.
 *
 * Poisoned are headers, red zones, and freed blocks. Of a freed block over a megabyte the first
 * megabyte is poisoned; the other pages go back to the kernel and become inaccessible.
 */
#include <errno.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "runtime/control/heap/slot.h"
#include "runtime/core/real.h"
#include "runtime/core/sys.h"

#define REDZONE 256ull	/* bytes poisoned behind a block, at most; fewer if its slot ends before */

/* The number of the thread whose region serves the call. Before main this is main's. */
static inline uint32_t caller_number(void)
{
	const struct ctl_thread *t = ctl.current;

	if (ctl.creating_host)
		return CTL_HEAP_UNCONTROLLED;
	if (!ctl.begun || !t)
		return 0;
	return t->tls && t->tls != &__snarl_tls ? CTL_HEAP_UNCONTROLLED : t->number;
}

static void poison_range(uint64_t from, uint64_t to)
{
	if (from < to)
		ctl_poison(from, to - from);
}

/* Poisons whole granules behind the block. Its own last granule stays accessible. */
static void poison_redzone(const struct slot_block *b)
{
	uint64_t from = slot_round(slot_user(b) + b->size, 8), to = slot_end(b);

	poison_range(from, to - from < REDZONE ? to : from + REDZONE);
}

/* Makes a used slot's memory accessible, unpoisoned and, if `zero`, zero again. */
static void reuse_slot(const struct slot_block *old, uint64_t start, uint64_t size, bool zero)
{
	uint64_t low, high, end = start + size;

	if (slot_unmapped_range(old, &low, &high)) {
		sys_call(SYS_mprotect, low, high - low, PROT_READ | PROT_WRITE);
	} else {
		low = end;
		high = end;
	}
	if (zero) {
		sys_clear((void *)start, (low < end ? low : end) - start);
		if (high < end)
			sys_clear((void *)high, end - high);
	}
	ctl_unpoison(start, slot_round(size, 8));
}

/* The block begins later than its slot: writes a short header at the slot's start. */
static void write_slot_prefix(uint64_t slot, uint64_t start, uint32_t class)
{
	poison_range(start - slot > REDZONE ? start - REDZONE : slot, start);
	*(struct slot_block *)slot = (struct slot_block){
		.class = class,
		.shift = (uint32_t)((start - SLOT_HEADER - slot) / SLOT_ALIGN),
	};
}

static struct slot_block *block_new(size_t size, size_t align, bool zero, uint32_t number,
				    const void *pc)
{
	uint64_t need = size, slot, start;
	uint32_t class, order;
	struct slot_block *b;
	bool used;

	if (align > SLOT_ALIGN && __builtin_add_overflow(need, align, &need))
		return NULL;
	if (need > PTRDIFF_MAX)
		return NULL;
	b = slot_alloc(number, need, &order, &used);
	if (!b)
		return NULL;
	class = b->class;
	slot = slot_start(b);
	start = slot + SLOT_HEADER;
	if (align > SLOT_ALIGN)
		start = slot_round(start, align);
	if (used)
		reuse_slot(b, start, size, zero);
	if (start - SLOT_HEADER != slot)
		write_slot_prefix(slot, start, class);
	b = (struct slot_block *)(start - SLOT_HEADER);
	*b = (struct slot_block){
		.class = class,
		.shift = (uint32_t)((start - SLOT_HEADER - slot) / SLOT_ALIGN),
		.size = size,
		.malloc_by = slot_origin(pc, number),
		.order = order,
		.magic = slot_magic(b, SLOT_LIVE),
	};
	poison_redzone(b);
	return b;
}

void *ctl_heap_alloc(size_t size, size_t align, bool zero, const void *pc)
{
	uint32_t number = caller_number();
	struct slot_block *b = block_new(size, align, zero, number, pc);
	void *p = b ? b + 1 : NULL;

	if (number != CTL_HEAP_UNCONTROLLED)
		snarlrt_note(TRACE_MALLOC, 0, p, size, p ? 0 : ENOMEM, pc);
	if (!p)
		errno = ENOMEM;
	return p;
}

static inline struct slot_block *live_at(const void *p)
{
	struct slot_block *b = slot_at(p);

	return b && slot_has_state(b, SLOT_LIVE) ? b : NULL;
}

static void block_free(struct slot_block *b, uint32_t number, const void *pc)
{
	uint64_t start = slot_user(b), end = slot_round(start + b->size, 8), low, high;

	if (number != CTL_HEAP_UNCONTROLLED && ctl_on())
		ctl_touch_freed(start, b->size);
	if (slot_unmapped_range(b, &low, &high)) {
		sys_mmap((void *)low, high - low, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
		poison_range(start, low);
		poison_range(high, end);
	} else {
		poison_range(start, end);
	}
	slot_free(b, number, pc);
}

#ifdef SNARLRT_STATIC

static bool from_libc(const void *pc)
{
	(void)pc;	/* libc's code is linked with the program's */
	return false;
}

#else

static struct {
	bool known;
	uint64_t low[2], high[2];	/* code of [0] libc and [1] the loader */
} libc;

static int find_libc(struct dl_phdr_info *info, size_t size, void *unused)
{
	uint64_t inside = (uint64_t)(uintptr_t)REAL(memcpy), low = UINT64_MAX, high = 0;
	int which = info->dlpi_addr == getauxval(AT_BASE);

	(void)size;
	(void)unused;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		uint64_t at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		low = at < low ? at : low;
		if (high < at + info->dlpi_phdr[i].p_memsz)
			high = at + info->dlpi_phdr[i].p_memsz;
	}
	if (which || (inside >= low && inside < high)) {
		libc.low[which] = low;
		libc.high[which] = high;
	}
	return 0;
}

static bool from_libc(const void *pc)
{
	uint64_t at = (uint64_t)(uintptr_t)pc;

	if (unlikely(!libc.known)) {
		dl_iterate_phdr(find_libc, NULL);
		libc.known = true;
	}
	return at - libc.low[0] < libc.high[0] - libc.low[0] ||
	       at - libc.low[1] < libc.high[1] - libc.low[1];
}

#endif

/* A scheduling point before the free, so that a use of the block can come before or after it. */
static void free_point(const void *p, const void *pc)
{
	struct ctl_wait w = CTL_WAIT(SCHED_OP_WRITE, p, NULL, pc);
	size_t size = ctl_heap_size(p);

	if (size > 1)
		w.event.size = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
	ctl_wait(&w);
}

static void info_of(const struct slot_block *b, struct ctl_heap_info *out)
{
	*out = (struct ctl_heap_info){
		.start = slot_user(b),
		.size = b->size,
		.malloc_pc = b->malloc_by >> 16,
		.malloc_thread = b->malloc_by & 0xffff,
		.free_pc = b->free_by >> 16,
		.free_thread = b->free_by & 0xffff,
		.order = b->order,
		.freed = slot_has_state(b, SLOT_FREED),
	};
}

/* Makes the point and returns the block to free. NULL: there is none; it was reported. */
static struct slot_block *block_to_free(void *p, uint32_t number, const void *pc)
{
	const struct slot_block *wrong;
	struct ctl_heap_info info;
	struct slot_block *b;

	if (number != CTL_HEAP_UNCONTROLLED && ctl_on() && !from_libc(pc))
		free_point(p, pc);
	b = live_at(p);
	if (likely(b))
		return b;
	wrong = slot_at(p);
	if (!wrong)
		wrong = slot_find((uint64_t)p);
	if (wrong)
		info_of(wrong, &info);
	ctl_heap_bad_free(p, wrong ? &info : NULL, pc);
	return NULL;
}

void ctl_heap_free(void *p, const void *pc)
{
	uint32_t number = caller_number();
	struct slot_block *b = block_to_free(p, number, pc);

	if (!b)
		return;
	if (number != CTL_HEAP_UNCONTROLLED)
		snarlrt_note(TRACE_FREE, 0, p, 0, 0, pc);
	block_free(b, number, pc);
}

/* Has the slot room for `size`, and would the block use at least half of it? */
static bool fits_in_place(const struct slot_block *b, size_t size)
{
	uint64_t room = slot_end(b) - slot_user(b);

	return size <= room && (size >= room / 2 || room <= REDZONE);
}

static void resize(struct slot_block *b, size_t size, uint32_t number, const void *pc)
{
	uint64_t from = slot_round(slot_user(b) + b->size, 8),
		 to = slot_round(slot_user(b) + size, 8);

	if (from < to)
		ctl_unpoison(from, to - from);
	poison_range(to, from);
	b->size = size;
	b->malloc_by = slot_origin(pc, number);
	b->order = slot_next_order(number);
	poison_redzone(b);
}

void *ctl_heap_realloc(void *p, size_t size, const void *pc)
{
	uint32_t number = caller_number();
	struct slot_block *b = block_to_free(p, number, pc), *to;
	bool note = number != CTL_HEAP_UNCONTROLLED;

	if (!b) {
		errno = ENOMEM;
		return NULL;
	}
	if (fits_in_place(b, size)) {
		if (note)
			snarlrt_note(TRACE_FREE, 0, p, 0, 0, pc);
		resize(b, size, number, pc);
		if (note)
			snarlrt_note(TRACE_MALLOC, 0, p, size, 0, pc);
		return p;
	}
	to = block_new(size, 0, false, number, pc);
	if (to) {
		REAL(memcpy)(to + 1, p, b->size < size ? b->size : size);
		if (note)
			snarlrt_note(TRACE_FREE, 0, p, 0, 0, pc);
		block_free(b, number, pc);
	}
	if (note)
		snarlrt_note(TRACE_MALLOC, 0, to ? to + 1 : NULL, size, to ? 0 : ENOMEM, pc);
	if (!to)
		errno = ENOMEM;
	return to ? to + 1 : NULL;
}

size_t ctl_heap_size(const void *p)
{
	const struct slot_block *b = live_at(p);

	return b ? b->size : 0;
}

bool ctl_heap_find(uint64_t addr, struct ctl_heap_info *out)
{
	const struct slot_block *b = slot_find(addr);

	if (b)
		info_of(b, out);
	return b != NULL;
}
