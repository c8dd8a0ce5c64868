/*
 * Signal masks and sending signals. In mode control both are virtual (control/model/signal.c). In
 * other modes the real functions are called and nothing is noted.
 */
#include "runtime/control/model/external.h"
#include "runtime/core/sys.h"

static int change_mask(int how, const sigset_t *set, sigset_t *old)
{
	uint64_t before = ctl_self()->sigmask, bits = set ? *(const uint64_t *)set : 0;

	if (set && how != SIG_BLOCK && how != SIG_UNBLOCK && how != SIG_SETMASK)
		return EINVAL;
	if (old) {
		sigemptyset(old);
		*(uint64_t *)old = before;
	}
	if (set)
		ctl_sigmask_set(how == SIG_BLOCK ? before | bits :
				how == SIG_UNBLOCK ? before & ~bits : bits);
	/* Signals that the new mask lets in are handled before the call returns. */
	if (set && ctl_signal_due(ctl_self()))
		ctl_signal_deliver();
	return 0;
}

static int errno_result(int error)
{
	if (!error)
		return 0;
	errno = error;
	return -1;
}

SNARLRT_INTERPOSE int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	snarlrt_real_ready();
	if (likely(!ctl_on()))
		return REAL(pthread_sigmask)(how, set, old);
	ctl_point(SCHED_OP_OTHER, NULL, SNARLRT_PC());
	return change_mask(how, set, old);
}

SNARLRT_INTERPOSE int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
	snarlrt_real_ready();
	if (likely(!ctl_on()))
		return REAL(sigprocmask)(how, set, old);
	ctl_point(SCHED_OP_OTHER, NULL, SNARLRT_PC());
	return errno_result(change_mask(how, set, old));
}

SNARLRT_INTERPOSE int sigpending(sigset_t *set)
{
	snarlrt_real_ready();
	if (likely(!ctl_on()))
		return REAL(sigpending)(set);
	ctl_point(SCHED_OP_OTHER, NULL, SNARLRT_PC());
	sigemptyset(set);
	*(uint64_t *)set = ctl_signal_pending(ctl_self(), ctl_self()->sigmask);
	return 0;
}

/*
 * Sends to thread `to`, or to the process if NULL. If the current thread gets the signal, it is
 * handled before the call returns.
 */
static int send_signal(struct ctl_thread *to, int number, int code, const union sigval *value,
		       const void *pc)
{
	siginfo_t info = { .si_signo = number, .si_code = code };
	int error;

	ctl_point(SCHED_OP_OTHER, NULL, pc);
	info.si_pid = (pid_t)sys_call(SYS_getpid, 0, 0, 0);
	info.si_uid = (uid_t)sys_call(SYS_getuid, 0, 0, 0);
	if (value)
		info.si_value = *value;
	error = ctl_signal_send(to, number, &info);
	if (!error && ctl_signal_due(ctl_self()))
		ctl_signal_deliver();
	return error;
}

/* Sending to a thread that has ended is no error while its handle is valid. */
static int send_to_handle(pthread_t handle, int number, int code, const union sigval *value,
			  const void *pc)
{
	struct ctl_thread *to = ctl_thread_find(handle);

	if (!to)
		return ESRCH;
	if (to->state == CTL_DONE) {
		ctl_point(SCHED_OP_OTHER, NULL, pc);
		return number < 0 || number > 64 ? EINVAL : 0;
	}
	return send_signal(to, number, code, value, pc);
}

SNARLRT_INTERPOSE int raise(int number)
{
	snarlrt_real_ready();
	if (likely(!ctl_on()))
		return REAL(raise)(number);
	return errno_result(send_signal(ctl_self(), number, SI_TKILL, NULL, SNARLRT_PC()));
}

SNARLRT_INTERPOSE int pthread_kill(pthread_t thread, int number)
{
	snarlrt_real_ready();
	if (likely(!ctl_on()))
		return REAL(pthread_kill)(thread, number);
	return send_to_handle(thread, number, SI_TKILL, NULL, SNARLRT_PC());
}

SNARLRT_INTERPOSE int pthread_sigqueue(pthread_t thread, int number, const union sigval value)
{
	snarlrt_real_ready();
	if (likely(!ctl_on()))
		return REAL(pthread_sigqueue)(thread, number, value);
	return send_to_handle(thread, number, SI_QUEUE, &value, SNARLRT_PC());
}

static bool is_own_process(pid_t pid)
{
	return pid == (pid_t)sys_call(SYS_getpid, 0, 0, 0);
}

/* True if `pid` includes the run's parent, a process of snarl: such signals are dropped. */
static bool reaches_snarl(pid_t pid)
{
	long parent = sys_call(SYS_getppid, 0, 0, 0);

	return !ctl.private_child && (pid == -1 || pid == (pid_t)parent ||
				      pid == -(pid_t)sys_call(SYS_getpgid, parent, 0, 0));
}

SNARLRT_INTERPOSE int kill(pid_t pid, int number)
{
	snarlrt_real_ready();
	if (likely(!ctl_on()))
		return REAL(kill)(pid, number);
	if (is_own_process(pid))
		return errno_result(send_signal(NULL, number, SI_USER, NULL, SNARLRT_PC()));
	ctl_source_point(0, SNARLRT_PC());
	if (reaches_snarl(pid))
		return 0;
	return REAL(kill)(pid, number);
}

SNARLRT_INTERPOSE int sigqueue(pid_t pid, int number, const union sigval value)
{
	snarlrt_real_ready();
	if (likely(!ctl_on()))
		return REAL(sigqueue)(pid, number, value);
	if (is_own_process(pid))
		return errno_result(send_signal(NULL, number, SI_QUEUE, &value, SNARLRT_PC()));
	ctl_source_point(0, SNARLRT_PC());
	return REAL(sigqueue)(pid, number, value);
}

/* `tid` is a number that gettid() of nondeterminism.c returned. */
SNARLRT_INTERPOSE int tgkill(pid_t pid, pid_t tid, int number)
{
	snarlrt_real_ready();
	if (likely(!ctl_on()) || !is_own_process(pid))
		return REAL(tgkill)(pid, tid, number);
	if (tid < pid || (uint32_t)(tid - pid) >= ctl.count ||
	    ctl.threads[tid - pid]->state != CTL_LIVE)
		return errno_result(ESRCH);
	return errno_result(
		send_signal(ctl.threads[tid - pid], number, SI_TKILL, NULL, SNARLRT_PC()));
}
