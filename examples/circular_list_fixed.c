/*
 * circular_list.c, repaired: a unit is taken, worked on and added again in one
 * critical section.
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
	struct unit *first = last->next;

	last->next = first->next;
	return first;
}

static void list_add(struct unit *unit)
{
	if (last) {
		unit->next = last->next;
		last->next = unit;
	} else {
		unit->next = unit;
	}
	last = unit;
}

static void *worker(void *arg)
{
	(void)arg;
	for (int i = 0; i < STEPS; i++) {
		struct unit *unit;

		pthread_mutex_lock(&lock);
		unit = list_take();
		unit->passes++;
		list_add(unit);
		pthread_mutex_unlock(&lock);
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
