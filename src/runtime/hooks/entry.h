/*
 * The entry points the compilers call (entry.c, atomic.c, entry_x86_64.S), and
 * what the assembly calls back.
 */
#ifndef RUNTIME_HOOKS_ENTRY_H
#define RUNTIME_HOOKS_ENTRY_H

#include "runtime/core/runtime.h"

SNARLRT_HIDDEN void snarlrt_access(uint64_t addr, uint64_t site);

/* The same for __snarl_access and __snarl_access_wide, whose callers keep values in registers. */
SNARLRT_HIDDEN void snarlrt_access_keeping(void);
SNARLRT_HIDDEN void snarlrt_access_keeping_wide(void);

/* The vector registers there are: 0 xmm, 1 ymm, 2 zmm. */
extern SNARLRT_HIDDEN uint32_t snarlrt_vectors;
extern SNARLRT_HIDDEN uint32_t snarlrt_state_size;	/* bytes that all registers but the general ones need */
#define XSAVE_LEGACY 512	/* bytes of the area of fxsave, with which that of xsave begins */
#define XSAVE_HEADER 64		/* bytes behind it in the area of xsave */
SNARLRT_HIDDEN void snarlrt_vectors_find(void);	/* once, at the start */

SNARLRT_HIDDEN void snarlrt_entry_slow(uint64_t caller);
SNARLRT_HIDDEN void snarlrt_exit_slow(uint64_t pc);

/* Tells a copy of 16 bytes if that is easy; false: nothing was told. */
SNARLRT_HIDDEN bool snarlrt_note_copy16(void *to, const void *from, const void *pc);

/*
 * Where a thread interrupted at `rip` by a signal has to go on. Before: an entry or exit that counts already is
 * brought to its end, with what two registers hold.
 */
SNARLRT_HIDDEN uintptr_t snarlrt_thunk_restart(uintptr_t rip);
SNARLRT_HIDDEN uintptr_t snarlrt_thunk_finish(uintptr_t rip, uint64_t rax, uint64_t rcx);

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

void __snarl_access(void);	/* arguments in registers: entry_x86_64.S */
void __snarl_access_wide(void);
void __tsan_read_range(void *p, size_t size);
void __tsan_write_range(void *p, size_t size);
void __tsan_read_range_pc(void *p, size_t size, void *pc);
void __tsan_write_range_pc(void *p, size_t size, void *pc);
void __tsan_vptr_read(void **p);
void __tsan_vptr_update(void **p, void *value);
void __tsan_init(void);

#endif
