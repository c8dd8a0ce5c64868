/*
 * Prototypes of the hooks for atomic operations. No header of the compilers declares them.
 */
#ifndef RUNTIME_HOOKS_ATOMIC_H
#define RUNTIME_HOOKS_ATOMIC_H

#include "runtime/core/runtime.h"

#define DECLARE_ATOMICS(bits, type)                                                               \
	type __tsan_atomic##bits##_load(const volatile type *p, int mo);                          \
	void __tsan_atomic##bits##_store(volatile type *p, type v, int mo);                       \
	type __tsan_atomic##bits##_exchange(volatile type *p, type v, int mo);                    \
	type __tsan_atomic##bits##_fetch_add(volatile type *p, type v, int mo);                   \
	type __tsan_atomic##bits##_fetch_sub(volatile type *p, type v, int mo);                   \
	type __tsan_atomic##bits##_fetch_and(volatile type *p, type v, int mo);                   \
	type __tsan_atomic##bits##_fetch_or(volatile type *p, type v, int mo);                    \
	type __tsan_atomic##bits##_fetch_xor(volatile type *p, type v, int mo);                   \
	type __tsan_atomic##bits##_fetch_nand(volatile type *p, type v, int mo);                  \
	int __tsan_atomic##bits##_compare_exchange_strong(volatile type *p, type *expected,       \
							  type v, int mo, int fail);              \
	int __tsan_atomic##bits##_compare_exchange_weak(volatile type *p, type *expected, type v, \
							int mo, int fail);                        \
	type __tsan_atomic##bits##_compare_exchange_val(volatile type *p, type expected, type v,  \
							int mo, int fail);

DECLARE_ATOMICS(8, uint8_t)
DECLARE_ATOMICS(16, uint16_t)
DECLARE_ATOMICS(32, uint32_t)
DECLARE_ATOMICS(64, uint64_t)
DECLARE_ATOMICS(128, unsigned __int128)
#undef DECLARE_ATOMICS

void __tsan_atomic_thread_fence(int mo);
void __tsan_atomic_signal_fence(int mo);

#endif
