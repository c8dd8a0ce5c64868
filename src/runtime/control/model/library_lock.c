/*
 * Locks that a library implements itself, such as those of OpenMP. The model knows which are held,
 * and by whom; so a thread calls the library's lock function only when that does not block.
 */
#include "runtime/control/model/models.h"
#include "runtime/core/arena.h"

struct library_lock {
	const void *object;
	uint32_t holder;		/* number of the thread */
	uint32_t depth;			/* times that it was taken */
	struct library_lock *next;
};

static struct library_lock *taken, *unused;	/* those that are held; a free list */

static struct library_lock *find(const void *object)
{
	struct library_lock *l = taken;

	while (l && l->object != object)
		l = l->next;
	return l;
}

/* w->arg is not NULL if the holder may lock again. */
static bool can_lock(const struct ctl_wait *w)
{
	const struct library_lock *l = find((const void *)(uintptr_t)w->event.object);

	return !l || (w->arg && l->holder == w->thread);
}

void model_library_locked(const void *object, const void *pc)
{
	struct library_lock *l = find(object);

	if (l) {
		l->depth++;
		return;
	}
	l = unused ? unused : arena_alloc(sizeof(*l));
	if (!l)
		ctl_unsupported("out of memory for the locks of a library");
	if (l == unused)
		unused = l->next;
	*l = (struct library_lock){ object, ctl_self()->number, 1, taken };
	taken = l;
	ctl_changed(object);
	ctl_held_add(object, pc);
}

void model_library_lock(const void *object, bool nests, const void *pc)
{
	struct ctl_wait w = CTL_WAIT(SCHED_OP_ACQUIRE, object, can_lock, pc);

	w.arg = nests ? &w : NULL;
	model_wait(&w, TRACE_RWLOCK_WRLOCK);
	model_library_locked(object, pc);
}

void model_library_unlocked(const void *object)
{
	struct library_lock **at = &taken, *l;

	while (*at && (*at)->object != object)
		at = &(*at)->next;
	l = *at;
	if (!l || --l->depth > 0)
		return;
	*at = l->next;
	l->next = unused;
	unused = l;
	ctl_held_drop(object);
	ctl_changed(object);
}
