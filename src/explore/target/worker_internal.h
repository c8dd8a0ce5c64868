/*
 * What server.c (runs) and server_process.c (the process behind them) share.
 */
#ifndef EXPLORE_TARGET_WORKER_INTERNAL_H
#define EXPLORE_TARGET_WORKER_INTERNAL_H

#include "explore/target/worker.h"


/* 1: a message; 0: none yet; -1: the other side is gone. */
int server_hear(struct server *s, struct ctl_message *m);

/* What was printed since the last time. */
void server_drain(struct server *s, struct capture *out, struct capture *error);

/* Waits for anything to happen, `ms` at most. */
void server_idle(struct server *s, int ms);

/* Starts the process: the server, which is not waited for, or one run. */
int server_spawn(struct server *s, bool serve, struct err *err);

/* Starts the server and waits until it is ready; may find that there can be none. */
int server_up(struct server *s, struct err *err);

/* Ends and reaps whatever of ours still runs; the wait status of the process. */
int server_down(struct server *s);

#endif
