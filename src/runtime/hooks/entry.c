/*
 * The compiler's calls that are not hot enough for assembly, and the slow ends
 * of those that are.
 */
#include "runtime/control/control.h"
#include "runtime/hooks/entry.h"
#include "runtime/monitor/monitor.h"
#include "runtime/record/allocation_sites.h"
#include "runtime/record/clock.h"
#include "runtime/record/shadow.h"

#define SMALL_RANGE 256u	/* bytes; larger ones have time for a call */

/* Places as distances from where these stand. */
extern SNARLRT_HIDDEN const int32_t snarlrt_restarts[], snarlrt_restarts_end[];
extern SNARLRT_HIDDEN const int32_t snarlrt_finishes[], snarlrt_finishes_end[];

static uintptr_t place(const int32_t *distance)
{
	return (uintptr_t)distance + (uintptr_t)(intptr_t)*distance;
}

/*
 * The append as wrap/hooks/inline_asm.c writes it, from the load of tls.cur to its store;
 * -1 stands for bytes that differ from site to site. An executable's form and a
 * shared library's.
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

/* The start of the append that `rip` is inside of, or 0. The bytes at rip are looked at first. */
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
		if (rip >= place(e + 1) && rip < place(e + 2))
			return place(e);
	/* The store is the last instruction of the form: at its start it is still to come. */
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
		if (rip >= place(e) && rip < place(e + 1)) {
			tls->cur = (struct trace_record *)rax;
			tls->frame = tls->told = (struct snarlrt_frame *)rcx;
			return place(e + 1);
		}
	return rip;
}

/* Shared memory within one granule or two: false if it is anything else, or the ring needs attention. */
static inline bool access_quick(struct snarlrt_tls *tls, uint64_t addr, uint64_t site)
{
	const uint16_t *s = (const uint16_t *)(SHADOW_BASE + (addr >> 3) * 2);
	uint64_t bytes = (addr & 7) + (1u << (site >> 56 & TRACE_SIZE_MASK));

	return (uintptr_t)tls->cur % STAMP_BYTES != 0 && tls->own_uncut && addr <= TRACE_ADDR_MASK >> 1 &&
	       *s == SHADOW_SHARED && (bytes <= 8 || (bytes <= 16 && s[1] == SHADOW_SHARED)) &&
	       snarlrt_append_quick(addr, site);
}

bool snarlrt_timed;

/* The ring would put a later time of its own among the next three records, or end before the last one. */
static bool page_ends(void)
{
	uintptr_t at = (uintptr_t)__snarl_tls.cur % STAMP_BYTES;

	return at == 0 || STAMP_BYTES - at < 4 * sizeof(struct trace_record);
}

/* What lies between two equal times has that one. */
static void append_timed(struct snarlrt_thread *self, const struct trace_record *r)
{
	struct trace_record time = { clock_now(self), TRACE_SITE(TRACE_STAMP, 0, 0) };

	while (page_ends())
		snarlrt_append(self, &time, 1);
	time.addr = clock_now_behind(self);
	snarlrt_append(self, &time, 1);
	snarlrt_append(self, r, 1);
	snarlrt_append(self, &time, 1);
}

static inline void access_settle(uint64_t addr, uint64_t site)
{
	struct trace_record r = { addr & TRACE_ADDR_MASK, site };
	enum shadow_verdict verdict = SHADOW_KEEP;
	struct snarlrt_thread *self;

	if (unlikely(snarlrt.mode >= SNARLRT_CONTROL)) {
		if (snarlrt.mode == SNARLRT_WATCH)
			watch_access(addr, 1ull << (site >> 56 & TRACE_SIZE_MASK), site,
				     trace_site_kind(site) == TRACE_WRITE);
		else if (ctl_on())
			ctl_access(addr & TRACE_ADDR_MASK, 1ull << (site >> 56 & TRACE_SIZE_MASK), site);
		return;
	}
	self = snarlrt_enter();
	if (!self)
		return;
	if (unlikely(self->claims) && addr <= TRACE_ADDR_MASK >> 1 &&
	    *(uint16_t *)(SHADOW_BASE + (addr >> 3) * 2) == 0)
		birth_claim(self, addr);
	/* Not private, so it will be recorded: the calls can be told first. */
	if (__snarl_tls.frame != __snarl_tls.told && addr <= TRACE_ADDR_MASK >> 1 &&
	    *(uint16_t *)(SHADOW_BASE + (addr >> 3) * 2) != __snarl_tls.own)
		snarlrt_tell_frames(self);
	if (!snarlrt_timed && access_quick(&__snarl_tls, addr, site)) {
		snarlrt_leave(self);
		return;
	}
	if (snarlrt.filter)
		verdict = shadow_touch(addr, 1ull << (site >> 56 & TRACE_SIZE_MASK));
	if (verdict != SHADOW_DROP) {
		if (verdict == SHADOW_UNDECIDED)
			__snarl_tls.undecided++;
		snarlrt_tell_frames(self);
		if (unlikely(snarlrt_timed))
			append_timed(self, &r);
		else
			snarlrt_append(self, &r, 1);
	}
	snarlrt_leave(self);
}

/* An access that the fast path could not settle. */
void snarlrt_access(uint64_t addr, uint64_t site)
{
	access_settle(addr, site);
}

/*
 * Whether all granules of a small range have this value, four at a time: more may be read than are asked
 * for, there is shadow behind all memory.
 */
static inline bool is_all(uint64_t addr, size_t size, uint16_t value)
{
	uint64_t four = value * 0x0001000100010001ull, seen;
	uintptr_t s = SHADOW_BASE + (addr >> 3) * 2, last = SHADOW_BASE + ((addr + size - 1) >> 3) * 2;

	if (addr > TRACE_ADDR_MASK >> 1)
		return false;	/* nobody's address: the program is about to crash */
	for (; s + 6 <= last; s += 8) {
		__builtin_memcpy(&seen, (const void *)s, sizeof(seen));
		if (seen != four)
			return false;
	}
	if (s > last)
		return true;
	__builtin_memcpy(&seen, (const void *)s, sizeof(seen));
	return (seen ^ four) << (48 - 8 * (last - s)) == 0;
}

/* A small range of shared or undecided memory, where the calls are told and the ring needs no attention. */
static inline bool range_quick(struct snarlrt_thread *self, uint64_t addr, uint64_t size, uint64_t site)
{
	struct snarlrt_tls *tls = &__snarl_tls;
	struct trace_record *cur = tls->cur;
	bool undecided = false;

	if (size > SMALL_RANGE || tls->frame != tls->told || !tls->own_uncut || snarlrt_timed ||
	    (uintptr_t)cur % STAMP_BYTES == 0 || (uintptr_t)(cur + 1) % STAMP_BYTES == 0)
		return false;
	if (!is_all(addr, size, SHADOW_SHARED)) {
		undecided = is_all(addr, size, tls->own_uncut);
		if (!undecided)
			return false;
	}
	tls->undecided += undecided;
	/* The site of the first record makes both valid. */
	cur[1].addr = self->last_time;
	cur[1].site = size;
	cur->addr = addr;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	cur->site = site;
	tls->cur = cur + 2;
	return true;
}

void snarlrt_range(bool write, const void *addr, size_t size, const void *pc)
{
	struct snarlrt_thread *self;
	enum shadow_verdict verdict = SHADOW_KEEP;
	struct trace_record r[2];

	if (size == 0 || snarlrt.mode == SNARLRT_OFF ||
	    (size <= SMALL_RANGE && is_all((uint64_t)addr, size, __snarl_tls.own)))
		return;	/* private: as the inlined check lets it pass */
	if (unlikely(snarlrt.mode == SNARLRT_WATCH)) {
		watch_access((uint64_t)addr, size, (uint64_t)pc, write);
		return;
	}
	/* As small as a plain access, it is one: shorter, and foretold by the codec. */
	if (size <= 16 && (size & (size - 1)) == 0) {
		access_settle((uint64_t)addr, TRACE_SITE(write ? TRACE_WRITE : TRACE_READ,
							 __builtin_ctzll(size), pc));
		return;
	}
	if (unlikely(snarlrt.mode == SNARLRT_CONTROL)) {
		if (ctl_on())
			ctl_access((uint64_t)addr & TRACE_ADDR_MASK, size,
				   TRACE_SITE(write ? TRACE_WRITE_RANGE : TRACE_READ_RANGE, 0, pc));
		return;
	}
	self = snarlrt_enter();
	if (!self)
		return;
	if (range_quick(self, (uint64_t)addr, size, TRACE_SITE(write ? TRACE_WRITE_RANGE : TRACE_READ_RANGE, 0, pc))) {
		snarlrt_leave(self);
		return;
	}
	if (snarlrt.filter)
		verdict = shadow_touch((uint64_t)addr, size);
	if (verdict != SHADOW_DROP) {
		if (verdict == SHADOW_UNDECIDED)
			__snarl_tls.undecided++;
		snarlrt_tell_frames(self);
		r[0].addr = (uint64_t)addr & TRACE_ADDR_MASK;
		r[0].site = TRACE_SITE(write ? TRACE_WRITE_RANGE : TRACE_READ_RANGE, 0, pc);
		r[1].addr = snarlrt_timed ? clock_now_behind(self) : self->last_time;
		r[1].site = size;
		snarlrt_append(self, r, 2);
	}
	snarlrt_leave(self);
}

/* The call stack is full, or the thread has none. */
void snarlrt_entry_slow(uint64_t caller)
{
	struct snarlrt_thread *self;

	if (unlikely(snarlrt.mode == SNARLRT_WATCH)) {
		watch_entry((uint64_t)SNARLRT_PC());
		return;
	}
	self = snarlrt_enter();

	if (!self)
		return;
	if (__snarl_tls.frame < __snarl_tls.frame_end)	/* just attached */
		*__snarl_tls.frame++ = (struct snarlrt_frame){ caller, caller };
	else {
		snarlrt_tell_frames(self);	/* told: the exits come to C, too */
		self->too_deep++;
	}
	snarlrt_leave(self);
}

/* The entry of the function that ends, if it is the last record of the ring: as in the assembly. */
static bool take_back(const struct snarlrt_thread *self)
{
	struct snarlrt_tls *tls = &__snarl_tls;
	struct trace_record *last = tls->cur - 1;

	if (last < self->ring || last->site != TRACE_SITE(TRACE_FUNC_ENTRY, 0, tls->frame->pc) ||
	    last->addr != tls->frame->caller)
		return false;
	last->site = 0;
	tls->cur = last;
	return true;
}

/* The function's entry is in the trace already, so its exit must be too. */
void snarlrt_exit_slow(uint64_t pc)
{
	struct snarlrt_tls *tls = &__snarl_tls;
	struct snarlrt_thread *self;
	struct trace_record r;

	if (unlikely(snarlrt.mode == SNARLRT_WATCH)) {
		watch_exit();
		return;
	}
	if (unlikely(snarlrt.mode == SNARLRT_CONTROL) && ctl.tracing && ctl_on())
		ctl_trace_exit(ctl.current, pc);
	if (!tls->self)
		return;
	self = snarlrt_enter();
	if (!self)
		return;
	if (self->too_deep) {
		self->too_deep--;
	} else if (tls->frame > self->frames) {
		r = (struct trace_record){ 0, TRACE_SITE(TRACE_FUNC_EXIT, 0, pc) };
		tls->frame--;
		tls->told = tls->frame;
		if (!take_back(self) && !snarlrt.profiling && !snarlrt_append_quick(r.addr, r.site))
			snarlrt_append(self, &r, 1);
	}
	snarlrt_leave(self);
}

static inline void note_access(const void *addr, unsigned kind, unsigned detail, const void *pc)
{
	snarlrt_access((uint64_t)addr, TRACE_SITE(kind, detail, pc));
}

/* One stamp for the sizes: read and write at once, with given pc. */
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

/* Constructors and destructors store the same table again and again: no write then. */
SNARLRT_EXPORT void __tsan_vptr_update(void **p, void *value)
{
	if (*p != value)
		note_access(p, TRACE_WRITE, 3 | TRACE_VPTR, SNARLRT_PC());
}
