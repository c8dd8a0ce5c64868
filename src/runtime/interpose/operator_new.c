/*
 * operator new and delete of C++. They end in malloc and free, which note the caller of the
 * operator instead of a pc in the C++ library (snarlrt_heap_pc).
 *
 * If a dynamic program links its C++ library statically, these functions replace the library's, and
 * there is no real function: malloc and free are called instead. In a static program the operators
 * are not interposed.
 */
#ifndef SNARLRT_STATIC

#include "runtime/interpose/call.h"

static inline void restore(const void **saved)
{
	snarlrt_heap_pc = *saved;
}

/*
 * Sets the pc that malloc and free note, until the scope ends or is unwound. If operators call each
 * other, the outermost caller counts.
 */
#define ON_BEHALF_OF_CALLER()                                                             \
	const void *saved __attribute__((cleanup(restore))) = snarlrt_heap_pc;            \
                                                                                          \
	snarlrt_real_ready();                                                             \
	if (!saved)                                                                       \
	snarlrt_heap_pc = SNARLRT_PC()

static void *allocate(size_t size, size_t align, bool may_fail)
{
	void *p;

	if (size == 0)
		size = 1;
	p = align ? aligned_alloc(align, (size + align - 1) & ~(align - 1)) : malloc(size);
	if (!p && !may_fail)
		abort();	/* an exception is due, which C cannot throw */
	return p;
}

#define NEW(name, params, args, align, may_fail)                                          \
	SNARLRT_INTERPOSE void *name params                                               \
	{                                                                                 \
		ON_BEHALF_OF_CALLER();                                                    \
		return REAL(name) ? REAL(name) args : allocate(size, align, may_fail);    \
	}

#define DELETE(name, params, args)                                                        \
	SNARLRT_INTERPOSE void name params                                                \
	{                                                                                 \
		ON_BEHALF_OF_CALLER();                                                    \
		if (REAL(name))                                                           \
			REAL(name) args;                                                  \
		else                                                                      \
			free(p);                                                          \
	}

#define NEWS(name)                                                                        \
	NEW(name, (size_t size), (size), 0, false)                                        \
	NEW(name##RKSt9nothrow_t, (size_t size, const void *nothrow), (size, nothrow), 0, true) \
	NEW(name##St11align_val_t, (size_t size, size_t align), (size, align), align, false) \
	NEW(name##St11align_val_tRKSt9nothrow_t,                                          \
	    (size_t size, size_t align, const void *nothrow), (size, align, nothrow), align, true)

#define DELETES(name)                                                                     \
	DELETE(name, (void *p), (p))                                                      \
	DELETE(name##m, (void *p, size_t size), (p, size))                                \
	DELETE(name##St11align_val_t, (void *p, size_t align), (p, align))                \
	DELETE(name##mSt11align_val_t, (void *p, size_t size, size_t align), (p, size, align)) \
	DELETE(name##RKSt9nothrow_t, (void *p, const void *nothrow), (p, nothrow))

NEWS(_Znwm)
NEWS(_Znam)
DELETES(_ZdlPv)
DELETES(_ZdaPv)

#endif
