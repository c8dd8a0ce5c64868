/*
 * The destructor of a pthread key calls the mode at a thread's end. It also runs in threads that
 * end by pthread_exit or cancellation.
 */
#include "runtime/core/thread_end.h"

#include <limits.h>
#include <pthread.h>

#include "runtime/core/mode.h"

static pthread_key_t exit_key;

/*
 * Destructors of other keys may run instrumented code. Setting the key again postpones this one to
 * the last round of destructors that POSIX guarantees.
 */
static void on_exit_key(void *round)
{
	uintptr_t n = (uintptr_t)round;

	if (n < PTHREAD_DESTRUCTOR_ITERATIONS)
		pthread_setspecific(exit_key, (void *)(n + 1));
	else
		snarlrt_ops->thread_end();
}

void snarlrt_thread_end_init(void)
{
	pthread_key_create(&exit_key, on_exit_key);
}

void snarlrt_thread_arm_exit(void)
{
	snarlrt_hide();
	pthread_setspecific(exit_key, (void *)1);
	snarlrt_unhide();
}
