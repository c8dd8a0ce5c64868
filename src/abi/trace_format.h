/*
 * The trace file's bytes: header, chunks, raw records. docs/trace-format.md describes them.
 *
 * A trace is a header followed by chunks, each complete and checked by itself. An event chunk
 * belongs to one thread. Its number `seq` gives its order among that thread's chunks; its position
 * in the file means nothing. The runtime includes this header, so it uses no libc.
 */
#ifndef ABI_TRACE_FORMAT_H
#define ABI_TRACE_FORMAT_H

#include <stdint.h>

#define TRACE_MAGIC "SNARLTRC"
#define TRACE_VERSION 5u
#define TRACE_CHUNK_MAGIC 0x4b4e4843u	/* "CHNK" */
#define TRACE_MAX_CHUNK (1u << 24)	/* bytes of a payload before compression */

enum trace_kind {
#define TRACE_KIND(name, text, extra, class, roles) TRACE_##name,
#include "abi/kinds.def"
#undef TRACE_KIND
	TRACE_KIND_COUNT
};

enum trace_class {
	TRACE_CLASS_NONE, TRACE_CLASS_ACCESS, TRACE_CLASS_FUNC, TRACE_CLASS_ATOMIC,
	TRACE_CLASS_MUTEX, TRACE_CLASS_RWLOCK, TRACE_CLASS_SPIN, TRACE_CLASS_COND,
	TRACE_CLASS_SEM, TRACE_CLASS_BARRIER, TRACE_CLASS_ONCE, TRACE_CLASS_THREAD,
	TRACE_CLASS_HEAP, TRACE_CLASS_SYSTEM, TRACE_CLASS_PROCESS, TRACE_CLASS_USER,
};

/* Detail of CALL_ENTER and CALL_LEAVE: the call. */
enum trace_call {
#define TRACE_CALL(name, text) TRACE_CALL_##name,
#include "abi/calls.def"
#undef TRACE_CALL
	TRACE_CALL_COUNT
};

/*
 * The raw record, as the runtime appends it:
 *   addr  bits 0..47 address or object, 48..63 result (an errno, or 0);
 *         for STAMP all 64 bits are the time
 *   site  bits 0..47 pc (the address after the call), 48..55 kind, 56..63 detail
 * Extra records follow if kinds.def says so: first { time, arg }, then one with two more values.
 * LOOP begins a group of records (loop_group.h). BUNCH stands for an access group
 * (access_group_format.h).
 */
struct trace_record {
	uint64_t addr, site;
};

#define TRACE_ADDR_MASK 0xffffffffffffull
/* The value of trace_record.site. */
#define TRACE_SITE(kind, detail, pc) \
	((uint64_t)(detail) << 56 | (uint64_t)(kind) << 48 | ((uint64_t)(pc) & TRACE_ADDR_MASK))

static inline unsigned trace_site_kind(uint64_t site)
{
	return site >> 48 & 0xff;
}

/* Detail of READ, WRITE and the atomics. */
#define TRACE_SIZE_MASK 0x07u	/* log2 of the size, 0..4 */
#define TRACE_VOLATILE 0x08u	/* plain accesses only */
#define TRACE_VPTR 0x10u	/* plain accesses only: to a C++ object's pointer to its vtable */
#define TRACE_ORDER_SHIFT 3	/* atomics: bits 3..5 are the memory order, from __ATOMIC_RELAXED */
/* A CAS has its failure order in the result bits of addr. */
#define TRACE_ORDER_MASK 0x07u

static inline uint64_t trace_site_size(uint64_t site)
{
	return 1ull << (site >> 56 & TRACE_SIZE_MASK);
}

/*
 * Results. An event that acquires something is recorded after the call, with the call's result. An
 * error means that nothing was acquired, with two exceptions: EOWNERDEAD (a robust mutex, which is
 * held), and any result of cond-wake (the mutex is held again in any case).
 *
 * An event that releases something (unlock of any lock, cond-signal, cond-broadcast, sem-post,
 * futex-wake, futex-requeue) is recorded before the call, with result 0. If the call then fails, a
 * second event of the same kind and object with the error revokes the first one.
 *
 * A call left by unwinding has result ECANCELED and detail TRACE_UNWOUND. Results of C11 functions
 * become the errno of the same meaning; thrd_error becomes EINVAL.
 */

/* Detail of kinds that may block. */
#define TRACE_TIMED 0x01u	/* had a time limit */
#define TRACE_C11 0x02u		/* the program called a function of <threads.h> */
#define TRACE_UNWOUND 0x04u	/* left by cancellation or an exception */
/* Detail of CALL_LEAVE, whose lower bits are the enum trace_call: means TRACE_UNWOUND. */
#define TRACE_CALL_UNWOUND 0x80u

struct trace_header {
	char magic[8];
	uint32_t version;
	uint32_t size;		/* bytes of this header; chunks follow */
	uint64_t start_time;	/* the trace clock when recording began */
	uint64_t start_unix_ns;	/* wall clock at start_time, nanoseconds since 1970 */
	uint32_t pid;
	uint32_t flags;		/* enum trace_flag */
	uint64_t reserved[2];
	uint32_t reserved2;
	uint32_t check;		/* trace_check() of all bytes before this member */
};

enum trace_flag {
	/* Times are positions in the total order (control mode, text traces). */
	TRACE_TOTAL_ORDER = 1,
	TRACE_UNFILTERED = 2,	/* recorded without the filter: every access was kept */
	TRACE_FINISHED = 4,	/* rewritten by the tool: sorted, and nothing left in live memory */
};

enum trace_chunk_type {
	TRACE_CHUNK_EVENTS = 1,	/* payload as in trace/codec/codec.h */
	TRACE_CHUNK_MODULE = 2,	/* struct trace_module, build-id, path */
	TRACE_CHUNK_META = 3,	/* key, NUL, value, NUL, and so on */
	/* Keys and values as in META; its presence says that the process ended normally. */
	TRACE_CHUNK_END = 4,
	/* `count` times struct trace_access_group (access_group_format.h). */
	TRACE_CHUNK_ACCESS_GROUPS = 5,
	TRACE_CHUNK_TYPES
};

#define TRACE_CHUNK_ZSTD 1u	/* bit of trace_chunk.flags: the payload is one zstd frame */

struct trace_chunk {
	uint32_t magic;
	uint16_t type;
	uint16_t flags;
	uint32_t thread;	/* id of the thread, from 1; 0: the chunk belongs to none */
	uint32_t stored;	/* bytes of payload in the file */
	uint32_t size;		/* bytes of payload when decompressed */
	/* Raw records, including extra ones; of TRACE_CHUNK_ACCESS_GROUPS: access groups. */
	uint32_t count;
	uint64_t seq;		/* number among the thread's chunks, from 0, without gaps */
	uint64_t time;		/* trace clock at the chunk's beginning */
	uint32_t check;		/* trace_check() of the stored payload */
	/* trace_check() of all bytes before: a reader finds the next chunk after damage. */
	uint32_t header_check;
};

struct trace_module {
	uint64_t time;		/* trace clock when the module was found */
	uint64_t base;		/* load bias: address in memory minus address in the file */
	uint64_t start, end;	/* first address in memory, and the one behind the last */
	uint32_t build_id_size;
	uint32_t path_size;	/* bytes of the path, without a NUL */
};

_Static_assert(sizeof(struct trace_record) == 16, "record");
_Static_assert(sizeof(struct trace_header) == 64, "header");
_Static_assert(sizeof(struct trace_chunk) == 48, "chunk");
_Static_assert(sizeof(struct trace_module) == 40, "module");

#endif
