/*
 * One worker (struct server): a target that can be run again and again. It owns the control block
 * shared with the runtime, the fork server (or a process for every run), and the captured output.
 * Comments say "fork server" for the process, never for the struct.
 *
 * While the fork server is up, server_start() and server_attend() do not block, so one thread can
 * serve many workers from a poll loop. Every run ends: by itself, by its time limit, or because the
 * fork server died. In the last case the result is `lost`, and the next run starts a fork server.
 *
 *	server_open(&s, &config, &err);
 *	*server_request(&s) = …;
 *	server_start(&s, &err);
 *	while (!server_attend(&s))
 *		server_wait(&s);
 *	… read s.result, and unless s.result.damage is set server_report(&s) …
 *	server_close(&s);
 */
#ifndef EXPLORE_TARGET_WORKER_H
#define EXPLORE_TARGET_WORKER_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "abi/control_block.h"
#include "base/deadline.h"
#include "base/err.h"
#include "explore/target/capture.h"
#include "explore/target/target.h"

#define SERVER_POLLS 4		/* descriptors to poll: socket, stdout, stderr, pidfd */

struct server_config {
	const struct target *target;
	const char *backend;	/* NULL: the runtime's default */
	bool exec;		/* a process for every run, no fork server */
	const char *options;	/* further SNARL_OPTIONS, or NULL */
	double timeout;		/* seconds a run may take; 0: no limit */
	const struct deadline *deadline;	/* of server_run() and of the start; NULL: none */
	size_t keep;		/* bytes of stdout to keep; 0: CAPTURE_HEAD */
	uint64_t plan_size;	/* bytes of the plan area */
	uint64_t profile_size;	/* bytes of the iRoot profile, for runs with CTL_PROFILE; 0: none */
	const struct iroot_flag *flags;	/* spin flags known from earlier runs, for the profile */
	uint32_t flag_count;	/* of `flags` */
};

struct server_result {
	int status;		/* wait status of the run; of the fork server if `lost` */
	bool timed_out;		/* killed after config.timeout */
	bool lost;		/* the fork server died during the run */
	bool fork_bomb;		/* killed because it made too many processes */
	/* The figure in the shared memory that makes no sense: the program damaged it; or NULL. */
	const char *damage;
	double seconds;		/* duration of the run */
	struct capture out, error;	/* stdout and stderr, with the output before main */
};

enum server_state {
	SERVER_DOWN,		/* no process */
	SERVER_IDLE,		/* the fork server waits for CTL_RUN */
	SERVER_BUSY,		/* a run is in progress */
};

struct server {
	struct server_config config;
	/* The tool's copy of the block, and the block that the program has: see block.h. */
	struct ctl_block *block, *live;
	size_t block_size;
	int memory;		/* memfd of the block */
	char control[64];	/* path of `memory`, for the target */
	enum server_state state;
	bool exec;		/* a process for every run: configured, or no fork server works */
	char reason[64];	/* how the last fork server died */
	pid_t pid;		/* of the fork server; with `exec` of the run */
	pid_t run;		/* pid of the run; 0 if not known yet */
	int socket;		/* to the fork server */
	int out, error;		/* our ends of the pipes from stdout and stderr */
	int input;		/* the target's stdin */
	int pidfd;		/* of `pid` */
	unsigned depth;		/* nesting depth of the snapshot that serves now; 0: none */
	unsigned deaths;	/* fork servers that died since the last run that ended well */
	double began, deadline;	/* of the run, by clock_seconds() */
	bool killed;		/* the run was sent SIGKILL */
	bool at_snapshot;	/* the run reached its snapshot and sent CTL_HELLO */
	unsigned tasks_before;	/* processes and threads of the machine before the first run */
	struct capture before_out, before_error;	/* output before main or the snapshot */
	struct server_result result;
};

/*
 * Makes the control block, starts the fork server. Returns -1 if the target cannot be controlled.
 */
int server_open(struct server *s, const struct server_config *config, struct err *err);
void server_close(struct server *s);

/* Makes only the control block, in file `fd`: the caller starts the target. `s` is all zero. */
int server_map_file(struct server *s, const struct server_config *config, int fd,
		    struct err *err);

/* The request for the next run. The caller fills it in, and the areas of the block it refers to. */
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

/* Starts a run, and the fork server if it is down. Returns -1 if that cannot be started. */
int server_start(struct server *s, struct err *err);

/* Handles messages and output without blocking. Returns true if no run is in progress any more. */
bool server_attend(struct server *s);

/*
 * Writes the descriptors to poll before the next server_attend() to `polls`, at most SERVER_POLLS.
 * Returns their number.
 */
size_t server_polls(const struct server *s, struct pollfd *polls);

/* The time-out for that poll(), in ms; -1: none. */
int server_poll_timeout(const struct server *s);

/* Waits until server_attend() has something to do, for a caller with one worker. */
void server_wait(struct server *s);

/* Kills the run in progress, without a result. The next server_start() starts the target anew. */
void server_abandon(struct server *s);

/*
 * Makes one run, from server_start() to its end. The result is in s->result. -1 also if
 * config.deadline came first: the run is abandoned.
 */
int server_run(struct server *s, struct err *err);

/*
 * A run whose request has CTL_SNAPSHOT stops after request.stop_at steps, unless it ends before,
 * and becomes the fork server: each further run continues from that point. server_leave() ends the
 * innermost snapshot, so that the next one further out, or the first fork server, serves again.
 */
int server_leave(struct server *s, struct err *err);

#endif
