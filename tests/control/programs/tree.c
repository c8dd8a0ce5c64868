/*
 * Threads that create threads: a tree of 31. Each gives its children slots on its own stack and
 * adds up there what they return.
 */
#include "want.h"

struct node {
	pthread_mutex_t lock;
	long depth, sum;
	struct node *parent;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int nodes;

static void *grow(void *arg)
{
	struct node *parent = arg;
	struct node me = { PTHREAD_MUTEX_INITIALIZER, parent->depth - 1, 1, parent };
	pthread_t left, right;

	pthread_mutex_lock(&lock);
	nodes++;
	pthread_mutex_unlock(&lock);
	if (me.depth > 0) {
		left = start(grow, &me);
		right = start(grow, &me);
		finish(right);
		finish(left);
	}
	pthread_mutex_lock(&parent->lock);
	parent->sum += me.sum;
	pthread_mutex_unlock(&parent->lock);
	return NULL;
}

int main(void)
{
	struct node root = { PTHREAD_MUTEX_INITIALIZER, 5, 0, NULL };

	elsewhere(grow, &root);
	want(root.sum, 31);
	want(nodes, 31);
	return 0;
}
