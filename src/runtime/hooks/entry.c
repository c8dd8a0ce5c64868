/*
 * Hooks that are not hot enough for assembly, the slow paths of those that are, and the functions
 * by which the signal trampoline restarts or finishes an interrupted append.
 */
#include "runtime/hooks/entry.h"

#include "runtime/record/shadow.h"

/*
 * Tables of entry_x86_64.S. Each number is the distance from itself to a code address. An entry of
 * snarlrt_restarts has three: a thread interrupted in [second, third) restarts at the first. An
 * entry of snarlrt_finishes has two: the begin and end of the final stores.
 */
extern SNARLRT_HIDDEN const int32_t snarlrt_restarts[], snarlrt_restarts_end[];
extern SNARLRT_HIDDEN const int32_t snarlrt_finishes[], snarlrt_finishes_end[];

static uintptr_t code_at(const int32_t *distance)
{
	return (uintptr_t)distance + (uintptr_t)(intptr_t)*distance;
}

/*
 * The code of the append that wrap/hooks/inline_asm.c inlines in executables and in shared
 * libraries, from the load of tls.cur to its store. -1 is for bytes that differ between sites.
 */
static const int16_t inlined_exec[] = {
	0x64, 0x48, 0x8b, 0x04, 0x25, -1, -1, -1, -1,	/* mov %fs:cur,%rax */
	0xa9, 0xff, 0x0f, 0x00, 0x00,			/* test $4095,%eax */
	0x74, -1,					/* je */
	0x48, 0x8d, 0x0d, -1, -1, -1, -1,		/* lea site(%rip),%rcx */
	0x48, 0x89, 0x38,				/* mov %rdi,(%rax) */
	0x48, 0x89, 0x48, 0x08,				/* mov %rcx,8(%rax) */
	0x66, 0xc7, 0x40, 0x0e, -1, -1,			/* movw $op,14(%rax) */
	0x48, 0x83, 0xc0, 0x10,				/* add $16,%rax */
	0x64, 0x48, 0x89, 0x04, 0x25,			/* mov %rax,%fs:cur */
};
static const int16_t inlined_pic[] = {
	0x64, 0x48, 0x8b, 0x01,				/* mov %fs:(%rcx),%rax */
	0xa9, 0xff, 0x0f, 0x00, 0x00,			/* test $4095,%eax */
	0x74, -1,					/* je */
	0x48, 0x8d, 0x15, -1, -1, -1, -1,		/* lea site(%rip),%rdx */
	0x48, 0x89, 0x38,				/* mov %rdi,(%rax) */
	0x48, 0x89, 0x50, 0x08,				/* mov %rdx,8(%rax) */
	0x66, 0xc7, 0x40, 0x0e, -1, -1,			/* movw $op,14(%rax) */
	0x48, 0x83, 0xc0, 0x10,				/* add $16,%rax */
	0x64, 0x48, 0x89, 0x01,				/* mov %rax,%fs:(%rcx) */
};

/*
 * Returns the start of the inlined append of this form that contains `rip`, at most `last` bytes
 * before it; 0: there is none. Compares bytes from the form's end backwards.
 */
static uintptr_t inlined_start(uintptr_t rip, const int16_t *form, size_t size, size_t last)
{
	for (size_t at = last; at > 0; at--) {
		const uint8_t *code = (const uint8_t *)(rip - at);
		size_t i = size;

		while (i > 0 && (form[i - 1] < 0 || form[i - 1] == code[i - 1]))
			i--;
		if (i == 0)
			return rip - at;
	}
	return 0;
}

uintptr_t snarlrt_thunk_restart(uintptr_t rip)
{
	uintptr_t start;

	for (const int32_t *e = snarlrt_restarts; e < snarlrt_restarts_end; e += 3)
		if (rip >= code_at(e + 1) && rip < code_at(e + 2))
			return code_at(e);
	/* The forms end with 5 and 4 bytes of the store to tls.cur, which has not been done yet. */
	start = inlined_start(rip, inlined_exec, ARRAY_SIZE(inlined_exec),
			      ARRAY_SIZE(inlined_exec) - 5);
	if (!start)
		start = inlined_start(rip, inlined_pic, ARRAY_SIZE(inlined_pic),
				      ARRAY_SIZE(inlined_pic) - 4);
	return start ? start : rip;
}

uintptr_t snarlrt_thunk_finish(uintptr_t rip, uint64_t rax, uint64_t rcx)
{
	struct snarlrt_tls *tls = &__snarl_tls;

	for (const int32_t *e = snarlrt_finishes; e < snarlrt_finishes_end; e += 2)
		if (rip >= code_at(e) && rip < code_at(e + 1)) {
			tls->cur = (struct trace_record *)rax;
			tls->frame = tls->emitted = (struct snarlrt_frame *)rcx;
			return code_at(e + 1);
		}
	return rip;
}

void snarlrt_access(uint64_t addr, uint64_t site)
{
	snarlrt_ops->access(addr, site);
}

static inline bool is_power_of_two(size_t n)
{
	return (n & (n - 1)) == 0;
}

void snarlrt_range(bool write, const void *start, size_t size, const void *pc)
{
	uint64_t addr = (uint64_t)start;

	if (size == 0 || mode_is_off() ||
	    (size <= SHADOW_SMALL && shadow_small_is(addr, size, __snarl_tls.own)))
		return;	/* cut memory: an inlined check would skip the access, too */
	/* Recorded as a plain access, a small range takes one record, which the codec predicts. */
	if (size <= 16 && is_power_of_two(size))
		snarlrt_ops->access(addr, TRACE_SITE(write ? TRACE_WRITE : TRACE_READ,
						     __builtin_ctzll(size), pc));
	else
		snarlrt_ops->range(addr, size,
				   TRACE_SITE(write ? TRACE_WRITE_RANGE : TRACE_READ_RANGE, 0, pc));
}

/* The call stack is full, or the thread has none. This call returns to the entry's pc. */
void snarlrt_entry_slow(uint64_t caller)
{
	snarlrt_ops->entry(caller, (uint64_t)SNARLRT_PC());
}

/* Called if the function's entry was recorded, and the fast path cannot record its exit. */
void snarlrt_exit_slow(uint64_t pc)
{
	snarlrt_ops->exit(pc);
}

static inline void note_access(const void *addr, unsigned kind, unsigned detail, const void *pc)
{
	snarlrt_access((uint64_t)addr, TRACE_SITE(kind, detail, pc));
}

/* Hooks of one size: a read and a write at once, and accesses with a given pc. */
#define ACCESSES(n, log2)                                                                 \
	SNARLRT_EXPORT void __tsan_read_write##n(void *p)                                 \
	{                                                                                 \
		note_access(p, TRACE_READ, log2, SNARLRT_PC());                                \
		note_access(p, TRACE_WRITE, log2, SNARLRT_PC());                               \
	}                                                                                 \
	SNARLRT_EXPORT void __tsan_unaligned_read_write##n(void *p)                       \
	{                                                                                 \
		note_access(p, TRACE_READ, log2, SNARLRT_PC());                                \
		note_access(p, TRACE_WRITE, log2, SNARLRT_PC());                               \
	}                                                                                 \
	SNARLRT_EXPORT void __tsan_read##n##_pc(void *p, void *pc)                        \
	{                                                                                 \
		note_access(p, TRACE_READ, log2, pc);                                          \
	}                                                                                 \
	SNARLRT_EXPORT void __tsan_write##n##_pc(void *p, void *pc)                       \
	{                                                                                 \
		note_access(p, TRACE_WRITE, log2, pc);                                         \
	}

ACCESSES(1, 0)
ACCESSES(2, 1)
ACCESSES(4, 2)
ACCESSES(8, 3)
ACCESSES(16, 4)

SNARLRT_EXPORT void __tsan_read_range(void *p, size_t size)
{
	snarlrt_range(false, p, size, SNARLRT_PC());
}

SNARLRT_EXPORT void __tsan_write_range(void *p, size_t size)
{
	snarlrt_range(true, p, size, SNARLRT_PC());
}

SNARLRT_EXPORT void __tsan_read_range_pc(void *p, size_t size, void *pc)
{
	snarlrt_range(false, p, size, pc);
}

SNARLRT_EXPORT void __tsan_write_range_pc(void *p, size_t size, void *pc)
{
	snarlrt_range(true, p, size, pc);
}

SNARLRT_EXPORT void __tsan_vptr_read(void **p)
{
	note_access(p, TRACE_READ, 3 | TRACE_VPTR, SNARLRT_PC());
}

/* Constructors and destructors often store the value that is there: not recorded as a write. */
SNARLRT_EXPORT void __tsan_vptr_update(void **p, void *value)
{
	if (*p != value)
		note_access(p, TRACE_WRITE, 3 | TRACE_VPTR, SNARLRT_PC());
}
