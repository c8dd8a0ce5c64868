/*
 * libgomp's tasks.
 *
 * libgomp copies a task's arguments and calls its function with the copy. The wrapper passes a
 * longer argument, a struct header followed by the program's, and its own function, gomp_run(),
 * which finds in the header what the task's order depends on.
 */
#ifndef SNARLRT_STATIC

#include <alloca.h>

#include "runtime/interpose/gomp.h"

enum {			/* flags of GOMP_task and GOMP_taskloop */
	FLAG_DEPEND = 1 << 3,
	FLAG_NO_GROUP = 1 << 11,
	FLAG_REDUCTION = 1 << 12,
	FLAG_DETACH = 1 << 13,
};

#define HEAD 3u		/* words at the start of an argument that the library reads or writes */

struct header {
	void *head[HEAD];	/* taskloop: bounds, reductions; detach: the event */
	void (*fn)(void *);
	void (*copy)(void *, void *);
	void *from;		/* the creator's arguments */
	uint32_t offset;	/* of the task's arguments behind the header, in bytes */
	uint32_t heads;		/* words of `head` that belong to the start of the arguments */
	uint64_t team, key, parent, group;
	uint32_t round;
	uint32_t depends;	/* variables that it depends on; the first `writes` it may write */
	uint32_t writes;
	const void *variable[];
};

static void run_depends(const struct header *h, bool ends, const void *pc)
{
	for (uint32_t i = 0; i < h->depends; i++)
		snarlrt_openmp_depends(h->variable[i], i < h->writes, ends, pc);
}

static void gomp_run(void *v)
{
	const struct header *h = v;
	const void *pc = (const char *)(uintptr_t)h->fn + 1;
	struct gomp_task outer = gomp_self;
	char *data = (char *)v + h->offset;

	gomp_self = (struct gomp_task){ .team = h->team, .key = snarlrt_openmp_key(),
					.round = h->round, .groups = h->group != 0 };
	gomp_self.group[0] = h->group;
	for (uint32_t i = 0; i < h->heads; i++)
		((void **)data)[i] = h->head[i];
	snarlrt_openmp_after(h->key + OPENMP_CREATED, pc);
	run_depends(h, false, pc);
	h->fn(data);
	run_depends(h, true, pc);
	snarlrt_openmp_before(h->parent + OPENMP_CHILD, pc);
	if (h->group)
		snarlrt_openmp_before(h->group + OPENMP_MEMBER, pc);
	if (h->team)
		snarlrt_openmp_before(h->team + OPENMP_TASKS + (h->round & 1), pc);
	gomp_self = outer;
}

static void copy_bytes(void *to, const void *from, size_t size)
{
	for (size_t i = 0; i < size; i++)
		((char *)to)[i] = ((const char *)from)[i];
}

static void gomp_copy(void *to, void *from)
{
	const struct header *h = from;

	copy_bytes(to, from, offsetof(struct header, variable) + h->depends * sizeof(void *));
	h->copy((char *)to + h->offset, h->from);
}

/* The numbers at the start of a depend array, in its older and its newer form. */
struct depend {
	uint32_t all, writes, plain, first;	/* `plain`: not depobj; first variable's index */
};

static struct depend depend_counts(void *const *d)
{
	uint64_t n = (uint64_t)d[0];

	if (n)
		return (struct depend){ (uint32_t)n, (uint32_t)(uint64_t)d[1], (uint32_t)n, 2 };
	/* all, out, mutexinoutset, in */
	return (struct depend){ (uint32_t)(uint64_t)d[1],
				(uint32_t)((uint64_t)d[2] + (uint64_t)d[3]),
				(uint32_t)((uint64_t)d[2] + (uint64_t)d[3] + (uint64_t)d[4]), 5 };
}

/* A depobj is a variable that points to the address; it is taken for a write. */
static void copy_depends(struct header *h, void *const *d)
{
	struct depend n = depend_counts(d);
	uint32_t out = 0;

	for (uint32_t i = 0; i < n.writes; i++)
		h->variable[out++] = d[n.first + i];
	for (uint32_t i = n.plain; i < n.all; i++)
		h->variable[out++] = *(void **)d[n.first + i];
	h->writes = out;
	for (uint32_t i = n.writes; i < n.plain; i++)
		h->variable[out++] = d[n.first + i];
	h->depends = out;
}

/* Alignment of the longer argument, the offset of the program's in it, and its size. */
struct shape {
	long align;
	size_t offset, size;
};

static struct shape shape_of(long size, long align, void *const *depend)
{
	struct shape s = { align > 16 ? align : 16, 0, 0 };
	size_t header = offsetof(struct header, variable) +
			(depend ? depend_counts(depend).all * sizeof(void *) : 0);

	s.offset = (header + (size_t)s.align - 1) & ~((size_t)s.align - 1);
	s.size = s.offset + (size_t)size;
	return s;
}

/*
 * Fills the argument at `v`. Without `copy` the library may call the task with it as it is, so the
 * program's argument goes into it.
 */
static struct header *fill(char *v, const struct shape *s, void (*fn)(void *), void *data,
			   void (*copy)(void *, void *), void *const *depend)
{
	struct header *h = (struct header *)(void *)v;

	*h = (struct header){
		.fn = fn, .copy = copy, .from = data, .offset = (uint32_t)s->offset,
		.team = gomp_self.team, .key = snarlrt_openmp_key(), .parent = gomp_self.key,
		.round = gomp_self.round,
	};
	if (gomp_self.groups)
		h->group = gomp_self.group[(gomp_self.groups < GROUPS ? gomp_self.groups : GROUPS) -
					   1];
	if (depend)
		copy_depends(h, depend);
	if (!copy)
		copy_bytes(v + s->offset, data, s->size - s->offset);
	return h;
}

/* Memory of this shape on the stack of the calling function */
#define ALLOCATE(s)                                                                        \
	((char *)(((uintptr_t)alloca((s).size + (size_t)(s).align) + (uintptr_t)(s).align - 1) & \
		  ~((uintptr_t)(s).align - 1)))

SNARLRT_INTERPOSE void GOMP_task(void (*fn)(void *), void *data, void (*copy)(void *, void *),
				 long size, long align, bool deferred, unsigned flags,
				 void **depend, int priority, void *detach)
{
	void *const *depends = flags & FLAG_DEPEND ? depend : NULL;
	struct header *h;
	struct shape s;

	if (gomp_off()) {
		GOMP_REAL(GOMP_task)(fn, data, copy, size, align, deferred, flags, depend, priority,
				     detach);
		return;
	}
	s = shape_of(size, align, depends);
	h = fill(ALLOCATE(s), &s, fn, data, copy, depends);
	h->heads = flags & FLAG_DETACH && data ? 1 : 0;
	if (h->heads)
		h->head[0] = *(void **)data;
	snarlrt_openmp_before(h->key + OPENMP_CREATED, SNARLRT_PC());
	GOMP_REAL(GOMP_task)(gomp_run, h, copy ? gomp_copy : NULL, (long)s.size, s.align, deferred,
			     flags, depend, priority, detach);
}

/* taskloop makes tasks whose arguments begin with their bounds, and waits for them as a group. */
#define TASKLOOP_FN(name, type)                                                            \
	SNARLRT_INTERPOSE void name(void (*fn)(void *), void *data,                        \
				    void (*copy)(void *, void *), long size, long align,   \
				    unsigned flags, unsigned long tasks, int priority,     \
				    type start, type end, type step)                       \
	{                                                                                  \
		struct header *h;                                                          \
		struct shape s;                                                            \
		uint64_t group;                                                            \
                                                                                           \
		if (gomp_off()) {                                                          \
			GOMP_REAL(name)(fn, data, copy, size, align, flags, tasks,         \
					priority, start, end, step);                       \
			return;                                                            \
		}                                                                          \
		s = shape_of(size, align, NULL);                                           \
		h = fill(ALLOCATE(s), &s, fn, data, copy, NULL);                           \
		h->heads = 2;                                                              \
		if (flags & FLAG_REDUCTION)                                                \
			h->head[2] = ((void **)data)[2];                                   \
		group = flags & FLAG_NO_GROUP ? 0 : snarlrt_openmp_key();                  \
		h->group = group ? group : h->group;                                       \
		snarlrt_openmp_before(h->key + OPENMP_CREATED, SNARLRT_PC());              \
		GOMP_REAL(name)(gomp_run, h, copy ? gomp_copy : NULL, (long)s.size,        \
				s.align, flags, tasks, priority, start, end, step);        \
		if (group)                                                                 \
			gomp_after_tasks(group + OPENMP_MEMBER, SNARLRT_PC());             \
	}

TASKLOOP_FN(GOMP_taskloop, long)
TASKLOOP_FN(GOMP_taskloop_ull, unsigned long long)

/* A taskwait of a thread outside of parallel regions, too: it may have created tasks. */
SNARLRT_INTERPOSE void GOMP_taskwait(void)
{
	GOMP_REAL(GOMP_taskwait)();
	if (!gomp_off())
		gomp_after_tasks(gomp_self.key + OPENMP_CHILD, SNARLRT_PC());
}

SNARLRT_INTERPOSE void GOMP_taskwait_depend(void **depend)
{
	struct depend n = depend_counts(depend);

	GOMP_REAL(GOMP_taskwait_depend)(depend);
	if (gomp_off())
		return;
	for (uint32_t i = 0; i < n.plain; i++)
		snarlrt_openmp_depends(depend[n.first + i], i < n.writes, false, SNARLRT_PC());
	for (uint32_t i = n.plain; i < n.all; i++)
		snarlrt_openmp_depends(*(void **)depend[n.first + i], true, false, SNARLRT_PC());
}

SNARLRT_INTERPOSE void GOMP_taskgroup_start(void)
{
	if (!gomp_off()) {
		if (gomp_self.groups < GROUPS)
			gomp_self.group[gomp_self.groups] = snarlrt_openmp_key();
		gomp_self.groups++;
	}
	GOMP_REAL(GOMP_taskgroup_start)();
}

SNARLRT_INTERPOSE void GOMP_taskgroup_end(void)
{
	GOMP_REAL(GOMP_taskgroup_end)();
	if (gomp_off() || !gomp_self.groups)
		return;
	gomp_self.groups--;
	gomp_after_tasks(
		gomp_self.group[gomp_self.groups < GROUPS ? gomp_self.groups : GROUPS - 1] +
			OPENMP_MEMBER,
		SNARLRT_PC());
}

SNARLRT_INTERPOSE void omp_fulfill_event(uintptr_t event)
{
	if (!gomp_off()) {
		__atomic_store_n(&gomp_fulfils, true, __ATOMIC_RELAXED);
		snarlrt_openmp_before(GOMP_FULFILLED, SNARLRT_PC());
	}
	GOMP_REAL(omp_fulfill_event)(event);
}

#endif
