/*
 * Threads under control: creation, end, joining, cancellation.
 *
 * libc's cancellation is not used: a cancelled thread unwinds by pthread_exit() at a point where
 * cancellation is allowed. Destructors of thread-specific data are run here, too
 * (model/thread_keys.c), because with user-level threads libc never sees a thread end.
 */
#include <errno.h>
#include <stdlib.h>

#include "runtime/control/model/external.h"
#include "runtime/control/spin_proof.h"
#include "runtime/control/step.h"
#include "runtime/core/arena.h"
#include "runtime/core/real.h"

#define THREAD_BYTES (1u << 20)	/* the struct, followed by the thread's call stack */
#define REAP_EVERY 128u		/* threads created between two reaps */
#define SMALL_THREADS 16u	/* most programs have at most this many */
#define TABLE_BYTES_PER_THREAD (sizeof(*ctl.threads) + sizeof(*ctl.name) +                         \
				sizeof(*ctl.pending) + sizeof(*ctl.runnable))

/* Tables of the first SMALL_THREADS threads; more threads need larger tables. */
static uint64_t small_tables[SMALL_THREADS * TABLE_BYTES_PER_THREAD / 8];
static struct ctl_thread *preallocated[CTL_PREPARED_MAX];
static uint32_t preallocated_count, preallocated_used;

static void tables_move(void *to, uint32_t most)
{
	struct ctl_thread **threads = to;
	uint64_t *name = (uint64_t *)(threads + most);
	struct sched_event *pending = (struct sched_event *)(name + most);

	for (uint32_t i = 0; i < ctl.count; i++) {
		threads[i] = ctl.threads[i];
		name[i] = ctl.name[i];
		pending[i] = ctl.pending[i];
	}
	ctl.threads = threads;
	ctl.name = name;
	ctl.pending = pending;
	ctl.runnable = (uint32_t *)(pending + most);
	ctl_fast_path_end();
}

static struct ctl_thread *thread_new(void)
{
	if (ctl.count >= SCHED_MAX_THREADS)
		ctl_unsupported("the run has created more than 1,024 threads, "
				"the limit of controlled runs");
	if (ctl.count == SMALL_THREADS) {
		void *more = arena_pages(SCHED_MAX_THREADS * TABLE_BYTES_PER_THREAD);

		if (!more)
			return NULL;
		tables_move(more, SCHED_MAX_THREADS);
	}
	return preallocated_used < preallocated_count ? preallocated[preallocated_used++]
						      : arena_pages(THREAD_BYTES);
}

void ctl_threads_prepare(uint32_t threads)
{
	if (threads > CTL_PREPARED_MAX)
		threads = CTL_PREPARED_MAX;
	while (preallocated_count < threads &&
	       (preallocated[preallocated_count] = arena_pages(THREAD_BYTES)))
		preallocated_count++;
	if (!ctl.kernel_threads && threads > 1)
		context_create_prepared(threads - 1);
}

static void thread_register(struct ctl_thread *t)
{
	t->number = ctl.count;
	t->id = t->number + 1;
	t->state = CTL_LIVE;
	t->default_wait =
		(struct ctl_wait)CTL_WAIT(SCHED_OP_START, NULL, NULL, (uintptr_t)t->routine + 1);
	t->default_wait.thread = t->number;
	ctl.threads[ctl.count] = t;
	ctl.name[ctl.count] = t->name;
	ctl.block->report.parent[ctl.count] = t->parent;
	ctl.block->report.ordinal[ctl.count] = t->ordinal;
	ctl.count++;
	ctl.block->report.threads = ctl.count;
}

/* Sets up the thread-local storage of the running thread for the hooks. */
static void thread_attach(struct ctl_thread *t)
{
	struct snarlrt_tls *tls = &__snarl_tls;

	if (ctl.tracing)
		ctl_trace_attach(t);
	if (ctl.profile)
		ctl_profile_attach(t);
	t->frames = t->ring ? t->ring->frames : (struct snarlrt_frame *)(t + 1);
	snarlrt_set_own(tls, (uint16_t)(t->id * 2 + 1));
	tls->own_uncut = SHADOW_SHARED - 1;	/* owns no memory */
	if (!tls->cur)
		tls->cur = t->processed = page_end();
	tls->frame = tls->emitted = t->frames;
	tls->frame_end = t->frames + (THREAD_BYTES - sizeof(*t)) / sizeof(*t->frames);
	tls->hidden = 0;
	tls->control = t;
}

void ctl_thread_of_child(void)
{
	const struct ctl_report *r = &ctl.block->report;
	struct ctl_thread *t = thread_new();

	if (!t)
		ctl_unsupported("out of memory for the tables of controlled threads");
	t->parent = r->parent[ctl.count];
	t->ordinal = r->ordinal[ctl.count];
	t->name = sched_child_name(ctl.name[t->parent], t->ordinal);
	t->steps = r->events[ctl.count];
	thread_register(t);
	t->state = CTL_DONE;
	t->joined = true;
	ctl.pending[t->number] = (struct sched_event){ .op = SCHED_OP_OTHER };
}

void ctl_thread_first(void)
{
	struct ctl_thread *t;

	tables_move(small_tables, SMALL_THREADS);
	t = thread_new();
	if (!t)
		ctl_unsupported("out of memory for the tables of controlled threads");
	t->name = SCHED_MAIN;
	context_attach_main(t);
	t->tls->cur = t->processed = page_end();
	t->started = true;
	ctl_signal_thread_created(t, NULL);
	thread_register(t);
	ctl.current = t;
	thread_attach(t);
}

struct ctl_thread *ctl_thread_find(pthread_t handle)
{
	for (uint32_t i = 0; i < ctl.count; i++)
		if (ctl.threads[i]->handle == handle && !ctl.threads[i]->joined)
			return ctl.threads[i];
	return NULL;
}

/*
 * Ends the host threads of threads that have ended and will not be joined any more. A few of them
 * do no harm, and in a short run ending them costs more than all else.
 */
static void reap_ended_threads(void)
{
	if (ctl.count % REAP_EVERY)
		return;
	for (uint32_t i = 0; i < ctl.count; i++) {
		struct ctl_thread *t = ctl.threads[i];

		if (t->state == CTL_DONE && (t->detached || t->joined))
			context_reap(t);
	}
}

static bool created_detached(const pthread_attr_t *attr)
{
	int state;

	return attr && pthread_attr_getdetachstate(attr, &state) == 0 &&
	       state == PTHREAD_CREATE_DETACHED;
}

int ctl_thread_create(pthread_t *out, const pthread_attr_t *attr, void *(*routine)(void *),
		      void *arg, const void *pc)
{
	struct ctl_thread *self = ctl.current, *t;
	int error;

	ctl_point(SCHED_OP_CREATE, NULL, pc);
	reap_ended_threads();
	t = thread_new();
	if (!t)
		return EAGAIN;
	t->routine = routine;
	t->arg = arg;
	t->parent = self->number;
	t->ordinal = self->children + 1;
	t->name = sched_child_name(self->name, t->ordinal);
	t->detached = created_detached(attr);
	ctl_signal_thread_created(t, self);
	error = context_create(t, attr);
	if (error) {
		ctl_note(TRACE_THREAD_CREATE, 0, NULL, 0, error, pc);
		return error;
	}
	self->children++;
	snarlrt.threaded = true;
	ctl_uncontrolled_thread((const void *)(uintptr_t)routine);
	thread_register(t);
	t->tls->cur = t->processed = page_end();
	t->wait = &t->default_wait;
	t->runnable = true;
	ctl.pending[t->number] = t->default_wait.event;
	*out = t->handle;
	ctl_note(TRACE_THREAD_CREATE, 0, (const void *)(uintptr_t)t->id, t->id, 0, pc);
	ctl_reschedule_next_step();
	return 0;
}

/* Runs the thread's destructors and ends it. With user-level threads it does not return. */
static void thread_end(struct ctl_thread *t)
{
	struct ctl_wait w = CTL_WAIT(SCHED_OP_EXIT, NULL, NULL, NULL);
	bool is_last = true;

	__snarl_tls.hidden = 0;
	t->cancel_disabled = true;
	ctl_thread_atexit_run(t);
	ctl_keys_run_destructors(t);
	ctl_wait(&w);
	for (uint32_t i = 0; i < ctl.count; i++)
		is_last &= ctl.threads[i] == t || ctl.threads[i]->state != CTL_LIVE;
	if (is_last)
		exit(0);	/* POSIX: the process exits when its last thread has ended */
	ctl_note(TRACE_THREAD_EXIT, 0, NULL, 0, 0, NULL);
	model_mutex_owner_ended(t);
	ctl_signal_thread_ended(t);
	t->state = CTL_DONE;
	t->runnable = false;
	ctl.pending[t->number] = (struct sched_event){ .op = SCHED_OP_OTHER };
	ctl_changed((const void *)t->handle);
	__snarl_tls.hidden = 1;
	__snarl_tls.control = NULL;
	ctl_reschedule_ended(t);
}

static void end_after_unwinding(void *v)
{
	thread_end(v);
}

void ctl_thread_main(struct ctl_thread *t)
{
	thread_attach(t);
	t->wait = NULL;
	t->started = true;
	ctl_started(t);
	ctl_note(TRACE_THREAD_START, 0, (const void *)(uintptr_t)t->id, t->parent, 0,
		 (const char *)(uintptr_t)t->routine + 1);
	/* pthread_exit() and cancellation under control unwind to here. */
	pthread_cleanup_push(end_after_unwinding, t);
	t->result = t->routine(t->arg);
	pthread_cleanup_pop(1);
}

int ctl_main_thread(int (*main)(int, char **, char **), int argc, char **argv, char **envp)
{
	int status;

	pthread_cleanup_push(end_after_unwinding, ctl.current);
	status = main(argc, argv, envp);
	pthread_cleanup_pop(0);
	exit(status);
}

void ctl_exit_point(const void *pc)
{
	if (!ctl_on())
		return;
	for (uint32_t i = 0; i < ctl.count; i++)
		if (ctl.threads[i] != ctl.current && ctl.threads[i]->state == CTL_LIVE) {
			ctl_point(SCHED_OP_CALL, NULL, pc);
			return;
		}
}

void ctl_exit_begins(void)
{
	if (!ctl_on())
		return;
	if (!ctl.private_child)
		ctl.block->report.exiting = ctl.current->number + 1;
	ctl_thread_atexit_run(ctl.current);
}

void ctl_thread_exit(void *result)
{
	struct ctl_thread *t = ctl.current;

	t->result = result;
	t->cancel_disabled = true;
	if (unlikely(ctl.proving))
		spin_proof_stop(t);
	REAL(pthread_exit)(result);
	__builtin_unreachable();
}

/* Was a thread with this handle joined? The handle may belong to a new thread by now. */
static bool was_joined_before(pthread_t handle)
{
	for (uint32_t i = 0; i < ctl.count; i++)
		if (ctl.threads[i]->handle == handle && ctl.threads[i]->joined)
			return true;
	return false;
}

static bool has_ended(const struct ctl_wait *w)
{
	return ((const struct ctl_thread *)w->arg)->state == CTL_DONE;
}

/*
 * Joins a thread that is not under control. It runs on its own meanwhile, so the wait is one for
 * the world outside.
 */
static int join_foreign(pthread_t handle, void **value, bool wait, uint64_t deadline,
			const void *pc)
{
	struct snarlrt_call c = { .object = (const void *)handle, .pc = pc, .control = true };
	int error;

	ctl_call_point(&c);
	for (;;) {
		snarlrt_hide();
		error = REAL(pthread_tryjoin_np)(handle, value);
		snarlrt_unhide();
		if (error != EBUSY || !wait)
			return error;
		if (ctl.now >= deadline)
			return ETIMEDOUT;
		ctl_call_retry(&c);
	}
}

int ctl_thread_join(pthread_t handle, void **value, bool wait, uint64_t deadline, const void *pc)
{
	struct ctl_wait w = CTL_WAIT(SCHED_OP_JOIN, handle, has_ended, pc);
	struct ctl_thread *t = ctl_thread_find(handle);
	int error = 0;

	if (!t) {
		if (was_joined_before(handle))
			ctl_misuse((const void *)handle, pc,
				   "pthread_join of a thread that was joined before");
		else
			return join_foreign(handle, value, wait, deadline, pc);
		return ESRCH;
	}
	if (t == ctl.current)
		return EDEADLK;
	if (t->detached) {
		ctl_misuse((const void *)handle, pc, "pthread_join of a detached thread");
		return EINVAL;
	}
	w.arg = t;
	w.deadline = deadline;
	w.cancel_point = wait;
	if (!wait)
		w.ready = NULL;
	ctl_wait(&w);
	if (w.cancelled)
		ctl_cancel_act();
	if (t->state != CTL_DONE)
		error = wait ? ETIMEDOUT : EBUSY;
	if (!error && t->joined) {
		ctl_misuse((const void *)handle, pc,
			   "pthread_join of a thread that another one joins");
		error = EINVAL;
	}
	if (!error) {
		t->joined = true;
		if (value)
			*value = t->result;
	}
	ctl_note(TRACE_THREAD_JOIN, 0, (const void *)(uintptr_t)t->id, t->id, error, pc);
	return error;
}

int ctl_thread_detach(pthread_t handle, const void *pc)
{
	struct ctl_thread *t = ctl_thread_find(handle);

	if (!t)
		return was_joined_before(handle) ? ESRCH : REAL(pthread_detach)(handle);
	if (t->detached) {
		ctl_misuse((const void *)handle, pc, "pthread_detach of a detached thread");
		return EINVAL;
	}
	ctl_point(SCHED_OP_OTHER, (const void *)handle, pc);
	t->detached = true;
	ctl_note(TRACE_THREAD_DETACH, 0, (const void *)(uintptr_t)t->id, t->id, 0, pc);
	return 0;
}

int ctl_thread_cancel(pthread_t handle, const void *pc)
{
	struct ctl_thread *t = ctl_thread_find(handle);

	if (!t)
		return was_joined_before(handle) ? ESRCH : REAL(pthread_cancel)(handle);
	ctl_point(SCHED_OP_WAKE, (const void *)handle, pc);
	ctl_note(TRACE_THREAD_CANCEL, 0, (const void *)(uintptr_t)t->id, t->id, 0, pc);
	if (t->state != CTL_LIVE)
		return 0;
	t->cancel_pending = true;
	if (t == ctl.current) {
		if (t->cancel_async)
			ctl_cancel_act();
		return 0;
	}
	if (t->wait)
		ctl_changed((const void *)(uintptr_t)t->wait->event.object);
	return 0;
}

void ctl_cancel_act(void)
{
	struct ctl_thread *t = ctl.current;

	if (!t->cancel_pending || t->cancel_disabled)
		return;
	t->cancel_pending = false;
	ctl_thread_exit(PTHREAD_CANCELED);
}
