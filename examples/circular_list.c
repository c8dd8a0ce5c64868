/*
 * CircularList: work units that must keep their order. Workers take the first unit
 * of a circular list, work on it and add it again at the end; each unit should come
 * round in the same order for ever.
 *
 * Taking and adding lock, but not together. If one worker is stopped between (a) and
 * (b), and the other takes and adds the next unit meanwhile, the first one's unit is
 * added too late: two units have changed places. No data race. At the end the list is
 * no rotation of the one it started with, and the exit code is 1.
 *
 * The repaired twin holds the lock from taking to adding.
 */
#include <pthread.h>
#include <stdio.h>

#define UNITS 5
#define STEPS 2

struct unit {
	int number;
	int passes;
	struct unit *next;
};

/* Points to the last unit. Two workers cannot make the list empty. */
static struct unit *last;
static struct unit units[UNITS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct unit *list_take(void)
{
	struct unit *first;

	pthread_mutex_lock(&lock);
	first = last->next;
	last->next = first->next;
	pthread_mutex_unlock(&lock);
	return first;
}

static void list_add(struct unit *unit)
{
	pthread_mutex_lock(&lock);
	if (last) {
		unit->next = last->next;
		last->next = unit;
	} else {
		unit->next = unit;
	}
	last = unit;
	pthread_mutex_unlock(&lock);
}

static void *worker(void *arg)
{
	(void)arg;
	for (int i = 0; i < STEPS; i++) {
		struct unit *unit = list_take();	/* (a) */

		unit->passes++;
		list_add(unit);				/* (b) */
	}
	return NULL;
}

int main(void)
{
	pthread_t first, second;

	for (int i = 0; i < UNITS; i++) {
		units[i].number = i;
		list_add(&units[i]);
	}
	pthread_create(&first, NULL, worker, NULL);
	pthread_create(&second, NULL, worker, NULL);
	pthread_join(first, NULL);
	pthread_join(second, NULL);
	for (int i = 0; i < UNITS; i++) {
		if (last->next->number != (last->number + 1) % UNITS) {
			fprintf(stderr, "unit %d comes after unit %d\n", last->next->number,
				last->number);
			return 1;
		}
		last = last->next;
	}
	printf("%d units in order\n", UNITS);
	return 0;
}
