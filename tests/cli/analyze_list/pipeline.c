/* floor 0; bug: order|race heap */
/*
 * A pipeline: a parcel is made by one thread, changed by the next and freed by the last. Between
 * two stages is a mailbox for one parcel. BROKEN: the second stage looks at it after it passed on.
 */
#include <pthread.h>
#include <stdlib.h>

#define PARCELS 5

struct parcel {
	int weight, stamps;
};

static struct mailbox {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct parcel *parcel;
} boxes[2] = {
	{ PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL },
	{ PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL },
};

static int sum, heavy;

static void send(struct mailbox *box, struct parcel *parcel)
{
	pthread_mutex_lock(&box->lock);
	while (box->parcel)
		pthread_cond_wait(&box->changed, &box->lock);
	box->parcel = parcel;
	pthread_cond_broadcast(&box->changed);
	pthread_mutex_unlock(&box->lock);
}

static struct parcel *receive(struct mailbox *box)
{
	struct parcel *parcel;

	pthread_mutex_lock(&box->lock);
	while (!box->parcel)
		pthread_cond_wait(&box->changed, &box->lock);
	parcel = box->parcel;
	box->parcel = NULL;
	pthread_cond_broadcast(&box->changed);
	pthread_mutex_unlock(&box->lock);
	return parcel;
}

static void *stamp(void *arg)
{
	for (int i = 0; i < PARCELS; i++) {
		struct parcel *p = receive(&boxes[0]);

		p->stamps = p->weight + 1;
#ifndef BROKEN
		heavy += p->stamps > 3;
		send(&boxes[1], p);
#else
		send(&boxes[1], p);
		heavy += p->stamps > 3;	/* bug */
#endif
	}
	return arg;
}

static void *deliver(void *arg)
{
	for (int i = 0; i < PARCELS; i++) {
		struct parcel *p = receive(&boxes[1]);

		sum += p->weight + p->stamps;
		free(p);
	}
	return arg;
}

int main(void)
{
	pthread_t stamper, deliverer;

	pthread_create(&stamper, NULL, stamp, NULL);
	pthread_create(&deliverer, NULL, deliver, NULL);
	for (int i = 0; i < PARCELS; i++) {
		struct parcel *p = malloc(sizeof(*p));

		p->weight = i;
		p->stamps = 0;
		send(&boxes[0], p);
	}
	pthread_join(stamper, NULL);
	pthread_join(deliverer, NULL);
	return sum != 25;
}
