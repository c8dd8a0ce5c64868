/*
 * A tree of threads: each sums a part, and its creator reads the result after the join. Broken:
 * before the join.
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct part {
	int from, to, sum;
};

static void *add(void *arg)
{
	struct part *p = arg, *half;
	pthread_t thread;

	if (p->to - p->from == 1) {
		p->sum = p->from;
		return p;
	}
	half = malloc(sizeof(*half));
	*half = (struct part){ p->from, (p->from + p->to) / 2, 0 };
	p->from = half->to;
	pthread_create(&thread, NULL, add, half);
	for (int i = p->from; i < p->to; i++)
		p->sum += i;
#ifdef BROKEN
	p->sum += half->sum;
	pthread_join(thread, NULL);
#else
	pthread_join(thread, NULL);
	p->sum += half->sum;
#endif
	free(half);
	return p;
}

int main(void)
{
	struct part all = { 1, 9, 0 };

	add(&all);
	assert(all.sum == 36);
	return 0;
}
