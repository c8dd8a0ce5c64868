/*
 * Annotations that a program calls itself: those of include/snarl.h, and those of ThreadSanitizer
 * (<sanitizer/tsan_interface.h>), so that annotated code needs no change. annotate_dynamic.c has
 * those of dynamic_annotations.h.
 *
 * A lock that the program implements itself may be a reader/writer lock, so all such locks become
 * events of rwlocks. Accesses inside the lock's code, between its pre_ and post_ calls, are
 * bracketed by ignore-begin and ignore-end.
 */
#include <errno.h>

#include "runtime/hooks/entry.h"

/* The headers of users declare these functions. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum ignore { IGNORE_READS = 1, IGNORE_WRITES = 2, IGNORE_SYNC = 4, IGNORE_ALL = 7 };

static inline void note(enum trace_kind kind, unsigned detail, const volatile void *object,
			uint64_t arg, const void *pc)
{
	snarlrt_note(kind, detail, (const void *)object, arg, 0, pc);
}

/* snarl.h */

SNARLRT_INTERPOSE void __snarl_block_begin(const char *name)
{
	note(TRACE_BLOCK_BEGIN, 0, name, 0, SNARLRT_PC());
}

SNARLRT_INTERPOSE void __snarl_block_end(void)
{
	note(TRACE_BLOCK_END, 0, NULL, 0, SNARLRT_PC());
}

SNARLRT_INTERPOSE void __snarl_happens_before(const volatile void *p)
{
	note(TRACE_HB_BEFORE, 0, p, 0, SNARLRT_PC());
}

SNARLRT_INTERPOSE void __snarl_happens_after(const volatile void *p)
{
	note(TRACE_HB_AFTER, 0, p, 0, SNARLRT_PC());
}

SNARLRT_INTERPOSE void __snarl_ignore_begin(void)
{
	note(TRACE_IGNORE_BEGIN, IGNORE_READS | IGNORE_WRITES, NULL, 0, SNARLRT_PC());
}

SNARLRT_INTERPOSE void __snarl_ignore_end(void)
{
	note(TRACE_IGNORE_END, IGNORE_READS | IGNORE_WRITES, NULL, 0, SNARLRT_PC());
}

SNARLRT_INTERPOSE void __snarl_benign_race(const volatile void *p, size_t size)
{
	note(TRACE_BENIGN, 0, p, size, SNARLRT_PC());
}

/* __tsan_*: order and locks */

enum tsan_mutex_flag {
	TSAN_MUTEX_READ = 1 << 3,
	TSAN_MUTEX_TRY = 1 << 4,
	TSAN_MUTEX_TRY_FAILED = 1 << 5,
	TSAN_MUTEX_RECURSIVE_UNLOCK = 1 << 7,
};

SNARLRT_INTERPOSE void __tsan_acquire(void *p)
{
	note(TRACE_HB_AFTER, 0, p, 0, SNARLRT_PC());
}

SNARLRT_INTERPOSE void __tsan_release(void *p)
{
	note(TRACE_HB_BEFORE, 0, p, 0, SNARLRT_PC());
}

SNARLRT_INTERPOSE void __tsan_mutex_create(void *mutex, unsigned flags)
{
	(void)flags;
	note(TRACE_RWLOCK_INIT, 0, mutex, 0, SNARLRT_PC());
}

SNARLRT_INTERPOSE void __tsan_mutex_destroy(void *mutex, unsigned flags)
{
	(void)flags;
	note(TRACE_RWLOCK_DESTROY, 0, mutex, 0, SNARLRT_PC());
}

static enum trace_kind lock_kind(unsigned flags)
{
	if (flags & TSAN_MUTEX_READ)
		return flags & TSAN_MUTEX_TRY ? TRACE_RWLOCK_TRYRDLOCK : TRACE_RWLOCK_RDLOCK;
	return flags & TSAN_MUTEX_TRY ? TRACE_RWLOCK_TRYWRLOCK : TRACE_RWLOCK_WRLOCK;
}

SNARLRT_INTERPOSE void __tsan_mutex_pre_lock(void *mutex, unsigned flags)
{
	note(TRACE_IGNORE_BEGIN, IGNORE_ALL, mutex, 0, SNARLRT_PC());
	if (!(flags & TSAN_MUTEX_TRY))
		snarlrt_wait_begin(lock_kind(flags), mutex, SNARLRT_PC());
}

SNARLRT_INTERPOSE void __tsan_mutex_post_lock(void *mutex, unsigned flags, int recursion)
{
	int result = flags & TSAN_MUTEX_TRY_FAILED ? EBUSY : 0;

	snarlrt_wait_end();
	note(TRACE_IGNORE_END, IGNORE_ALL, mutex, 0, SNARLRT_PC());
	snarlrt_note(lock_kind(flags), 0, mutex, (uint64_t)recursion, result, SNARLRT_PC());
}

/* Returns the number of recursion levels released. */
SNARLRT_INTERPOSE int __tsan_mutex_pre_unlock(void *mutex, unsigned flags)
{
	note(TRACE_RWLOCK_UNLOCK, 0, mutex, 0, SNARLRT_PC());
	note(TRACE_IGNORE_BEGIN, IGNORE_ALL, mutex, 0, SNARLRT_PC());
	return flags & TSAN_MUTEX_RECURSIVE_UNLOCK ? 1 : 0;
}

SNARLRT_INTERPOSE void __tsan_mutex_post_unlock(void *mutex, unsigned flags)
{
	(void)flags;
	note(TRACE_IGNORE_END, IGNORE_ALL, mutex, 0, SNARLRT_PC());
}

SNARLRT_INTERPOSE void __tsan_mutex_pre_signal(void *mutex, unsigned flags)
{
	(void)flags;
	note(TRACE_IGNORE_BEGIN, IGNORE_ALL, mutex, 0, SNARLRT_PC());
}

SNARLRT_INTERPOSE void __tsan_mutex_post_signal(void *mutex, unsigned flags)
{
	(void)flags;
	note(TRACE_IGNORE_END, IGNORE_ALL, mutex, 0, SNARLRT_PC());
}

/* The lock's code calls other code of the program, such as a logger: accesses are not ignored. */
SNARLRT_INTERPOSE void __tsan_mutex_pre_divert(void *mutex, unsigned flags)
{
	(void)flags;
	note(TRACE_IGNORE_END, IGNORE_ALL, mutex, 0, SNARLRT_PC());
}

SNARLRT_INTERPOSE void __tsan_mutex_post_divert(void *mutex, unsigned flags)
{
	(void)flags;
	note(TRACE_IGNORE_BEGIN, IGNORE_ALL, mutex, 0, SNARLRT_PC());
}

SNARLRT_INTERPOSE void __tsan_ignore_thread_begin(void)
{
	note(TRACE_IGNORE_BEGIN, IGNORE_ALL, NULL, 0, SNARLRT_PC());
}

SNARLRT_INTERPOSE void __tsan_ignore_thread_end(void)
{
	note(TRACE_IGNORE_END, IGNORE_ALL, NULL, 0, SNARLRT_PC());
}

/*
 * Fibers are not distinguished: their events are events of the kernel thread that runs them. A
 * handle only has to differ from NULL and from other live handles.
 */
static uintptr_t fibers;

SNARLRT_INTERPOSE void *__tsan_get_current_fiber(void)
{
	return &__snarl_tls;
}

SNARLRT_INTERPOSE void *__tsan_create_fiber(unsigned flags)
{
	(void)flags;
	return (void *)(__atomic_add_fetch(&fibers, 1, __ATOMIC_RELAXED) * 16);
}

SNARLRT_INTERPOSE void __tsan_destroy_fiber(void *fiber)
{
	(void)fiber;
}

SNARLRT_INTERPOSE void __tsan_switch_to_fiber(void *fiber, unsigned flags)
{
	(void)fiber;
	(void)flags;
}

SNARLRT_INTERPOSE void __tsan_set_fiber_name(void *fiber, const char *name)
{
	(void)fiber;
	(void)name;
}

/* Libraries that report accesses to their objects: recorded as accesses to the first byte. */

SNARLRT_INTERPOSE void *__tsan_external_register_tag(const char *name)
{
	return (void *)name;
}

SNARLRT_INTERPOSE void __tsan_external_register_header(void *tag, const char *header)
{
	(void)tag;
	(void)header;
}

SNARLRT_INTERPOSE void __tsan_external_assign_tag(void *p, void *tag)
{
	(void)p;
	(void)tag;
}

SNARLRT_INTERPOSE void __tsan_external_read(void *p, void *pc, void *tag)
{
	(void)tag;
	snarlrt_range(false, p, 1, pc);
}

SNARLRT_INTERPOSE void __tsan_external_write(void *p, void *pc, void *tag)
{
	(void)tag;
	snarlrt_range(true, p, 1, pc);
}

SNARLRT_INTERPOSE void __tsan_flush_memory(void)
{
}

/* The runtime makes no reports. */
SNARLRT_INTERPOSE void *__tsan_get_current_report(void)
{
	return NULL;
}
