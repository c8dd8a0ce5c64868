/*
 * Functions on memory: mem*, b*, wmem*. The ranges that they read and write are noted before the
 * real call, as hooks of accesses are.
 *
 * Some run before all else in the process, even before the runtime is relocated. These do not look
 * up real functions; as long as there is none, they use a loop. When no events are wanted they cost
 * a test and a jump.
 */
#include "runtime/hooks/entry.h"
#include "runtime/interpose/call.h"

#define NOINLINE __attribute__((noinline))

static void *copy_up(void *to, const void *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((char *)to)[i] = ((const char *)from)[i];
	return to;
}

static void *copy_any(void *to, const void *from, size_t n)
{
	if ((uintptr_t)to <= (uintptr_t)from)
		return copy_up(to, from, n);
	while (n-- > 0)
		((char *)to)[n] = ((const char *)from)[n];
	return to;
}

static void *fill(void *to, int c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((volatile char *)to)[i] = (char)c;
	return to;
}

static int compare(const void *a, const void *b, size_t n)
{
	const unsigned char *x = a, *y = b;

	for (size_t i = 0; i < n; i++)
		if (x[i] != y[i])
			return x[i] - y[i];
	return 0;
}

/* Not inlined, so that the path without events stays free of a stack frame. */
static NOINLINE void *note_copy(void *to, const void *from, size_t n,
			      const void *pc)
{
	if (n == 16 && snarlrt_note_copy16(to, from, pc))
		return to;
	snarlrt_range(false, from, n, pc);
	snarlrt_range(true, to, n, pc);
	return to;
}

static NOINLINE void *note_fill(void *to, size_t n, const void *pc)
{
	snarlrt_range(true, to, n, pc);
	return to;
}

/*
 * Copies 1, 2, 4, 8 or 16 bytes as a read followed by a write, so that in mode control another
 * thread may run in between. Copies that the compiler inlined do the same
 * (wrap/hooks/small_copies.c).
 */
static NOINLINE void *copy_in_steps(void *to, const void *from, size_t n, const void *pc)
{
	uint64_t held[2];

	snarlrt_range(false, from, n, pc);
	REAL(memcpy)(held, from, n);
	snarlrt_range(true, to, n, pc);
	return REAL(memcpy)(to, held, n);
}

static inline bool copies_in_steps(size_t n)
{
	return unlikely(mode_controls()) && n > 0 && n <= 16 && (n & (n - 1)) == 0;
}

static NOINLINE void *copy_noted(void *to, const void *from, size_t n, const void *pc)
{
	if (copies_in_steps(n))
		return copy_in_steps(to, from, n, pc);
	note_copy(to, from, n, pc);
	return REAL(memcpy)(to, from, n);
}

static NOINLINE void *move_noted(void *to, const void *from, size_t n, const void *pc)
{
	if (copies_in_steps(n))
		return copy_in_steps(to, from, n, pc);
	note_copy(to, from, n, pc);
	return REAL(memmove)(to, from, n);
}

static NOINLINE void *set_noted(void *to, int c, size_t n, const void *pc)
{
	note_fill(to, n, pc);
	return REAL(memset)(to, c, n);
}

SNARLRT_INTERPOSE void *memcpy(void *to, const void *from, size_t n)
{
	if (snarlrt_wants_events())
		return copy_noted(to, from, n, SNARLRT_PC());
	if (!snarlrt_real_found(REAL(memcpy)))
		return copy_up(to, from, n);
	return REAL(memcpy)(to, from, n);
}

SNARLRT_INTERPOSE void *mempcpy(void *to, const void *from, size_t n)
{
	if (snarlrt_wants_events())
		note_copy(to, from, n, SNARLRT_PC());
	if (!snarlrt_real_found(REAL(mempcpy)))
		return (char *)copy_up(to, from, n) + n;
	return REAL(mempcpy)(to, from, n);
}

SNARLRT_INTERPOSE void *memmove(void *to, const void *from, size_t n)
{
	if (snarlrt_wants_events())
		return move_noted(to, from, n, SNARLRT_PC());
	if (!snarlrt_real_found(REAL(memmove)))
		return copy_any(to, from, n);
	return REAL(memmove)(to, from, n);
}

SNARLRT_INTERPOSE void bcopy(const void *from, void *to, size_t n)
{
	if (snarlrt_wants_events())
		note_copy(to, from, n, SNARLRT_PC());
	if (!snarlrt_real_found(REAL(memmove)))
		copy_any(to, from, n);
	else
		REAL(memmove)(to, from, n);
}

SNARLRT_INTERPOSE void *memset(void *to, int c, size_t n)
{
	if (snarlrt_wants_events())
		return set_noted(to, c, n, SNARLRT_PC());
	if (!snarlrt_real_found(REAL(memset)))
		return fill(to, c, n);
	return REAL(memset)(to, c, n);
}

SNARLRT_INTERPOSE void bzero(void *to, size_t n)
{
	if (snarlrt_wants_events())
		note_fill(to, n, SNARLRT_PC());
	if (!snarlrt_real_found(REAL(memset)))
		fill(to, 0, n);
	else
		REAL(memset)(to, 0, n);
}

SNARLRT_INTERPOSE void explicit_bzero(void *to, size_t n)
{
	if (snarlrt_wants_events())
		note_fill(to, n, SNARLRT_PC());
	if (!snarlrt_real_found(REAL(explicit_bzero)))
		fill(to, 0, n);
	else
		REAL(explicit_bzero)(to, n);
}

/* Notes reads up to and including the first byte that differs. */
static void note_compared(const void *a, const void *b, size_t n, const void *pc)
{
	const unsigned char *x = a, *y = b;
	size_t same = 0;

	while (same < n && x[same] == y[same])
		same++;
	if (same < n)
		same++;
	snarlrt_range(false, a, same, pc);
	snarlrt_range(false, b, same, pc);
}

SNARLRT_INTERPOSE int memcmp(const void *a, const void *b, size_t n)
{
	if (snarlrt_wants_events())
		note_compared(a, b, n, SNARLRT_PC());
	if (!snarlrt_real_found(REAL(memcmp)))
		return compare(a, b, n);
	return REAL(memcmp)(a, b, n);
}

SNARLRT_INTERPOSE int bcmp(const void *a, const void *b, size_t n)
{
	if (snarlrt_wants_events())
		note_compared(a, b, n, SNARLRT_PC());
	if (!snarlrt_real_found(REAL(memcmp)))
		return compare(a, b, n);
	return REAL(memcmp)(a, b, n);
}

SNARLRT_INTERPOSE void *memchr(const void *s, int c, size_t n)
{
	const char *p = s, *hit = NULL;

	if (!snarlrt_real_found(REAL(memchr))) {
		for (size_t i = 0; i < n && !hit; i++)
			if (p[i] == (char)c)
				hit = p + i;
		return (void *)hit;
	}
	hit = REAL(memchr)(s, c, n);
	if (snarlrt_wants_events())
		snarlrt_range(false, s, hit ? (size_t)(hit - p) + 1 : n, SNARLRT_PC());
	return (void *)hit;
}

SNARLRT_INTERPOSE void *memrchr(const void *s, int c, size_t n)
{
	const char *hit;
	size_t skipped;

	snarlrt_real_ready();
	hit = REAL(memrchr)(s, c, n);
	skipped = hit ? (size_t)(hit - (const char *)s) : 0;
	if (snarlrt_wants_events())
		snarlrt_range(false, (const char *)s + skipped, n - skipped, SNARLRT_PC());
	return (void *)hit;
}

SNARLRT_INTERPOSE void *memmem(const void *s, size_t n, const void *what, size_t size)
{
	const char *hit;

	snarlrt_real_ready();
	hit = REAL(memmem)(s, n, what, size);
	if (snarlrt_wants_events()) {
		snarlrt_range(false, s, hit ? (size_t)(hit - (const char *)s) + size : n,
			      SNARLRT_PC());
		snarlrt_range(false, what, size, SNARLRT_PC());
	}
	return (void *)hit;
}

/* clang calls these for copies of structs and the like. */
void *__tsan_memcpy(void *to, const void *from, size_t n);
void *__tsan_memmove(void *to, const void *from, size_t n);
void *__tsan_memset(void *to, int c, size_t n);

SNARLRT_INTERPOSE void *__tsan_memcpy(void *to, const void *from, size_t n)
{
	if (snarlrt_wants_events())
		return copy_noted(to, from, n, SNARLRT_PC());
	return snarlrt_real_found(REAL(memcpy)) ? REAL(memcpy)(to, from, n) : copy_up(to, from, n);
}

SNARLRT_INTERPOSE void *__tsan_memmove(void *to, const void *from, size_t n)
{
	if (snarlrt_wants_events())
		return move_noted(to, from, n, SNARLRT_PC());
	return snarlrt_real_found(REAL(memmove)) ? REAL(memmove)(to, from, n)
						 : copy_any(to, from, n);
}

SNARLRT_INTERPOSE void *__tsan_memset(void *to, int c, size_t n)
{
	if (snarlrt_wants_events())
		return set_noted(to, c, n, SNARLRT_PC());
	return snarlrt_real_found(REAL(memset)) ? REAL(memset)(to, c, n) : fill(to, c, n);
}

/* _FORTIFY_SOURCE calls these: the real functions check `room` and abort. */
SNARLRT_INTERPOSE void *__memcpy_chk(void *to, const void *from, size_t n, size_t room)
{
	snarlrt_real_ready();
	if (snarlrt_wants_events())
		note_copy(to, from, n, SNARLRT_PC());
	return REAL(__memcpy_chk)(to, from, n, room);
}

SNARLRT_INTERPOSE void *__mempcpy_chk(void *to, const void *from, size_t n, size_t room)
{
	snarlrt_real_ready();
	if (snarlrt_wants_events())
		note_copy(to, from, n, SNARLRT_PC());
	return REAL(__mempcpy_chk)(to, from, n, room);
}

SNARLRT_INTERPOSE void *__memmove_chk(void *to, const void *from, size_t n, size_t room)
{
	snarlrt_real_ready();
	if (snarlrt_wants_events())
		note_copy(to, from, n, SNARLRT_PC());
	return REAL(__memmove_chk)(to, from, n, room);
}

SNARLRT_INTERPOSE void *__memset_chk(void *to, int c, size_t n, size_t room)
{
	snarlrt_real_ready();
	if (snarlrt_wants_events())
		note_fill(to, n, SNARLRT_PC());
	return REAL(__memset_chk)(to, c, n, room);
}

SNARLRT_INTERPOSE void __explicit_bzero_chk(void *to, size_t n, size_t room)
{
	snarlrt_real_ready();
	if (snarlrt_wants_events())
		note_fill(to, n, SNARLRT_PC());
	REAL(__explicit_bzero_chk)(to, n, room);
}

SNARLRT_INTERPOSE wchar_t *wmemcpy(wchar_t *to, const wchar_t *from, size_t n)
{
	snarlrt_real_ready();
	if (snarlrt_wants_events())
		note_copy(to, from, n * sizeof(*to), SNARLRT_PC());
	return REAL(wmemcpy)(to, from, n);
}

SNARLRT_INTERPOSE wchar_t *wmemmove(wchar_t *to, const wchar_t *from, size_t n)
{
	snarlrt_real_ready();
	if (snarlrt_wants_events())
		note_copy(to, from, n * sizeof(*to), SNARLRT_PC());
	return REAL(wmemmove)(to, from, n);
}

SNARLRT_INTERPOSE wchar_t *wmemset(wchar_t *to, wchar_t c, size_t n)
{
	snarlrt_real_ready();
	if (snarlrt_wants_events())
		snarlrt_range(true, to, n * sizeof(*to), SNARLRT_PC());
	return REAL(wmemset)(to, c, n);
}
