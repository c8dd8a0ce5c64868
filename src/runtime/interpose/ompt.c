/*
 * libomp, seen through OMPT, the tool interface of OpenMP 5: libomp asks for ompt_start_tool() when
 * it starts, and calls back when tasks are created, scheduled and synchronised. <omp-tools.h> comes
 * with libomp alone, so what is used of it is declared here.
 *
 * Locks, critical sections and ordered blocks have wrappers (kmpc.c, gomp_lock.c): OMPT reports the
 * end of a critical section after it, when another thread may have entered it.
 */
#ifndef SNARLRT_STATIC

#include <dlfcn.h>

#include "runtime/core/arena.h"
#include "runtime/core/lock.h"
#include "runtime/interpose/openmp.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

union ompt_data {
	uint64_t value;
	void *ptr;
};

enum callback {
	PARALLEL_BEGIN = 3, PARALLEL_END = 4, TASK_CREATE = 5, TASK_SCHEDULE = 6,
	IMPLICIT_TASK = 7, SYNC_WAIT = 16, DEPENDENCES = 18, SYNC_REGION = 23, REDUCTION = 31,
};

enum endpoint { SCOPE_BEGIN = 1, SCOPE_END = 2 };

enum sync_region {		/* all others are barriers */
	SYNC_BARRIER_IMPLICIT = 2, SYNC_TASKWAIT = 5, SYNC_TASKGROUP = 6, SYNC_REDUCTION = 7,
	SYNC_BARRIER_PARALLEL = 9,
};

enum task_status {
	TASK_COMPLETE = 1, TASK_CANCEL = 3, TASK_EARLY_FULFIL = 5, TASK_LATE_FULFIL = 6,
	TASK_WAIT_COMPLETE = 8,
};

enum dependence { DEPENDENCE_IN = 1, DEPENDENCE_MUTEX_SET = 4 };

struct ompt_dependence {
	union ompt_data variable;
	int type;		/* enum dependence: in (1) to mutexinoutset (4), inoutset (7) */
};

typedef void *lookup(const char *name);

struct ompt_start_tool_result {
	int (*initialize)(lookup *find, int device, union ompt_data *data);
	void (*finalize)(union ompt_data *data);
	union ompt_data data;
};

#define GROUPS 8u	/* taskgroups inside each other in one task; deeper ones share the last */
#define DEPENDS 16u	/* variables that a task has room for; more get memory of their own */

struct task {
	uint64_t team;		/* key; 0: outside of parallel regions */
	uint64_t key, parent;
	uint32_t round;		/* barriers the member has left; at a created task's creation */
	bool started;
	uint32_t groups;
	uint64_t group[GROUPS];
	uint32_t depends;
	uint64_t *depend;	/* addresses, shifted left by one; the lowest bit: it may write */
	uint64_t depend_room[DEPENDS];
	struct task *next;	/* in the list of unused ones */
};

static struct task *unused;
static struct snarlrt_lock unused_lock;

static struct task *task_new(const struct task *parent)
{
	struct task *t;

	snarlrt_lock(&unused_lock);
	t = unused;
	if (t)
		unused = t->next;
	snarlrt_unlock(&unused_lock);
	if (!t)
		t = arena_alloc(sizeof(*t));
	if (!t)
		return NULL;
	*t = (struct task){ .key = snarlrt_openmp_key() };
	t->depend = t->depend_room;
	if (parent) {
		t->team = parent->team;
		t->round = parent->round;
		t->parent = parent->key;
	}
	if (parent && parent->groups) {
		t->group[0] = parent->group[(parent->groups < GROUPS ? parent->groups : GROUPS) -
						   1];
		t->groups = 1;
	}
	return t;
}

static void task_free(union ompt_data *data)
{
	struct task *t = data->ptr;

	data->ptr = NULL;
	snarlrt_lock(&unused_lock);
	t->next = unused;
	unused = t;
	snarlrt_unlock(&unused_lock);
}

static struct task *task_of(const union ompt_data *data)
{
	return data ? data->ptr : NULL;
}

static void task_depends(const struct task *t, bool ends)
{
	for (uint32_t i = 0; i < t->depends; i++)
		snarlrt_openmp_depends((const void *)(t->depend[i] >> 1), t->depend[i] & 1, ends,
				       NULL);
}

static void on_parallel_begin(union ompt_data *task, const void *frame, union ompt_data *parallel,
			      unsigned threads, int flags, const void *pc)
{
	(void)task, (void)frame, (void)threads, (void)flags;
	parallel->value = snarlrt_openmp_key();
	snarlrt_openmp_before(parallel->value + OPENMP_START, pc);
}

static void on_parallel_end(union ompt_data *parallel, union ompt_data *task, int flags,
			    const void *pc)
{
	(void)task, (void)flags;
	snarlrt_openmp_after(parallel->value + OPENMP_END, pc);
	snarlrt_openmp_after(parallel->value + OPENMP_TASKS, pc);
	snarlrt_openmp_after(parallel->value + OPENMP_TASKS + 1, pc);
}

/* At its end, `parallel` may be NULL; and a worker ends its task only when the next one begins. */
static void on_implicit_task(enum endpoint endpoint, union ompt_data *parallel,
			     union ompt_data *data, unsigned threads, unsigned index, int flags)
{
	struct task *t;

	(void)threads, (void)index;
	if (endpoint == SCOPE_END) {
		if (data->ptr)
			task_free(data);
		return;
	}
	t = task_new(NULL);
	data->ptr = t;
	if (!t)
		return;
	t->started = true;
	if (flags & 1 || !parallel)	/* the initial task */
		return;
	t->team = parallel->value;
	snarlrt_openmp_after(t->team + OPENMP_START, NULL);
}

static void on_task_create(union ompt_data *creator, const void *frame, union ompt_data *data,
			   int flags, int has_dependences, const void *pc)
{
	struct task *t = task_new(task_of(creator));

	(void)frame, (void)flags, (void)has_dependences;
	data->ptr = t;
	if (t)
		snarlrt_openmp_before(t->key + OPENMP_CREATED, pc);
}

static void on_dependences(union ompt_data *data, const struct ompt_dependence *d, int count)
{
	struct task *t = task_of(data);

	if (!t || count <= 0)
		return;
	if ((uint32_t)count > DEPENDS)
		t->depend = arena_alloc((size_t)count * sizeof(*t->depend));
	for (int i = 0; t->depend && i < count; i++)
		if (d[i].type >= DEPENDENCE_IN && d[i].type <= 7 && d[i].type != 5 &&
		    d[i].type != 6)
			t->depend[t->depends++] = d[i].variable.value << 1 |
						  (d[i].type != DEPENDENCE_IN);
}

static void task_ended(const struct task *t)
{
	task_depends(t, true);
	snarlrt_openmp_before(t->parent + OPENMP_CHILD, NULL);
	if (t->groups)
		snarlrt_openmp_before(t->group[0] + OPENMP_MEMBER, NULL);
	if (t->team)
		snarlrt_openmp_before(t->team + OPENMP_TASKS + (t->round & 1), NULL);
}

static void on_task_schedule(union ompt_data *prior, enum task_status status,
			     union ompt_data *next)
{
	struct task *t = task_of(prior);

	if (t && status == TASK_WAIT_COMPLETE)
		task_depends(t, false);
	else if (t && (status == TASK_COMPLETE || status == TASK_CANCEL ||
		       status == TASK_EARLY_FULFIL || status == TASK_LATE_FULFIL))
		task_ended(t);
	if (t && status != TASK_EARLY_FULFIL &&
	    (status == TASK_COMPLETE || status == TASK_CANCEL || status == TASK_LATE_FULFIL ||
	     status == TASK_WAIT_COMPLETE))
		task_free(prior);
	t = task_of(next);
	if (t && !t->started) {
		t->started = true;
		snarlrt_openmp_after(t->key + OPENMP_CREATED, NULL);
		task_depends(t, false);
	}
}

static void group_sync(struct task *t, enum endpoint endpoint, const void *pc)
{
	if (endpoint == SCOPE_BEGIN) {
		if (t->groups < GROUPS)
			t->group[t->groups] = snarlrt_openmp_key();
		t->groups++;
	} else if (t->groups) {
		t->groups--;
		snarlrt_openmp_after(t->group[t->groups < GROUPS ? t->groups : GROUPS - 1] +
				     OPENMP_MEMBER, pc);
	}
}

static void barrier_sync(struct task *t, enum sync_region kind, enum endpoint endpoint,
			 const void *pc)
{
	uint64_t parity = t->round & 1;

	if (!t->team)
		return;
	if (endpoint == SCOPE_BEGIN) {
		snarlrt_openmp_before(t->team + OPENMP_BARRIER + parity, pc);
		if (kind == SYNC_BARRIER_IMPLICIT || kind == SYNC_BARRIER_PARALLEL)
			snarlrt_openmp_before(t->team + OPENMP_END, pc);
		return;
	}
	t->round++;
	snarlrt_openmp_after(t->team + OPENMP_BARRIER + parity, pc);
	snarlrt_openmp_after(t->team + OPENMP_TASKS + parity, pc);
}

static void on_sync_region(enum sync_region kind, enum endpoint endpoint,
			   union ompt_data *parallel, union ompt_data *data, const void *pc)
{
	struct task *t = task_of(data);

	(void)parallel;
	if (!t || kind == SYNC_REDUCTION)
		return;
	if (kind == SYNC_TASKGROUP)
		group_sync(t, endpoint, pc);
	else if (kind != SYNC_TASKWAIT)
		barrier_sync(t, kind, endpoint, pc);
	else if (endpoint == SCOPE_END)
		snarlrt_openmp_after(t->key + OPENMP_CHILD, pc);
}

/* The tasks of a taskgroup have ended; their reductions are combined before the region ends. */
static void on_sync_wait(enum sync_region kind, enum endpoint endpoint, union ompt_data *parallel,
			 union ompt_data *data, const void *pc)
{
	struct task *t = task_of(data);

	(void)parallel;
	if (t && kind == SYNC_TASKGROUP && endpoint == SCOPE_END && t->groups)
		snarlrt_openmp_after(t->group[(t->groups < GROUPS ? t->groups : GROUPS) - 1] +
				     OPENMP_MEMBER, pc);
}

/* A member combines its values with those of members that have come to the barrier before. */
static void on_reduction(enum sync_region kind, enum endpoint endpoint, union ompt_data *parallel,
			 union ompt_data *data, const void *pc)
{
	struct task *t = task_of(data);
	uint64_t barrier;

	(void)parallel, (void)kind;
	if (!t || !t->team)
		return;
	barrier = t->team + OPENMP_BARRIER + (t->round & 1);
	if (endpoint == SCOPE_BEGIN)
		snarlrt_openmp_after(barrier, pc);
	else
		snarlrt_openmp_before(barrier, pc);
}

static int initialize(lookup *find, int device, union ompt_data *data)
{
	static const struct {
		enum callback number;
		void (*fn)(void);
	} callbacks[] = {
		{ PARALLEL_BEGIN, (void (*)(void))on_parallel_begin },
		{ PARALLEL_END, (void (*)(void))on_parallel_end },
		{ TASK_CREATE, (void (*)(void))on_task_create },
		{ TASK_SCHEDULE, (void (*)(void))on_task_schedule },
		{ IMPLICIT_TASK, (void (*)(void))on_implicit_task },
		{ DEPENDENCES, (void (*)(void))on_dependences },
		{ SYNC_REGION, (void (*)(void))on_sync_region },
		{ SYNC_WAIT, (void (*)(void))on_sync_wait },
		{ REDUCTION, (void (*)(void))on_reduction },
	};
	int (*set)(int number, void (*fn)(void));

	(void)device, (void)data;
	*(void **)&set = find("ompt_set_callback");
	if (!set)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(callbacks); i++)
		set(callbacks[i].number, callbacks[i].fn);
	snarlrt_ompt_active = true;
	return 1;
}

static void finalize(union ompt_data *data)
{
	(void)data;
}

SNARLRT_INTERPOSE struct ompt_start_tool_result *ompt_start_tool(unsigned version,
								 const char *runtime)
{
	static struct ompt_start_tool_result tool = { initialize, finalize, { 0 } };
	struct ompt_start_tool_result *(*next)(unsigned, const char *);

	if (!snarlrt_off())
		return &tool;
	snarlrt_hide();
	*(void **)&next = dlsym(RTLD_NEXT, "ompt_start_tool");
	snarlrt_unhide();
	return next ? next(version, runtime) : NULL;
}

#endif
