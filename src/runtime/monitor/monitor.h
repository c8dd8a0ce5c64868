/*
 * Modes check and guard. The program runs at its own speed in all its threads. At each active site,
 * the monitor compares the access with the rules that `snarl learn` found in passing runs
 * (rules.h): check reports broken invariants, guard delays accesses whose order no passing run had.
 * noise= adds random sleeps at the same sites, which makes failures in parallel runs more likely.
 *
 * A thread's shadow value in these modes equals no shadow word, so every access of an active site
 * calls the runtime. (Noise without rules, and check --all, keep the owner of memory in the
 * shadow.) The monitor holds no lock while the program's code runs. If the cell of an access stays
 * locked, the access is skipped and counted in lost_busy; guard first waits for the cell, at most
 * as long as a delay may take. Accesses of a signal handler that interrupts the monitor are
 * skipped.
 */
#ifndef RUNTIME_MONITOR_MONITOR_H
#define RUNTIME_MONITOR_MONITOR_H

#include "abi/monitor_log.h"
#include "runtime/core/mode.h"
#include "runtime/core/options.h"
#include "runtime/monitor/rules.h"

#define MONITOR_THREADS 1024u	/* alive at once; further threads are not monitored, but counted */
#define MONITOR_HELD_LOCKS 8u	/* held locks known per thread; further ones are ignored */
#define MONITOR_CACHED_PAGES 64u	/* pages of check's cells that a thread caches */
#define MONITOR_ANY_THREAD UINT32_MAX

enum monitor_state {
	MONITOR_RUNNING,
	MONITOR_DELAYED,	/* guard delays it */
	MONITOR_BLOCKED,	/* in a call that may block */
};

/* What other threads may read about a thread. Aligned to cache lines to avoid false sharing. */
struct monitor_thread {
	/* 0: the slot is free; differs from the serial of the slot's previous thread */
	uint32_t serial;
	uint32_t state;		/* enum monitor_state */
	/* in guard: slot of the thread that this one waits for, or MONITOR_ANY_THREAD */
	uint32_t waiting_for;
	/* odd: in a transaction. Never reset; also the futex that delayed threads wait on */
	uint32_t epoch;
	uint32_t waiters;	/* number of threads that wait on the epoch */
	uint32_t accesses;	/* number of accesses that PSet has seen of the thread */
	/*
	 * 1 + number of the access of thread `waiting_for` that another access of that thread must
	 * follow; 0: this one waits for something else.
	 */
	uint32_t waiting_access;
	uint32_t pad;
	uint64_t handle;	/* pthread_self() */
	/* the lock that the thread waits for, or last waited for; 0: it blocks in another call */
	uint64_t blocked_on;
	/* time, in ticks, of the last access if its site is a tail (guard_transaction.c); else 0 */
	uint64_t tail_at;
	/* locks it holds; bit 0: its transaction accessed memory under that lock */
	uint64_t held[MONITOR_HELD_LOCKS];
} __attribute__((aligned(64)));

struct check_page;

struct monitor_page {
	uint64_t number;	/* number of the page, plus 1; 0: free */
	struct check_page *page;
};

/* What only the thread itself reads. */
struct monitor_self {
	uint32_t slot;		/* index in monitor.threads, plus 1; 0: none yet */
	uint32_t busy;		/* 1: the thread runs the monitor's code */
	uint32_t ended;		/* 1: the thread is not monitored any more, or had no slot */
	/* depth of the call stack; depth of the call that holds transactions, or 0 */
	uint32_t depth, tx_depth;
	uint32_t last_site;		/* site of the transaction's last access */
	/* site after which guard ended the transaction early, or 0 */
	uint32_t tail_site;
	uint32_t serial;
	uint64_t random;
	/* futex word and value of the last delay that timed out */
	uint32_t *timed_out_word, timed_out_value;
	const void *asked_lock;	/* the mutex that the thread asks for */
	/* the site that asks for it, or NULL if it is not active */
	const struct active_site *asked_site;
	/* direct-mapped cache (check_cell.h) */
	struct monitor_page pages[MONITOR_CACHED_PAGES];
	/* bit per depth: the exit of that call ends a transaction */
	uint64_t cuts_at_exit[4];
};

/* State of the monitor in this process. */
struct monitor {
	bool check, pset, tx;	/* mode check; mode guard with protect=pset, tx, or both */
	bool locks;		/* mutexes have rules, too */
	/* check: all sites of the rules, not only those marked RULES_CHECK */
	bool all;
	/*
	 * check --all: a thread that writes memory owns it until another thread comes
	 * (check_avio.h)
	 */
	bool streaks;
	bool everywhere;	/* noise without rules: at all accesses to shared memory */
	uint32_t noise;		/* probability of a sleep or yield, per mille */
	uint32_t nap_ns;	/* longest sleep of noise */
	uint32_t active;	/* flags of the rules; sites with one of these are monitored */
	uint32_t shift;		/* log2 of the granularity */
	uint64_t wait_ns;	/* longest delay of an access */
	uint64_t seed;
	uint64_t started;	/* ns, by CLOCK_MONOTONIC */
	uint64_t waited_ns;	/* sum of all delays of this process */
	struct monitor_log *log;	/* never NULL */
	uint32_t threads_used;	/* slots ever used */
	uint32_t next_serial;
	uint32_t unattached;	/* threads that were created but have not attached yet */
	struct monitor_thread *threads;
	/* by site: is it a tail? (enum in guard_transaction.c) */
	uint8_t *tails;
};

extern SNARLRT_HIDDEN const struct mode mode_monitor;
extern SNARLRT_HIDDEN struct monitor monitor;
extern SNARLRT_HIDDEN __thread struct monitor_self monitor_self
	__attribute__((tls_model("local-exec")));

/* Reads options and rules. false: there is nothing to monitor, and the mode stays off. */
SNARLRT_HIDDEN bool monitor_start(const struct run_options *o);
/* A module was loaded: activates its sites. */
SNARLRT_HIDDEN void monitor_module(const uint8_t *id, uint32_t id_size, uint64_t base,
				   const char *path);

/* Start and end of a thread; the child of a fork. */
SNARLRT_HIDDEN void monitor_attach(void);
SNARLRT_HIDDEN void monitor_thread_exit(void);
SNARLRT_HIDDEN void monitor_forked(void);

/* Events of the calling thread, in mode SNARLRT_MONITOR. Accesses come before they are done. */
SNARLRT_HIDDEN void monitor_access(uint64_t addr, uint64_t size, uint64_t pc, bool write);
SNARLRT_HIDDEN void monitor_note(enum trace_kind kind, const void *object, uint64_t arg,
				 int result);
/* Comes before the cancellation. */
SNARLRT_HIDDEN void monitor_cancel(uint64_t handle, uint64_t pc);
SNARLRT_HIDDEN void monitor_wait_begin(enum trace_kind kind, const void *object, uint64_t pc);
SNARLRT_HIDDEN void monitor_wait_end(void);
SNARLRT_HIDDEN void monitor_entry(uint64_t pc);
SNARLRT_HIDDEN void monitor_exit(void);
SNARLRT_HIDDEN void monitor_fresh(uint64_t addr, uint64_t size);
/* longjmp to `depth`, maybe out of a handler that interrupted the monitor */
SNARLRT_HIDDEN void monitor_unwound(uint64_t depth);

static inline struct monitor_thread *monitor_me(void)
{
	return &monitor.threads[monitor_self.slot - 1];
}

/*
 * Handlers that run between monitor_begin() and monitor_end() are not monitored. NULL: the
 * caller is such a handler, or the thread has no slot; it must not go on.
 */
SNARLRT_HIDDEN struct monitor_self *monitor_begin(void);

static inline void monitor_end(struct monitor_self *self)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	self->busy = 0;
}

/* monitor_log.c: the record of these sites, created at first use; NULL: the log is full. */
SNARLRT_HIDDEN struct monitor_log_record *monitor_log_record(enum monitor_log_kind kind, uint32_t a,
							  uint32_t b, uint32_t c);
SNARLRT_HIDDEN struct monitor_log *monitor_log_open(const char *path);
SNARLRT_HIDDEN void monitor_log_module(uint32_t module, uint64_t base, const char *path);

static inline void monitor_count(uint64_t *counter, uint64_t n)
{
	__atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

#endif
