/*
 * The hooks for atomic operations. Each does the operation itself, between the mode's atomic_begin
 * and atomic_end. The event has the memory order that the program gave. The operation itself is
 * sequentially consistent, except that a store of any weaker order is a release store.
 */
#include "runtime/hooks/atomic.h"

#include "runtime/core/mode.h"

static inline struct mode_atomic begin(const volatile void *addr, enum trace_kind kind,
				       unsigned log2, const void *pc)
{
	struct mode_atomic op;

	op.addr = addr;
	op.pc = pc;
	op.kind = kind;
	op.log2 = log2;
	snarlrt_ops->atomic_begin(&op);
	return op;
}

static inline void end(struct mode_atomic *op, enum trace_kind kind, int order, int fail_order,
		       uint64_t value)
{
	op->kind = kind;
	op->order = order;
	op->fail_order = fail_order;
	op->value = value;
	snarlrt_ops->atomic_end(op);
}

#define RMW(bits, type, log2, name, kind, builtin)                                         \
	SNARLRT_EXPORT type __tsan_atomic##bits##_##name(volatile type *p, type v, int mo) \
	{                                                                                  \
		struct mode_atomic op = begin(p, kind, log2, SNARLRT_PC());                  \
		type old = builtin(p, v, __ATOMIC_SEQ_CST);                                \
		end(&op, kind, mo, 0, (uint64_t)old);                  \
		return old;                                                                \
	}

#define CAS(bits, type, log2, name)                                                        \
	SNARLRT_EXPORT int __tsan_atomic##bits##_compare_exchange_##name(                  \
		volatile type *p, type *expected, type v, int mo, int fail)                \
	{                                                                                  \
		struct mode_atomic op = begin(p, TRACE_ATOMIC_CAS, log2, SNARLRT_PC());      \
		type old = *expected;                                                      \
		int ok = __atomic_compare_exchange_n(p, &old, v, 0, __ATOMIC_SEQ_CST,      \
						     __ATOMIC_SEQ_CST);                    \
		end(&op, ok ? TRACE_ATOMIC_CAS : TRACE_ATOMIC_CAS_FAIL, mo, fail,    \
		    (uint64_t)old);                                          \
		if (!ok)                                                                   \
			*expected = old;                                                   \
		return ok;                                                                 \
	}

#define ATOMICS(bits, type, log2)                                                          \
	SNARLRT_EXPORT type __tsan_atomic##bits##_load(const volatile type *p, int mo)     \
	{                                                                                  \
		struct mode_atomic op = begin(p, TRACE_ATOMIC_LOAD, log2, SNARLRT_PC());     \
		type v = __atomic_load_n(p, __ATOMIC_SEQ_CST);                             \
		end(&op, TRACE_ATOMIC_LOAD, mo, 0, (uint64_t)v);       \
		return v;                                                                  \
	}                                                                                  \
	SNARLRT_EXPORT void __tsan_atomic##bits##_store(volatile type *p, type v, int mo)  \
	{                                                                                  \
		struct mode_atomic op = begin(p, TRACE_ATOMIC_STORE, log2, SNARLRT_PC());    \
		if (mo == __ATOMIC_SEQ_CST)                                                \
			__atomic_store_n(p, v, __ATOMIC_SEQ_CST);                          \
		else                                                                       \
			__atomic_store_n(p, v, __ATOMIC_RELEASE);                          \
		end(&op, TRACE_ATOMIC_STORE, mo, 0, (uint64_t)v);      \
	}                                                                                  \
	RMW(bits, type, log2, exchange, TRACE_ATOMIC_XCHG, __atomic_exchange_n)            \
	RMW(bits, type, log2, fetch_add, TRACE_ATOMIC_ADD, __atomic_fetch_add)             \
	RMW(bits, type, log2, fetch_sub, TRACE_ATOMIC_SUB, __atomic_fetch_sub)             \
	RMW(bits, type, log2, fetch_and, TRACE_ATOMIC_AND, __atomic_fetch_and)             \
	RMW(bits, type, log2, fetch_or, TRACE_ATOMIC_OR, __atomic_fetch_or)                \
	RMW(bits, type, log2, fetch_xor, TRACE_ATOMIC_XOR, __atomic_fetch_xor)             \
	RMW(bits, type, log2, fetch_nand, TRACE_ATOMIC_NAND, __atomic_fetch_nand)          \
	CAS(bits, type, log2, strong)                                                      \
	CAS(bits, type, log2, weak)                                                        \
	SNARLRT_EXPORT type __tsan_atomic##bits##_compare_exchange_val(                    \
		volatile type *p, type expected, type v, int mo, int fail)                 \
	{                                                                                  \
		struct mode_atomic op = begin(p, TRACE_ATOMIC_CAS, log2, SNARLRT_PC());      \
		type old = expected;                                                       \
		int ok = __atomic_compare_exchange_n(p, &old, v, 0, __ATOMIC_SEQ_CST,      \
						     __ATOMIC_SEQ_CST);                    \
		end(&op, ok ? TRACE_ATOMIC_CAS : TRACE_ATOMIC_CAS_FAIL, mo, fail,    \
		    (uint64_t)old);                                          \
		return old;                                                                \
	}

ATOMICS(8, uint8_t, 0)
ATOMICS(16, uint16_t, 1)
ATOMICS(32, uint32_t, 2)
ATOMICS(64, uint64_t, 3)

/*
 * Operations of 16 bytes. For these the compiler would call libatomic, which the runtime must not
 * need, so they are built from one compare-and-swap instruction.
 */
#define u128 unsigned __int128

static inline u128 cas128(volatile u128 *p, u128 expected, u128 v)
{
	uint64_t low = (uint64_t)expected, high = (uint64_t)(expected >> 64);

	__asm__ volatile("lock cmpxchg16b %0"
			 : "+m"(*p), "+a"(low), "+d"(high)
			 : "b"((uint64_t)v), "c"((uint64_t)(v >> 64))
			 : "cc", "memory");
	return (u128)high << 64 | low;
}

enum op128 { OP_XCHG, OP_ADD, OP_SUB, OP_AND, OP_OR, OP_XOR, OP_NAND };

static u128 apply128(enum op128 what, u128 old, u128 v)
{
	switch (what) {
	case OP_ADD: return old + v;
	case OP_SUB: return old - v;
	case OP_AND: return old & v;
	case OP_OR: return old | v;
	case OP_XOR: return old ^ v;
	case OP_NAND: return ~(old & v);
	case OP_XCHG: break;
	}
	return v;
}

static u128 rmw128(volatile u128 *p, u128 v, enum op128 what)
{
	u128 old = cas128(p, 0, 0), seen;

	while ((seen = cas128(p, old, apply128(what, old, v))) != old)
		old = seen;
	return old;
}

SNARLRT_EXPORT u128 __tsan_atomic128_load(const volatile u128 *p, int mo)
{
	struct mode_atomic op = begin(p, TRACE_ATOMIC_LOAD, 4, SNARLRT_PC());
	u128 v = cas128((volatile u128 *)p, 0, 0);

	end(&op, TRACE_ATOMIC_LOAD, mo, 0, (uint64_t)v);
	return v;
}

SNARLRT_EXPORT void __tsan_atomic128_store(volatile u128 *p, u128 v, int mo)
{
	struct mode_atomic op = begin(p, TRACE_ATOMIC_STORE, 4, SNARLRT_PC());

	rmw128(p, v, OP_XCHG);
	end(&op, TRACE_ATOMIC_STORE, mo, 0, (uint64_t)v);
}

#define RMW128(name, kind, what)                                                           \
	SNARLRT_EXPORT u128 __tsan_atomic128_##name(volatile u128 *p, u128 v, int mo)      \
	{                                                                                  \
		struct mode_atomic op = begin(p, kind, 4, SNARLRT_PC());                     \
		u128 old = rmw128(p, v, what);                                             \
		end(&op, kind, mo, 0, (uint64_t)old);                     \
		return old;                                                                \
	}

RMW128(exchange, TRACE_ATOMIC_XCHG, OP_XCHG)
RMW128(fetch_add, TRACE_ATOMIC_ADD, OP_ADD)
RMW128(fetch_sub, TRACE_ATOMIC_SUB, OP_SUB)
RMW128(fetch_and, TRACE_ATOMIC_AND, OP_AND)
RMW128(fetch_or, TRACE_ATOMIC_OR, OP_OR)
RMW128(fetch_xor, TRACE_ATOMIC_XOR, OP_XOR)
RMW128(fetch_nand, TRACE_ATOMIC_NAND, OP_NAND)

static inline u128 cas128_noted(volatile u128 *p, u128 expected, u128 v, int mo, int fail,
				const void *pc)
{
	struct mode_atomic op = begin(p, TRACE_ATOMIC_CAS, 4, pc);
	u128 old = cas128(p, expected, v);

	end(&op, old == expected ? TRACE_ATOMIC_CAS : TRACE_ATOMIC_CAS_FAIL, mo, fail,
	    (uint64_t)old);
	return old;
}

SNARLRT_EXPORT int __tsan_atomic128_compare_exchange_strong(volatile u128 *p, u128 *expected,
							    u128 v, int mo, int fail)
{
	u128 want = *expected;

	*expected = cas128_noted(p, want, v, mo, fail, SNARLRT_PC());
	return *expected == want;
}

SNARLRT_EXPORT int __tsan_atomic128_compare_exchange_weak(volatile u128 *p, u128 *expected, u128 v,
							  int mo, int fail)
{
	u128 want = *expected;

	*expected = cas128_noted(p, want, v, mo, fail, SNARLRT_PC());
	return *expected == want;
}

SNARLRT_EXPORT u128 __tsan_atomic128_compare_exchange_val(volatile u128 *p, u128 expected, u128 v,
							  int mo, int fail)
{
	return cas128_noted(p, expected, v, mo, fail, SNARLRT_PC());
}

SNARLRT_EXPORT void __tsan_atomic_thread_fence(int mo)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	snarlrt_note(TRACE_FENCE, ((unsigned)mo & TRACE_ORDER_MASK) << TRACE_ORDER_SHIFT, NULL, 0,
		     0, SNARLRT_PC());
}

/* Orders a thread only with its own signal handlers: nothing to record. */
SNARLRT_EXPORT void __tsan_atomic_signal_fence(int mo)
{
	(void)mo;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}
