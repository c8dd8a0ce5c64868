/*
 * Bytes on disk. docs/trace-format.md is the prose of this file.
 *
 * A trace is a header and then chunks, each whole and checked by itself.
 * A chunk of events belongs to one thread; its number among that thread's
 * chunks (seq), not its place in the file, gives the order. The runtime
 * includes this file: no libc here.
 */
#ifndef ABI_TRACE_FORMAT_H
#define ABI_TRACE_FORMAT_H

#include <stdint.h>

#define TRACE_MAGIC "SNARLTRC"
#define TRACE_VERSION 5u
#define TRACE_CHUNK_MAGIC 0x4b4e4843u	/* "CHNK" */
#define TRACE_MAX_CHUNK (1u << 24)	/* payload bytes, before compression */

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

/* Calls that CALL_ENTER and CALL_LEAVE tell apart; names in kinds.c. Append only. */
enum trace_call {
	TRACE_CALL_OTHER, TRACE_CALL_READ, TRACE_CALL_WRITE, TRACE_CALL_ACCEPT,
	TRACE_CALL_CONNECT, TRACE_CALL_RECV, TRACE_CALL_SEND, TRACE_CALL_POLL,
	TRACE_CALL_SELECT, TRACE_CALL_EPOLL, TRACE_CALL_WAIT, TRACE_CALL_SIGWAIT,
	TRACE_CALL_PAUSE, TRACE_CALL_FLOCK, TRACE_CALL_FSYNC, TRACE_CALL_MSG,
	TRACE_CALL_OPEN, TRACE_CALL_CLOSE, TRACE_CALL_SYSCALL, TRACE_CALL_COUNT,
};

/*
 * The raw record, as the runtime appends it:
 *   addr  bits 0..47 address or object, 48..63 result (an errno, or 0);
 *         for STAMP all 64 bits are the time
 *   site  bits 0..47 pc (the address after the call), 48..55 kind, 56..63 detail
 * Extra records: the first is { time, arg }, the second holds two more values.
 * LOOP begins a group that stands for many accesses: loop.h; BUNCH is one that stands for some: bunch.h.
 */
struct trace_record {
	uint64_t addr, site;
};

#define TRACE_ADDR_MASK 0xffffffffffffull
#define TRACE_SITE(kind, detail, pc) \
	((uint64_t)(detail) << 56 | (uint64_t)(kind) << 48 | ((uint64_t)(pc) & TRACE_ADDR_MASK))

static inline unsigned trace_site_kind(uint64_t site)
{
	return site >> 48 & 0xff;
}

/* Detail of READ, WRITE and the atomics. */
#define TRACE_SIZE_MASK 0x07u	/* log2 of the size, 0..4 */
#define TRACE_VOLATILE 0x08u	/* plain accesses only */
#define TRACE_VPTR 0x10u	/* plain accesses only: a C++ object's table pointer */
#define TRACE_ORDER_SHIFT 3	/* atomics: __ATOMIC_RELAXED.. in bits 3..5 */
#define TRACE_ORDER_MASK 0x07u	/* a CAS keeps its failure order in the result bits of addr */

static inline uint64_t trace_site_size(uint64_t site)
{
	return 1ull << (site >> 56 & TRACE_SIZE_MASK);
}

/*
 * Results. What acquires is noted when it is over, with its result; an error
 * means it was not acquired, but EOWNERDEAD (a robust mutex: held) and any of
 * cond-wake (the mutex is held again in any case). What releases (unlock of any
 * lock, cond-signal, cond-broadcast, sem-post, futex-wake, futex-requeue) is
 * noted before it is made, as 0; if it then fails, an event of the same kind
 * and object with the error follows and takes the first one back. A call left
 * by unwinding has ECANCELED and TRACE_UNWOUND. C11's results become the errno
 * of the same meaning, EINVAL for thrd_error.
 */

/* Detail of the blocking kinds, where it applies. */
#define TRACE_TIMED 0x01u	/* had a time limit */
#define TRACE_C11 0x02u		/* came in through <threads.h> */
#define TRACE_UNWOUND 0x04u	/* left by cancellation or an exception */
#define TRACE_CALL_UNWOUND 0x80u	/* the same beside the enum trace_call of CALL_LEAVE */

struct trace_header {
	char magic[8];
	uint32_t version;
	uint32_t size;		/* of this header; chunks follow */
	uint64_t start_time;	/* the trace clock when recording began */
	uint64_t start_unix_ns;	/* the same moment, wall clock */
	uint32_t pid;
	uint32_t flags;		/* enum trace_flag */
	uint64_t reserved[2];
	uint32_t reserved2;
	uint32_t check;		/* trace_check of all before */
};

enum trace_flag {
	TRACE_TOTAL_ORDER = 1,	/* times are exact positions (control mode, text traces) */
	TRACE_UNFILTERED = 2,	/* every access was kept */
	TRACE_FINISHED = 4,	/* rewritten by the tool: sorted, nothing live */
};

enum trace_chunk_type {
	TRACE_CHUNK_EVENTS = 1,	/* codec.h */
	TRACE_CHUNK_MODULE = 2,	/* struct trace_module, then build-id, then path */
	TRACE_CHUNK_META = 3,	/* key NUL value NUL … */
	TRACE_CHUNK_END = 4,	/* META too; the process ended in good order */
	TRACE_CHUNK_BUNCHES = 5,	/* struct trace_bunch (bunch.h), so many as `count` says */
	TRACE_CHUNK_TYPES
};

#define TRACE_CHUNK_ZSTD 1u	/* in flags: the payload is one zstd frame */

struct trace_chunk {
	uint32_t magic;
	uint16_t type;
	uint16_t flags;
	uint32_t thread;	/* 0 where no thread is meant: ids start at 1 */
	uint32_t stored;	/* bytes that follow in the file */
	uint32_t size;		/* bytes when decompressed */
	uint32_t count;		/* raw records, extra ones included; bunches */
	uint64_t seq;		/* from 0, without holes, per thread */
	uint64_t time;		/* the trace clock where the chunk begins */
	uint32_t check;		/* of the stored payload */
	uint32_t header_check;	/* of all before, so that a reader can resynchronise */
};

struct trace_module {
	uint64_t time;		/* when it was seen */
	uint64_t base;		/* load bias: address in memory minus address in the file */
	uint64_t start, end;	/* the memory it spans */
	uint32_t build_id_size;
	uint32_t path_size;	/* without NUL */
};

_Static_assert(sizeof(struct trace_record) == 16, "record");
_Static_assert(sizeof(struct trace_header) == 64, "header");
_Static_assert(sizeof(struct trace_chunk) == 48, "chunk");
_Static_assert(sizeof(struct trace_module) == 40, "module");

#endif
