/*
 * mmap, munmap, mremap: memory that the program maps itself.
 *
 * As in malloc.c, MUNMAP is noted before the real call and MMAP after it, and the shadow forgets
 * which threads accessed the memory. Mappings that libc and ld.so make internally are not seen.
 */
#include "runtime/control/control.h"
#include "runtime/core/sys.h"
#include "runtime/interpose/call.h"

#define PAGE_MASK 4095ul

static void note_mapped(void *p, size_t size, const void *pc)
{
	int error = p == MAP_FAILED ? errno : 0;

	if (!error)
		snarlrt_fresh(p, size);
	snarlrt_note(TRACE_MMAP, 0, error ? NULL : p, size, error, pc);
}

static void note_unmapped(void *p, size_t size, const void *pc)
{
	snarlrt_note(TRACE_MUNMAP, 0, p, size, 0, pc);
	snarlrt_fresh(p, (size + PAGE_MASK) & ~PAGE_MASK);
}

static void *do_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset,
		     const void *pc)
{
	void *p;

	snarlrt_real_ready();
	p = REAL(mmap)(at, size, prot, flags, fd, offset);
	if (unlikely(mode_controls()) && p != MAP_FAILED && flags & MAP_SHARED &&
	    prot & PROT_WRITE && ctl_on())
		ctl_shared_mapping(p, size);
	if (snarlrt_wants_events())
		note_mapped(p, size, pc);
	return p;
}

SNARLRT_INTERPOSE void *mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
	return do_mmap(at, size, prot, flags, fd, offset, SNARLRT_PC());
}

SNARLRT_INTERPOSE void *mmap64(void *at, size_t size, int prot, int flags, int fd, off64_t offset)
{
	return do_mmap(at, size, prot, flags, fd, offset, SNARLRT_PC());
}

/* True if the kernel refuses the arguments and unmaps nothing. */
static bool refused(const void *p, size_t size)
{
	return ((uintptr_t)p & PAGE_MASK) != 0 || size == 0 || size > 1ul << 47;
}

SNARLRT_INTERPOSE int munmap(void *p, size_t size)
{
	snarlrt_real_ready();
	if (unlikely(mode_controls()) && ctl_on() && !refused(p, size))
		ctl_unmapped(p, size);
	if (snarlrt_wants_events() && !refused(p, size))
		note_unmapped(p, size, SNARLRT_PC());
	return REAL(munmap)(p, size);
}

SNARLRT_INTERPOSE void *mremap(void *p, size_t size, size_t new_size, int flags, ...)
{
	const void *pc = SNARLRT_PC();
	bool watching = snarlrt_wants_events() && !refused(p, size);
	void *to, *at;
	va_list args;

	va_start(args, flags);
	at = flags & MREMAP_FIXED ? va_arg(args, void *) : NULL;
	va_end(args);
	snarlrt_real_ready();
	if (watching)
		note_unmapped(p, size, pc);
	to = REAL(mremap)(p, size, new_size, flags, at);
	if (watching) {
		int saved = errno;

		if (to == MAP_FAILED)
			snarlrt_note(TRACE_MMAP, 0, p, size, 0, pc);
		note_mapped(to, new_size, pc);
		errno = saved;
	}
	return to;
}
