/*
 * Start and end of processes: fork, vfork, clone, posix_spawn, system, popen; exit, abort.
 *
 * fork: in the child, the runtime must have its own trace and threads before instrumented code runs
 * there, including atfork and signal handlers. snarlrt_process_init() therefore registers atfork
 * handlers before the program can. They run last before the fork and first after it. They also
 * serve forks inside libc (daemon, forkpty). _Fork, clone and raw system calls run no atfork
 * handlers; their interposers call fork_prepare() and fork_done().
 *
 * vfork: the child borrows the parent's memory and thread until it execs or exits. Its events are
 * not the parent's, and two processes must not write one ring. So the thread records nothing
 * meanwhile: tail_call_x86_64.S calls snarlrt_vfork_before and snarlrt_vfork_after.
 *
 * In mode control, starting a process is a scheduling point. The child of a fork may borrow the run
 * (control/borrow.c), else it runs on its own; another program runs in mode off.
 */
#include <sched.h>

#include "abi/run_options.h"
#include "runtime/control/heap/heap.h"
#include "runtime/control/model/poll.h"
#include "runtime/core/arena.h"
#include "runtime/core/deferred_signals.h"
#include "runtime/core/process_calls.h"
#include "runtime/core/sys.h"
#include "runtime/interpose/call.h"
#include "runtime/interpose/refused.h"
#include "runtime/interpose/thread_create.h"
#include "runtime/record/ring.h"
#include "runtime/record/thread.h"
#include "runtime/record/trace_file.h"

__thread bool snarlrt_vforked;

static bool registered;			/* snarlrt_process_init() succeeded */
static int quick_status;		/* argument of quick_exit() */
static __thread unsigned forking;	/* fork() calls under way; some call _Fork() below */
static __thread bool fork_prepared;	/* between fork_prepare() and fork_done() */
static __thread uint64_t fork_mask;	/* signal mask before fork_prepare() */

bool snarlrt_own_process(void)
{
	return !mode_is_off() && !snarlrt_vforked && snarlrt.live &&
	       snarlrt.live->pid == (uint32_t)sys_call(SYS_getpid, 0, 0, 0);
}

/* Takes the locks of the runtime, so that the child finds consistent data and free locks. */
static void fork_prepare(void)
{
	struct snarlrt_thread *self;

	if (mode_is_off() || fork_prepared)
		return;
	/* Attaches the thread if pthread_create did not make it: the child needs its state. */
	self = snarlrt_enter();
	if (self)
		snarlrt_leave(self);
	fork_mask = snarlrt_signals_block();
	snarlrt_process->fork(true);
	snarlrt_thread_create_fork(true);
	snarlrt_thread_fork(true);
	arena_fork(true);
	ctl_heap_fork(true);
	fork_prepared = true;
}

static void fork_done(bool child)
{
	if (!fork_prepared)
		return;
	fork_prepared = false;
	ctl_heap_fork(false);
	arena_fork(false);
	snarlrt_thread_fork(false);
	snarlrt_thread_create_fork(false);
	snarlrt_process->fork(false);
	if (child) {
		snarlrt_exit_noted = false;
		snarlrt_ops->forked();
		if (mode_records())
			snarlrt_process->forked();
		if (mode_controls() && ctl.begun)
			fork_mask = ctl_self()->sigmask;
	}
	snarlrt_signals_set(fork_mask);
}

static void fork_parent(void)
{
	fork_done(false);
}

static void fork_child(void)
{
	fork_done(true);
}

/*
 * A handler for __cxa_at_quick_exit(). at_quick_exit() is linked statically, and would show as a
 * symbol of the runtime.
 */
static void finish_at_quick_exit(void *unused)
{
	(void)unused;
	ctl_finish(quick_status);
	snarlrt_finish(quick_status);
}

/*
 * Changes SNARL_OPTIONS in the environment to mode=off, so that programs which this process starts
 * are not controlled. The new text is not longer than the old one.
 */
void snarlrt_environ_mode_off(void)
{
	static const char key[] = SNARL_OPTIONS_ENV "=", off[] = "mode=off";
	size_t k = sizeof(key) - 1;

	for (char **e = environ; e && *e; e++)
		if (REAL(strncmp)(*e, key, k) == 0 && REAL(strlen)(*e + k) >= sizeof(off) - 1)
			REAL(memcpy)(*e + k, off, sizeof(off));
}

void snarlrt_process_init(void)
{
	registered = pthread_atfork(fork_prepare, fork_parent, fork_child) == 0 &&
		     __cxa_at_quick_exit(finish_at_quick_exit, NULL) == 0;
}

static pid_t note_fork(pid_t pid, const void *pc)
{
	if (pid > 0 && snarlrt_wants_events())
		snarlrt_note(TRACE_FORK, 0, NULL, (uint64_t)pid, 0, pc);
	return pid;
}

/* In mode control a scheduling point, and the new process is made uncontrolled. */
static void before_new_process(const void *pc)
{
	if (likely(!ctl_on()))
		return;
	ctl_source_point(0, pc);
	ctl_outside_child();
	ctl.fork_pc = pc;
	snarlrt_environ_mode_off();
}

SNARLRT_INTERPOSE pid_t fork(void)
{
	bool lends;
	pid_t pid;

	snarlrt_real_ready();
	before_new_process(SNARLRT_PC());
	lends = ctl_on() && ctl_lend_begin();
	forking++;
	pid = REAL(fork)();
	forking--;
	if (lends)
		ctl_lend_end(pid);
	return note_fork(pid, SNARLRT_PC());
}

SNARLRT_INTERPOSE pid_t _Fork(void)
{
	bool direct = !fork_prepared;
	pid_t pid;

	snarlrt_real_ready();
	if (direct)
		before_new_process(SNARLRT_PC());
	if (direct)
		fork_prepare();
	pid = REAL(_Fork)();
	if (direct)
		fork_done(pid == 0);
	return forking ? pid : note_fork(pid, SNARLRT_PC());
}

/* syscall(): libc does not learn of the child, but the runtime must. */
long snarlrt_fork_syscall(long number, const long *v, const void *pc)
{
	long pid;

	before_new_process(pc);
	fork_prepare();
	pid = REAL(syscall)(number, v[0], v[1], v[2], v[3], v[4], v[5]);
	fork_done(pid == 0);
	return note_fork((pid_t)pid, pc);
}

struct clone_start {
	int (*main)(void *);
	void *arg;
};

static int clone_main(void *v)
{
	struct clone_start *c = v;
	int status;

	fork_done(true);
	status = c->main(c->arg);
	snarlrt_finish(status);
	ctl_finish(status);
	return status;
}

/*
 * With CLONE_VM the child shares thread-local storage with its parent. The runtime cannot
 * distinguish the two, so it does not prepare anything.
 */
SNARLRT_INTERPOSE int clone(int (*start)(void *), void *stack, int flags, void *arg, ...)
{
	struct clone_start c = { start, arg };
	void *more[3];
	va_list args;
	int pid;

	snarlrt_real_ready();
	va_start(args, arg);
	for (int i = 0; i < 3; i++)
		more[i] = va_arg(args, void *);
	va_end(args);
	snarlrt_refuse_clone((uint64_t)(unsigned)flags);
	before_new_process(SNARLRT_PC());
	if (mode_is_off() || flags & CLONE_VM)
		return REAL(clone)(start, stack, flags, arg, more[0], more[1], more[2]);
	fork_prepare();
	pid = REAL(clone)(start ? clone_main : NULL, stack, flags, &c, more[0], more[1], more[2]);
	fork_done(false);
	return note_fork(pid, SNARLRT_PC());
}

static __thread struct {
	struct snarlrt_tls tls;	/* the parent's, while the child runs */
	unsigned depth;		/* vforks under way: a child may vfork again */
} vfork_saved;

SNARLRT_HIDDEN void snarlrt_vfork_before(void);
SNARLRT_HIDDEN long snarlrt_vfork_after(long got, const void *pc);

/* Gives the thread, and hence the child, a state that records nothing. */
void snarlrt_vfork_before(void)
{
	before_new_process(NULL);
	if (vfork_saved.depth++ > 0)
		return;
	vfork_saved.tls = __snarl_tls;
	snarlrt_vforked = true;
	__snarl_tls = (struct snarlrt_tls){
		.emitted = (struct snarlrt_frame *)-1,
		.hidden = 1,
		.ended = 1,
	};
}

/* Called in the parent after the child's exec or exit, and if vfork failed. */
long snarlrt_vfork_after(long got, const void *pc)
{
	if (--vfork_saved.depth == 0) {
		__snarl_tls = vfork_saved.tls;
		snarlrt_vforked = false;
	}
	if (got < 0) {
		errno = (int)-got;
		return -1;
	}
	return note_fork((pid_t)got, pc);
}

SNARLRT_INTERPOSE int posix_spawn(pid_t *pid, const char *path,
				  const posix_spawn_file_actions_t *actions,
				  const posix_spawnattr_t *attr, char *const argv[],
				  char *const envp[])
{
	pid_t child = 0;
	int error;

	snarlrt_real_ready();
	before_new_process(SNARLRT_PC());
	snarlrt_hide();		/* the child shares this memory, and may call interposers */
	error = REAL(posix_spawn)(&child, path, actions, attr, argv, envp);
	snarlrt_unhide();
	if (error == 0)
		note_fork(child, SNARLRT_PC());
	if (error == 0 && pid)
		*pid = child;
	return error;
}

SNARLRT_INTERPOSE int posix_spawnp(pid_t *pid, const char *file,
				   const posix_spawn_file_actions_t *actions,
				   const posix_spawnattr_t *attr, char *const argv[],
				   char *const envp[])
{
	pid_t child = 0;
	int error;

	snarlrt_real_ready();
	before_new_process(SNARLRT_PC());
	snarlrt_hide();		/* the child shares this memory, and may call interposers */
	error = REAL(posix_spawnp)(&child, file, actions, attr, argv, envp);
	snarlrt_unhide();
	if (error == 0)
		note_fork(child, SNARLRT_PC());
	if (error == 0 && pid)
		*pid = child;
	return error;
}

/*
 * system() in mode control. ctl_call_child() waits for the shell as for any child, so other threads
 * run meanwhile. Unlike libc's, it does not ignore SIGINT and SIGQUIT while it waits.
 */
static int system_controlled(const char *command, const void *pc)
{
	char *argv[] = { "sh", "-c", (char *)command, NULL };
	struct snarlrt_call c = { .what = TRACE_CALL_WAIT, .pc = pc, .control = true };
	int status = -1, error;
	pid_t pid;

	before_new_process(pc);
	snarlrt_hide();
	error = REAL(posix_spawn)(&pid, "/bin/sh", NULL, NULL, argv, environ);
	snarlrt_unhide();
	if (error)
		return 127 << 8;
	while (!ctl_call_child(&c, P_PID, (id_t)pid, WEXITED))
		;
	return REAL(waitpid)(pid, &status, 0) == pid ? status : -1;
}

SNARLRT_INTERPOSE int system(const char *command)
{
	snarlrt_real_ready();
	if (likely(!ctl_on()) || !command)
		return REAL(system)(command);
	return system_controlled(command, SNARLRT_PC());
}

/*
 * popen() and pclose() are scheduling points. pclose() blocks in libc until the child ends, and all
 * threads with it.
 */
SNARLRT_INTERPOSE FILE *popen(const char *command, const char *mode)
{
	snarlrt_real_ready();
	before_new_process(SNARLRT_PC());
	return REAL(popen)(command, mode);
}

SNARLRT_INTERPOSE int pclose(FILE *f)
{
	snarlrt_real_ready();
	before_new_process(SNARLRT_PC());
	return REAL(pclose)(f);
}

/* Notes EXIT at most once: in a static program exit() ends in this file's _exit(). */
static void note_exit(int status, const void *pc)
{
	snarlrt_real_ready();
	if (snarlrt_exit_noted || !snarlrt_wants_events() || !snarlrt_own_process())
		return;
	snarlrt_note(TRACE_EXIT, 0, NULL, (uint64_t)status, 0, pc);
	snarlrt_exit_noted = true;
}

/* The exit handler of process/init.c, which runs last, writes the rest of the trace. */
SNARLRT_INTERPOSE void exit(int status)
{
	ctl_exit_point(SNARLRT_PC());
	ctl_exit_begins();
	note_exit(status, SNARLRT_PC());
	REAL(exit)(status);
	__builtin_unreachable();
}

#define EXIT_NOW_FN(name)                                                                 \
	SNARLRT_INTERPOSE void name(int status)                                           \
	{                                                                                 \
		if (!snarlrt_exit_noted)                                                  \
			ctl_exit_point(SNARLRT_PC());                                     \
		note_exit(status, SNARLRT_PC());                                          \
		if (snarlrt_own_process())                                                \
			snarlrt_finish(status);                                           \
		if (!snarlrt_vforked)                                                     \
			ctl_finish(status);                                               \
		REAL(name)(status);                                                       \
		__builtin_unreachable();                                                  \
	}

EXIT_NOW_FN(_exit)
EXIT_NOW_FN(_Exit)

SNARLRT_INTERPOSE void quick_exit(int status)
{
	ctl_exit_point(SNARLRT_PC());
	note_exit(status, SNARLRT_PC());
	quick_status = status;
	if (!registered) {
		snarlrt_finish(status);
		ctl_finish(status);
	}
	REAL(quick_exit)(status);
	__builtin_unreachable();
}

/* Code compiled with -fstack-protector calls it when a function returns with a damaged frame. */
SNARLRT_INTERPOSE void __stack_chk_fail(void)
{
	snarlrt_real_ready();
	if (ctl_on())
		ctl_fail(CTL_FAIL_OVERFLOW, NULL, SNARLRT_PC(), NULL, NULL,
			 "stack overflow: the function wrote past a buffer in its frame, "
			 "as found when it returned");
	REAL(__stack_chk_fail)();
	__builtin_unreachable();
}

/*
 * Does not finish the trace: a handler of SIGABRT may leave by longjmp, and the tool finds the last
 * events in live memory.
 */
SNARLRT_INTERPOSE void abort(void)
{
	snarlrt_real_ready();
	if (snarlrt_wants_events() && snarlrt_own_process())
		snarlrt_note(TRACE_EXIT, 0, NULL, 128 + SIGABRT, 0, SNARLRT_PC());
	REAL(abort)();
	__builtin_unreachable();
}
