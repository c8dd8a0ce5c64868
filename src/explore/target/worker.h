/*
 * One worker's hold on the target: the memory block it shares with the runtime,
 * a fork server (or a process for every run), and what the program prints.
 *
 * A run is started and then attended to from a poll loop, so that one thread
 * serves many workers. Whatever the program does, it ends: by itself, by the
 * time-out, or because the server was lost, and then the server is started anew.
 *
 *	server_open(&s, &config, &err);
 *	*server_request(&s) = …;
 *	server_start(&s, &err);
 *	while (!server_attend(&s))
 *		server_wait(&s);
 *	… s.result, server_report(&s) …
 *	server_close(&s);
 */
#ifndef EXPLORE_TARGET_WORKER_H
#define EXPLORE_TARGET_WORKER_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "abi/control_block.h"
#include "base/err.h"
#include "explore/target/capture.h"
#include "explore/target/target.h"

#define SERVER_POLLS 4		/* descriptors a worker waits for, at most */

struct server_config {
	const struct target *target;
	const char *backend;	/* NULL: the runtime's default */
	bool exec;		/* a process for every run, no fork server */
	const char *options;	/* more of SNARL_OPTIONS, or NULL */
	double timeout;		/* seconds a run may take; 0: no limit */
	size_t keep;		/* bytes of stdout to keep; 0: CAPTURE_HEAD */
	uint64_t plan_size;	/* room for plans */
	uint64_t profile_size;	/* … and for profiles of runs with CTL_PROFILE; 0: none */
	const struct iroot_flag *flags;	/* known for them at the beginning */
	uint32_t flag_count;
};

struct server_result {
	int status;		/* wait status; meaningless if `lost` */
	bool timed_out;
	bool lost;		/* the server died in the run */
	bool bomb;		/* it was killed because it made too many processes */
	double seconds;
	struct capture out, error;
};

enum server_state { SERVER_DOWN, SERVER_IDLE, SERVER_BUSY };

struct server {
	struct server_config config;
	struct ctl_block *block;
	int memory;		/* the block's memfd */
	char control[64];	/* its path */
	enum server_state state;
	bool exec;		/* as configured */
	char reason[64];	/* how the last server died */
	pid_t pid;		/* of the server, or of the run with exec */
	pid_t run;		/* of the run; 0 if not known yet */
	int socket, out, error, input, pidfd;
	unsigned depth;		/* snapshots we are in */
	unsigned deaths;	/* of servers since the last run that ended well */
	double began, deadline;	/* of the run */
	bool killed;
	bool stopped;		/* a snapshot said hello */
	unsigned tasks;		/* of the machine before the first run */
	struct capture early_out, early_error;	/* printed before main */
	struct server_result result;
};

/* Makes the block and starts the server; -1 if the program cannot be controlled. */
int server_open(struct server *s, const struct server_config *config, struct err *err);
void server_close(struct server *s);

/* Only the block, in a file, for a program that is started in another way; s is all zero. */
int server_map_file(struct server *s, const struct server_config *config, int fd,
		    struct err *err);

/* What the next run shall do; the areas are filled by the caller. */
static inline struct ctl_request *server_request(struct server *s)
{
	return &s->block->request;
}

static inline const struct ctl_report *server_report(const struct server *s)
{
	return &s->block->report;
}

static inline void *server_area(struct server *s, uint64_t offset)
{
	return (char *)s->block + offset;
}

/* Starts a run. -1: the server is gone and cannot be started again. */
int server_start(struct server *s, struct err *err);

/* Does what can be done without waiting; true when the run has ended. */
bool server_attend(struct server *s);

/* What to wait for until server_attend() is of use; returns how many were put in `polls`. */
size_t server_polls(const struct server *s, struct pollfd *polls);
int server_patience(const struct server *s);	/* … and for how long, in ms; -1: for ever */

void server_wait(struct server *s);	/* for one worker alone */

/* server_start() and the loop. The result is in s->result. */
int server_run(struct server *s, struct err *err);

/*
 * Leaves the innermost snapshot. A run whose request has CTL_SNAPSHOT stops after request.stop_at steps, unless it ends
 * before, and serves from there: each further run goes on from that point. `depth` says how many snapshots are nested.
 */
int server_leave(struct server *s, struct err *err);

#endif
