/*
 * setuid() and its family in mode control.
 *
 * The kernel keeps credentials per thread. glibc therefore signals every thread of the process and
 * waits until each has made the system call. With user-level threads the kernel threads that sleep
 * would never answer. Only one of them ever runs the program's code, so the plain system call has
 * the effect on the whole process. With kernel threads glibc's way works: no thread under control
 * blocks its signal (context_switch.c).
 */
#include <grp.h>

#include "runtime/control/model/external.h"
#include "runtime/core/sys.h"
#include "runtime/interpose/call.h"

#define GROUPS_MAX 1024	/* of initgroups(): more than systems give to a user */

static int set_plainly(long number, long a, long b, long c)
{
	long got = sys_call(number, a, b, c);

	if (got >= 0)
		return 0;
	errno = (int)-got;
	return -1;
}

/* `number`, `a`, `b`, `c`: the system call with the same effect. */
#define CREDENTIALS_FN(name, number, a, b, c, params, args)                               \
	SNARLRT_INTERPOSE int name params                                                 \
	{                                                                                 \
		snarlrt_real_ready();                                                     \
		if (unlikely(ctl_on()))                                                   \
			ctl_source_point(0, SNARLRT_PC());                                \
		if (likely(!ctl_on()) || ctl.kernel_threads)                              \
			return REAL(name) args;                                           \
		return set_plainly(number, (long)(a), (long)(b), (long)(c));              \
	}

CREDENTIALS_FN(setuid, SYS_setuid, user, 0, 0, (uid_t user), (user))
CREDENTIALS_FN(setgid, SYS_setgid, group, 0, 0, (gid_t group), (group))
CREDENTIALS_FN(seteuid, SYS_setresuid, -1, user, -1, (uid_t user), (user))
CREDENTIALS_FN(setegid, SYS_setresgid, -1, group, -1, (gid_t group), (group))
CREDENTIALS_FN(setreuid, SYS_setreuid, real, effective, 0, (uid_t real, uid_t effective),
	       (real, effective))
CREDENTIALS_FN(setregid, SYS_setregid, real, effective, 0, (gid_t real, gid_t effective),
	       (real, effective))
CREDENTIALS_FN(setresuid, SYS_setresuid, real, effective, saved,
	       (uid_t real, uid_t effective, uid_t saved), (real, effective, saved))
CREDENTIALS_FN(setresgid, SYS_setresgid, real, effective, saved,
	       (gid_t real, gid_t effective, gid_t saved), (real, effective, saved))
CREDENTIALS_FN(setgroups, SYS_setgroups, n, list, 0, (size_t n, const gid_t *list), (n, list))

SNARLRT_INTERPOSE int initgroups(const char *user, gid_t group)
{
	gid_t groups[GROUPS_MAX];
	int n = GROUPS_MAX;

	snarlrt_real_ready();
	if (unlikely(ctl_on()))
		ctl_source_point(0, SNARLRT_PC());
	if (likely(!ctl_on()) || ctl.kernel_threads)
		return REAL(initgroups)(user, group);
	snarlrt_hide();		/* it reads files and allocates */
	if (getgrouplist(user, group, groups, &n) < 0)
		n = GROUPS_MAX;
	snarlrt_unhide();
	return set_plainly(SYS_setgroups, n, (long)groups, 0);
}
