/*
 * Calls that would make a controlled run wrong. The run ends with one line that names the reason.
 *
 * A seccomp filter applies to the runtime's system calls, too. A traced run would stop, and its
 * parent, the fork server, would take that for its end. A thread that a plain clone makes shares
 * the thread-local storage of its creator, so the runtime cannot tell the two apart.
 */
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>

#include "runtime/control/control.h"
#include "runtime/core/sys.h"
#include "runtime/interpose/call.h"
#include "runtime/interpose/refused.h"

void snarlrt_refuse_clone(uint64_t flags)
{
	if (!ctl_on() || !(flags & CLONE_VM) || flags & CLONE_VFORK)
		return;
	ctl_unsupported(flags & CLONE_THREAD ?
				"the program creates a thread by the system call clone: "
				"not controllable" :
				"the program creates a process that shares its memory, by clone: "
				"not controllable");
}

static void refuse_seccomp(void)
{
	if (ctl_on())
		ctl_unsupported("the program installs a seccomp filter, which also applies to "
				"snarl's runtime: not controllable");
}

/* A child that the program forked may be traced by the program, which has to run then. */
static void refuse_tracing(void)
{
	if (ctl_on() && ctl.borrowed)
		ctl_go_alone();
	if (ctl_on() && !ctl.private_child)
		ctl_unsupported("the program has itself traced by its parent (PTRACE_TRACEME), "
				"which is snarl: not controllable");
}

void snarlrt_refuse_syscall(long number, const long *v)
{
	switch (number) {
	case SYS_clone:
		snarlrt_refuse_clone((uint64_t)v[0]);
		break;
	case SYS_clone3:
		if (v[0] && v[1] >= 8)
			snarlrt_refuse_clone(*(const uint64_t *)v[0]);
		break;
	case SYS_seccomp:
		if (v[0] == SECCOMP_SET_MODE_STRICT || v[0] == SECCOMP_SET_MODE_FILTER)
			refuse_seccomp();
		break;
	case SYS_prctl:
		if (v[0] == PR_SET_SECCOMP)
			refuse_seccomp();
		break;
	case SYS_ptrace:
		if (v[0] == PTRACE_TRACEME)
			refuse_tracing();
		break;
	}
}

SNARLRT_INTERPOSE int prctl(int option, ...)
{
	long v[5];
	va_list ap;

	snarlrt_real_ready();
	va_start(ap, option);
	for (int i = 1; i < 5; i++)
		v[i] = va_arg(ap, long);
	va_end(ap);
	v[0] = option;
	snarlrt_refuse_syscall(SYS_prctl, v);
	return REAL(prctl)(option, v[1], v[2], v[3], v[4]);
}

SNARLRT_INTERPOSE long ptrace(enum __ptrace_request request, ...)
{
	long v[4];
	va_list ap;

	snarlrt_real_ready();
	va_start(ap, request);
	for (int i = 1; i < 4; i++)
		v[i] = va_arg(ap, long);
	va_end(ap);
	v[0] = request;
	snarlrt_refuse_syscall(SYS_ptrace, v);
	return REAL(ptrace)(request, v[1], v[2], v[3]);
}
