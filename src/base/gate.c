#include "base/gate.h"

void gate_enter(struct gate *g)
{
	if (!g)
		return;
	pthread_mutex_lock(&g->lock);
	while (g->shut)
		pthread_cond_wait(&g->changed, &g->lock);
	g->inside++;
	pthread_mutex_unlock(&g->lock);
}

void gate_leave(struct gate *g)
{
	if (!g)
		return;
	pthread_mutex_lock(&g->lock);
	g->inside--;
	pthread_cond_broadcast(&g->changed);
	pthread_mutex_unlock(&g->lock);
}

void gate_pass(struct gate *g)
{
	/* Pairs with that of gate_shut(); seen late, it is seen the next time. */
	if (!g || !__atomic_load_n(&g->shut, __ATOMIC_RELAXED))
		return;
	gate_leave(g);
	gate_enter(g);
}

void gate_shut(struct gate *g)
{
	pthread_mutex_lock(&g->lock);
	__atomic_store_n(&g->shut, true, __ATOMIC_RELAXED);
	while (g->inside)
		pthread_cond_wait(&g->changed, &g->lock);
	pthread_mutex_unlock(&g->lock);
}

void gate_open(struct gate *g)
{
	pthread_mutex_lock(&g->lock);
	__atomic_store_n(&g->shut, false, __ATOMIC_RELAXED);
	pthread_cond_broadcast(&g->changed);
	pthread_mutex_unlock(&g->lock);
}
