/*
 * Lets worker threads rest while another activity needs the processors.
 *
 * A worker enters before it starts to work, leaves at the end, and calls pause_check() now and
 * then. pause_begin() returns once every worker rests in pause_check() or has left, and no worker
 * goes on before pause_end(). Only one thread at a time may begin a pause.
 */
#ifndef BASE_PAUSE_H
#define BASE_PAUSE_H

#include <pthread.h>
#include <stdbool.h>

struct pause {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool active;
	unsigned working;	/* threads that have entered and do not rest */
};

#define PAUSE_INIT { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER }

/* For workers. A NULL pause never makes them rest. */
void pause_enter(struct pause *p);
void pause_leave(struct pause *p);
void pause_check(struct pause *p);	/* one load unless a pause is active */

void pause_begin(struct pause *p);
void pause_end(struct pause *p);

#endif
