/*
 * The modes check and guard: the program runs at its own speed in all its threads, and what
 * passing runs taught (rules.h) is looked after where it matters. Noise, which makes plain runs
 * prone to fail, comes by the same way.
 *
 * Each thread's shadow value is one that no memory has, so every access of an active site
 * comes to C. Nothing here holds a lock while the program's code runs; a cell that is busy is
 * skipped and counted, by a guard only after as long as a delay may take. A handler that interrupts us is let pass unwatched.
 */
#ifndef RUNTIME_MONITOR_MONITOR_H
#define RUNTIME_MONITOR_MONITOR_H

#include "abi/monitor_log.h"
#include "runtime/core/mode.h"
#include "runtime/core/options.h"
#include "runtime/monitor/rules.h"

#define MONITOR_THREADS 1024u	/* alive at once; others are not watched, counted */
#define MONITOR_HELD_LOCKS 8u		/* locks of a thread that are remembered */
#define MONITOR_CACHED_PAGES 64u		/* of check's cells that a thread remembers */
#define MONITOR_ANY_THREAD UINT32_MAX

enum monitor_state { MONITOR_RUNNING, MONITOR_DELAYED, MONITOR_BLOCKED };

/* What other threads may read of a thread. It has cache lines of its own, so that threads do not share them by accident. */
struct monitor_thread {
	uint32_t serial;	/* not 0: in use; differs from that of whoever had the slot before */
	uint32_t state;		/* enum monitor_state */
	uint32_t waiting_for;	/* in guard: slot of a thread, or MONITOR_ANY_THREAD */
	uint32_t epoch;		/* odd: in a transaction; goes on for ever. Waited for as a futex */
	uint32_t waiters;	/* for the epoch */
	uint32_t accesses;	/* that PSet has seen of it */
	uint32_t waiting_access;	/* which of the other one's accesses it waits for the end of, plus 1; 0: it waits for another reason */
	uint32_t pad;
	uint64_t handle;	/* pthread_self() */
	uint64_t blocked_on;	/* what it last_site waited for, or waits for now: a lock, or 0 */
	uint64_t tail_at;	/* ticks: since then the transaction seems to be tail_site; 0: it is not */
	uint64_t held[MONITOR_HELD_LOCKS];	/* locks; bit 0: a transaction touched memory under it */
} __attribute__((aligned(64)));

struct check_page;

struct monitor_page {
	uint64_t number;	/* plus 1 */
	struct check_page *page;
};

/* What only the thread itself needs. */
struct monitor_self {
	uint32_t slot;		/* in watch.threads, plus 1; 0: none yet */
	uint32_t busy;		/* 1: the thread is in here */
	uint32_t ended;
	uint32_t depth, tx_depth;	/* activations; the one that holds transactions, or 0 */
	uint32_t last_site;		/* site of the transaction's last_site access */
	uint32_t tail_site;		/* site that seemed to be a transaction's last_site one */
	uint32_t serial;
	uint64_t random;
	uint32_t *timed_out_word, timed_out_value;	/* what was waited for in vain the last_site time */
	const void *asked_lock;	/* the mutex that is asked for, … */
	const struct active_site *asked_site;	/* … and the slot, or NULL */
	struct monitor_page pages[MONITOR_CACHED_PAGES];	/* check_cell.h */
	uint64_t cuts_at_exit[4];	/* bits of depths: the activation's exit ends a transaction */
};

struct watch {
	bool check, pset, tx;
	bool locks;		/* also where mutexes are asked_lock: pset, but for tx only who was never first */
	bool all;		/* check: every slot there is, not only those that matter */
	bool streaks;		/* check: who writes memory owns it until another thread comes (check.h) */
	bool everywhere;	/* noise without rules: wherever memory is shared */
	uint32_t noise;		/* per mille */
	uint32_t nap_ns;	/* the longest of it */
	uint32_t active;	/* places with one of these flags of the rules are watched */
	uint32_t shift;		/* log2 of the granularity */
	uint64_t wait_ns;	/* the longest delay of an access */
	uint64_t seed;
	uint64_t started;	/* ns, by CLOCK_MONOTONIC */
	uint64_t waited_ns;	/* all delays of this process so far */
	struct watchlog *log;	/* never NULL */
	uint32_t threads_used;	/* places ever used */
	uint32_t next_serial;
	uint32_t unborn;	/* threads that were created and did not come here yet */
	struct monitor_thread *threads;
	uint8_t *tails;		/* of each site: enum in guard_tx.c */
};

extern SNARLRT_HIDDEN const struct mode mode_monitor;
extern SNARLRT_HIDDEN struct watch watch;
extern SNARLRT_HIDDEN __thread struct monitor_self monitor_self
	__attribute__((tls_model("local-exec")));

/* false: nothing to watch; the mode stays off. */
SNARLRT_HIDDEN bool watch_start(const struct run_options *o);
/* A module that is loaded. */
SNARLRT_HIDDEN void watch_module(const uint8_t *id, uint32_t id_size, uint64_t base, const char *path);

/* The life of a thread, and a forked child. */
SNARLRT_HIDDEN void watch_attach(void);
SNARLRT_HIDDEN void monitor_thread_exit(void);
SNARLRT_HIDDEN void monitor_forked(void);

/* What happens; in mode SNARLRT_WATCH only. Accesses: before they are done. */
SNARLRT_HIDDEN void monitor_access(uint64_t addr, uint64_t size, uint64_t pc, bool write);
SNARLRT_HIDDEN void monitor_note(enum trace_kind kind, const void *object, uint64_t arg, int result);
SNARLRT_HIDDEN void watch_cancel(uint64_t handle, uint64_t pc);	/* before it is done */
SNARLRT_HIDDEN void monitor_wait_begin(enum trace_kind kind, const void *object, uint64_t pc);
SNARLRT_HIDDEN void monitor_wait_end(void);
SNARLRT_HIDDEN void monitor_entry(uint64_t pc);
SNARLRT_HIDDEN void monitor_exit(void);
SNARLRT_HIDDEN void monitor_fresh(uint64_t addr, uint64_t size);
SNARLRT_HIDDEN void monitor_unwound(uint64_t depth);	/* also out of a handler: nothing is busy any more */

static inline struct monitor_thread *monitor_me(void)
{
	return &watch.threads[monitor_self.slot - 1];
}

/* Between these the thread's own handlers are let pass. NULL: let this one pass. */
SNARLRT_HIDDEN struct monitor_self *monitor_begin(void);

static inline void monitor_end(struct monitor_self *self)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	self->busy = 0;
}


/* watch_log.c: the record of these places, made if need be; NULL: no room. */
SNARLRT_HIDDEN struct watchlog_record *monitor_log_record(enum watchlog_kind kind, uint32_t a, uint32_t b,
						    uint32_t c);
SNARLRT_HIDDEN struct watchlog *monitor_log_open(const char *path);
SNARLRT_HIDDEN void monitor_log_module(uint32_t module, uint64_t base, const char *path);

static inline void monitor_count(uint64_t *counter, uint64_t n)
{
	__atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

#endif
