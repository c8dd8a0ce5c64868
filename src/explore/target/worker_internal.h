/*
 * Shared between worker.c, which makes runs, and worker_process.c, which starts and stops
 * processes.
 */
#ifndef EXPLORE_TARGET_WORKER_INTERNAL_H
#define EXPLORE_TARGET_WORKER_INTERNAL_H

#include "explore/target/worker.h"

/* Receives a message without blocking. Returns 1; 0: none yet; -1: the fork server is gone. */
int server_receive(struct server *s, struct ctl_message *m);

/* Reads the output printed since the last call. */
void server_drain(struct server *s, struct capture *out, struct capture *error);

/* Polls the worker's descriptors for at most `ms` milliseconds. */
void server_poll(struct server *s, int ms);

/* Starts a process: the fork server (`serve`) or a single run. Does not wait until it is ready. */
int server_spawn(struct server *s, bool serve, struct err *err);

/*
 * Starts the fork server and waits until it is ready; sets s->exec if the program cannot have one.
 */
int server_launch(struct server *s, struct err *err);

/* Kills and reaps s->pid, and kills its run. Returns the wait status of s->pid. */
int server_down(struct server *s);

#endif
