/*
 * exec: the process's memory is about to disappear, so events that are not in the trace yet are
 * written out first. If the real function returns, EXEC is noted again with the error.
 *
 * In mode control the new program runs in mode off (snarlrt_environ_mode_off() in fork_exit.c), and
 * the thread's virtual signal mask becomes its real one.
 */
#include "runtime/control/model/external.h"
#include "runtime/core/deferred_signals.h"
#include "runtime/interpose/call.h"
#include "runtime/record/trace_file.h"

static bool before_exec(const void *pc)
{
	snarlrt_real_ready();
	if (unlikely(ctl_on())) {
		ctl_source_point(0, pc);
		if (ctl.borrowed)
			ctl_go_alone();
		snarlrt_environ_mode_off();
		snarlrt_signals_set(ctl_self()->sigmask);
	}
	if (!snarlrt_wants_events() || !snarlrt_own_process())
		return false;
	snarlrt_note(TRACE_EXEC, 0, NULL, 0, 0, pc);
	snarlrt_before_exec();
	return true;
}

static int after_failed_exec(bool noted, int got, const void *pc)
{
	if (noted)
		snarlrt_note(TRACE_EXEC, 0, NULL, 0, errno, pc);
	return got;
}

#define EXEC_FN(name, params, args)                                                                \
	SNARLRT_INTERPOSE int name params                                                          \
	{                                                                                          \
		bool noted = before_exec(SNARLRT_PC());                                            \
                                                                                                   \
		return after_failed_exec(noted, REAL(name) args, SNARLRT_PC());                    \
	}

EXEC_FN(execve, (const char *path, char *const argv[], char *const envp[]), (path, argv, envp))
EXEC_FN(execv, (const char *path, char *const argv[]), (path, argv))
EXEC_FN(execvp, (const char *file, char *const argv[]), (file, argv))
EXEC_FN(execvpe, (const char *file, char *const argv[], char *const envp[]), (file, argv, envp))
EXEC_FN(fexecve, (int fd, char *const argv[], char *const envp[]), (fd, argv, envp))
EXEC_FN(execveat,
	(int dir, const char *path, char *const argv[], char *const envp[], int flags),
	(dir, path, argv, envp, flags))

static size_t count_args(va_list args)
{
	size_t n = 1;	/* `arg`, the named argument */

	while (va_arg(args, char *))
		n++;
	return n;
}

/*
 * Turns the arguments into an array on the stack, as libc does. `with_env`: envp follows the NULL.
 */
#define EXECL_FN(name, real, with_env)                                                             \
	SNARLRT_INTERPOSE int name(const char *path, const char *arg, ...)                         \
	{                                                                                          \
		bool noted = before_exec(SNARLRT_PC());                                            \
		char **envp = environ;                                                             \
		va_list args;                                                                      \
		size_t n;                                                                          \
                                                                                                   \
		va_start(args, arg);                                                               \
		n = count_args(args);                                                              \
		va_end(args);                                                                      \
		char *argv[n + 1];                                                                 \
                                                                                                   \
		va_start(args, arg);                                                               \
		argv[0] = (char *)arg;                                                             \
		for (size_t i = 1; i <= n; i++)                                                    \
			argv[i] = va_arg(args, char *);                                            \
		if (with_env)                                                                      \
			envp = va_arg(args, char **);                                              \
		va_end(args);                                                                      \
		return after_failed_exec(noted, REAL(real)(path, argv, envp), SNARLRT_PC());       \
	}

EXECL_FN(execl, execve, false)
EXECL_FN(execlp, execvpe, false)
EXECL_FN(execle, execve, true)
