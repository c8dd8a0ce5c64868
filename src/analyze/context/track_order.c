/*
 * What events do to clocks. `strong` follows creation and join of threads, condition variables,
 * semaphores, barriers, once, annotations and pipes. `order` also follows atomics and fences.
 *
 * Deliberate simplifications:
 * - A wait on a semaphore comes after all posts so far, unless it is a lock (track_locks.c).
 * - A wake-up from a condition comes after all signals since the first of its waiters came.
 * - The trace does not say which descriptors are the ends of a pipe. A read of data from
 *   descriptor n comes after all writes to n. If n is only read and n + 1 only written, as pipe()
 *   numbers them, the read also comes after all writes to n + 1.
 */
#include <errno.h>
#include <stdlib.h>

#include "abi/trace_roles.h"
#include "analyze/context/access.h"
#include "analyze/context/track.h"
#include "base/mem.h"

#define FD_KEY (1ull << 60)	/* beyond all addresses */
#define FD_READ 1u
#define FD_WRITTEN 2u

void clocks_join(struct clocks *to, const struct clocks *from, enum clock_level level)
{
	for (; level < CLOCKS; level++)
		vclock_join(&to->at[level], &from->at[level]);
}

void clocks_copy(struct clocks *to, const struct clocks *from, enum clock_level level)
{
	for (; level < CLOCKS; level++)
		vclock_copy(&to->at[level], &from->at[level]);
}

void clocks_clear(struct clocks *c)
{
	for (unsigned i = 0; i < CLOCKS; i++)
		c->at[i].count = 0;
}

void clocks_free(struct clocks *c)
{
	for (unsigned i = 0; i < CLOCKS; i++)
		vclock_free(&c->at[i]);
}

void clocks_empty(struct clocks *c)
{
	for (unsigned i = 0; i < CLOCKS; i++)
		vclock_empty(&c->at[i]);
}

void clocks_tick(struct clocks *c, uint32_t thread, enum clock_level level)
{
	for (; level < CLOCKS; level++)
		vclock_tick(&c->at[level], thread);
}

static void acquire(struct track *t, struct track_thread *self, uint64_t addr,
		    enum clock_level level)
{
	const uint64_t *number = map_find(&t->sync_at, addr);

	if (number)
		clocks_join(&self->clocks, &t->syncs[*number - 1].clocks, level);
}

static void release(struct track *t, struct track_thread *self, uint64_t addr,
		    enum clock_level level)
{
	clocks_join(&track_sync_at(t, addr)->clocks, &self->clocks, level);
	clocks_tick(&self->clocks, self->id, level);
}

static void thread_acquire(struct track *t, struct track_thread *self, const struct event *ev)
{
	struct track_thread *other;

	if (ev->kind == TRACE_THREAD_START && !self->begun) {
		/* The trace has no CREATE of it yet: its creator is still in pthread_create(). */
		other = ev->arg >> 32 ? track_thread(t, (uint32_t)(ev->arg >> 32)) : NULL;
		if (other && other != self) {
			clocks_join(&self->clocks, &other->clocks, CLOCK_STRONG);
			clocks_tick(&other->clocks, other->id, CLOCK_STRONG);
		}
		self->begun = true;
	} else if (ev->kind == TRACE_THREAD_JOIN && ev->result == 0 &&
		   ev->arg < TRACK_MAX_THREADS) {
		other = track_thread(t, (uint32_t)ev->arg);
		if (other == self)
			return;
		clocks_join(&self->clocks, &other->clocks, CLOCK_STRONG);
		if (other->ended)
			track_retire(other);
	}
}

static void create(struct track *t, struct track_thread *self, const struct event *ev)
{
	struct track_thread *child;

	if (ev->result != 0 || ev->arg >= TRACK_MAX_THREADS)
		return;
	child = track_thread(t, (uint32_t)ev->arg);
	if (child != self && !child->begun) {
		clocks_join(&child->clocks, &self->clocks, CLOCK_STRONG);
		child->begun = true;
	}
	clocks_tick(&self->clocks, self->id, CLOCK_STRONG);
}

static void cond_wake(struct track *t, struct track_thread *self, const struct event *ev)
{
	struct sync *s = track_sync_at(t, ev->addr);

	if (ev->result == 0)
		clocks_join(&self->clocks, &s->clocks, CLOCK_STRONG);
	s->waiting -= s->waiting > 0;
	if (s->waiting == 0)
		clocks_clear(&s->clocks);
}

static void cond_release(struct track *t, struct track_thread *self, const struct event *ev)
{
	struct sync *s = track_sync_at(t, ev->addr);

	if (ev->kind == TRACE_COND_WAIT)
		s->waiting++;
	else if (s->waiting > 0 && ev->result == 0)
		release(t, self, ev->addr, CLOCK_STRONG);
}

/* Thread number `count` completes the round; later threads belong to the next round. */
static void barrier_enter(struct track *t, struct track_thread *self, const struct event *ev)
{
	struct sync *s = track_sync_at(t, ev->addr);

	release(t, self, ev->addr, CLOCK_STRONG);
	s->waiting++;
	if (s->count == 0 || s->waiting < s->count)
		return;
	if (!s->round)
		s->round = xcalloc(1, sizeof(*s->round));
	clocks_copy(s->round, &s->clocks, CLOCK_STRONG);
	clocks_clear(&s->clocks);
	s->waiting = 0;
}

static void barrier_leave(struct track *t, struct track_thread *self, const struct event *ev)
{
	struct sync *s = track_sync_at(t, ev->addr);

	if (s->count > 0) {
		if (s->round)
			clocks_join(&self->clocks, s->round, CLOCK_STRONG);
		return;
	}
	/* The trace has no BARRIER_INIT: the thread comes after all that have entered so far. */
	clocks_join(&self->clocks, &s->clocks, CLOCK_STRONG);
	s->waiting -= s->waiting > 0;
	if (s->waiting == 0)
		clocks_clear(&s->clocks);
}

static unsigned order_of(const struct event *ev)
{
	if (ev->kind == TRACE_ATOMIC_CAS_FAIL)
		return ev->result;
	return ev->detail >> TRACE_ORDER_SHIFT & TRACE_ORDER_MASK;
}

static void atomic_acquire(struct track *t, struct track_thread *self, const struct event *ev)
{
	const uint64_t *number;

	if (ev->kind == TRACE_FENCE) {
		if (access_acquires(order_of(ev))) {
			clocks_join(&self->clocks, &self->loaded, CLOCK_ORDER);
			clocks_clear(&self->loaded);
		}
		return;
	}
	number = map_find(&t->sync_at, ev->addr);
	if (!number || !(access_of(ev->kind) & ACCESS_READ))
		return;
	clocks_join(access_acquires(order_of(ev)) ? &self->clocks : &self->loaded,
		    &t->syncs[*number - 1].clocks,
		    access_by_chance(ev->kind, ev->arg) ? CLOCK_FULL : CLOCK_ORDER);
}

/*
 * Forgets the order of earlier release stores. Strong order by an annotation of the same object
 * stays, since it does not depend on the value.
 */
static void forget_stores(struct clocks *c)
{
	for (unsigned level = CLOCK_ORDER; level < CLOCKS; level++)
		vclock_copy(&c->at[level], &c->at[CLOCK_STRONG]);
}

/*
 * A release store begins a new release sequence and hides earlier stores. Later stores by the same
 * thread and read-modify-writes by any thread continue the sequence.
 */
static void atomic_release(struct track *t, struct track_thread *self, const struct event *ev)
{
	unsigned access = access_of(ev->kind), order = order_of(ev);
	struct sync *s;

	if (ev->kind == TRACE_FENCE) {
		if (access_releases(order)) {
			clocks_copy(&self->fenced, &self->clocks, CLOCK_ORDER);
			clocks_tick(&self->clocks, self->id, CLOCK_ORDER);
		}
		return;
	}
	if (!(access & ACCESS_WRITE))
		return;
	if (!access_releases(order) && self->fenced.at[CLOCK_FULL].count == 0 &&
	    !map_find(&t->sync_at, ev->addr))
		return;
	s = track_sync_at(t, ev->addr);
	if (!(access & ACCESS_READ) && (access_releases(order) || s->owner != self->id)) {
		forget_stores(&s->clocks);
		s->owner = self->id;
	}
	if (access_releases(order)) {
		clocks_join(&s->clocks, &self->clocks, CLOCK_ORDER);
		clocks_tick(&self->clocks, self->id, CLOCK_ORDER);
	} else {
		clocks_join(&s->clocks, &self->fenced, CLOCK_ORDER);
	}
}

static void file_read(struct track *t, struct track_thread *self, uint64_t fd)
{
	uint64_t *here = map_put(&t->files, fd, NULL);
	const uint64_t *next;

	*here |= FD_READ;
	acquire(t, self, FD_KEY | fd, CLOCK_STRONG);
	next = map_find(&t->files, fd + 1);
	if (*map_find(&t->files, fd) == FD_READ && next && *next == FD_WRITTEN)
		acquire(t, self, FD_KEY | (fd + 1), CLOCK_STRONG);
}

/* Descriptors 0 to 2 lead out of the process and order nothing. */
static void call_acquire(struct track *t, struct track_thread *self, const struct event *ev)
{
	unsigned call = ev->detail & ~TRACE_CALL_UNWOUND;

	if ((call == TRACE_CALL_READ || call == TRACE_CALL_RECV) && ev->addr > 2 &&
	    (int64_t)ev->arg > 0)
		file_read(t, self, ev->addr);
}

static void call_release(struct track *t, struct track_thread *self, const struct event *ev)
{
	unsigned call = ev->detail & ~TRACE_CALL_UNWOUND;

	if ((call != TRACE_CALL_WRITE && call != TRACE_CALL_SEND) || ev->addr <= 2)
		return;
	*map_put(&t->files, ev->addr, NULL) |= FD_WRITTEN;
	release(t, self, FD_KEY | ev->addr, CLOCK_STRONG);
}

/* Begins a new object at the address. */
static void init_object(struct track *t, const struct event *ev)
{
	track_forget(t, ev->addr, 1);
	if (ev->kind == TRACE_BARRIER_INIT)
		track_sync_at(t, ev->addr)->count = (uint32_t)ev->arg;
	if (ev->kind == TRACE_SEM_INIT && ev->arg > 0)
		track_sync_at(t, ev->addr)->sem = ev->arg == 1 ? VIEW_SEM_LOCK : VIEW_SEM_POOL;
}

static bool sem_passed(const struct track *t, const struct event *ev)
{
	return ev->result == 0 && t->view.sem == VIEW_SEM_SIGNAL;
}

void track_acquire(struct track *t, struct track_thread *self, const struct event *ev)
{
	unsigned roles = trace_roles(ev->kind);

	track_lock_acquire(t, self, ev);
	if (self->ignoring[2] > 0 && ev->kind != TRACE_THREAD_START &&
	    ev->kind != TRACE_THREAD_JOIN)
		return;
	switch (ev->kind) {
	case TRACE_THREAD_START: case TRACE_THREAD_JOIN:
		thread_acquire(t, self, ev);
		break;
	case TRACE_COND_WAKE:
		cond_wake(t, self, ev);
		break;
	case TRACE_BARRIER_LEAVE:
		barrier_leave(t, self, ev);
		break;
	case TRACE_ONCE_BEGIN:
		acquire(t, self, ev->addr, CLOCK_STRONG);
		break;
	case TRACE_FUTEX_WAIT:
		if (ev->result == 0)
			acquire(t, self, ev->addr, CLOCK_ORDER);
		break;
	case TRACE_CALL_LEAVE:
		call_acquire(t, self, ev);
		break;
	default:
		if (roles & ROLE_ATOMIC || ev->kind == TRACE_FENCE)
			atomic_acquire(t, self, ev);
		else if (roles & ROLE_PASS && (!(roles & ROLE_SEM) || sem_passed(t, ev)))
			acquire(t, self, ev->addr, CLOCK_STRONG);
		else if (roles & ROLE_INIT && ev->result == 0)
			init_object(t, ev);
	}
}

/* Whether a post makes strong order; the post that shows that the semaphore is a signal does. */
static bool sem_signals(const struct view *view)
{
	return view->sem == VIEW_SEM_SIGNAL || view->sem == VIEW_SEM_TURNS_SIGNAL;
}

void track_release(struct track *t, struct track_thread *self, const struct event *ev)
{
	unsigned roles = trace_roles(ev->kind);

	track_lock_release(t, self, ev);
	if (self->ignoring[2] > 0 && ev->kind != TRACE_THREAD_CREATE)
		return;
	switch (ev->kind) {
	case TRACE_THREAD_CREATE:
		create(t, self, ev);
		break;
	case TRACE_GUARD_ABORT:
		if (ev->result == 0)
			release(t, self, ev->addr, CLOCK_STRONG);
		break;
	case TRACE_BARRIER_ENTER:
		barrier_enter(t, self, ev);
		break;
	case TRACE_FUTEX_WAKE:
		if (ev->result == 0)
			release(t, self, ev->addr, CLOCK_ORDER);
		break;
	case TRACE_CALL_ENTER:
		call_release(t, self, ev);
		break;
	default:
		if (roles & ROLE_ATOMIC || ev->kind == TRACE_FENCE)
			atomic_release(t, self, ev);
		else if (roles & (ROLE_WAIT_BEGIN | ROLE_NOTIFY))
			cond_release(t, self, ev);
		else if (roles & ROLE_SIGNAL && ev->result == 0 &&
			 (!(roles & ROLE_SEM) || sem_signals(&t->view)))
			release(t, self, ev->addr, CLOCK_STRONG);
	}
}
