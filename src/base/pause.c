#include "base/pause.h"

void pause_enter(struct pause *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	while (p->active)
		pthread_cond_wait(&p->changed, &p->lock);
	p->working++;
	pthread_mutex_unlock(&p->lock);
}

void pause_leave(struct pause *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->working--;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
}

void pause_check(struct pause *p)
{
	/*
	 * Pairs with the store in pause_begin(). A stale value only delays the pause to the next
	 * check.
	 */
	if (!p || !__atomic_load_n(&p->active, __ATOMIC_RELAXED))
		return;
	pause_leave(p);
	pause_enter(p);
}

void pause_begin(struct pause *p)
{
	pthread_mutex_lock(&p->lock);
	__atomic_store_n(&p->active, true, __ATOMIC_RELAXED);
	while (p->working)
		pthread_cond_wait(&p->changed, &p->lock);
	pthread_mutex_unlock(&p->lock);
}

void pause_end(struct pause *p)
{
	pthread_mutex_lock(&p->lock);
	__atomic_store_n(&p->active, false, __ATOMIC_RELAXED);
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
}
