/*
 * What a program tells while it runs in mode check or guard: memory that the tool and the
 * runtime share (log=PATH), and that outlives the process. The runtime includes this file:
 * no libc here.
 *
 * A record stands for all that happened at the same places: what repeats is counted, so the
 * log is bounded and costs no system call. Places are numbers of sites in the rules.
 */
#ifndef ABI_MONITOR_LOG_H
#define ABI_MONITOR_LOG_H

#include <stddef.h>
#include <stdint.h>

#define WATCHLOG_MAGIC 0x474f4c484354574eull
#define WATCHLOG_VERSION 4u
#define WATCHLOG_RECORDS 4096u	/* a power of two */
#define WATCHLOG_MODULES 64u
#define WATCHLOG_PATH 256u

enum watchlog_kind {
	WATCHLOG_NONE,
	/* AVIO: sites p, remote, i; RWR: first letter p's access, then the remote one's, then i's. */
	WATCHLOG_RWR,
	WATCHLOG_WWR,
	WATCHLOG_RWW,
	WATCHLOG_WRW,
	/* PSet: sites the one that came before (0: none, it came too early), the delayed one. */
	WATCHLOG_PSET,
	/* LifeTx: sites of the transaction's access and of the delayed one; 0: a lock. */
	WATCHLOG_TX,
};

struct watchlog_record {
	uint32_t kind;		/* written last; 0: nothing there */
	uint32_t taken;		/* 1: somebody writes or wrote it */
	uint32_t site[3];
	uint32_t pid;
	uint32_t thread[2];	/* of the first time: who it happened to, the other one */
	uint64_t addr;		/* likewise */
	uint64_t value;		/* likewise: in memory when the last of the sites came */
	uint32_t value_size;	/* 0: not known */
	uint32_t pad;
	uint64_t count;
	/* Delays: how they ended, and how long they took. */
	uint64_t resolved;	/* the other thread moved on */
	uint64_t timed_out;
	uint64_t passed;	/* not delayed: nobody to wait for, or too often in vain */
	uint64_t wait_ns, longest_ns;
};

/* Of the rules, where they are mapped. */
struct watchlog_module {
	uint64_t base;
	uint32_t module;	/* number in the rules */
	uint32_t used;		/* written last */
	char path[WATCHLOG_PATH];
};

struct watchlog {
	uint64_t magic;		/* written last by the tool */
	uint32_t version;
	uint32_t off;		/* 1: the runtime lets everything pass; any process may set it */
	uint32_t rules_check;	/* rules_header.check of the rules in use; 0: none */
	uint32_t pid;		/* of the first process that uses it */
	uint32_t places;	/* that are watched, in modules that were loaded */
	uint32_t pad;
	/*
	 * What could not be seen: memory that shares a cell, busy cells, too many threads. These counters are not in the cache
	 * line of `off`, which every access reads.
	 */
	uint64_t lost_cells __attribute__((aligned(64))), lost_busy, lost_threads, lost_records;
	uint64_t naps;		/* of noise */
	uint64_t reserved[7] __attribute__((aligned(64)));	/* 0 */
	struct watchlog_module module[WATCHLOG_MODULES];
	struct watchlog_record record[WATCHLOG_RECORDS];
};

_Static_assert(sizeof(struct watchlog_record) == 104, "record");
_Static_assert(offsetof(struct watchlog, module) == 184, "log");

#endif
