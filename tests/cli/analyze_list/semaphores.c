/* floor 0; bug: race|atomicity|atomicity2|order slots */
/*
 * Slots go round between two threads by semaphores.
 * BROKEN: a slot, the only one, is cleared after it was given back.
 */
#include <pthread.h>
#include <semaphore.h>

#ifdef BROKEN
#define SLOTS 1
#else
#define SLOTS 2
#endif
#define ITEMS 8

static sem_t free_slots, full_slots;
static int slots[SLOTS], sum;

static void *consumer(void *arg)
{
	for (int i = 0; i < ITEMS; i++) {
		sem_wait(&full_slots);
		sum += slots[i % SLOTS];
#ifdef BROKEN
		sem_post(&free_slots);
		slots[i % SLOTS] = -100;	/* bug */
#else
		slots[i % SLOTS] = -100;
		sem_post(&free_slots);
#endif
	}
	return arg;
}

int main(void)
{
	pthread_t thread;

	sem_init(&free_slots, 0, SLOTS);
	sem_init(&full_slots, 0, 0);
	pthread_create(&thread, NULL, consumer, NULL);
	for (int i = 0; i < ITEMS; i++) {
		sem_wait(&free_slots);
		slots[i % SLOTS] = i;
		sem_post(&full_slots);
	}
	pthread_join(thread, NULL);
	sem_destroy(&free_slots);
	sem_destroy(&full_slots);
#ifdef BROKEN
	return 0;
#else
	return sum != ITEMS * (ITEMS - 1) / 2;
#endif
}
