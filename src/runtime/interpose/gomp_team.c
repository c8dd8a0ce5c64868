/*
 * libgomp's parallel regions, barriers, single, ordered and doacross.
 *
 * A region's function is replaced by gomp_member(), which calls it in each thread of the team.
 * Constructs that end without a wait (nowait) make no order and have no wrapper.
 */
#ifndef SNARLRT_STATIC

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>

#include "runtime/control/library_waits.h"
#include "runtime/core/sys.h"
#include "runtime/interpose/gomp.h"

__thread struct gomp_task gomp_self;
bool gomp_fulfils;

/*
 * Looks in libraries opened by dlopen. If there is none, the linker has left libgomp out, because
 * the wrappers define all that the program uses.
 */
static void *find_opened(const char *name)
{
	static const char *const libraries[] = { "libgomp.so.1", "libomp.so.5", "libomp.so" };
	void *found = NULL, *handle;

	for (size_t i = 0; i < ARRAY_SIZE(libraries) && !found; i++) {
		handle = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
		if (handle) {
			found = dlsym(handle, name);
			dlclose(handle);
		}
	}
	if (found)
		return found;
	handle = dlopen(libraries[0], RTLD_NOW | RTLD_GLOBAL);
	if (handle && mode_controls())
		ctl_libraries_scan();
	return handle ? dlsym(handle, name) : NULL;
}

void *gomp_find(void **found, const char *name)
{
	void *fn = __atomic_load_n(found, __ATOMIC_RELAXED);
	int saved = errno;

	if (likely(fn != NULL))
		return fn;
	snarlrt_hide();
	fn = dlsym(RTLD_NEXT, name);
	if (!fn)
		fn = find_opened(name);
	snarlrt_unhide();
	if (!fn)
		sys_die("an OpenMP function was called, but libgomp.so.1 cannot be loaded");
	__atomic_store_n(found, fn, __ATOMIC_RELAXED);
	errno = saved;
	return fn;
}

/* A parallel region: the argument of gomp_member(). */
struct region {
	void *first;		/* GOMP_parallel_reductions() reads the argument's first word */
	void (*fn)(void *);
	void *data;
	uint64_t key;
};

static void gomp_member(void *v)
{
	const struct region *r = v;
	const void *pc = (const char *)(uintptr_t)r->fn + 1;
	struct gomp_task outer = gomp_self;
	uint64_t key = r->key;

	gomp_self = (struct gomp_task){ .team = key, .key = snarlrt_openmp_key() };
	snarlrt_openmp_after(key + OPENMP_START, pc);
	r->fn(r->data);
	snarlrt_openmp_before(key + OPENMP_END, pc);
	gomp_self = outer;
}

static struct region region_begin(void (*fn)(void *), void *data, const void *pc)
{
	struct region r = { NULL, fn, data, snarlrt_openmp_key() };

	snarlrt_openmp_before(r.key + OPENMP_START, pc);
	return r;
}

static void region_end(const struct region *r, const void *pc)
{
	snarlrt_openmp_after(r->key + OPENMP_END, pc);
	gomp_after_tasks(r->key + OPENMP_TASKS, pc);
	snarlrt_openmp_after(r->key + OPENMP_TASKS + 1, pc);
}

/* Defines the wrapper of a function that begins and ends a region. */
#define REGION_FN(name, params, ...)                                                       \
	SNARLRT_INTERPOSE void name params                                                 \
	{                                                                                  \
		struct region r;                                                           \
                                                                                           \
		if (gomp_off()) {                                                          \
			GOMP_REAL(name)(fn, data, __VA_ARGS__);                            \
			return;                                                            \
		}                                                                          \
		r = region_begin(fn, data, SNARLRT_PC());                                  \
		GOMP_REAL(name)(gomp_member, &r, __VA_ARGS__);                             \
		region_end(&r, SNARLRT_PC());                                              \
	}

#define FN void (*fn)(void *), void *data, unsigned threads

REGION_FN(GOMP_parallel, (FN, unsigned flags), threads, flags)
REGION_FN(GOMP_parallel_sections, (FN, unsigned count, unsigned flags), threads, count, flags)

#define LOOP_FN(name)                                                                      \
	REGION_FN(GOMP_parallel_loop_##name,                                               \
		  (FN, long start, long end, long step, long chunk, unsigned flags),       \
		  threads, start, end, step, chunk, flags)
#define RUNTIME_LOOP_FN(name)                                                              \
	REGION_FN(GOMP_parallel_loop_##name,                                               \
		  (FN, long start, long end, long step, unsigned flags),                   \
		  threads, start, end, step, flags)

LOOP_FN(static)
LOOP_FN(dynamic)
LOOP_FN(guided)
LOOP_FN(nonmonotonic_dynamic)
LOOP_FN(nonmonotonic_guided)
RUNTIME_LOOP_FN(runtime)
RUNTIME_LOOP_FN(nonmonotonic_runtime)
RUNTIME_LOOP_FN(maybe_nonmonotonic_runtime)

SNARLRT_INTERPOSE unsigned GOMP_parallel_reductions(FN, unsigned flags)
{
	struct region r;
	unsigned got;

	if (gomp_off())
		return GOMP_REAL(GOMP_parallel_reductions)(fn, data, threads, flags);
	r = region_begin(fn, data, SNARLRT_PC());
	r.first = *(void **)data;
	got = GOMP_REAL(GOMP_parallel_reductions)(gomp_member, &r, threads, flags);
	region_end(&r, SNARLRT_PC());
	return got;
}

/*
 * Barriers. Even and odd ones have objects of their own: a thread that has left one barrier must
 * not be ordered behind another that has already come to the next.
 */
static void barrier_enter(const void *pc)
{
	if (gomp_self.team)
		snarlrt_openmp_before(gomp_self.team + OPENMP_BARRIER + (gomp_self.round & 1), pc);
}

static void barrier_leave(const void *pc)
{
	unsigned parity = gomp_self.round & 1;

	if (!gomp_self.team)
		return;
	gomp_self.round++;
	snarlrt_openmp_after(gomp_self.team + OPENMP_BARRIER + parity, pc);
	gomp_after_tasks(gomp_self.team + OPENMP_TASKS + parity, pc);
}

#define BARRIER_FN(name)                                                                   \
	SNARLRT_INTERPOSE void name(void)                                                  \
	{                                                                                  \
		if (gomp_off()) {                                                          \
			GOMP_REAL(name)();                                                 \
			return;                                                            \
		}                                                                          \
		barrier_enter(SNARLRT_PC());                                               \
		GOMP_REAL(name)();                                                         \
		barrier_leave(SNARLRT_PC());                                               \
	}

/* Returns whether the region was cancelled. */
#define CANCEL_BARRIER_FN(name)                                                            \
	SNARLRT_INTERPOSE bool name(void)                                                  \
	{                                                                                  \
		bool cancelled;                                                            \
                                                                                           \
		if (gomp_off())                                                            \
			return GOMP_REAL(name)();                                          \
		barrier_enter(SNARLRT_PC());                                               \
		cancelled = GOMP_REAL(name)();                                             \
		barrier_leave(SNARLRT_PC());                                               \
		return cancelled;                                                          \
	}

BARRIER_FN(GOMP_barrier)
BARRIER_FN(GOMP_loop_end)
BARRIER_FN(GOMP_sections_end)
CANCEL_BARRIER_FN(GOMP_barrier_cancel)
CANCEL_BARRIER_FN(GOMP_loop_end_cancel)
CANCEL_BARRIER_FN(GOMP_sections_end_cancel)

/* Contains a barrier. */
SNARLRT_INTERPOSE void GOMP_workshare_task_reduction_unregister(bool cancelled)
{
	if (gomp_off()) {
		GOMP_REAL(GOMP_workshare_task_reduction_unregister)(cancelled);
		return;
	}
	barrier_enter(SNARLRT_PC());
	GOMP_REAL(GOMP_workshare_task_reduction_unregister)(cancelled);
	barrier_leave(SNARLRT_PC());
}

/* single with copyprivate: one thread gets NULL and calls _end, the others get its pointer. */
SNARLRT_INTERPOSE void *GOMP_single_copy_start(void)
{
	void *got = GOMP_REAL(GOMP_single_copy_start)();

	if (got && gomp_self.team && !gomp_off())
		snarlrt_openmp_after(gomp_self.team + OPENMP_COPY, SNARLRT_PC());
	return got;
}

SNARLRT_INTERPOSE void GOMP_single_copy_end(void *data)
{
	if (gomp_self.team && !gomp_off())
		snarlrt_openmp_before(gomp_self.team + OPENMP_COPY, SNARLRT_PC());
	GOMP_REAL(GOMP_single_copy_end)(data);
}

SNARLRT_INTERPOSE void GOMP_ordered_start(void)
{
	GOMP_REAL(GOMP_ordered_start)();
	if (gomp_self.team && !gomp_off())
		snarlrt_openmp_after(gomp_self.team + OPENMP_ORDERED, SNARLRT_PC());
}

SNARLRT_INTERPOSE void GOMP_ordered_end(void)
{
	if (gomp_self.team && !gomp_off())
		snarlrt_openmp_before(gomp_self.team + OPENMP_ORDERED, SNARLRT_PC());
	GOMP_REAL(GOMP_ordered_end)();
}

/*
 * Doacross loops: an iteration that waits for another is ordered behind all that were posted before
 * it went on.
 */
#define POST_FN(name, type)                                                                \
	SNARLRT_INTERPOSE void name(type *counts)                                          \
	{                                                                                  \
		if (gomp_self.team && !gomp_off())                                         \
			snarlrt_openmp_before(gomp_self.team + OPENMP_POSTED,              \
					      SNARLRT_PC());                               \
		GOMP_REAL(name)(counts);                                                   \
	}

/* Passes eight numbers. If the caller gave fewer, the library ignores the rest. */
#define WAIT_FN(name, type)                                                                \
	SNARLRT_INTERPOSE void name(type first, ...)                                       \
	{                                                                                  \
		type n[7];                                                                 \
		va_list ap;                                                                \
                                                                                           \
		va_start(ap, first);                                                       \
		for (unsigned i = 0; i < ARRAY_SIZE(n); i++)                               \
			n[i] = va_arg(ap, type);                                           \
		va_end(ap);                                                                \
		GOMP_REAL(name)(first, n[0], n[1], n[2], n[3], n[4], n[5], n[6]);          \
		if (gomp_self.team && !gomp_off())                                         \
			snarlrt_openmp_after(gomp_self.team + OPENMP_POSTED,               \
					     SNARLRT_PC());                                \
	}

POST_FN(GOMP_doacross_post, long)
POST_FN(GOMP_doacross_ull_post, unsigned long long)
WAIT_FN(GOMP_doacross_wait, long)
WAIT_FN(GOMP_doacross_ull_wait, unsigned long long)

#endif
