/*
 * What events do to a thread's lockset, and the order that locks make (`full`).
 *
 * A semaphore that starts at 1 counts as a lock as long as every post comes from a thread that
 * waited on it before. One that starts above 1 counts as a lock with several holders, like readers.
 * The order in which threads pass such a semaphore may differ in another run. From the first post
 * by any other thread on, the semaphore is a signal and makes strong order.
 */
#include <string.h>

#include "abi/trace_roles.h"
#include "analyze/context/track.h"
#include "base/mem.h"

enum lock_op { LOCK_NONE, LOCK_ACQUIRE, LOCK_ACQUIRE_SHARED, LOCK_RELEASE };

static enum lock_op sem_op(enum view_sem sem, bool post)
{
	if (sem != VIEW_SEM_LOCK && sem != VIEW_SEM_POOL)
		return LOCK_NONE;
	if (post)
		return LOCK_RELEASE;
	return sem == VIEW_SEM_LOCK ? LOCK_ACQUIRE : LOCK_ACQUIRE_SHARED;
}

/* `sem`: the use of the event's semaphore, if it has one. */
static enum lock_op op_of(unsigned kind, enum view_sem sem)
{
	unsigned roles = trace_roles(kind);

	if (roles & (ROLE_ACQUIRE | ROLE_WAIT_END))
		return roles & ROLE_SHARED ? LOCK_ACQUIRE_SHARED : LOCK_ACQUIRE;
	if (roles & (ROLE_RELEASE | ROLE_WAIT_BEGIN))
		return LOCK_RELEASE;
	return roles & ROLE_SEM ? sem_op(sem, roles & ROLE_SIGNAL) : LOCK_NONE;
}

static uint64_t lock_of(const struct event *ev)
{
	return trace_lock(ev->kind, ev->addr, ev->arg);
}

/* Makes `set` the thread's lockset. If it has one lock more, `at` is where that was acquired. */
static void set_add(struct track *t, struct track_thread *self, uint32_t set,
		    const struct view_acquired *at)
{
	const struct locks_ends *ends = locks_ends(t->ctx->locks);
	size_t count = ends[self->lockset].count;

	self->lockset = set;
	if (ends[set].count == count)
		return;
	self->acquired = xgrow(self->acquired, count, &self->acquired_capacity,
			       sizeof(*self->acquired));
	self->acquired[count] = *at;
}

/* Releases the lock with this index once; false: it was acquired again, and is still held. */
static bool set_remove(struct track *t, struct track_thread *self, uint64_t lock, size_t index)
{
	size_t count = locks_ends(t->ctx->locks)[self->lockset].count;

	self->released_at = self->acquired[index];
	self->lockset = locks_release(t->ctx->locks, self->lockset, lock);
	if (locks_ends(t->ctx->locks)[self->lockset].count == count)
		return false;
	memmove(self->acquired + index, self->acquired + index + 1,
		(count - index - 1) * sizeof(*self->acquired));
	return true;
}

/* Removes the lock, however often it was acquired. */
static void set_drop(struct track *t, struct track_thread *self, uint64_t lock)
{
	size_t index = locks_index(t->ctx->locks, self->lockset, lock);

	while (index != LOCKS_ABSENT && !set_remove(t, self, lock, index))
		;
}

/*
 * The thread acquires or releases a lock whose write-holder is another thread. The holder loses it:
 * its release is missing in the trace, or this thread releases the lock in its place.
 */
static void force_release(struct track *t, struct sync *s, const struct track_thread *self)
{
	struct track_thread *other = s->owner ? t->threads[s->owner] : NULL;

	if (other && other != self)
		set_drop(t, other, s->addr);
	s->owner = 0;
}

static void acquire_lock(struct track *t, struct track_thread *self, const struct event *ev,
			 bool shared)
{
	struct view_acquired at = { .index = self->index, .time = ev->time, .kind = ev->kind };
	struct sync *s = track_sync_at(t, lock_of(ev));

	if (s->owner != self->id)
		force_release(t, s, self);
	if (!shared)
		s->owner = self->id;
	if (s->last_acquire.from != self->lockset || s->last_acquire.pc != ev->pc ||
	    s->last_acquire.shared != shared || !s->last_acquire.to)
		s->last_acquire = (struct sync_acquire){
			.from = self->lockset, .pc = ev->pc, .shared = shared,
			.to = locks_acquire(t->ctx->locks, self->lockset, s->addr, shared, ev->pc),
		};
	set_add(t, self, s->last_acquire.to, &at);
	self->released = 0;
	if (self->ignoring[2] > 0 || t->no_full)
		return;
	vclock_join(&self->clocks.at[CLOCK_FULL], &s->clocks.at[CLOCK_FULL]);
	if (!shared)
		vclock_join(&self->clocks.at[CLOCK_FULL], &s->readers);
}

/* The thread's last release failed: it holds the lock as before. */
static void undo_release(struct track *t, struct track_thread *self, const struct event *ev)
{
	struct locks_held held;
	size_t index;

	if (self->released != ev->addr || self->released == 0)
		return;
	self->released = 0;
	index = locks_index(t->ctx->locks, self->released_from, ev->addr);
	if (index == LOCKS_ABSENT)
		return;
	locks_at(t->ctx->locks, self->released_from, index, &held);
	set_add(t, self,
		locks_acquire(t->ctx->locks, self->lockset, held.lock, held.shared,
			      held.acquired_pc),
		&self->released_at);
	if (!held.shared)
		track_sync_at(t, ev->addr)->owner = self->id;
}

static bool is_shared(const struct track *t, uint32_t set, size_t index)
{
	const struct locks_ends *ends = &locks_ends(t->ctx->locks)[set];
	struct locks_held held;

	if (index == 0 || index + 1 == ends->count)
		return index ? ends->inner_shared : ends->outer_shared;
	locks_at(t->ctx->locks, set, index, &held);
	return held.shared;
}

static void release_lock(struct track *t, struct track_thread *self, const struct event *ev)
{
	const struct locks_ends *ends = &locks_ends(t->ctx->locks)[self->lockset];
	struct sync *s = track_sync_at(t, lock_of(ev));
	bool shared = false;
	size_t index;

	self->released = s->addr;
	self->released_from = self->lockset;
	if (locks_only(ends, s->addr)) {
		shared = ends->outer_shared;
		self->released_at = self->acquired[0];
		self->lockset = LOCKS_NONE;
		if (s->owner == self->id)
			s->owner = 0;
	} else if ((index = locks_place(t->ctx->locks, self->lockset, s->addr)) ==
		   LOCKS_ABSENT) {
		force_release(t, s, self);
	} else {
		shared = is_shared(t, self->lockset, index);
		if (set_remove(t, self, s->addr, index) && s->owner == self->id)
			s->owner = 0;
	}
	if (self->ignoring[2] > 0 || t->no_full)
		return;
	vclock_join(shared ? &s->readers : &s->clocks.at[CLOCK_FULL],
		    &self->clocks.at[CLOCK_FULL]);
	clocks_tick(&self->clocks, self->id, CLOCK_FULL);
}

/* A thread posts without having waited: the semaphore is a signal, and was never a lock. */
static void sem_becomes_signal(struct track *t, struct sync *s)
{
	for (uint32_t i = 0; i < t->thread_count; i++)
		if (t->threads[i])
			set_drop(t, t->threads[i], s->addr);
	s->owner = 0;
	s->sem = VIEW_SEM_SIGNAL;
}

/* The use of the event's semaphore; a post may show that it is a signal from now on. */
static enum view_sem sem_use(struct track *t, const struct track_thread *self,
			     const struct event *ev)
{
	const uint64_t *number = map_find(&t->sync_at, ev->addr);
	struct sync *s = number ? &t->syncs[*number - 1] : NULL;

	if (!s || s->sem == VIEW_SEM_SIGNAL)
		return VIEW_SEM_SIGNAL;
	if (!(trace_roles(ev->kind) & ROLE_SIGNAL) || ev->result != 0 ||
	    locks_has(t->ctx->locks, self->lockset, s->addr))
		return s->sem;
	sem_becomes_signal(t, s);
	return VIEW_SEM_TURNS_SIGNAL;
}

static bool is_sem(const struct event *ev)
{
	return trace_roles(ev->kind) & ROLE_SEM ||
	       (ev->kind == TRACE_BLOCKED && ev->arg == TRACE_SEM_WAIT);
}

void track_lock_acquire(struct track *t, struct track_thread *self, const struct event *ev)
{
	enum lock_op op;

	t->view.sem = is_sem(ev) ? sem_use(t, self, ev) : VIEW_SEM_SIGNAL;
	op = op_of(ev->kind, t->view.sem);
	if (op == LOCK_ACQUIRE || op == LOCK_ACQUIRE_SHARED) {
		if (trace_acquired(ev->kind, ev->result))
			acquire_lock(t, self, ev, op == LOCK_ACQUIRE_SHARED);
	} else if (op == LOCK_RELEASE && ev->result != 0) {
		undo_release(t, self, ev);
	}
}

void track_lock_release(struct track *t, struct track_thread *self, const struct event *ev)
{
	if (op_of(ev->kind, t->view.sem) == LOCK_RELEASE && ev->result == 0)
		release_lock(t, self, ev);
}

void track_mutex_before(struct track *t, struct track_thread *self, const struct event *ev)
{
	if (ev->kind == TRACE_MUTEX_UNLOCK) {
		if (ev->result != 0)
			undo_release(t, self, ev);
	} else if (trace_acquired(ev->kind, ev->result)) {
		acquire_lock(t, self, ev, false);
	}
}

void track_mutex_after(struct track *t, struct track_thread *self, const struct event *ev)
{
	if (ev->kind == TRACE_MUTEX_UNLOCK && ev->result == 0)
		release_lock(t, self, ev);
}
