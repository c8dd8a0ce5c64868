/*
 * Processes: their making and their end.
 *
 * fork: the child's runtime must be its own before anything instrumented runs
 * in it, atfork handlers included; so a handler of ours is registered before all
 * others (snarlrt_process_init). It also serves the forks inside libc (daemon,
 * forkpty). _Fork runs no handlers.
 *
 * vfork: the child borrows the parent's memory and its thread until it execs or
 * exits. Recording what it does as the parent's would be wrong, and so would
 * be a second process writing the parent's ring; so the thread records nothing
 * meanwhile (tail_x86_64.S calls vfork_before and vfork_after).
 */
#include "runtime/call.h"
#include "runtime/sys.h"

__thread bool snarlrt_vforked;
bool snarlrt_exit_noted;

static bool registered;
static int quick_status;
static __thread unsigned forking;	/* in a static program fork() ends in our _Fork() */

bool snarlrt_own_process(void)
{
	return snarlrt.mode != SNARLRT_OFF && !snarlrt_vforked &&
	       snarlrt.live->pid == (uint32_t)sys_call(SYS_getpid, 0, 0, 0);
}

/* In a new child, once: whoever comes first, our handler or the end of fork(). */
static void forked(void)
{
	if (snarlrt.mode == SNARLRT_OFF || snarlrt_own_process())
		return;
	snarlrt_exit_noted = false;
	snarlrt_forked_child();
}

static void quick_end(void)
{
	snarlrt_finish(quick_status);
}

void snarlrt_process_init(void)
{
	registered = pthread_atfork(NULL, NULL, forked) == 0 && at_quick_exit(quick_end) == 0;
}

static pid_t note_fork(pid_t pid, const void *pc)
{
	if (pid > 0 && snarlrt_watching())
		snarlrt_note(TRACE_FORK, 0, NULL, (uint64_t)pid, 0, pc);
	return pid;
}

#define FORK_FN(name)                                                                     \
	SNARLRT_INTERPOSE pid_t name(void)                                                \
	{                                                                                 \
		pid_t pid;                                                                \
                                                                                          \
		snarlrt_real_ready();                                                     \
		forking++;                                                                \
		pid = REAL(name)();                                                       \
		if (pid == 0)                                                             \
			forked();                                                         \
		if (--forking == 0)                                                       \
			note_fork(pid, SNARLRT_PC());                                     \
		return pid;                                                               \
	}

FORK_FN(fork)
FORK_FN(_Fork)

static __thread struct {
	struct snarlrt_tls tls;
	unsigned depth;		/* a child may vfork again */
} aside;

SNARLRT_HIDDEN void snarlrt_vfork_before(void);
SNARLRT_HIDDEN long snarlrt_vfork_after(long got, const void *pc);

void snarlrt_vfork_before(void)
{
	if (aside.depth++ > 0)
		return;
	aside.tls = __snarl_tls;
	snarlrt_vforked = true;
	__snarl_tls = (struct snarlrt_tls){
		.told = (struct snarlrt_frame *)-1,
		.hidden = 1,
		.ended = 1,
	};
}

/* In the parent, or when there is no child. */
long snarlrt_vfork_after(long got, const void *pc)
{
	if (--aside.depth == 0) {
		__snarl_tls = aside.tls;
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
	snarlrt_hide();		/* the child runs in our memory, in a static program through us */
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
	snarlrt_hide();		/* the child runs in our memory, in a static program through us */
	error = REAL(posix_spawnp)(&child, file, actions, attr, argv, envp);
	snarlrt_unhide();
	if (error == 0)
		note_fork(child, SNARLRT_PC());
	if (error == 0 && pid)
		*pid = child;
	return error;
}

/* Once: in a static program exit() ends in our _exit(). */
static void note_exit(int status, const void *pc)
{
	snarlrt_real_ready();
	if (snarlrt_exit_noted || !snarlrt_watching() || !snarlrt_own_process())
		return;
	snarlrt_note(TRACE_EXIT, 0, NULL, (uint64_t)status, 0, pc);
	snarlrt_exit_noted = true;
}

/* What is still to be written is written by a handler that runs last of all. */
SNARLRT_INTERPOSE void exit(int status)
{
	note_exit(status, SNARLRT_PC());
	REAL(exit)(status);
	__builtin_unreachable();
}

#define EXIT_NOW_FN(name)                                                                 \
	SNARLRT_INTERPOSE void name(int status)                                           \
	{                                                                                 \
		note_exit(status, SNARLRT_PC());                                          \
		if (snarlrt_own_process())                                                \
			snarlrt_finish(status);                                           \
		REAL(name)(status);                                                       \
		__builtin_unreachable();                                                  \
	}

EXIT_NOW_FN(_exit)
EXIT_NOW_FN(_Exit)

SNARLRT_INTERPOSE void quick_exit(int status)
{
	note_exit(status, SNARLRT_PC());
	quick_status = status;
	if (!registered)
		snarlrt_finish(status);
	REAL(quick_exit)(status);
	__builtin_unreachable();
}

/* A handler may still leave by longjmp; and what is in live memory is not lost. */
SNARLRT_INTERPOSE void abort(void)
{
	snarlrt_real_ready();
	if (snarlrt_watching() && snarlrt_own_process())
		snarlrt_note(TRACE_EXIT, 0, NULL, 128 + SIGABRT, 0, SNARLRT_PC());
	REAL(abort)();
	__builtin_unreachable();
}
