/*
 * The control block, shared memory between the tool and a controlled process, and the messages of
 * the fork server.
 */
#ifndef ABI_CONTROL_BLOCK_H
#define ABI_CONTROL_BLOCK_H

#include <stdint.h>

#include "abi/iroot.h"

/*
 * Control mode. The block is shared memory: the tool fills in the request before
 * a run, the runtime everything else. It outlives the process that ran.
 */
#define CTL_MAGIC 0x4c5443414e53ull
#define CTL_VERSION (1u << 24 | (uint32_t)sizeof(struct ctl_block))	/* built with the same one */
#define CTL_TEXT 512u
#define CTL_STACK 64u		/* frames of a call stack in a report */
#define CTL_REPORT_THREADS 64u
#define CTL_MODULES 32u		/* libraries opened in a run that are told */
#define CTL_THREADS 1024u	/* SCHED_MAX_THREADS */
#define CTL_BLOCK_AT 0x5fe000000000ull	/* where the runtime maps it */
#define CTL_DEPENDS_BYTES 8192u
#define CTL_CHECKS_MAX (1u << 20)	/* bytes of the check area: one per event */
#define CTL_STATUS 97		/* exit status of a run that the runtime ended */

enum ctl_outcome {
	CTL_RUNNING,		/* the run did not come to an end: killed, crashed */
	CTL_EXITED,		/* exit, _exit, or return from main: `status` */
	CTL_FAILED,		/* the runtime ended it: `failure` */
	CTL_DIVERGED,		/* the exact schedule could not be followed: `text`, `turn` */
	CTL_STEPS,		/* more steps than max_steps */
	CTL_UNSUPPORTED,	/* the program does what control cannot: `text` */
};

enum ctl_failure {
	CTL_FAIL_NONE,
	CTL_FAIL_DEADLOCK,	/* nobody can ever go on */
	CTL_FAIL_HANG,		/* threads run, but only in circles */
	CTL_FAIL_UAF,
	CTL_FAIL_DOUBLE_FREE,
	CTL_FAIL_BAD_FREE,	/* of what was never allocated */
	CTL_FAIL_MISUSE,
};

/* request.flags */
#define CTL_HASH 1u		/* compute `hash` and the check of each turn */
#define CTL_SPURIOUS 2u		/* spurious wake-ups are possible */
#define CTL_TIMEOUTS 4u		/* time-outs may come early, by the strategy's choice */
#define CTL_IGNORE_MISUSE 8u
#define CTL_REAL_TIME 16u	/* clocks show the real time */
#define CTL_SNAPSHOT 64u	/* stop after `stop_at` steps and serve from there */
#define CTL_LEARN 128u		/* list what becomes shared, for later runs */
#define CTL_DEBUG 256u		/* a debugger wants to see every step and switch (control_debug.c) */
#define CTL_PROFILE 512u	/* fold the run into the profile area (coverage/fold/iroot_fold.h) */
#define CTL_DEPENDS 1024u	/* note which places depend on which */

struct ctl_request {
	char strategy[32];
	uint64_t seed;
	uint32_t depth, switch_permille;
	uint32_t flags;
	uint32_t begin_search;	/* 1: the strategy is initialised anew before this run */
	uint64_t run;		/* number of the run in the search */
	uint64_t max_steps;	/* 0: no limit */
	uint64_t stop_at;
	uint64_t plan_size;	/* bytes of the plan area used; 0: none */
	uint64_t shared_count;	/* granules known to be shared, in the shared area */
	/* What is known of earlier runs (sched_run); all 0 if nothing. */
	uint64_t length;
	uint32_t threads;
	uint32_t parent[CTL_THREADS];
	uint64_t events[CTL_THREADS];
};

/* A thread as it stood at the end. Call stacks are innermost first; pc of calls. */
struct ctl_report_thread {
	uint32_t number, parent, ordinal;
	uint32_t state;		/* 0 runnable, 1 blocked, 2 ended, 3 outside, 4 asleep */
	uint32_t op;		/* enum sched_op of what it stood before */
	uint32_t kind;		/* enum trace_kind of it, if known */
	uint64_t object, site;
	uint32_t owner;		/* number of the thread that holds `object`, or UINT32_MAX */
	uint32_t held_count;
	struct {
		uint64_t object, pc;
	} held[16];
	uint64_t inner;		/* a pc in the innermost instrumented function; 0: unknown */
	uint32_t stack_count;
	uint64_t stack[CTL_STACK];
};

/* A library that the run opened. */
struct ctl_module {
	uint64_t base;		/* load bias */
	char path[248];
};

/*
 * A run may end in any way, so the strategy's end() is the tool's to call. If
 * `outcome` stays CTL_RUNNING, the turn under way is not among the turns: it is
 * `thread`'s.
 */
struct ctl_report {
	uint32_t outcome;	/* enum ctl_outcome */
	uint32_t failure;	/* enum ctl_failure */
	int32_t status;		/* exit status, for CTL_EXITED */
	uint32_t thread;	/* number of the running thread, kept up to date at each switch */
	uint64_t object, pc, pc2, pc3;	/* uaf: use, free, malloc; misuse: pc; signal: where, on what */
	uint32_t signal;	/* that is about to kill the run, or 0 */
	/*
	 * signal: if pc is in a library, the call that led there is the last of these
	 * (0 ends them) that lies in the function of the thread's innermost frame,
	 * at[].inner; others may be left over from earlier calls.
	 */
	uint64_t calls[32];
	char text[CTL_TEXT];
	uint64_t steps, switches;
	uint64_t hash;
	uint64_t turn;		/* diverged: index of the turn */
	uint64_t event;		/* … and number of the event, from 1, at `pc` on `object`; 0: not known */
	uint32_t kind;		/* … enum trace_kind of what came instead */
	uint64_t now;		/* virtual time passed, ns */
	uint32_t threads;	/* there were so many */
	uint32_t modules;	/* entries of `module` */
	uint64_t turns;		/* words in the turn area */
	uint64_t checks;	/* in the check area */
	uint64_t turns_lost;	/* did not fit */
	uint64_t shared_new;	/* granules found shared in this run: behind shared_count in the area */
	uint64_t events[CTL_THREADS];	/* visible events of each thread */
	uint32_t parent[CTL_THREADS], ordinal[CTL_THREADS];	/* of each thread: its name */
	uint32_t described;	/* entries of `at` */
	struct ctl_report_thread at[CTL_REPORT_THREADS];
	struct ctl_module module[CTL_MODULES];
};

/* Offsets are from the start of the block. */
struct ctl_block {
	uint64_t magic;
	uint32_t version;
	uint32_t ready;		/* the runtime is there and controls */
	uint64_t size;
	uint64_t turns, turns_size;	/* words of turn.h: what the run did, an exact schedule */
	uint64_t plan, plan_size;	/* struct sched_plan: what it shall do */
	uint64_t shared, shared_size;	/* uint64_t[]: addresses of granules (8 bytes) */
	uint64_t state, state_size;	/* the strategy's own */
	uint64_t checks, checks_size;	/* with CTL_HASH: a byte for each of the first events */
	uint64_t profile, profile_size;	/* with CTL_PROFILE: struct iroot_profile; zero before the run */
	/*
	 * With CTL_DEPENDS: a bit for each dependency of the run (an access follows on one of another
	 * thread to the same memory or lock, by their places), and for each two of a thread in a row; by a
	 * hash, so that different ones may share a bit.
	 */
	uint64_t depends, depends_size;
	struct iroot_flag flags[IROOT_FLAGS];	/* for the profile: known from other runs */
	uint32_t flag_count;
	struct ctl_request request;
	struct ctl_report report;
};

/*
 * The fork server speaks over a SOCK_SEQPACKET socket, one struct per message.
 *
 *   server: { CTL_HELLO, pid }              ready, before main (or at a snapshot)
 *   tool:   { CTL_RUN }                     one run as the block's request says
 *   server: { CTL_STARTED, pid }
 *   server: { CTL_ENDED, pid, wait status }
 *   tool:   { CTL_QUIT }                    the server ends; so it does when the socket closes
 *
 * A run is the leader of a process group of its own, so that what it leaves
 * behind can be ended with it.
 *
 * A run that reaches its snapshot (CTL_SNAPSHOT) becomes a server itself on the
 * same socket: it says CTL_HELLO with its pid and serves until CTL_QUIT; then
 * CTL_ENDED for that run follows from the outer one.
 */
enum ctl_message_kind { CTL_HELLO = 1, CTL_RUN, CTL_STARTED, CTL_ENDED, CTL_QUIT };

struct ctl_message {
	uint32_t kind;
	int32_t pid;
	int32_t status;
	uint32_t pad;
};

#endif
