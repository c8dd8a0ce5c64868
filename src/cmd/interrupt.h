/*
 * Ctrl-C, SIGTERM and SIGHUP in commands that make runs. The first signal asks all loops to end
 * (interrupt_stop, a part of each struct deadline); results found so far are saved. A stage that
 * does not end in time is cut off. A second signal ends snarl at once.
 */
#ifndef CMD_INTERRUPT_H
#define CMD_INTERRUPT_H

#include "base/deadline.h"

extern struct deadline_stop interrupt_stop;

/* Installs the handlers. A SIGHUP that is ignored, as by nohup(1), stays ignored. */
void interrupt_handle(void);

/* All runs have ended, results are written from now on: allows more time for that. */
void interrupt_finish(void);

/* The exit code: 128 plus the number of the signal if one came, else `code`. */
int interrupt_exit(int code);

#endif
