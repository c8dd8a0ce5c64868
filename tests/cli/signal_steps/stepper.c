/*
 * Runs a program and sends it a signal before each instruction of a stretch of code that the
 * program repeats. The program stops at an int3 where the stretch begins, and at another where it
 * ends, whose answer is in %rax:
 *   0  continue, and repeat
 *   1  that was the last round
 * In the first round every instruction is noted; from then on a breakpoint stops the program there.
 *
 *	stepper SIGNAL PROGRAM ARGUMENT…
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST 100000

static pid_t pid;
static unsigned long long path[MOST];	/* addresses of the first round */
static int length;

static void die(const char *what)
{
	perror(what);
	exit(3);
}

/* Waits until the program stops; returns the signal that stopped it. Exits if the program ends. */
static int wait_stop(void)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		die("waitpid");
	if (WIFEXITED(status))
		exit(WEXITSTATUS(status));
	if (WIFSIGNALED(status)) {
		fprintf(stderr, "stepper: killed by signal %d\n", WTERMSIG(status));
		exit(1);
	}
	return WSTOPSIG(status);
}

static struct user_regs_struct registers(void)
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, pid, 0, &regs) != 0)
		die("PTRACE_GETREGS");
	return regs;
}

static void set_registers(struct user_regs_struct regs)
{
	if (ptrace(PTRACE_SETREGS, pid, 0, &regs) != 0)
		die("PTRACE_SETREGS");
}

/* Did it stop behind an int3? */
static int at_mark(void)
{
	siginfo_t info;

	return ptrace(PTRACE_GETSIGINFO, pid, 0, &info) == 0 && info.si_code == SI_KERNEL;
}

/* Runs to the next int3. Other signals are passed on. */
static void run_to_mark(int with)
{
	for (;;) {
		ptrace(PTRACE_CONT, pid, 0, with);
		with = wait_stop();
		if (with == SIGTRAP && at_mark())
			return;
	}
}

static void step(void)
{
	if (ptrace(PTRACE_SINGLESTEP, pid, 0, 0) != 0)
		die("PTRACE_SINGLESTEP");
	if (wait_stop() != SIGTRAP)
		die("stopped by another signal");
}

static void write_down(void)
{
	do {
		if (length == MOST) {
			fprintf(stderr, "stepper: more than %d instructions\n", MOST);
			exit(3);
		}
		path[length++] = registers().rip;
		step();
	} while (!at_mark());
}

static void answer(unsigned long long rax)
{
	struct user_regs_struct regs = registers();

	regs.rax = rax;
	set_registers(regs);
}

static long poke(unsigned long long at, long word)
{
	if (ptrace(PTRACE_POKETEXT, pid, at, word) != 0)
		die("PTRACE_POKETEXT");
	return 0;
}

/* Runs to the n-th time at `at`; 0 if the stretch ended before: not every round is the same. */
static int run_to(unsigned long long at, int n)
{
	long word = ptrace(PTRACE_PEEKTEXT, pid, at, 0);

	if (registers().rip == at)
		n--;
	while (n > 0) {
		struct user_regs_struct regs;

		if (registers().rip == at)
			step();
		poke(at, (word & ~0xffl) | 0xcc);
		run_to_mark(0);
		poke(at, word);
		regs = registers();
		if (regs.rip != at + 1)
			return 0;
		regs.rip = at;
		set_registers(regs);
		n--;
	}
	return 1;
}

int main(int argc, char **argv)
{
	int number = argc > 2 ? atoi(argv[1]) : 0;

	if (number < 1)
		return 2;
	pid = fork();
	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execv(argv[2], argv + 2);
		_exit(3);
	}
	wait_stop();
	ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_EXITKILL);
	run_to_mark(0);		/* the start of the first round */
	write_down();
	for (int i = 0; i < length; i++) {
		int n = 0;

		answer(0);
		run_to_mark(0);
		for (int j = 0; j <= i; j++)
			n += path[j] == path[i];
		if (run_to(path[i], n))
			run_to_mark(number);
	}
	answer(1);
	ptrace(PTRACE_CONT, pid, 0, 0);
	for (;;)
		ptrace(PTRACE_CONT, pid, 0, wait_stop());
}
