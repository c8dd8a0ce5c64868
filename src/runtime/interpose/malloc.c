/*
 * malloc and its family.
 *
 * MALLOC is noted when the program owns the block, FREE while it still does. So the MALLOC of a
 * later owner of the same address always follows the FREE. At both, the shadow forgets which
 * threads accessed the memory.
 *
 * realloc is a FREE of the old block and a MALLOC of the new one, even if the block stays in place.
 * The FREE is noted before the real call: afterwards another thread may have got the old address
 * and note that. If the call fails, the old block is noted as allocated again, with its usable
 * size, since the requested one is not stored.
 *
 * ld.so allocates before the real functions are known, and so does the look-up of these. Such
 * requests are served from a small static buffer whose blocks are never reused; free() recognises
 * them by their address.
 *
 * In mode control all blocks come from control/heap, which notes its own events. libc allocated
 * some blocks before the mode was set. For these, free() accepts any address in libc's first heap,
 * the one behind the program's data (brk).
 */
#include <limits.h>

#include "runtime/control/heap/heap.h"
#include "runtime/core/sys.h"
#include "runtime/interpose/call.h"
#include "runtime/record/allocation_sites.h"
#include "runtime/record/clock.h"

#define EARLY_BYTES (64u << 10)
#define EARLY_ALIGN 16u

__thread const void *snarlrt_heap_pc;

static char early[EARLY_BYTES] SNARLRT_BIG __attribute__((aligned(EARLY_ALIGN)));
static size_t early_used;

/* The 16 bytes before a block hold its size. */
static void *early_alloc(size_t size, size_t align)
{
	size_t at = early_used + EARLY_ALIGN;

	if (align < EARLY_ALIGN)
		align = EARLY_ALIGN;
	at = (((uintptr_t)early + at + align - 1) & ~(align - 1)) - (uintptr_t)early;
	if (at > EARLY_BYTES || size > EARLY_BYTES - at)
		return NULL;
	early_used = (at + size + EARLY_ALIGN - 1) & ~(size_t)(EARLY_ALIGN - 1);
	*(size_t *)(early + at - EARLY_ALIGN) = size;
	return early + at;
}

static inline bool early_has(const void *p)
{
	return (uintptr_t)p - (uintptr_t)early < EARLY_BYTES;
}

static inline size_t early_size(const void *p)
{
	return *(const size_t *)((const char *)p - EARLY_ALIGN);
}

static inline size_t usable(void *p)
{
	return snarlrt_real_found(REAL(malloc_usable_size)) ? REAL(malloc_usable_size)(p) : 0;
}

static inline const void *caller(const void *pc)
{
	return snarlrt_heap_pc ? snarlrt_heap_pc : pc;
}

static void note_malloc(void *p, size_t size, const void *pc)
{
	size_t room;

	if (!p) {
		snarlrt_note(TRACE_MALLOC, 0, p, size, ENOMEM, caller(pc));
		return;
	}
	clock_expect(p);
	room = usable(p);
	birth_note(p, room > size ? room : size, size, caller(pc));
}

static void note_free(void *p, const void *pc)
{
	clock_expect(p);
	birth_note_end(p, usable(p), caller(pc));
}

static inline bool controlled(void)
{
	return unlikely(mode_controls());
}

/*
 * True in mode control, and for a block of its heap: a process may leave mode control before it
 * ends.
 */
static inline bool controlled_block(const void *p)
{
	return unlikely(mode_controls() || ctl_heap_has(p));
}

static bool is_libc_block(const void *p)
{
	extern char _end[];
	uintptr_t brk = (uintptr_t)sys_call(SYS_brk, 0, 0, 0);

	return (uintptr_t)p > (uintptr_t)_end && (uintptr_t)p < brk;
}

static void controlled_free(void *p, const void *pc)
{
	if (ctl_heap_has(p))
		ctl_heap_free(p, pc);
	else if (is_libc_block(p))
		REAL(free)(p);
	else
		ctl_heap_bad_free(p, NULL, pc);
}

static void *controlled_realloc(void *p, size_t size, const void *pc)
{
	size_t room;
	void *to;

	if (!p)
		return ctl_heap_alloc(size, 0, false, pc);
	if (size == 0) {
		controlled_free(p, pc);
		return NULL;
	}
	if (ctl_heap_has(p))
		return ctl_heap_realloc(p, size, pc);
	if (!is_libc_block(p)) {
		ctl_heap_bad_free(p, NULL, pc);
		errno = ENOMEM;
		return NULL;
	}
	to = ctl_heap_alloc(size, 0, false, pc);
	room = usable(p);
	if (to) {
		REAL(memcpy)(to, p, room < size ? room : size);
		REAL(free)(p);
	}
	return to;
}

/* Rounds `align` up to a power of two, as libc does. */
static void *controlled_aligned(size_t align, size_t size, const void *pc)
{
	size_t power = sizeof(void *);

	if (align > SIZE_MAX / 2 + 1) {
		errno = EINVAL;
		return NULL;
	}
	while (power < align)
		power *= 2;
	return ctl_heap_alloc(size, power, false, pc);
}

SNARLRT_INTERPOSE void *malloc(size_t size)
{
	void *p;

	if (controlled())
		return ctl_heap_alloc(size, 0, false, caller(SNARLRT_PC()));
	snarlrt_real_ready();
	if (!snarlrt_real_found(REAL(malloc)))
		return early_alloc(size, 0);
	p = REAL(malloc)(size);
	if (snarlrt_wants_events())
		note_malloc(p, size, SNARLRT_PC());
	return p;
}

SNARLRT_INTERPOSE void *calloc(size_t count, size_t size)
{
	size_t total;
	bool too_big = __builtin_mul_overflow(count, size, &total);
	void *p;

	if (controlled())
		return ctl_heap_alloc(too_big ? SIZE_MAX : total, 0, true, caller(SNARLRT_PC()));
	snarlrt_real_ready();
	if (!snarlrt_real_found(REAL(calloc)))
		return too_big ? NULL : early_alloc(total, 0);	/* never used before, hence zero */
	p = REAL(calloc)(count, size);
	if (snarlrt_wants_events())
		note_malloc(p, too_big ? SIZE_MAX : total, SNARLRT_PC());
	return p;
}

SNARLRT_INTERPOSE void free(void *p)
{
	if (!p || early_has(p))
		return;
	if (controlled_block(p)) {
		controlled_free(p, caller(SNARLRT_PC()));
		return;
	}
	snarlrt_real_ready();
	if (!snarlrt_real_found(REAL(free)))
		return;
	if (snarlrt_wants_events())
		note_free(p, SNARLRT_PC());
	REAL(free)(p);
}

/* Moves an early block to the real heap, if that is known. */
static void *early_realloc(void *p, size_t size, const void *pc)
{
	size_t keep = early_size(p) < size ? early_size(p) : size;
	char *to;

	if (size == 0)
		return NULL;
	if (controlled())
		to = ctl_heap_alloc(size, 0, false, caller(pc));
	else
		to = snarlrt_real_found(REAL(malloc)) ? REAL(malloc)(size) : early_alloc(size, 0);
	if (!to)
		return NULL;
	for (size_t i = 0; i < keep; i++)
		to[i] = ((char *)p)[i];
	if (snarlrt_real_found(REAL(malloc)) && snarlrt_wants_events() && !controlled())
		note_malloc(to, size, pc);
	return to;
}

static void *do_realloc(void *p, size_t size, const void *pc)
{
	void *to;

	snarlrt_real_ready();
	if (p && early_has(p))
		return early_realloc(p, size, pc);
	if (controlled_block(p))
		return controlled_realloc(p, size, caller(pc));
	if (!snarlrt_real_found(REAL(realloc)))
		return early_alloc(size, 0);
	if (!snarlrt_wants_events())
		return REAL(realloc)(p, size);
	if (p)
		note_free(p, pc);
	to = REAL(realloc)(p, size);
	if (p && !to && size != 0) {
		int saved = errno;
		size_t room = usable(p);

		snarlrt_note(TRACE_MALLOC, 0, p, room, 0, caller(pc));
		errno = saved;
	}
	/* realloc(p, 0) is free(p): no MALLOC */
	if (to || !p || size != 0)
		note_malloc(to, size, pc);
	return to;
}

SNARLRT_INTERPOSE void *realloc(void *p, size_t size)
{
	return do_realloc(p, size, SNARLRT_PC());
}

SNARLRT_INTERPOSE void *reallocarray(void *p, size_t count, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(count, size, &total)) {
		errno = ENOMEM;
		if (snarlrt_wants_events())
			snarlrt_note(TRACE_MALLOC, 0, NULL, SIZE_MAX, ENOMEM, SNARLRT_PC());
		return NULL;
	}
	return do_realloc(p, total, SNARLRT_PC());
}

/* Define functions that take an alignment. */
#define ALIGNED(name)                                                                              \
	SNARLRT_INTERPOSE void *name(size_t align, size_t size)                                    \
	{                                                                                          \
		void *p;                                                                           \
                                                                                                   \
		if (controlled())                                                                  \
			return controlled_aligned(align, size, caller(SNARLRT_PC()));              \
		snarlrt_real_ready();                                                              \
		if (!snarlrt_real_found(REAL(name)))                                               \
			return early_alloc(size, align);                                           \
		p = REAL(name)(align, size);                                                       \
		if (snarlrt_wants_events())                                                        \
			note_malloc(p, size, SNARLRT_PC());                                        \
		return p;                                                                          \
	}

ALIGNED(memalign)
ALIGNED(aligned_alloc)

static int controlled_posix_memalign(void **out, size_t align, size_t size, const void *pc)
{
	int saved = errno;
	void *p;

	if (align % sizeof(void *) || align & (align - 1) || !align)
		return EINVAL;
	p = ctl_heap_alloc(size, align, false, pc);
	errno = saved;
	if (!p)
		return ENOMEM;
	*out = p;
	return 0;
}

SNARLRT_INTERPOSE int posix_memalign(void **out, size_t align, size_t size)
{
	int error;

	if (controlled())
		return controlled_posix_memalign(out, align, size, caller(SNARLRT_PC()));
	snarlrt_real_ready();
	if (!snarlrt_real_found(REAL(posix_memalign))) {
		*out = early_alloc(size, align);
		return *out ? 0 : ENOMEM;
	}
	error = REAL(posix_memalign)(out, align, size);
	if (snarlrt_wants_events()) {
		if (error == 0)
			note_malloc(*out, size, SNARLRT_PC());
		else
			snarlrt_note(TRACE_MALLOC, 0, NULL, size, error, caller(SNARLRT_PC()));
	}
	return error;
}

static void *controlled_pages(size_t size, size_t unit, const void *pc)
{
	size_t rest = unit - 1 - (size + unit - 1) % unit;

	return ctl_heap_alloc(size + rest < size ? SIZE_MAX : size + rest, 4096, false, pc);
}

/* Define functions that return whole pages. `unit`: to which the size is rounded up. */
#define PAGED(name, unit)                                                                          \
	SNARLRT_INTERPOSE void *name(size_t size)                                                  \
	{                                                                                          \
		void *p;                                                                           \
                                                                                                   \
		if (controlled())                                                                  \
			return controlled_pages(size, unit, caller(SNARLRT_PC()));                 \
		snarlrt_real_ready();                                                              \
		if (!snarlrt_real_found(REAL(name)))                                               \
			return early_alloc(size, 4096);                                            \
		p = REAL(name)(size);                                                              \
		if (snarlrt_wants_events())                                                        \
			note_malloc(p, size, SNARLRT_PC());                                        \
		return p;                                                                          \
	}

PAGED(valloc, 1)
PAGED(pvalloc, 4096)

SNARLRT_INTERPOSE size_t malloc_usable_size(void *p)
{
	if (!p)
		return 0;
	if (early_has(p))
		return early_size(p);
	if (ctl_heap_has(p))
		return ctl_heap_size(p);
	snarlrt_real_ready();
	return usable(p);
}
