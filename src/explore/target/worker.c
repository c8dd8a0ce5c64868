/*
 * Runs of a worker: started by a message to the fork server, watched from the caller's poll loop,
 * killed at the time limit.
 */
#include "explore/target/worker_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "explore/target/block.h"
#include "explore/target/orphans.h"

#define GRACE_SECONDS 5.0	/* for the fork server to report the end of a run or snapshot */
#define DEATHS_MAX 3		/* fork servers that may die in a row */
#define BOMB_TASKS 4000u	/* new processes and threads on the machine that mean a fork bomb */
#define BOMB_SECONDS 0.04	/* of a run until it is checked: saves time in short runs */
#define TICK_MS 50		/* between two checks of time limit and fork bombs */

int server_receive(struct server *s, struct ctl_message *m)
{
	ssize_t got = recv(s->socket, m, sizeof(*m), MSG_DONTWAIT);

	if (got == (ssize_t)sizeof(*m))
		return 1;
	return got < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}

static bool send_message(struct server *s, enum ctl_message_kind kind)
{
	struct ctl_message m = { .kind = kind };

	return send(s->socket, &m, sizeof(m), MSG_NOSIGNAL) == (ssize_t)sizeof(m);
}

void server_poll(struct server *s, int ms)
{
	struct pollfd polls[SERVER_POLLS];
	size_t count = server_polls(s, polls);

	poll(polls, count, ms);
}

int server_start(struct server *s, struct err *err)
{
	if (s->deaths >= DEATHS_MAX)
		return err_set(err, "%s: the fork server was lost %u times in a row (%s); if the "
			       "program kills its parent, try --no-fork-server",
			       s->config.target->program, s->deaths, s->reason);
	if (!s->exec && s->state == SERVER_DOWN && server_launch(s, err) < 0)
		return -1;
	block_publish(s);
	s->result.damage = NULL;
	s->result.status = 0;
	s->result.timed_out = s->result.lost = s->result.fork_bomb = false;
	capture_copy(&s->result.out, &s->before_out);
	capture_copy(&s->result.error, &s->before_error);
	s->run = 0;
	s->killed = s->at_snapshot = false;
	if (s->exec) {
		if (server_spawn(s, false, err) < 0) {
			server_down(s);
			return -1;
		}
		s->run = s->pid;
	} else {
		/* If sending fails, the fork server has died: server_attend() detects that. */
		send_message(s, CTL_RUN);
	}
	s->state = SERVER_BUSY;
	s->began = clock_seconds();
	s->deadline = s->config.timeout > 0 ? s->began + s->config.timeout : 0;
	return 0;
}

/* Ends a run: kills what is left of its process group, reads the rest of its output. */
static bool end_run(struct server *s, int status)
{
	orphans_end_group(s->run);
	server_drain(s, &s->result.out, &s->result.error);
	s->result.status = status;
	s->result.seconds = clock_seconds() - s->began;
	s->state = s->exec ? SERVER_DOWN : SERVER_IDLE;
	s->run = 0;
	s->deaths = 0;
	/* A fork server with damaged memory, or a snapshot made from it, is worth nothing. */
	if (!block_read(s) || s->exec)
		server_down(s);
	return true;
}

/* Ends a run whose fork server died, or did not report its end in time. */
static bool end_lost_run(struct server *s)
{
	int status;

	server_drain(s, &s->result.out, &s->result.error);
	status = server_down(s);
	s->result.lost = true;
	s->result.status = status;
	s->result.seconds = clock_seconds() - s->began;
	s->deaths++;
	snprintf(s->reason, sizeof(s->reason), "%s %d",
		 WIFSIGNALED(status) ? "killed by signal" : "ended with exit status",
		 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	return true;
}

static void kill_run(struct server *s)
{
	s->killed = true;
	s->deadline = clock_seconds() + GRACE_SECONDS;
	if (s->run > 0) {
		orphans_end_group(s->run);
		kill(s->run, SIGKILL);
	}
}

/* Kills the run at its time limit, or as a fork bomb. True: its end was not reported in time. */
static bool check_time(struct server *s)
{
	double t = clock_seconds();

	if (!s->killed && t - s->began > BOMB_SECONDS &&
	    orphans_tasks() > s->tasks_before + BOMB_TASKS) {
		s->result.fork_bomb = true;
		kill_run(s);
	}
	if (s->deadline == 0 || t < s->deadline)
		return false;
	if (s->killed)
		return true;	/* the grace period is over */
	s->result.timed_out = true;
	kill_run(s);
	return false;
}

static bool attend_exec(struct server *s)
{
	int status;

	if (waitpid(s->pid, &status, WNOHANG) == s->pid) {
		orphans_end_group(s->pid);
		s->pid = 0;
		return end_run(s, status);
	}
	return false;
}

/* Whether a child is a zombie. Does not reap it. */
static bool is_dead(pid_t pid)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid == pid;
}

/* The pid may be forged, and its group is killed: it must not be snarl, or all processes. */
static bool is_run_pid(pid_t pid)
{
	return pid > 1 && pid != getpid() && pid != getpgrp();
}

bool server_attend(struct server *s)
{
	struct ctl_message m;
	int got = 0;

	if (s->state != SERVER_BUSY)
		return true;
	if (s->exec && attend_exec(s))
		return true;
	while (!s->exec && (got = server_receive(s, &m)) > 0) {
		if (m.kind == CTL_STARTED && !s->run && is_run_pid(m.pid))
			s->run = m.pid;
		else if (m.kind == CTL_ENDED)
			return end_run(s, m.status);
		else if (m.kind == CTL_HELLO)
			s->at_snapshot = true;
		/*
		 * Wait for both messages, which may come in either order. A late CTL_STARTED would
		 * be mistaken for that of the next run.
		 */
		if (s->at_snapshot && s->run) {
			server_drain(s, &s->result.out, &s->result.error);
			s->state = SERVER_IDLE;
			s->depth++;
			return true;
		}
	}
	server_drain(s, &s->result.out, &s->result.error);
	/* A run can hold the socket of its dead fork server open, so check the process, too. */
	if (got < 0 || (!s->exec && is_dead(s->pid)))
		return end_lost_run(s);
	return check_time(s) && end_lost_run(s);
}

size_t server_polls(const struct server *s, struct pollfd *polls)
{
	const int fds[SERVER_POLLS] = { s->socket, s->out, s->error, s->pidfd };
	size_t count = 0;

	for (size_t i = 0; i < SERVER_POLLS; i++)
		if (fds[i] >= 0)
			polls[count++] = (struct pollfd){ .fd = fds[i], .events = POLLIN };
	return count;
}

int server_poll_timeout(const struct server *s)
{
	return s->state == SERVER_BUSY ? TICK_MS : -1;
}

void server_wait(struct server *s)
{
	server_poll(s, server_poll_timeout(s));
}

void server_abandon(struct server *s)
{
	if (s->state == SERVER_BUSY)
		server_down(s);
}

int server_run(struct server *s, struct err *err)
{
	const struct deadline *end = s->config.deadline;

	if (deadline_over(end))
		return err_set(err, "%s", deadline_why(end));
	if (server_start(s, err) < 0)
		return -1;
	while (!server_attend(s)) {
		if (deadline_over(end)) {
			server_abandon(s);
			return err_set(err, "%s", deadline_why(end));
		}
		server_wait(s);
	}
	return 0;
}

int server_leave(struct server *s, struct err *err)
{
	double limit = clock_seconds() + GRACE_SECONDS;
	struct ctl_message m;
	int got = 0;

	if (s->depth == 0 || !send_message(s, CTL_QUIT))
		return err_set(err, "there is no snapshot to leave");
	while (clock_seconds() < limit && (got = server_receive(s, &m)) >= 0) {
		if (got > 0 && m.kind == CTL_ENDED) {
			s->depth--;
			return 0;
		}
		if (got == 0)
			server_poll(s, TICK_MS);
	}
	server_down(s);
	return err_set(err, "the server was lost");
}
