/*
 * The log of modes check and guard: memory that the tool and the runtime share (log=PATH), which
 * outlives the process.
 *
 * An occurrence is an invariant that was broken (check) or an access that was delayed (guard). One
 * record counts all occurrences at the same sites, so the log has a fixed size and costs no system
 * call. Sites are numbers in the rules (rules_format.h). The runtime includes this header, so it
 * uses no libc.
 */
#ifndef ABI_MONITOR_LOG_H
#define ABI_MONITOR_LOG_H

#include <stddef.h>
#include <stdint.h>

#define MONITOR_LOG_MAGIC 0x474f4c484354574eull
#define MONITOR_LOG_VERSION 4u
#define MONITOR_LOG_RECORDS 4096u	/* a power of two */
#define MONITOR_LOG_MODULES 64u
#define MONITOR_LOG_PATH 256u

enum monitor_log_kind {
	MONITOR_LOG_NONE,
	/*
	 * AVIO, unserialisable interleavings of two accesses p and i of a thread with an access r
	 * of another: site[] is p, r, i. The letters are reads and writes of p, r, i.
	 */
	MONITOR_LOG_RWR,
	MONITOR_LOG_WWR,
	MONITOR_LOG_RWW,
	MONITOR_LOG_WRW,
	/* PSet: site[] is the other thread's access before (0: none), then the delayed access. */
	MONITOR_LOG_PSET,
	/*
	 * LifeTx: site[] is the access of the transaction, then the delayed access. 0: not known;
	 * for the delayed access, a lock.
	 */
	MONITOR_LOG_TX,
};

struct monitor_log_record {
	uint32_t kind;		/* enum monitor_log_kind, written last; 0: the record is empty */
	uint32_t taken;		/* 1: a thread has claimed the record */
	uint32_t site[3];
	uint32_t pid;
	uint32_t thread[2];	/* at the first occurrence: the affected thread, the other thread */
	uint64_t addr;		/* at the first occurrence */
	/* At the first occurrence: the value in memory when the last of the sites was reached. */
	uint64_t value;
	uint32_t value_size;	/* bytes of `value`; 0: not known */
	uint32_t pad;
	uint64_t count;
	/* guard: number of delays, by how they ended. */
	uint64_t resolved;	/* the other thread left its transaction or made its access */
	uint64_t timed_out;
	/* Not delayed: no thread to wait for, or too many delays without effect. */
	uint64_t passed;
	uint64_t wait_ns, longest_ns;	/* length of all delays; of the longest one */
};

/* A module of the rules that the process has loaded. */
struct monitor_log_module {
	uint64_t base;
	uint32_t module;	/* number of the module in the rules */
	uint32_t used;		/* written last */
	char path[MONITOR_LOG_PATH];
};

struct monitor_log {
	uint64_t magic;		/* written last by the tool */
	uint32_t version;
	/* 1: the runtime checks and delays nothing. Any process may set it at any time. */
	uint32_t off;
	uint32_t rules_check;	/* rules_header.check of the rules in use; 0: none yet */
	uint32_t pid;		/* pid of the first process that uses the log */
	uint32_t places;	/* number of watched sites in loaded modules */
	uint32_t pad;
	/*
	 * What the monitor missed: accesses to memory that shares a cell with other memory,
	 * accesses to busy cells, threads beyond the limit, records that did not fit into the log.
	 * These counters are not in the cache line of `off`, which every access reads.
	 */
	uint64_t lost_cells __attribute__((aligned(64))), lost_busy, lost_threads, lost_records;
	uint64_t naps;		/* sleeps made by noise= */
	uint64_t reserved[7] __attribute__((aligned(64)));	/* 0 */
	struct monitor_log_module module[MONITOR_LOG_MODULES];
	struct monitor_log_record record[MONITOR_LOG_RECORDS];
};

_Static_assert(sizeof(struct monitor_log_record) == 104, "record");
_Static_assert(offsetof(struct monitor_log, module) == 184, "log");

#endif
