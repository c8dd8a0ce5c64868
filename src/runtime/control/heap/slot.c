/*
 * Slots: where their memory comes from, and the quarantine of freed blocks.
 *
 * Each thread has a region of two areas. The compact area is one megabyte next to the other
 * threads' compact areas: a short run touches few pages and page tables. The bulk area is 16 GB.
 * Slots over 32 MB come from one region for all threads.
 *
 * The lock is for uncontrolled threads: only one controlled thread runs at a time.
 */
#include <sys/mman.h>

#include "runtime/control/heap/slot.h"
#include "runtime/core/lock.h"

#define REGIONS (CTL_HEAP_UNCONTROLLED + 1)	/* one per thread, one for host threads */
#define HUGE_REGION REGIONS		/* index of the region of huge slots */
#define COMPACT_BYTES (1ull << 20)	/* of a thread's compact area */
#define COMPACT_SLOT_MAX (64ull << 10)	/* larger slots come from the bulk area */
#define BULK_BYTES (16ull << 30)	/* of a thread's bulk area */
#define HUGE_BYTES (8ull << 40)		/* of address space for HUGE_REGION */
#define MAP_BYTES (64ull << 20)	/* of address space mapped at a time */
#define CLASSES 96u			/* of slots up to 32 MB */
#define ALL_CLASSES 156u	/* of slots up to 1 TB */
#define QUARANTINE_BYTES (64ull << 20)	/* limits of the quarantine */
#define QUARANTINE_BLOCKS (256u << 10)

_Static_assert((REGIONS + 1) * BULK_BYTES + HUGE_BYTES == CTL_HEAP_SPAN, "heap.h");
_Static_assert(REGIONS * COMPACT_BYTES <= BULK_BYTES, "compact areas lie before bulk areas");

struct area {
	uint64_t start, at, mapped, end;	/* slots in [start, at), mapped beyond */
};

struct region {
	struct area compact, bulk;
	/* Free list of each size class. In HUGE_REGION the index is class - CLASSES. */
	struct slot_block *free[CLASSES];
	uint32_t order;			/* number of allocations so far */
};

bool ctl_heap_ready;

static struct {
	struct snarlrt_lock lock;
	struct slot_block *first, *last;	/* the quarantine, oldest block first */
	uint64_t quarantined_bytes, quarantined_blocks;
	struct region region[REGIONS + 1];
} heap SNARLRT_BIG __attribute__((aligned(4096)));

static uint32_t class_of(uint64_t size)
{
	uint32_t log;

	if (size <= 512)
		return size ? (uint32_t)((size - 1) / SLOT_ALIGN) : 0;
	log = 63 - (uint32_t)__builtin_clzll(size - 1);
	return 32 + (log - 9) * 4 + (uint32_t)((size - 1) >> (log - 2) & 3);
}

static bool map_at(uint64_t at, uint64_t size, int flags)
{
	void *got = sys_mmap((void *)at, size, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | flags, -1, 0);

	if (got == (void *)at)
		return true;
	if (!sys_failed(got))	/* kernels before 4.17 ignore MAP_FIXED_NOREPLACE */
		sys_call(SYS_munmap, got, size, 0);
	return false;
}

static void heap_open(void)
{
	if (!map_at(CTL_HEAP_BASE, REGIONS * COMPACT_BYTES, MAP_NORESERVE))
		sys_die("cannot reserve address space for the heap under control "
			"(is something else mapped at 0x610000000000?)");
	sys_call(SYS_madvise, CTL_HEAP_BASE, REGIONS * COMPACT_BYTES, MADV_NOHUGEPAGE);
	ctl_heap_ready = true;
}

static struct region *region_open(uint32_t n)
{
	struct region *p = &heap.region[n];

	if (likely(p->bulk.start))
		return p;
	if (!ctl_heap_ready)
		heap_open();
	p->bulk.start = p->bulk.at = p->bulk.mapped = CTL_HEAP_BASE + (n + 1) * BULK_BYTES;
	p->bulk.end = p->bulk.start + (n == HUGE_REGION ? HUGE_BYTES : BULK_BYTES);
	if (n != HUGE_REGION) {
		p->compact.start = p->compact.at = CTL_HEAP_BASE + n * COMPACT_BYTES;
		p->compact.end = p->compact.mapped = p->compact.start + COMPACT_BYTES;
	}
	return p;
}

/* The area with slots that `addr` lies in, or NULL; *region is its owner. */
static struct area *area_of(uint64_t addr, uint32_t *region)
{
	uint64_t at = addr - CTL_HEAP_BASE;
	bool compact = at < BULK_BYTES;
	uint64_t n = compact ? at / COMPACT_BYTES : at / BULK_BYTES - 1;
	struct area *a;

	if (at >= CTL_HEAP_SPAN || (compact && n >= REGIONS))
		return NULL;
	*region = (uint32_t)(n < HUGE_REGION ? n : HUGE_REGION);
	a = compact ? &heap.region[*region].compact : &heap.region[*region].bulk;
	return a->start < a->at ? a : NULL;
}

static inline struct slot_block **list_of(struct region *p, uint32_t class)
{
	return &p->free[class < CLASSES ? class : class - CLASSES];
}

/*
 * Takes a new slot from the end of the area. Poisons the header of the slot to come, so that the
 * last block has a red zone, too. Huge slots are mapped without MAP_NORESERVE: the kernel can
 * refuse them.
 */
static struct slot_block *carve(struct region *p, uint32_t class)
{
	uint64_t bytes = SLOT_HEADER + slot_class_bytes(class);
	struct area *a = &p->compact;
	struct slot_block *b;

	if (bytes > COMPACT_SLOT_MAX || bytes + SLOT_HEADER > a->end - a->at)
		a = &p->bulk;
	if (bytes + SLOT_HEADER > a->end - a->at)
		return NULL;
	if (a->at + bytes + SLOT_HEADER > a->mapped) {
		uint64_t more = slot_round(a->at + bytes + SLOT_HEADER - a->mapped, MAP_BYTES);

		if (more > a->end - a->mapped)
			more = a->end - a->mapped;
		if (!map_at(a->mapped, more, class < CLASSES ? MAP_NORESERVE : 0))
			return NULL;
		if (class < CLASSES)
			sys_call(SYS_madvise, a->mapped, more, MADV_NOHUGEPAGE);
		a->mapped += more;
	}
	if (a->at == a->start)
		ctl_poison(a->at, SLOT_HEADER);
	ctl_poison(a->at + bytes, SLOT_HEADER);
	b = (struct slot_block *)a->at;
	b->class = class;
	a->at += bytes;
	return b;
}

struct slot_block *slot_alloc(uint32_t number, uint64_t bytes, uint32_t *order, bool *used)
{
	uint32_t class = class_of(bytes);
	struct region *mine, *p;
	struct slot_block *b, **list;

	if (class >= ALL_CLASSES)
		return NULL;
	snarlrt_lock(&heap.lock);
	mine = region_open(number);
	p = class < CLASSES ? mine : region_open(HUGE_REGION);
	list = list_of(p, class);
	b = *list;
	*used = b != NULL;
	if (b)
		*list = b->next;
	else
		b = carve(p, class);
	if (b)
		*order = ++mine->order;
	snarlrt_unlock(&heap.lock);
	return b;
}

uint32_t slot_next_order(uint32_t number)
{
	uint32_t order;

	snarlrt_lock(&heap.lock);
	order = ++region_open(number)->order;
	snarlrt_unlock(&heap.lock);
	return order;
}

static inline uint64_t quarantine_bytes(const struct slot_block *b)
{
	uint64_t low, high;

	return slot_unmapped_range(b, &low, &high) ? SLOT_RETAINED : slot_end(b) - slot_start(b);
}

/* Adds the slot to the free list of its own region, whichever thread freed the block. */
static void add_to_free_list(struct slot_block *b)
{
	struct slot_block **list;
	uint32_t region;

	if (!area_of((uint64_t)b, &region))
		return;
	list = list_of(&heap.region[region], b->class);
	b->next = *list;
	*list = b;
}

/* Adds a freed block to the quarantine and releases the oldest ones beyond its limits. */
static void quarantine_add(struct slot_block *b)
{
	b->next = NULL;
	if (heap.last)
		heap.last->next = b;
	else
		heap.first = b;
	heap.last = b;
	heap.quarantined_bytes += quarantine_bytes(b);
	heap.quarantined_blocks++;
	while (heap.quarantined_bytes > QUARANTINE_BYTES ||
	       heap.quarantined_blocks > QUARANTINE_BLOCKS) {
		struct slot_block *out = heap.first;

		heap.first = out->next;
		if (!heap.first)
			heap.last = NULL;
		heap.quarantined_bytes -= quarantine_bytes(out);
		heap.quarantined_blocks--;
		add_to_free_list(out);
	}
}

/* A host thread's free reuses slots of its own region only; others are lost (heap.h). */
void slot_free(struct slot_block *b, uint32_t number, const void *pc)
{
	uint32_t region;

	snarlrt_lock(&heap.lock);
	b->magic = slot_magic(b, SLOT_FREED);
	b->free_by = slot_origin(pc, number);
	if (number != CTL_HEAP_UNCONTROLLED)
		quarantine_add(b);
	else if (area_of((uint64_t)b, &region) && region == CTL_HEAP_UNCONTROLLED)
		add_to_free_list(b);
	snarlrt_unlock(&heap.lock);
}

struct slot_block *slot_at(const void *p)
{
	struct slot_block *b = (struct slot_block *)((uint64_t)p - SLOT_HEADER);
	uint32_t region;
	struct area *a = area_of((uint64_t)p, &region);

	if (!a || (uint64_t)p % SLOT_ALIGN || (uint64_t)p < a->start + SLOT_HEADER ||
	    (uint64_t)p >= a->at)
		return NULL;
	return slot_has_state(b, SLOT_LIVE) || slot_has_state(b, SLOT_FREED) ? b : NULL;
}

/* The better match for `addr`, which lies between two blocks. */
static const struct slot_block *nearer(const struct slot_block *before,
				       const struct slot_block *after, uint64_t addr)
{
	if (!before || !after)
		return before ? before : after;
	if (slot_has_state(before, SLOT_LIVE) != slot_has_state(after, SLOT_LIVE))
		return slot_has_state(before, SLOT_LIVE) ? before : after;
	return addr - (slot_user(before) + before->size) <= slot_user(after) - addr ? before
										      : after;
}

const struct slot_block *slot_find(uint64_t addr)
{
	const struct slot_block *before = NULL, *b = NULL;
	uint32_t region;
	const struct area *a = area_of(addr, &region);

	if (!a || addr >= a->at + SLOT_HEADER)
		return NULL;
	for (uint64_t at = a->start; at < a->at && addr >= at;) {
		const struct slot_block *slot = (const struct slot_block *)at;

		before = b;
		b = (const struct slot_block *)(at + slot->shift * SLOT_ALIGN);
		at += SLOT_HEADER + slot_class_bytes(slot->class);
	}
	if (addr >= slot_end(b))	/* in the red zone behind the last block */
		return b;
	return addr < slot_user(b) ? nearer(before, b, addr) : b;
}

void ctl_heap_fork(bool begin)
{
	if (begin)
		snarlrt_lock(&heap.lock);
	else
		snarlrt_unlock(&heap.lock);
}
