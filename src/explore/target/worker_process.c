/*
 * The processes of a worker: making the control block, starting and stopping the fork server or a
 * single run, and falling back to single runs if the program cannot have a fork server.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/proc.h"
#include "explore/target/block.h"
#include "explore/target/orphans.h"
#include "explore/target/worker_internal.h"

#define HELLO_SECONDS 30.0	/* time limit from exec to main, for constructors */
#define HELLO_TIMEOUTS 3	/* but not longer than this many time limits of a run */
#define TICK_MS 50		/* between two reads of the output while waiting */

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void server_drain(struct server *s, struct capture *out, struct capture *error)
{
	if (s->out >= 0 && !capture_drain(out, s->out))
		close_fd(&s->out);
	if (s->error >= 0 && !capture_drain(error, s->error))
		close_fd(&s->error);
}

/* Opens the target's stdin anew: a duplicate would share the file position with other workers. */
static int open_input(const struct target *t)
{
	char path[64];

	if (t->input < 0)
		return open("/dev/null", O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", t->input);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static int make_pipe(int *ours, int *theirs)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	*ours = ends[0];
	*theirs = ends[1];
	return fcntl(ends[0], F_SETFL, O_NONBLOCK);
}

int server_spawn(struct server *s, bool serve, struct err *err)
{
	struct target_start start = {
		.control = s->control, .server = -1, .input = -1, .output = -1, .error = -1,
		.backend = s->config.backend, .extra = s->config.options,
	};
	int pair[2] = { -1, -1 };

	s->input = open_input(s->config.target);
	start.input = s->input;
	if (s->input < 0 || make_pipe(&s->out, &start.output) < 0 ||
	    make_pipe(&s->error, &start.error) < 0 ||
	    (serve && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)) {
		err_set(err, "cannot start %s: %s", s->config.target->program, strerror(errno));
		s->pid = -1;
	} else {
		s->socket = pair[0];
		start.server = pair[1];
		s->pid = target_spawn(s->config.target, &start, err);
	}
	close_fd(&start.output);
	close_fd(&start.error);
	close_fd(&pair[1]);
	if (s->pid < 0) {
		s->pid = 0;
		return -1;
	}
	s->pidfd = (int)syscall(SYS_pidfd_open, s->pid, 0);
	return 0;
}

int server_down(struct server *s)
{
	int status = 0;

	if (s->pid > 0) {
		orphans_end_group(s->pid);
		if (s->run > 0)
			orphans_end_group(s->run);
		status = proc_wait(s->pid);
	}
	s->pid = s->run = 0;
	s->depth = 0;
	close_fd(&s->socket);
	close_fd(&s->pidfd);
	close_fd(&s->out);
	close_fd(&s->error);
	close_fd(&s->input);
	s->state = SERVER_DOWN;
	return status;
}

static double hello_seconds(const struct server *s)
{
	double most = HELLO_TIMEOUTS * s->config.timeout;

	return most > 0 && most < HELLO_SECONDS ? most : HELLO_SECONDS;
}

/* Waits for CTL_HELLO. Returns 1; 0: the process ended, or sent nothing in time. */
static int await_hello(struct server *s)
{
	double limit = clock_seconds() + hello_seconds(s);
	struct ctl_message m;
	int got;

	while ((got = server_receive(s, &m)) == 0 && clock_seconds() < limit &&
	       !deadline_over(s->config.deadline)) {
		server_drain(s, &s->before_out, &s->before_error);
		server_poll(s, TICK_MS);
	}
	server_drain(s, &s->before_out, &s->before_error);
	s->result.timed_out = got == 0;
	return got > 0 && m.kind == CTL_HELLO;
}

/* Appends the last line of stderr to the error: it often has the reason. */
static void add_last_line(struct capture *c, struct err *err)
{
	struct buf text = { 0 };
	char *last, *end;
	size_t used = strlen(err->text);

	capture_text(c, &text);
	last = (char *)buf_string(&text);
	end = last + text.size;
	while (end > last && (end[-1] == '\n' || end[-1] == ' '))
		*--end = '\0';
	end = strrchr(last, '\n');
	last = end ? end + 1 : last;
	if (*last)
		snprintf(err->text + used, sizeof(err->text) - used, " (it said: %.200s)", last);
	buf_free(&text);
}

/* Sets *err to the reason why a process did not come under control. Returns -1. */
static int explain_no_hello(struct server *s, int status, struct err *err)
{
	const char *program = s->config.target->program;

	if (!block_read(s))
		return err_set(err, "%s damaged the memory shared with snarl before main: "
			       "%s makes no sense", program, s->result.damage);
	if (deadline_over(s->config.deadline))
		return err_set(err, "%s before main of %s", deadline_why(s->config.deadline),
			       program);
	if (s->block->report.outcome == CTL_UNSUPPORTED)
		return err_set(err, "%s cannot be controlled: %.300s", program,
			       s->block->report.text);
	if (s->result.timed_out)
		err_set(err, "%s did not come to main in %.0f seconds", program, hello_seconds(s));
	else if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
		err_set(err, "%s was killed by signal %d (%s) before main", program,
			WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		err_set(err, "%s could not be started", program);
	else
		err_set(err, "%s is not under snarl's control; was it built with snarl-cc?",
			program);
	add_last_line(&s->before_error, err);
	return -1;
}

static unsigned count_threads(pid_t pid)
{
	char path[64];
	unsigned count = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	for (struct dirent *e; dir && (e = readdir(dir));)
		count += *e->d_name != '.';
	if (dir)
		closedir(dir);
	return count;
}

/* Gives up the fork server: every run becomes a process of its own. */
static void use_exec(struct server *s, const char *why)
{
	log_warn("%s is started anew for every run, which is slower: %s", s->config.target->program,
		 why);
	server_down(s);
	capture_clear(&s->before_out);
	capture_clear(&s->before_error);
	s->exec = true;
}

int server_launch(struct server *s, struct err *err)
{
	int status;

	capture_clear(&s->before_out);
	capture_clear(&s->before_error);
	block_publish(s);
	if (server_spawn(s, true, err) < 0) {
		server_down(s);
		return -1;
	}
	if (await_hello(s)) {
		s->state = SERVER_IDLE;
		if (count_threads(s->pid) > 1)
			use_exec(s, "it starts threads before main");
		return 0;
	}
	status = server_down(s);
	return explain_no_hello(s, status, err);
}

int server_map_file(struct server *s, const struct server_config *config, int fd, struct err *err)
{
	s->config = *config;
	s->memory = fd;
	return block_make(s, err);
}

int server_open(struct server *s, const struct server_config *config, struct err *err)
{
	*s = (struct server){ .config = *config, .memory = -1, .socket = -1, .out = -1, .error = -1,
			      .input = -1, .pidfd = -1, .exec = config->exec };
	s->tasks_before = orphans_tasks();
	s->result.out.limit = config->keep;
	s->before_out.limit = config->keep;
	capture_clear(&s->before_out);
	capture_clear(&s->before_error);
	capture_clear(&s->result.out);
	capture_clear(&s->result.error);
	s->memory = memfd_create("snarl-control", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	snprintf(s->control, sizeof(s->control), "/proc/%d/fd/%d", (int)getpid(), s->memory);
	if (block_make(s, err) < 0)
		return -1;
	return s->exec ? 0 : server_launch(s, err);
}

void server_close(struct server *s)
{
	server_down(s);
	block_free(s);
	close_fd(&s->memory);
	capture_free(&s->before_out);
	capture_free(&s->before_error);
	capture_free(&s->result.out);
	capture_free(&s->result.error);
}
