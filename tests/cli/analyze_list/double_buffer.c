/* floor 8; bug: race|atomicity|atomicity2 buffers */
/*
 * Double buffering: a thread fills one buffer while the other is shown; they are exchanged under a
 * mutex when both threads are done. If a thread never has to wait, the trace does not show that
 * what it reads is a condition: then a few candidates remain.
 * BROKEN: the filling thread goes one frame too far.
 */
#include <pthread.h>

#define FRAMES 6
#define PIXELS 4
#ifdef BROKEN
#define AHEAD 3
#else
#define AHEAD 2
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int buffers[2][PIXELS];
static int filled, shown;	/* frames */
static int sum;

static void *fill(void *arg)
{
	for (int frame = 0; frame < FRAMES; frame++) {
		int *back = buffers[frame % 2];

		pthread_mutex_lock(&lock);
		while (frame - shown >= AHEAD)
			pthread_cond_wait(&changed, &lock);
		pthread_mutex_unlock(&lock);
		for (int i = 0; i < PIXELS; i++)
			back[i] = frame + i;	/* bug */
		pthread_mutex_lock(&lock);
		filled = frame + 1;
		pthread_cond_signal(&changed);
		pthread_mutex_unlock(&lock);
	}
	return arg;
}

static void *show(void *arg)
{
	for (int frame = 0; frame < FRAMES; frame++) {
		const int *front = buffers[frame % 2];

		pthread_mutex_lock(&lock);
		while (filled <= frame)
			pthread_cond_wait(&changed, &lock);
		pthread_mutex_unlock(&lock);
		for (int i = 0; i < PIXELS; i++)
			sum += front[i];
		pthread_mutex_lock(&lock);
		shown = frame + 1;
		pthread_cond_signal(&changed);
		pthread_mutex_unlock(&lock);
	}
	return arg;
}

int main(void)
{
	pthread_t filler, shower;

	pthread_create(&filler, NULL, fill, NULL);
	pthread_create(&shower, NULL, show, NULL);
	pthread_join(filler, NULL);
	pthread_join(shower, NULL);
#ifdef BROKEN
	return 0;
#else
	return sum != 15 * PIXELS + 6 * FRAMES;
#endif
}
