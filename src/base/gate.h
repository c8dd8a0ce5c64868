/*
 * Work that rests while something else needs the processors.
 *
 * Threads that work are inside, and pass now and then; whoever shuts the gate goes on when nobody is at work.
 * One thread at a time may shut it.
 */
#ifndef BASE_GATE_H
#define BASE_GATE_H

#include <pthread.h>
#include <stdbool.h>

struct gate {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool shut;
	unsigned inside;
};

#define GATE_INIT { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER }

/* Those that work. A gate that is NULL is open. */
void gate_enter(struct gate *g);
void gate_leave(struct gate *g);
void gate_pass(struct gate *g);		/* rests as long as it is shut; costs nothing else */

void gate_shut(struct gate *g);		/* returns when all rest, or are outside */
void gate_open(struct gate *g);

#endif
