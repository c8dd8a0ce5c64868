/*
 * What events do to the set of locks a thread holds, and the order that locks
 * make (full).
 *
 * A semaphore that begins with 1 is a lock for as long as who posts has waited on it; one
 * that begins with more is a lock that several may hold, as readers do. The order in which
 * threads got it may be another in another run. The first post by anybody else makes
 * it one that signals, from then on.
 */
#include <string.h>

#include "abi/trace_roles.h"
#include "analyze/context/track.h"
#include "base/mem.h"

enum lock_op { LOCK_NOTHING, LOCK_TAKE, LOCK_TAKE_SHARED, LOCK_GIVE };

static enum lock_op sem_op(enum view_sem sem, bool post)
{
	if (sem != VIEW_SEM_LOCK && sem != VIEW_SEM_POOL)
		return LOCK_NOTHING;
	if (post)
		return LOCK_GIVE;
	return sem == VIEW_SEM_LOCK ? LOCK_TAKE : LOCK_TAKE_SHARED;
}

/* `sem`: what the event's semaphore is. */
static enum lock_op op_of(unsigned kind, enum view_sem sem)
{
	unsigned roles = trace_roles(kind);

	if (roles & (ROLE_ACQUIRE | ROLE_WAIT_END))
		return roles & ROLE_SHARED ? LOCK_TAKE_SHARED : LOCK_TAKE;
	if (roles & (ROLE_RELEASE | ROLE_WAIT_BEGIN))
		return LOCK_GIVE;
	return roles & ROLE_SEM ? sem_op(sem, roles & ROLE_SIGNAL) : LOCK_NOTHING;
}

static uint64_t lock_of(const struct event *ev)
{
	return trace_lock(ev->kind, ev->addr, ev->arg);
}

/* A place in the set comes or goes when the lock was not held, or is no more. */
static void set_add(struct track *t, struct track_thread *self, uint32_t set, const struct view_acquired *at)
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

/* The lock at `place`, once; false: it is held as before, as it was taken again. */
static bool set_remove(struct track *t, struct track_thread *self, uint64_t lock, size_t place)
{
	size_t count = locks_ends(t->ctx->locks)[self->lockset].count;

	self->released_at = self->acquired[place];
	self->lockset = locks_release(t->ctx->locks, self->lockset, lock);
	if (locks_ends(t->ctx->locks)[self->lockset].count == count)
		return false;
	memmove(self->acquired + place, self->acquired + place + 1,
		(count - place - 1) * sizeof(*self->acquired));
	return true;
}

/* However often it was taken. */
static void set_clear(struct track *t, struct track_thread *self, uint64_t lock)
{
	size_t place = locks_index(t->ctx->locks, self->lockset, lock);

	while (place != LOCKS_ABSENT && !set_remove(t, self, lock, place))
		;
}

/* Unlocked by another thread, or the unlocking was lost: it cannot be held by both. */
static void take_from(struct track *t, struct sync *s, const struct track_thread *self)
{
	struct track_thread *other = s->owner ? t->threads[s->owner] : NULL;

	if (other && other != self)
		set_clear(t, other, s->addr);
	s->owner = 0;
}

static void take(struct track *t, struct track_thread *self, const struct event *ev, bool shared)
{
	struct view_acquired at = { .index = self->index, .time = ev->time, .kind = ev->kind };
	struct sync *s = track_sync_at(t, lock_of(ev));

	if (s->owner != self->id)
		take_from(t, s, self);
	if (!shared)
		s->owner = self->id;
	if (s->step.from != self->lockset || s->step.pc != ev->pc || s->step.shared != shared || !s->step.to)
		s->step = (struct sync_step){
			.from = self->lockset, .pc = ev->pc, .shared = shared,
			.to = locks_acquire(t->ctx->locks, self->lockset, s->addr, shared, ev->pc),
		};
	set_add(t, self, s->step.to, &at);
	self->released = 0;
	if (self->ignoring[2] > 0 || t->no_full)
		return;
	vclock_join(&self->clocks.at[CLOCK_FULL], &s->clocks.at[CLOCK_FULL]);
	if (!shared)
		vclock_join(&self->clocks.at[CLOCK_FULL], &s->readers);
}

/* The release before it failed: the lock is held as before, if it was. */
static void take_back(struct track *t, struct track_thread *self, const struct event *ev)
{
	struct locks_held held;
	size_t place;

	if (self->released != ev->addr || self->released == 0)
		return;
	self->released = 0;
	place = locks_index(t->ctx->locks, self->released_from, ev->addr);
	if (place == LOCKS_ABSENT)
		return;
	locks_at(t->ctx->locks, self->released_from, place, &held);
	set_add(t, self, locks_acquire(t->ctx->locks, self->lockset, held.lock, held.shared, held.acquired_pc),
		&self->released_at);
	if (!held.shared)
		track_sync_at(t, ev->addr)->owner = self->id;
}

static bool is_shared(const struct track *t, uint32_t set, size_t place)
{
	const struct locks_ends *ends = &locks_ends(t->ctx->locks)[set];
	struct locks_held held;

	if (place == 0 || place + 1 == ends->count)
		return place ? ends->inner_shared : ends->outer_shared;
	locks_at(t->ctx->locks, set, place, &held);
	return held.shared;
}

static void give(struct track *t, struct track_thread *self, const struct event *ev)
{
	const struct locks_ends *ends = &locks_ends(t->ctx->locks)[self->lockset];
	struct sync *s = track_sync_at(t, lock_of(ev));
	bool shared = false;
	size_t place;

	self->released = s->addr;
	self->released_from = self->lockset;
	if (locks_only(ends, s->addr)) {
		shared = ends->outer_shared;
		self->released_at = self->acquired[0];
		self->lockset = LOCKS_NONE;
		if (s->owner == self->id)
			s->owner = 0;
	} else if ((place = locks_place(t->ctx->locks, self->lockset, s->addr)) == LOCKS_ABSENT) {
		take_from(t, s, self);
	} else {
		shared = is_shared(t, self->lockset, place);
		if (set_remove(t, self, s->addr, place) && s->owner == self->id)
			s->owner = 0;
	}
	if (self->ignoring[2] > 0 || t->no_full)
		return;
	vclock_join(shared ? &s->readers : &s->clocks.at[CLOCK_FULL],
		    &self->clocks.at[CLOCK_FULL]);
	clocks_tick(&self->clocks, self->id, CLOCK_FULL);
}

/* Who posts did not wait on it: it tells something, and was no lock all along. */
static void sem_turn(struct track *t, struct sync *s)
{
	for (uint32_t i = 0; i < t->thread_count; i++)
		if (t->threads[i])
			set_clear(t, t->threads[i], s->addr);
	s->owner = 0;
	s->sem = VIEW_SEM_SIGNAL;
}

/* What the event's semaphore is used for; a post may show that it is another thing. */
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
	sem_turn(t, s);
	return VIEW_SEM_TURNED;
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
	if (op == LOCK_TAKE || op == LOCK_TAKE_SHARED) {
		if (trace_acquired(ev->kind, ev->result))
			take(t, self, ev, op == LOCK_TAKE_SHARED);
	} else if (op == LOCK_GIVE && ev->result != 0) {
		take_back(t, self, ev);
	}
}

void track_lock_release(struct track *t, struct track_thread *self, const struct event *ev)
{
	if (op_of(ev->kind, t->view.sem) == LOCK_GIVE && ev->result == 0)
		give(t, self, ev);
}

/* What the two above do, in short. */
void track_mutex_before(struct track *t, struct track_thread *self, const struct event *ev)
{
	if (ev->kind == TRACE_MUTEX_UNLOCK) {
		if (ev->result != 0)
			take_back(t, self, ev);
	} else if (trace_acquired(ev->kind, ev->result)) {
		take(t, self, ev, false);
	}
}

void track_mutex_after(struct track *t, struct track_thread *self, const struct event *ev)
{
	if (ev->kind == TRACE_MUTEX_UNLOCK && ev->result == 0)
		give(t, self, ev);
}
