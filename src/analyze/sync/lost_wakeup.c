#include "analyze/sync/lost_wakeup.h"

#include <stdlib.h>
#include <string.h>

#include "abi/trace_roles.h"
#include "base/mem.h"

struct lost_wakeups *lost_wakeup_new(const struct analysis_context *ctx,
				     const struct sections *sections)
{
	struct lost_wakeups *w = xcalloc(1, sizeof(*w));

	w->ctx = ctx;
	w->sections = sections;
	return w;
}

static void ops_free(struct cond_op *ops, size_t count)
{
	for (size_t i = 0; i < count; i++)
		vclock_free(&ops[i].strong);
	free(ops);
}

void lost_wakeup_free(struct lost_wakeups *w)
{
	for (size_t i = 0; i < w->thread_count; i++)
		free(w->threads[i]);
	for (size_t i = 0; i < w->count; i++) {
		ops_free(w->conditions[i].waits, w->conditions[i].wait_count);
		ops_free(w->conditions[i].signals, w->conditions[i].signal_count);
	}
	free(w->threads);
	free(w->conditions);
	map_free(&w->at);
	free(w);
}

static struct thread_accesses *accesses_of(struct lost_wakeups *w, uint32_t id)
{
	w->threads = xreach(w->threads, id, &w->thread_count, sizeof(*w->threads));
	if (!w->threads[id])
		w->threads[id] = xcalloc(1, sizeof(struct thread_accesses));
	return w->threads[id];
}

static struct condition *condition_of(struct lost_wakeups *w, uint64_t addr)
{
	uint64_t *at = map_put(&w->at, addr, NULL);

	if (!*at) {
		w->conditions = xgrow(w->conditions, w->count, &w->capacity,
				      sizeof(*w->conditions));
		w->conditions[w->count] = (struct condition){ 0 };
		*at = ++w->count;
	}
	return &w->conditions[*at - 1];
}

/*
 * The entry for the operations of this thread at this site; the newest instance replaces the one
 * before. NULL: OPS_MAX is reached.
 */
static struct cond_op *op_put(struct cond_op **ops, size_t *count, size_t *capacity,
			      const struct event *ev, const struct view *view)
{
	struct cond_op *s;

	for (size_t i = 0; i < *count; i++)
		if ((*ops)[i].at.thread == view->thread && (*ops)[i].at.pc == ev->pc)
			return &(*ops)[i];
	if (*count == OPS_MAX)
		return NULL;
	*ops = xgrow(*ops, *count, capacity, sizeof(**ops));
	s = &(*ops)[(*count)++];
	memset(s, 0, sizeof(*s));
	return s;
}

static void op_fill(struct cond_op *s, const struct event *ev, const struct view *view)
{
	s->at = view_event(view, ev);
	s->strong_epoch = view->strong_epoch;
	vclock_copy(&s->strong, view->strong);
	s->state_count = 0;
	s->partial = false;
	for (size_t i = 0; i < LOCKS_MAX; i++)
		s->locks[i].first = 0;	/* `writes` of earlier instances stay */
}

/* Keeps the thread's accesses since its event `since`. */
static void op_set_state(struct lost_wakeups *w, struct cond_op *s, uint32_t thread, uint64_t since)
{
	const struct thread_accesses *t = accesses_of(w, thread);

	for (uint64_t i = 1; i <= t->count && i <= RECENT_ACCESSES; i++) {
		const struct state_access *a = &t->at[(t->count - i) % RECENT_ACCESSES];

		if (a->at.index < since)
			return;
		if (s->state_count == STATE_MAX) {
			s->partial = true;
			return;
		}
		s->state[s->state_count++] = *a;
	}
	s->partial = t->count > RECENT_ACCESSES;
}

/* A wait begins; the view still has the mutex. Timed waits end by themselves and are left out. */
static void note_wait(struct lost_wakeups *w, const struct event *ev, const struct view *view)
{
	const struct section *in = sections_around(w->sections, view->thread, ev->arg, view->index);
	struct condition *c;
	struct cond_op *s;

	if ((ev->detail & TRACE_TIMED) || !in)
		return;
	c = condition_of(w, ev->addr);
	s = op_put(&c->waits, &c->wait_count, &c->wait_capacity, ev, view);
	w->dropped += !s;
	if (!s)
		return;
	op_fill(s, ev, view);
	s->mutex = ev->arg;
	s->section = section_begin(in);
	accesses_of(w, view->thread)->wait = (size_t)(s - c->waits);
	accesses_of(w, view->thread)->woken = 0;
	s->section_epoch = in->strong_epoch;
	op_set_state(w, s, view->thread, in->first);
}

static void op_add_lock(struct cond_op *s, const struct section *in)
{
	for (size_t i = 0; i < LOCKS_MAX; i++) {
		if (s->locks[i].lock && s->locks[i].lock != in->lock)
			continue;
		if (!s->locks[i].first)
			s->locks[i].first = in->first + 1;	/* sections come newest first */
		s->locks[i].lock = in->lock;
		s->locks[i].writes |= in->writes;
		return;
	}
}

static void note_signal(struct lost_wakeups *w, const struct event *ev, const struct view *view)
{
	struct condition *c = condition_of(w, ev->addr);
	struct cond_op *s = op_put(&c->signals, &c->signal_count, &c->signal_capacity, ev, view);
	const struct section *in;
	size_t count;

	w->dropped += !s;
	if (!s)
		return;
	op_fill(s, ev, view);
	op_set_state(w, s, view->thread, 0);
	in = sections_held(w->sections, view->thread, &count);
	s->in_section = count > 0;
	if (s->in_section)
		s->section = section_begin(&in[0]);
	for (size_t i = 0; i < count; i++)
		op_add_lock(s, &in[i]);
	for (size_t i = 0;
	     i < LOCKS_MAX && (in = sections_left(w->sections, view->thread, 0, i)); i++)
		op_add_lock(s, in);
}

/* The thread's wait returns. */
static void wait_returned(struct lost_wakeups *w, const struct event *ev, uint32_t thread)
{
	const uint64_t *at = map_find(&w->at, ev->addr);
	struct thread_accesses *t = accesses_of(w, thread);

	for (size_t i = 0; at && i < w->conditions[*at - 1].wait_count; i++)
		if (w->conditions[*at - 1].waits[i].at.thread == thread && t->wait == i) {
			w->conditions[*at - 1].waits[i].woken = true;
			t->woken = *at;
		}
}

static void note_recheck(struct lost_wakeups *w, const struct thread_accesses *t,
			 const struct state_access *a)
{
	struct cond_op *s = &w->conditions[t->woken - 1].waits[t->wait];

	for (size_t i = 0; a->read && i < s->state_count; i++)
		s->rechecks |= state_overlap(&s->state[i].at, &a->at);
}

void lost_wakeup_event(struct lost_wakeups *w, const struct event *ev, const struct view *view)
{
	unsigned access = access_of(ev->kind);
	struct thread_accesses *t;

	if (access && !view_ignores(view, access)) {
		t = accesses_of(w, view->thread);
		t->at[t->count++ % RECENT_ACCESSES] = (struct state_access){
			view_event(view, ev), access & ACCESS_READ, access & ACCESS_WRITE,
		};
		if (t->woken)
			note_recheck(w, t, &t->at[(t->count - 1) % RECENT_ACCESSES]);
	} else if (ev->kind == TRACE_COND_WAIT) {
		note_wait(w, ev, view);
	} else if (trace_roles(ev->kind) & ROLE_NOTIFY) {
		if (!ev->result)
			note_signal(w, ev, view);
	} else if (ev->kind == TRACE_COND_WAKE) {
		wait_returned(w, ev, view->thread);
	} else if (ev->kind == TRACE_MUTEX_UNLOCK) {
		accesses_of(w, view->thread)->woken = 0;
	}
}
