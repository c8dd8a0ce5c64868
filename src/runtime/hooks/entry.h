/*
 * The hooks that compiled code calls (entry.c, atomic.c, entry_x86_64.S), and the C functions that
 * their assembly calls.
 */
#ifndef RUNTIME_HOOKS_ENTRY_H
#define RUNTIME_HOOKS_ENTRY_H

#include "runtime/core/mode.h"

/* A plain access that the fast path could not handle. `site`: pc, kind and size (TRACE_SITE). */
SNARLRT_HIDDEN void snarlrt_access(uint64_t addr, uint64_t site);

/* An access to [addr, addr + size), such as the program's memcpy and read(2) make. */
SNARLRT_HIDDEN void snarlrt_range(bool write, const void *addr, size_t size, const void *pc);

/* snarlrt_access() for __snarl_access and __snarl_access_wide: saves and restores all registers. */
SNARLRT_HIDDEN void snarlrt_access_keeping(void);
SNARLRT_HIDDEN void snarlrt_access_keeping_wide(void);

/* The widest vector registers of the processor: 0 xmm, 1 ymm, 2 zmm. */
extern SNARLRT_HIDDEN uint32_t snarlrt_vector_width;
/* Bytes that xsave needs for all registers but the general ones. */
extern SNARLRT_HIDDEN uint32_t snarlrt_xsave_size;
#define XSAVE_LEGACY 512	/* bytes of an fxsave area, with which an xsave area begins */
#define XSAVE_HEADER 64		/* bytes of the xsave header, which follows */
/* Sets both numbers; called once, at the start. */
SNARLRT_HIDDEN void snarlrt_vector_width_find(void);

/* Function entries and exits that the fast paths could not handle. */
SNARLRT_HIDDEN void snarlrt_entry_slow(uint64_t caller);
SNARLRT_HIDDEN void snarlrt_exit_slow(uint64_t pc);

/* Records a copy of 16 bytes, a read and a write. False: nothing was recorded; use slow paths. */
SNARLRT_HIDDEN bool snarlrt_note_copy16(void *to, const void *from, const void *pc);

/*
 * For the signal trampoline, with registers of the interrupted thread. Both return the rip at which
 * the thread is to continue. Call snarlrt_thunk_finish() first: if `rip` is inside the final stores
 * of a function entry or exit, it does these stores. Then snarlrt_thunk_restart(): if `rip` is
 * inside an append that has not stored tls.cur yet, it returns the start of the append.
 */
SNARLRT_HIDDEN uintptr_t snarlrt_thunk_finish(uintptr_t rip, uint64_t rax, uint64_t rcx);
SNARLRT_HIDDEN uintptr_t snarlrt_thunk_restart(uintptr_t rip);

#define DECLARE_ACCESSES(n)                                  \
	void __tsan_read_write##n(void *p);                  \
	void __tsan_unaligned_read_write##n(void *p);        \
	void __tsan_read##n##_pc(void *p, void *pc);         \
	void __tsan_write##n##_pc(void *p, void *pc);

DECLARE_ACCESSES(1)
DECLARE_ACCESSES(2)
DECLARE_ACCESSES(4)
DECLARE_ACCESSES(8)
DECLARE_ACCESSES(16)
#undef DECLARE_ACCESSES

/* Arguments in registers: see entry_x86_64.S. */
void __snarl_access(void);
void __snarl_access_wide(void);
void __tsan_read_range(void *p, size_t size);
void __tsan_write_range(void *p, size_t size);
void __tsan_read_range_pc(void *p, size_t size, void *pc);
void __tsan_write_range_pc(void *p, size_t size, void *pc);
void __tsan_vptr_read(void **p);
void __tsan_vptr_update(void **p, void *value);
void __tsan_init(void);

#endif
