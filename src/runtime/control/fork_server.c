/*
 * The fork server: a process that forks one child for each run that the tool asks for.
 *
 * The messages are in abi/control_block.h. The server stands before main, or at a snapshot within
 * a run. Before main there is one thread. At a snapshot with user-level threads there is one
 * kernel thread, and the other threads of the program are memory only. A plain fork therefore
 * copies everything.
 */
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/control/control.h"
#include "runtime/core/real.h"
#include "runtime/core/sys.h"

static bool send_message(enum ctl_message_kind kind, int pid, int status)
{
	struct ctl_message m = { .kind = kind, .pid = pid, .status = status };
	long n;

	do
		n = sys_call6(SYS_sendto, ctl.server, (long)&m, sizeof(m), MSG_NOSIGNAL, 0, 0);
	while (n == -EINTR);
	return n == (long)sizeof(m);
}

static bool receive_message(struct ctl_message *m)
{
	long n;

	do
		n = sys_call6(SYS_recvfrom, ctl.server, (long)m, sizeof(*m), 0, 0, 0);
	while (n == -EINTR);
	return n == (long)sizeof(*m);
}

static int wait_for(int pid)
{
	int status = 0;
	long got;

	do
		got = sys_call6(SYS_wait4, pid, (long)&status, 0, 0, 0, 0);
	while (got == -EINTR);
	return status;
}

static void exit_server(void)
{
	for (;;)
		sys_call(SYS_exit_group, 0, 0, 0);
}

/* In the child: it dies with the server, and leads a process group that the tool can kill. */
static void become_run(int server)
{
	sys_call(SYS_setpgid, 0, 0, 0);
	sys_call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0);
	if ((int)sys_call(SYS_getppid, 0, 0, 0) != server)
		exit_server();
}

void ctl_serve(void)
{
	int self = (int)sys_call(SYS_getpid, 0, 0, 0);
	long input = sys_call(SYS_lseek, 0, 0, SEEK_CUR);
	bool in_run = ctl.begun;
	struct ctl_message m;

	if (ctl.kernel_threads && in_run && ctl.count > 1)
		ctl_unsupported("a snapshot needs user-level threads");
	if (ctl.borrowed)
		ctl_unsupported("a snapshot in a forked child would lack its parent");
	if (!send_message(CTL_HELLO, self, 0))
		exit_server();
	while (receive_message(&m) && m.kind == CTL_RUN) {
		int pid;

		if (input >= 0)	/* every run reads standard input from the same offset */
			sys_call(SYS_lseek, 0, input, SEEK_SET);
		if (!in_run) {
			ctl_shared_apply();
			ctl_threads_prepare(ctl.block->request.threads);
		}
		snarlrt_hide();
		pid = REAL(_Fork)();
		snarlrt_unhide();
		if (pid == 0) {
			become_run(self);
			/* Only a run that becomes a server at its snapshot keeps the socket. */
			if (!(ctl.block->request.flags & CTL_SNAPSHOT))
				sys_call(SYS_close, ctl.server, 0, 0);
			if (in_run)
				ctl_continue();
			return;
		}
		if (pid < 0) {
			send_message(CTL_ENDED, 0, -1);
			continue;
		}
		send_message(CTL_STARTED, pid, 0);
		send_message(CTL_ENDED, pid, wait_for(pid));
	}
	exit_server();
}
