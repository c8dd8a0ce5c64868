#include "cmd/interrupt.h"

#include <sys/time.h>
#include <unistd.h>

#include "base/clock.h"

/*
 * A signal that follows the first one sooner than this is taken as the same request: timeout(1)
 * signals the command, and then its process group at once.
 */
#define SAME_SECONDS 0.5

#define CUT_OFF_MS 1800		/* from the first signal until a stage that goes on is cut off */
#define WRITING_MS 10000	/* the same, from the moment on when results are written */

struct deadline_stop interrupt_stop;

static volatile sig_atomic_t finishing;

static void set_timer(long ms)
{
	const struct itimerval timer = { .it_value = { ms / 1000, ms % 1000 * 1000 } };

	setitimer(ITIMER_REAL, &timer, NULL);
}

/* Ends snarl. The kernel ends its children with it: target_spawn() asked for that. */
static void cut_off(int sig)
{
	static const char text[] =
		"\nsnarl: interrupted, and ended before all results were written\n";

	(void)sig;
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(128 + interrupt_stop.signal);
	_exit(128 + interrupt_stop.signal);
}

static void on_interrupt(int sig)
{
	if (!interrupt_stop.signal) {
		deadline_signal(&interrupt_stop, sig);
		set_timer(finishing ? WRITING_MS : CUT_OFF_MS);
	} else if (clock_seconds() - interrupt_stop.at >= SAME_SECONDS) {
		signal(sig, SIG_DFL);
		raise(sig);
	}
}

static void handle(int sig)
{
	struct sigaction action = { .sa_handler = on_interrupt }, old;

	if (sig != SIGHUP || (sigaction(sig, NULL, &old) == 0 && old.sa_handler != SIG_IGN))
		sigaction(sig, &action, NULL);
}

void interrupt_handle(void)
{
	const struct sigaction action = { .sa_handler = cut_off };

	sigaction(SIGALRM, &action, NULL);
	handle(SIGINT);
	handle(SIGTERM);
	handle(SIGHUP);
}

void interrupt_finish(void)
{
	finishing = 1;
	if (interrupt_stop.signal)
		set_timer(WRITING_MS);
}

int interrupt_exit(int code)
{
	return interrupt_stop.signal ? 128 + interrupt_stop.signal : code;
}
