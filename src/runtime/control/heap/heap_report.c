/*
 * Messages about heap misuse: use after free, double free, free of a pointer that is no block,
 * access beside a block.
 */
#include "runtime/control/heap/heap.h"

struct message {
	char text[CTL_TEXT];
	size_t used;
};

static void put(struct message *l, const char *text)
{
	while (*text && l->used + 1 < sizeof(l->text))
		l->text[l->used++] = *text++;
	l->text[l->used] = 0;
}

static void put_number(struct message *l, uint64_t n)
{
	char digits[24], *p = digits + sizeof(digits) - 1;

	*p = 0;
	do {
		*--p = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	put(l, p);
}

/* The thread's path, such as 0.2.1. */
static void put_path(struct message *l, uint32_t number)
{
	const struct ctl_thread *t = number < ctl.count ? ctl.threads[number] : NULL;

	if (!t || number == 0) {
		put_number(l, number);
		return;
	}
	put_path(l, t->parent);
	put(l, ".");
	put_number(l, t->ordinal);
}

static void put_thread(struct message *l, const char *what, uint32_t number)
{
	put(l, what);
	if (number == CTL_HEAP_UNCONTROLLED) {
		put(l, "a thread that is not controlled");
		return;
	}
	put(l, "thread ");
	put_path(l, number);
}

/* "64-byte block allocated by thread 0.1 (its allocation 3), freed by thread 0.2" */
static void put_block(struct message *l, const struct ctl_heap_info *b)
{
	put_number(l, b->size);
	put(l, "-byte block ");
	put_thread(l, "allocated by ", b->malloc_thread);
	put(l, " (its allocation ");
	put_number(l, b->order);
	put(l, ")");
	if (b->freed)
		put_thread(l, ", freed by ", b->free_thread);
}

static void put_location(struct message *l, uint64_t addr, const struct ctl_heap_info *b)
{
	if (addr < b->start) {
		put_number(l, b->start - addr);
		put(l, addr + 1 == b->start ? " byte before a " : " bytes before a ");
	} else {
		put(l, "at +");
		put_number(l, addr - b->start);
		put(l, " of a ");
	}
	put_block(l, b);
}

void ctl_heap_bad_access(uint64_t addr, uint64_t size, bool write, const void *pc)
{
	struct message l = { .used = 0 };
	struct ctl_heap_info b;

	if (!ctl_heap_find(addr, &b) && !ctl_heap_find(addr + size - 1, &b))
		return;
	if (!b.freed && addr >= b.start && addr - b.start <= b.size &&
	    size <= b.size - (addr - b.start))
		return;		/* in bounds: the block's last granule may be poisoned in part */
	put(&l, b.freed ? "use after free: " : "heap overflow: ");
	put_number(&l, size);
	put(&l, write ? "-byte write " : "-byte read ");
	put_location(&l, addr, &b);
	if (b.freed)
		ctl_fail(CTL_FAIL_UAF, (const void *)b.start, pc, (const void *)b.free_pc,
			 (const void *)b.malloc_pc, l.text);
	else
		ctl_fail(CTL_FAIL_MISUSE, (const void *)b.start, pc, NULL,
			 (const void *)b.malloc_pc, l.text);
}

void ctl_heap_bad_free(const void *p, const struct ctl_heap_info *b, const void *pc)
{
	struct message l = { .used = 0 };

	if (b && b->freed && b->start == (uint64_t)p) {
		put(&l, "freed again: a ");
		put_block(&l, b);
		ctl_fail(CTL_FAIL_DOUBLE_FREE, p, pc, (const void *)b->free_pc,
			 (const void *)b->malloc_pc, l.text);
		return;
	}
	if (b && b->start == (uint64_t)p) {
		put(&l, "free of a block whose header was overwritten: a ");
		put_block(&l, b);
	} else if (b) {
		put(&l, "free of a pointer that malloc did not return: ");
		put_location(&l, (uint64_t)p, b);
	} else {
		put(&l, "free of a pointer that malloc did not return: it points to no heap block");
	}
	ctl_fail(CTL_FAIL_BAD_FREE, p, pc, NULL, b ? (const void *)b->malloc_pc : NULL, l.text);
}
