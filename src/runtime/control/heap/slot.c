/*
 * Where slots come from, and where freed ones wait.
 *
 * A part of the heap (a thread's) has two areas: a megabyte near those of the
 * others, so that a short run touches few pages and page tables, and gigabytes. Slots
 * over 32 MB are in one part of their own for all.
 *
 * The lock is for threads outside control alone; the program's come one at a time.
 */
#include <sys/mman.h>

#include "runtime/control/heap/slot.h"
#include "runtime/core/lock.h"

#define PARTS (CTL_HEAP_OUTSIDE + 1)
#define HUGE_PART PARTS
#define NEAR_BYTES (1ull << 20)
#define NEAR_SLOT (64ull << 10)		/* larger ones go far at once */
#define FAR_BYTES (16ull << 30)
#define HUGE_BYTES (8ull << 40)
#define PIECE (64ull << 20)		/* of address space, asked of the kernel */
#define CLASSES 96u			/* to 32 MB */
#define ALL_CLASSES 156u		/* to 1 TB */
#define QUEUE_BYTES (64ull << 20)
#define QUEUE_BLOCKS (256u << 10)

_Static_assert((PARTS + 1) * FAR_BYTES + HUGE_BYTES == CTL_HEAP_SPAN, "control_heap.h");
_Static_assert(PARTS * NEAR_BYTES <= FAR_BYTES, "the near areas are where part -1 would be");

struct area {
	uint64_t start, at, mapped, end;	/* slots lie in [start, at) */
};

struct part {
	struct area near, far;
	struct slot_block *free[CLASSES];	/* the huge part: of class - CLASSES */
	uint32_t order;			/* allocations of this thread */
};

static struct {
	struct snarlrt_lock lock;
	bool ready;
	struct slot_block *first, *last;	/* the queue of freed blocks */
	uint64_t queued_bytes, queued_blocks;
	struct part part[PARTS + 1];
} heap SNARLRT_BIG __attribute__((aligned(4096)));

static uint32_t class_of(uint64_t size)
{
	uint32_t log;

	if (size <= 512)
		return size ? (uint32_t)((size - 1) / SLOT_ALIGN) : 0;
	log = 63 - (uint32_t)__builtin_clzll(size - 1);
	return 32 + (log - 9) * 4 + (uint32_t)((size - 1) >> (log - 2) & 3);
}

static bool map(uint64_t at, uint64_t size, int flags)
{
	void *got = sys_mmap((void *)at, size, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | flags, -1, 0);

	if (got == (void *)at)
		return true;
	if (!sys_failed(got))	/* a kernel that does not know NOREPLACE */
		sys_call(SYS_munmap, got, size, 0);
	return false;
}

static void heap_open(void)
{
	if (!map(CTL_HEAP_BASE, PARTS * NEAR_BYTES, MAP_NORESERVE))
		sys_die("cannot reserve address space for the heap under control "
			"(is something else mapped at 0x610000000000?)");
	sys_call(SYS_madvise, CTL_HEAP_BASE, PARTS * NEAR_BYTES, MADV_NOHUGEPAGE);
	heap.ready = true;
}

static struct part *part_open(uint32_t n)
{
	struct part *p = &heap.part[n];

	if (likely(p->far.start))
		return p;
	if (!heap.ready)
		heap_open();
	p->far.start = p->far.at = p->far.mapped = CTL_HEAP_BASE + (n + 1) * FAR_BYTES;
	p->far.end = p->far.start + (n == HUGE_PART ? HUGE_BYTES : FAR_BYTES);
	if (n != HUGE_PART) {
		p->near.start = p->near.at = CTL_HEAP_BASE + n * NEAR_BYTES;
		p->near.end = p->near.mapped = p->near.start + NEAR_BYTES;
	}
	return p;
}

/* Where addr is, if slots are there at all; *part is whose. */
static struct area *area_of(uint64_t addr, uint32_t *part)
{
	uint64_t at = addr - CTL_HEAP_BASE;
	bool near = at < FAR_BYTES;
	uint64_t n = near ? at / NEAR_BYTES : at / FAR_BYTES - 1;
	struct area *a;

	if (at >= CTL_HEAP_SPAN || (near && n >= PARTS))
		return NULL;
	*part = (uint32_t)(n < HUGE_PART ? n : HUGE_PART);
	a = near ? &heap.part[*part].near : &heap.part[*part].far;
	return a->start < a->at ? a : NULL;
}

static inline struct slot_block **list_of(struct part *p, uint32_t class)
{
	return &p->free[class < CLASSES ? class : class - CLASSES];
}

/*
 * A new slot. The head of the next one is poisoned already, so that even the last
 * block has a fence. Huge ones count as memory used, so the kernel can refuse them.
 */
static struct slot_block *carve(struct part *p, uint32_t class)
{
	uint64_t bytes = SLOT_HEAD + slot_class_bytes(class);
	struct area *a = &p->near;
	struct slot_block *b;

	if (bytes > NEAR_SLOT || bytes + SLOT_HEAD > a->end - a->at)
		a = &p->far;
	if (bytes + SLOT_HEAD > a->end - a->at)
		return NULL;
	if (a->at + bytes + SLOT_HEAD > a->mapped) {
		uint64_t more = slot_round(a->at + bytes + SLOT_HEAD - a->mapped, PIECE);

		if (more > a->end - a->mapped)
			more = a->end - a->mapped;
		if (!map(a->mapped, more, class < CLASSES ? MAP_NORESERVE : 0))
			return NULL;
		if (class < CLASSES)
			sys_call(SYS_madvise, a->mapped, more, MADV_NOHUGEPAGE);
		a->mapped += more;
	}
	if (a->at == a->start)
		ctl_poison(a->at, SLOT_HEAD);
	ctl_poison(a->at + bytes, SLOT_HEAD);
	b = (struct slot_block *)a->at;
	b->class = class;
	a->at += bytes;
	return b;
}

struct slot_block *slot_take(uint32_t number, uint64_t bytes, uint32_t *order, bool *used)
{
	uint32_t class = class_of(bytes);
	struct part *mine, *p;
	struct slot_block *b, **list;

	if (class >= ALL_CLASSES)
		return NULL;
	snarlrt_lock(&heap.lock);
	mine = part_open(number);
	p = class < CLASSES ? mine : part_open(HUGE_PART);
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

uint32_t slot_order(uint32_t number)
{
	uint32_t order;

	snarlrt_lock(&heap.lock);
	order = ++part_open(number)->order;
	snarlrt_unlock(&heap.lock);
	return order;
}

static inline uint64_t weight(const struct slot_block *b)
{
	uint64_t low, high;

	return slot_dropped(b, &low, &high) ? SLOT_KEEP : slot_end(b) - slot_start(b);
}

/* Back to whose it is, by its address: another thread may have resized it. */
static void release(struct slot_block *b)
{
	struct slot_block **list;
	uint32_t part;

	if (!area_of((uint64_t)b, &part))
		return;
	list = list_of(&heap.part[part], b->class);
	b->next = *list;
	*list = b;
}

/* At the end of the queue; what comes out at its front may be used again. */
static void enqueue(struct slot_block *b)
{
	b->next = NULL;
	if (heap.last)
		heap.last->next = b;
	else
		heap.first = b;
	heap.last = b;
	heap.queued_bytes += weight(b);
	heap.queued_blocks++;
	while (heap.queued_bytes > QUEUE_BYTES || heap.queued_blocks > QUEUE_BLOCKS) {
		struct slot_block *out = heap.first;

		heap.first = out->next;
		if (!heap.first)
			heap.last = NULL;
		heap.queued_bytes -= weight(out);
		heap.queued_blocks--;
		release(out);
	}
}

/* Threads outside keep what is theirs, and lose the rest: see control_heap.h. */
void slot_give(struct slot_block *b, uint32_t number, const void *pc)
{
	uint32_t part;

	snarlrt_lock(&heap.lock);
	b->magic = slot_magic(b, SLOT_FREED);
	b->free_by = slot_by(pc, number);
	if (number != CTL_HEAP_OUTSIDE)
		enqueue(b);
	else if (area_of((uint64_t)b, &part) && part == CTL_HEAP_OUTSIDE)
		release(b);
	snarlrt_unlock(&heap.lock);
}

struct slot_block *slot_at(const void *p)
{
	struct slot_block *b = (struct slot_block *)((uint64_t)p - SLOT_HEAD);
	uint32_t part;
	struct area *a = area_of((uint64_t)p, &part);

	if (!a || (uint64_t)p % SLOT_ALIGN || (uint64_t)p < a->start + SLOT_HEAD || (uint64_t)p >= a->at)
		return NULL;
	return slot_is(b, SLOT_LIVE) || slot_is(b, SLOT_FREED) ? b : NULL;
}

/* Of two neighbours, addr being between them. */
static const struct slot_block *nearer(const struct slot_block *before,
				       const struct slot_block *after, uint64_t addr)
{
	if (!before || !after)
		return before ? before : after;
	if (slot_is(before, SLOT_LIVE) != slot_is(after, SLOT_LIVE))
		return slot_is(before, SLOT_LIVE) ? before : after;
	return addr - (slot_user(before) + before->size) <= slot_user(after) - addr ? before
										      : after;
}

const struct slot_block *slot_find(uint64_t addr)
{
	const struct slot_block *before = NULL, *b = NULL;
	uint32_t part;
	const struct area *a = area_of(addr, &part);

	if (!a || addr >= a->at + SLOT_HEAD)
		return NULL;
	for (uint64_t at = a->start; at < a->at && addr >= at;) {
		const struct slot_block *slot = (const struct slot_block *)at;

		before = b;
		b = (const struct slot_block *)(at + slot->shift * SLOT_ALIGN);
		at += SLOT_HEAD + slot_class_bytes(slot->class);
	}
	if (addr >= slot_end(b))	/* behind the last one */
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
