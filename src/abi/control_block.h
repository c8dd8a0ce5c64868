/*
 * The control block: memory that the tool shares with a controlled process. It holds the request
 * for the next run and the report of the last one. The messages of the fork server are at the end.
 *
 * The block outlives the process that ran. Before a run, the tool writes `request`, `flags` and the
 * plan. During the run, the runtime writes `report` and the other areas; they stay readable however
 * the process ends.
 *
 * The program can overwrite all of it at any time. So the tool uses copies, and checks every figure
 * in them (explore/target/block.h).
 *
 * Example: the program starts one thread, and `snarl hunt` makes run 12 of a search. Main is thread
 * 0, the new thread is 1.
 *   writer        action
 *   tool          request: strategy "random", seed 7, run 12, begin_search 0, max_steps 100000,
 *                 plan_size 0, shared_count 5 (five addresses in the area `shared`);
 *                 sends { CTL_RUN }
 *   fork server   forks process 4711; sends { CTL_STARTED, 4711 }
 *   runtime       clears report: outcome CTL_RUNNING, steps 0, turns 0; sets ready to 1;
 *                 report.threads 1, parent[0] and ordinal[0] for main
 *                 main creates thread 1: report.threads 2, parent[1] 0, ordinal[1] 1
 *                 main is preempted after 20 steps: appends one word to the area `turns`
 *                 (thread 0, 20 steps); report.turns 1, switches 1, thread 1
 *                 a granule becomes shared: with CTL_LEARN, its address is entry 5 of `shared`,
 *                 and report.shared_new is 1
 *                 thread 1 takes 16 steps, then main goes on: appends the second turn
 *                 main calls exit(1) at step 43: appends the third turn; report.turns 3,
 *                 switches 2, thread 0, steps 43, events[0] 27, events[1] 16,
 *                 described 2 (at[0], at[1]), status 1, outcome CTL_EXITED
 *   fork server   wait4 returns 0x100; sends { CTL_ENDED, 4711, 0x100 }
 *   tool          reads report and turns; the strategy's state stays in the block for run 13
 *
 * If SIGKILL ends the process at step 30, outcome stays CTL_RUNNING, described stays 0, and the
 * message is { CTL_ENDED, 4711, 9 }. `turns` then lacks the turn that was under way, which belongs
 * to report.thread.
 */
#ifndef ABI_CONTROL_BLOCK_H
#define ABI_CONTROL_BLOCK_H

#include <stdint.h>

#include "abi/iroot.h"

#define CTL_MAGIC 0x4c5443414e53ull
/* Contains the size: both sides must come from one build. */
#define CTL_VERSION (1u << 24 | (uint32_t)sizeof(struct ctl_block))
#define CTL_TEXT 512u		/* bytes of report.text */
#define CTL_STACK 64u		/* frames of a call stack in a report, innermost first */
#define CTL_REPORT_THREADS 64u	/* threads that a report describes at most */
#define CTL_MODULES 32u		/* libraries that a run may report; later ones are left out */
#define CTL_THREADS 1024u	/* SCHED_MAX_THREADS */
#define CTL_BLOCK_AT 0x5fe000000000ull	/* address at which the runtime maps the block */
#define CTL_DEPENDS_BYTES 8192u	/* size of the area `depends` */
#define CTL_CHECKS_MAX (1u << 20)	/* size of the area `checks`: one byte per visible event */
#define CTL_STARTS 8u		/* start functions in libraries that a run may report */
#define CTL_STATUS 97		/* exit status of a process whose run the runtime ended */

enum ctl_outcome {
	CTL_RUNNING,		/* the run goes on; after it: the process was killed or crashed */
	CTL_EXITED,		/* exit, _exit or return from main, with `status` */
	CTL_FAILED,		/* the runtime ended the run, for the reason in `failure` */
	/* The run could not follow the exact schedule: `text` says why, `turn` where. */
	CTL_DIVERGED,
	CTL_STEPS,		/* the run took more than request.max_steps steps */
	/* The program does something that control mode does not support: `text`. */
	CTL_UNSUPPORTED,
};

enum ctl_failure {
	CTL_FAIL_NONE,
	CTL_FAIL_DEADLOCK,	/* no thread can ever run again */
	CTL_FAIL_HANG,		/* threads run, but none makes progress */
	CTL_FAIL_UAF,		/* use after free */
	CTL_FAIL_DOUBLE_FREE,
	CTL_FAIL_BAD_FREE,	/* free() of an address that no allocation returned */
	CTL_FAIL_MISUSE,	/* a lock, condition or thread used against its rules */
	CTL_FAIL_OVERFLOW,	/* access beside a heap block, or past a buffer on the stack */
};

/* request.flags */
#define CTL_HASH 1u		/* compute report.hash, `checks` and the check word of each turn */
#define CTL_SPURIOUS 2u		/* spurious wake-ups are possible */
#define CTL_TIMEOUTS 4u		/* the strategy may let time-outs expire early */
#define CTL_IGNORE_MISUSE 8u	/* misuse does not end the run */
#define CTL_REAL_TIME 16u	/* clocks show real time instead of virtual time */
#define CTL_SNAPSHOT 64u	/* after `stop_at` steps the run becomes a fork server */
#define CTL_LEARN 128u		/* append granules that become shared to the area `shared` */
/* Call the functions where a debugger stops, at each step and switch (control/debugger.c). */
#define CTL_DEBUG 256u
/* Fold the run into the area `profile` (coverage/fold/iroot_fold.h). */
#define CTL_PROFILE 512u
#define CTL_DEPENDS 1024u	/* set the bits of the area `depends` */

struct ctl_request {
	char strategy[32];	/* its name */
	uint64_t seed;
	uint32_t depth, switch_permille;	/* of struct sched_params */
	uint32_t flags;		/* CTL_HASH and so on */
	/* 1: the first run of a search; the runtime clears and initialises the strategy's state. */
	uint32_t begin_search;
	uint64_t run;		/* number of this run in the search */
	uint64_t max_steps;	/* 0: no limit */
	uint64_t stop_at;	/* with CTL_SNAPSHOT: step at which the run becomes a fork server */
	uint64_t plan_size;	/* bytes of the area `plan` in use; 0: there is no plan */
	uint64_t shared_count;	/* entries of the area `shared` from earlier runs */
	/* Facts about earlier runs, for struct sched_run (sched/strategy.h); 0 if there is none. */
	uint64_t length;	/* steps of the longest run */
	uint32_t threads;	/* entries of the arrays */
	uint32_t parent[CTL_THREADS];	/* number of the thread's parent */
	uint64_t events[CTL_THREADS];	/* visible events of the thread */
};

enum ctl_report_state {
	CTL_REPORT_RUNNABLE,
	CTL_REPORT_BLOCKED,	/* until another thread wakes it */
	CTL_REPORT_ENDED,
	CTL_REPORT_EXTERNAL,	/* in an external wait: the kernel ends it */
	CTL_REPORT_TIMED,	/* blocked with a time limit */
};

/* A thread at the end of the run. A call's pc is the address after the call. */
struct ctl_report_thread {
	uint32_t number, parent, ordinal;	/* ordinal-th child of thread `parent`, from 1 */
	uint32_t state;		/* enum ctl_report_state */
	uint32_t op;		/* enum sched_op of the operation that it was about to do */
	uint32_t reserved;	/* 0 */
	uint64_t object, site;	/* address and pc of that operation */
	/* Number of the thread that holds the lock `object`, or UINT32_MAX. */
	uint32_t owner;
	uint32_t held_count;	/* entries of `held` */
	struct {
		uint64_t object, pc;	/* the lock, and where the thread took it */
	} held[16];
	/* pc of the hook at the entry of the innermost instrumented function; 0: not known. */
	uint64_t inner;
	uint32_t stack_count;
	uint64_t stack[CTL_STACK];	/* return addresses, innermost first */
};

/* A library that the run opened with dlopen. */
struct ctl_module {
	uint64_t base;		/* load bias */
	char path[248];
};

/*
 * What ran in the run's processes without being scheduled. Forked children, which have no block of
 * their own, add to it atomically. A pc is that of the first such call, 0: not known.
 */
struct ctl_uncontrolled {
	uint32_t process;	/* pid of the run: a child that outlives it must not add any more */
	uint32_t children;	/* forked children that created threads */
	uint32_t child_threads;	/* threads that these created */
	uint32_t foreign;	/* threads that ran the program's code but were made elsewhere */
	uint32_t sharing;	/* forked children that used memory which they share with others */
	uint32_t starts;	/* entries of `start` */
	uint64_t fork_pc;	/* call that forked a child with threads */
	uint64_t foreign_pc;	/* event of a foreign thread */
	uint64_t sharing_pc;	/* access to shared memory in a forked child */
	/* Start functions of threads that are in libraries, which may have no hooks; the first. */
	uint64_t start[CTL_STARTS];
};

/*
 * How a run ended. The process may die at any instruction, so the tool, not the runtime, calls the
 * strategy's end(). If `outcome` is still CTL_RUNNING, the area `turns` lacks the turn that was
 * under way, which belongs to `thread`.
 */
struct ctl_report {
	uint32_t outcome;	/* enum ctl_outcome */
	uint32_t failure;	/* enum ctl_failure */
	int32_t status;		/* exit status, for CTL_EXITED */
	uint32_t thread;	/* number of the running thread; written at each switch */
	/*
	 * Addresses that explain a failure.
	 *   use after free   object; pc of the access, pc2 of free(), pc3 of malloc()
	 *   overflow         the same without pc2; on the stack only pc, where the function returns
	 *   misuse           object and pc of the call
	 *   signal           pc of the instruction + 1; object is the address it accessed, or 0
	 *   diverged         object and pc of the first event that is not the schedule's
	 */
	uint64_t object, pc, pc2, pc3;
	uint32_t signal;	/* number of the signal that is about to kill the process, or 0 */
	/*
	 * For a signal: addresses on the stack that look like return addresses in the program,
	 * innermost first, with 0 behind the last. Some may be left over from earlier calls. To
	 * find the program's call into a library that crashed, the tool takes the last of them
	 * that lies in the innermost instrumented function of `thread` (at[].inner).
	 */
	uint64_t calls[32];
	char text[CTL_TEXT];	/* the reason, in words; may be empty */
	uint64_t steps, switches;	/* steps taken; switches to another thread */
	uint64_t hash;		/* with CTL_HASH: of all events of the run */
	uint64_t turn;		/* diverged: index of the turn in the plan */
	/* Diverged: number, from 1, of the first event that differs; 0: not known. */
	uint64_t event;
	uint32_t kind;		/* diverged: enum trace_kind of that event; see pc and object */
	uint64_t now;		/* virtual time that has passed, in ns */
	/*
	 * The last call whose result comes from outside the program: "read", "getpid" and others.
	 * Its pc; 0: there was none. What it returns may differ in a replay.
	 */
	uint64_t outside_pc;
	uint32_t outside_thread;
	char outside_call[12];
	/* 1 + number of the thread that called exit() or returned from main; 0: none did. */
	uint32_t exiting;
	uint32_t reserved;	/* 0 */
	uint32_t threads;	/* number of threads that were ever started */
	uint32_t modules;	/* entries of `module` */
	uint64_t turns;		/* 32-bit words in the area `turns` */
	uint64_t checks;	/* bytes in the area `checks` */
	uint64_t turns_lost;	/* number of turns that did not fit into the area */
	/* Granules that became shared in this run; they follow the first shared_count entries. */
	uint64_t shared_new;
	struct ctl_uncontrolled uncontrolled;
	uint64_t events[CTL_THREADS];	/* number of visible events of each thread */
	/* Each thread's parent, and its ordinal among the parent's children, from 1. */
	uint32_t parent[CTL_THREADS], ordinal[CTL_THREADS];
	uint32_t described;	/* entries of `at` */
	struct ctl_report_thread at[CTL_REPORT_THREADS];
	struct ctl_module module[CTL_MODULES];
};

/*
 * A run moves into a forked child and back (runtime/control/borrow.c). The process that gives it
 * away fills this in, the one that takes it reads it.
 */
struct ctl_handover {
	uint32_t owner;		/* futex word: pid of the process that has the run */
	uint32_t threads;	/* thread numbers given out */
	uint32_t children;	/* number of threads that the forking thread has created */
	uint32_t alone;		/* children that gave the run back early */
	uint64_t thread_steps;	/* steps of the forking thread */
	/* Copies of the runtime's state. */
	uint64_t steps, now, turn_words, hash, turn_hash, events_hashed, progress;
};

/* The block. Each area has an offset from the start of the block and a size in bytes. */
struct ctl_block {
	uint64_t magic;
	uint32_t version;
	uint32_t ready;		/* 1: the runtime has begun a controlled run */
	uint64_t size;
	/* Words of turn_log.h: the turns of the run, which are an exact schedule. */
	uint64_t turns, turns_size;
	/* struct sched_plan: the schedule or goals that the run is to follow. */
	uint64_t plan, plan_size;
	uint64_t shared, shared_size;	/* uint64_t[]: addresses of granules known to be shared */
	uint64_t state, state_size;	/* memory of the strategy, kept from run to run */
	/* With CTL_HASH: a hash of one byte for each of the first CTL_CHECKS_MAX visible events. */
	uint64_t checks, checks_size;
	/* With CTL_PROFILE: struct iroot_profile, which the tool clears before each run. */
	uint64_t profile, profile_size;
	/*
	 * With CTL_DEPENDS: a Bloom-style set of bits. A dependency is an access that follows one
	 * of another thread to the same memory or lock; its key is the pair of sites. Each
	 * dependency sets the bit at its hash, and so does each pair of successive dependencies of
	 * one thread. Different dependencies may share a bit. The runtime clears the area when the
	 * run begins.
	 */
	uint64_t depends, depends_size;
	/* Spin flags known from earlier runs, for the profile. */
	struct iroot_flag flags[IROOT_FLAGS];
	uint32_t flag_count;
	struct ctl_request request;
	struct ctl_report report;
	struct ctl_handover handover;
};

/*
 * The fork server and the tool talk over a SOCK_SEQPACKET socket, one struct per message.
 *
 *   server: { CTL_HELLO, pid }              ready, before main or at a snapshot
 *   tool:   { CTL_RUN }                     make one run as request says
 *   server: { CTL_STARTED, pid }            pid of the process that runs
 *   server: { CTL_ENDED, pid, wait status } that process has ended; pid 0: fork failed
 *   tool:   { CTL_QUIT }                    the server exits; closing the socket does the same
 *
 * Each run leads a process group of its own. The tool kills that group when the run has ended.
 *
 * A run that reaches its snapshot (CTL_SNAPSHOT) becomes a fork server on the same socket. It sends
 * CTL_HELLO with its own pid and serves runs until CTL_QUIT. The outer server then sends CTL_ENDED
 * for that run.
 */
enum ctl_message_kind { CTL_HELLO = 1, CTL_RUN, CTL_STARTED, CTL_ENDED, CTL_QUIT };

struct ctl_message {
	uint32_t kind;
	int32_t pid;
	int32_t status;
	uint32_t pad;
};

#endif
