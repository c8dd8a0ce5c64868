#include "abi/run_options.h"
#include "explore/search/parallel_run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/proc.h"
#include "explore/search/attempt.h"
#include "explore/search/replay_trace.h"

#define POLL_MS 20	/* longest delay until the end of the program is noticed */

struct pipes {
	int out[2], error[2], in;
};

static int open_pipes(struct pipes *p, const struct target *t, struct err *err)
{
	*p = (struct pipes){ { -1, -1 }, { -1, -1 }, -1 };
	p->in = t->input >= 0 ? fcntl(t->input, F_DUPFD_CLOEXEC, 3)
			      : open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (p->in < 0 || (t->input >= 0 && lseek(p->in, 0, SEEK_SET) < 0) ||
	    pipe2(p->out, O_CLOEXEC) < 0 || pipe2(p->error, O_CLOEXEC) < 0)
		return err_set(err, "cannot start %s: %s", t->program, strerror(errno));
	fcntl(p->out[0], F_SETFL, O_NONBLOCK);
	fcntl(p->error[0], F_SETFL, O_NONBLOCK);
	return 0;
}

static void close_pipes(struct pipes *p)
{
	int all[] = { p->out[0], p->out[1], p->error[0], p->error[1], p->in };

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i] >= 0)
			close(all[i]);
}

/* Captures the output until the program ends; its children may live on. False: it was abandoned. */
static bool attend(struct server_result *r, pid_t pid, const struct pipes *p,
		   const struct server_config *config)
{
	double began = clock_seconds();
	bool ended = false, abandoned = false;

	while (!ended) {
		struct pollfd polls[] = { { .fd = p->out[0], .events = POLLIN },
					  { .fd = p->error[0], .events = POLLIN } };

		ended = waitpid(pid, &r->status, WNOHANG) == pid;
		/* poll() returns at once for a closed pipe: do not spin. */
		if (!ended && poll(polls, 2, POLL_MS) > 0 &&
		    !((polls[0].revents | polls[1].revents) & POLLIN))
			usleep(1000);
		capture_drain(&r->out, p->out[0]);
		capture_drain(&r->error, p->error[0]);
		if (!ended && config->timeout > 0 && clock_seconds() - began > config->timeout &&
		    !r->timed_out) {
			r->timed_out = true;
			kill(pid, SIGKILL);
		}
		if (!ended && !abandoned && deadline_over(config->deadline)) {
			abandoned = true;
			kill(pid, SIGKILL);
		}
	}
	r->seconds = clock_seconds() - began;
	return !abandoned;
}

static int run(const struct server_config *config, const char *options, struct server_result *r,
	       struct err *err)
{
	const struct target *t = config->target;
	struct proc_start start = { .name = SNARL_OPTIONS_ENV };
	char *value = xasprintf("mode=record:quiet=1:times=all:%s", options), **argv;
	struct pipes p;
	size_t count = 0;
	bool whole = true;
	pid_t pid = -1;

	while (t->argv[count])
		count++;
	argv = xcalloc(count + 1, sizeof(*argv));
	memcpy(argv, t->argv, count * sizeof(*argv));
	argv[0] = t->program;	/* absolute: do not search PATH again */
	start.argv = argv;
	start.value = value;
	if (open_pipes(&p, t, err) == 0) {
		start.in = p.in;
		start.out = p.out[1];
		start.error = p.error[1];
		pid = proc_spawn(&start, NULL, err);
	}
	if (pid > 0) {
		close(p.out[1]);
		close(p.error[1]);
		p.out[1] = p.error[1] = -1;
		whole = attend(r, pid, &p, config);
	}
	close_pipes(&p);
	free(argv);
	free(value);
	if (!whole)
		return err_set(err, "%s", deadline_why(config->deadline));
	return pid > 0 ? 0 : -1;
}

int plain_trace(const struct search_program *program, const char *path, struct oracle_result *out,
		struct err *err)
{
	/* The oracle judges a struct server: here with an all-zero report. */
	struct server s = { .config = program->server, .block = xcalloc(1, sizeof(*s.block)) };
	struct replay_trace trace;
	struct err closing;
	int result = replay_trace_open(&trace, path, false, err);

	capture_clear(&s.result.out);
	capture_clear(&s.result.error);
	if (result == 0)
		result = run(&program->server, trace.options, &s.result, err);
	if (result == 0)
		result = oracle_judge(program->oracle, &s, out, err);
	if (replay_trace_close(&trace, result == 0, &closing) < 0 && result == 0 &&
	    out->verdict == ORACLE_PASSED)
		result = err_set(err, "%s; was it built with snarl-cc?", closing.text);
	capture_free(&s.result.out);
	capture_free(&s.result.error);
	free(s.block);
	return result;
}
