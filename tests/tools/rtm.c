/*
 * Runs a guarded program on a processor that has hardware transactions (Intel RTM): the instructions are undefined
 * where this one has none, else made so (rtm_patch.h), and are done here, from outside.
 *
 *   rtm PLAN REPORT PROGRAM [ARGUMENT…]
 *
 * PLAN says what becomes of each transaction, in the order in which they begin; the last step is repeated:
 *
 *   c           it commits
 *   aSTATUS     it is given up at once
 *   eSTATUS     … at its end
 *   nN:STATUS   … after N instructions; if it ends before, it commits
 *   sN:STATUS   likewise, after N more each time
 *   STEP*N      so often
 *   r           all again but the first step, which is not this one
 *
 * A transaction is also given up by a system call, a signal, and one that takes too long (status 0). While one
 * runs, all other threads stand still: it is as atomic as a real one. What was in memory and in the registers
 * is put back when it is given up. The REPORT has one line: how many were begun, committed, and given up; and how
 * many bytes these had changed.
 *
 * Exit: as the program did; 77 if this cannot be done here.
 */
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rtm_memory.h"
#include "rtm_patch.h"

#define THREADS 256
#define PATIENCE 10000		/* ms that a transaction may take */
#define ZERO_FLAG 0x40u
#define STATUS_FLAGS 0x8d5u

struct step {
	char kind;
	unsigned long n, status, times;
};

static struct {
	struct step step[64];
	unsigned count, at;
	unsigned long done, sweep;
} plan;

static struct {
	pid_t tid;
	int status;		/* that it stopped with, and was not yet looked at; -1: runs */
} threads[THREADS];
static unsigned thread_count;

static struct {
	pid_t tid;		/* 0: no transaction */
	unsigned depth;
	uint64_t fallback;
	struct user_regs_struct regs;
	uint8_t vectors[16384];
	size_t vectors_size;
	struct step step;
	unsigned long steps;
} tx;

static unsigned long begun, committed, aborted;
static pid_t program;
static int ended;

static __attribute__((noreturn)) void die(const char *what)
{
	fprintf(stderr, "rtm: %s: %s\n", what, strerror(errno));
	exit(3);
}

static void parse(char *text)
{
	for (char *word = strtok(text, ","); word; word = strtok(NULL, ",")) {
		struct step *s = &plan.step[plan.count++];
		char *rest = word + 1;

		*s = (struct step){ .kind = word[0], .times = 1 };
		if (s->kind == 'n' || s->kind == 's') {
			s->n = strtoul(rest, &rest, 0);
			rest += *rest == ':';
		}
		s->status = strtoul(rest, &rest, 0);
		if (*rest == '*')
			s->times = strtoul(rest + 1, &rest, 0);
		if (*rest || !strchr("caensr", s->kind) || plan.count == 64)
			errno = EINVAL, die(word);
	}
}

static struct step next_step(void)
{
	struct step s;

	if (plan.done == plan.step[plan.at].times && plan.at + 1 < plan.count)
		plan.at++, plan.done = 0;
	if (plan.step[plan.at].kind == 'r')
		plan.at = 1, plan.done = 0;
	plan.done += plan.done < plan.step[plan.at].times;
	s = plan.step[plan.at];
	if (s.kind == 's') {
		s.kind = 'n';
		s.n = plan.sweep += s.n;
	}
	return s;
}

static unsigned index_of(pid_t tid)
{
	unsigned i = 0;

	while (i < thread_count && threads[i].tid != tid)
		i++;
	if (i == THREADS)
		errno = ENOMEM, die("threads");
	if (i == thread_count) {
		threads[thread_count].tid = tid;
		threads[thread_count++].status = -1;
	}
	return i;
}

static void go(pid_t tid, int request, int sig)
{
	threads[index_of(tid)].status = -1;
	ptrace(request, tid, NULL, (void *)(intptr_t)sig);	/* killed meanwhile: then waitpid tells */
}

static bool is_event_stop(int status)
{
	return WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_STOP;
}

static void gone(pid_t tid, int status)
{
	if (tid == program)
		ended = status;
	threads[index_of(tid)] = threads[thread_count - 1];
	thread_count--;
}

/* Whatever else they stopped for is looked at when they may go on. */
static void stop_others(pid_t me)
{
	for (unsigned i = 0; i < thread_count; i++)
		if (threads[i].tid != me && threads[i].status < 0)
			ptrace(PTRACE_INTERRUPT, threads[i].tid, NULL, NULL);
	for (unsigned i = 0; i < thread_count; i++) {
		int status;

		if (threads[i].tid == me || threads[i].status >= 0)
			continue;
		if (waitpid(threads[i].tid, &status, __WALL) > 0)
			threads[i].status = status;
	}
}

static void registers(pid_t tid, bool set)
{
	struct iovec v = { tx.vectors, set ? tx.vectors_size : sizeof(tx.vectors) };

	if (ptrace(set ? PTRACE_SETREGSET : PTRACE_GETREGSET, tid, (void *)NT_X86_XSTATE, &v) < 0 ||
	    ptrace(set ? PTRACE_SETREGS : PTRACE_GETREGS, tid, NULL, &tx.regs) < 0)
		die("registers");
	tx.vectors_size = v.iov_len;
}

static void release_others(void);

static void leave(void)
{
	memory_forget();
	tx.tid = 0;
	release_others();
}

static void abort_with(pid_t tid, unsigned long status, int sig)
{
	aborted++;
	memory_restore(tid);
	tx.regs.rax = status & 0xffffffffu;
	tx.regs.rip = tx.fallback;
	tx.regs.orig_rax = ~0ull;	/* no system call to be repeated */
	registers(tid, true);
	go(tid, PTRACE_CONT, sig);
	leave();
}

static void run_on(pid_t tid)
{
	go(tid, tx.step.kind == 'n' ? PTRACE_SINGLESTEP : PTRACE_SYSCALL, 0);
}

static void begin(pid_t tid, const struct user_regs_struct *regs, int32_t where)
{
	begun++;
	stop_others(tid);
	tx.tid = tid;
	tx.depth = 1;
	tx.steps = 0;
	tx.step = next_step();
	tx.fallback = regs->rip + 6 + (uint64_t)(int64_t)where;
	registers(tid, false);
	memory_save(tid);
	if (tx.step.kind == 'a') {
		abort_with(tid, tx.step.status, 0);
		return;
	}
	tx.regs.rip += 6;
	ptrace(PTRACE_SETREGS, tid, NULL, &tx.regs);
	run_on(tid);
}

static void end(pid_t tid, struct user_regs_struct *regs)
{
	if (tx.step.kind == 'e') {
		abort_with(tid, tx.step.status, 0);
		return;
	}
	regs->rip += 3;
	ptrace(PTRACE_SETREGS, tid, NULL, regs);
	committed++;
	go(tid, PTRACE_CONT, 0);
	leave();
}

/* false: it is not ours. */
static bool emulate(pid_t tid)
{
	struct user_regs_struct regs;
	uint64_t code;
	bool inside = tx.tid == tid;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &regs) < 0)
		return false;
	code = patch_code(tid, regs.rip);
	if ((code & 0xffff) == 0xf8c7 && !inside) {
		begin(tid, &regs, (int32_t)(code >> 16));
		return true;
	}
	if ((code & 0xffffff) == 0xd5010f && inside && tx.depth == 1) {
		end(tid, &regs);
		return true;
	}
	if ((code & 0xffff) == 0xf8c6 && inside) {
		abort_with(tid, (code >> 16 & 0xff) << 24 | 1, 0);
		return true;
	}
	if ((code & 0xffff) == 0xf8c7) {
		tx.depth++;
		regs.rip += 6;
	} else if ((code & 0xffffff) == 0xd5010f && inside) {
		tx.depth--;
		regs.rip += 3;
	} else if ((code & 0xffffff) == 0xd6010f) {
		regs.eflags = (regs.eflags & ~(uint64_t)STATUS_FLAGS) | (inside ? 0 : ZERO_FLAG);
		regs.rip += 3;
	} else if ((code & 0xffff) == 0xf8c6) {
		regs.rip += 3;
	} else {
		return false;
	}
	ptrace(PTRACE_SETREGS, tid, NULL, &regs);
	if (inside)
		run_on(tid);
	else
		go(tid, PTRACE_CONT, 0);
	return true;
}

/* Of a thread that is not in a transaction. */
static void look_at(pid_t tid, int status)
{
	int sig = WSTOPSIG(status);

	if (WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_EXEC)
		patch_program(tid);
	if (!WIFSTOPPED(status))
		gone(tid, status);
	else if (is_event_stop(status) && sig != SIGTRAP)
		go(tid, PTRACE_LISTEN, 0);	/* a group stop */
	else if (status >> 16)
		go(tid, PTRACE_CONT, 0);
	else if (sig != SIGILL || !emulate(tid))
		go(tid, PTRACE_CONT, sig);
}

static void release_others(void)
{
	for (unsigned i = 0; i < thread_count && !tx.tid; i++)
		if (threads[i].status >= 0) {
			int status = threads[i].status;
			pid_t tid = threads[i].tid;

			threads[i].status = -1;
			look_at(tid, status);
			i = -1u;	/* the table may have moved */
		}
}

/* The rest of a system call that must not be done. */
static void skip_call(pid_t tid)
{
	struct user_regs_struct regs;
	int status;

	ptrace(PTRACE_GETREGS, tid, NULL, &regs);
	regs.orig_rax = ~0ull;
	ptrace(PTRACE_SETREGS, tid, NULL, &regs);
	ptrace(PTRACE_SYSCALL, tid, NULL, NULL);
	waitpid(tid, &status, __WALL);
}

/* 0: it took too long, and is stopped. */
static int wait_patiently(pid_t tid)
{
	int status;

	if (tx.step.kind == 'n')
		return waitpid(tid, &status, __WALL) == tid ? status : 0;
	for (int i = 0; i < PATIENCE * 10; i++) {
		if (waitpid(tid, &status, __WALL | WNOHANG) == tid)
			return status;
		if (i > 100)
			usleep(100);
	}
	ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
	return waitpid(tid, &status, __WALL) == tid && WIFSTOPPED(status) ? 0 : status;
}

/* The one at which a single step would leave the transaction. */
static bool is_call(pid_t tid)
{
	struct user_regs_struct regs;

	return ptrace(PTRACE_GETREGS, tid, NULL, &regs) == 0 &&
	       ((uint64_t)ptrace(PTRACE_PEEKTEXT, tid, (void *)regs.rip, NULL) & 0xffff) == 0x050f;
}

static void stepped(pid_t tid)
{
	if (++tx.steps >= tx.step.n)
		abort_with(tid, tx.step.status, 0);
	else if (is_call(tid))
		abort_with(tid, 0, 0);
	else
		run_on(tid);
}

static bool is_fault(int sig)
{
	return sig == SIGSEGV || sig == SIGBUS || sig == SIGFPE || sig == SIGILL || sig == SIGTRAP;
}

/* A thread in a transaction, until it has stopped. */
static void attend(pid_t tid)
{
	int status = wait_patiently(tid), sig = WSTOPSIG(status);

	if (status == 0) {
		abort_with(tid, 0, 0);
	} else if (!WIFSTOPPED(status)) {
		gone(tid, status);
		leave();
	} else if (sig == (SIGTRAP | 0x80)) {
		skip_call(tid);
		abort_with(tid, 0, 0);
	} else if (status >> 16) {
		run_on(tid);	/* stop_others() came too late for it */
	} else if (sig == SIGTRAP && tx.step.kind == 'n') {
		stepped(tid);
	} else if (sig != SIGILL || !emulate(tid)) {
		/* A fault is not told, it comes again; another signal is delivered where the transaction began. */
		abort_with(tid, 0, is_fault(sig) ? 0 : sig);
	}
}

static void start(char **argv)
{
	const char *options = getenv("SNARL_OPTIONS");
	char *more = xasprintf("rtm=trust:%s", options ? options : "");
	int ready[2];
	char c;

	if (pipe(ready) < 0 || (program = fork()) < 0)
		die("fork");
	if (program == 0) {
		close(ready[1]);
		setenv("SNARL_OPTIONS", more, 1);
		if (read(ready[0], &c, 1) == 1)
			execvp(argv[0], argv);
		_exit(3);
	}
	free(more);
	if (ptrace(PTRACE_SEIZE, program, NULL,
		   (void *)(PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
			    PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC)) < 0)
		exit(77);
	index_of(program);
	if (write(ready[1], "", 1) != 1)
		die("pipe");
	close(ready[0]);
	close(ready[1]);
}

int main(int argc, char **argv)
{
	FILE *report;

	if (argc < 4)
		errno = EINVAL, die("usage: rtm PLAN REPORT PROGRAM");
	parse(argv[1]);
	start(argv + 3);
	while (thread_count > 0) {
		int status;
		pid_t tid;

		if (tx.tid) {
			attend(tx.tid);
			continue;
		}
		tid = waitpid(-1, &status, __WALL);
		if (tid < 0)
			break;
		index_of(tid);
		look_at(tid, status);
	}
	report = fopen(argv[2], "w");
	if (!report || fprintf(report, "begun %lu committed %lu aborted %lu undone %lu\n", begun, committed, aborted,
			       memory.undone) < 0 || fclose(report) != 0)
		die(argv[2]);
	if (WIFSIGNALED(ended)) {
		signal(WTERMSIG(ended), SIG_DFL);
		raise(WTERMSIG(ended));
	}
	return WEXITSTATUS(ended);
}
