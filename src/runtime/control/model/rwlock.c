/*
 * Readers-writer locks. Fields of glibc's struct:
 *
 * __readers     number of readers, from bit READER_SHIFT on; the bits below are libc's,
 *               from before control began
 * __cur_writer  trace id of the writer
 * __writers     number of waiting writers; kept only if writers are preferred
 * __pad2        readers since the lock was last free: bit id modulo 64
 * __pad4        DESTROYED, or 0
 * __flags       as the real init or the static initialiser set it
 *
 * By default a waiting writer does not keep readers out, and the strategy decides which waiter
 * gets the lock. With PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP it keeps them out. Beginning to
 * wait is a step of its own then, since it changes what other threads can do.
 */
#include "runtime/control/model/models.h"
#include "runtime/core/real.h"

#define READER_SHIFT 3
#define READER (1u << READER_SHIFT)
#define DESTROYED 0x64656164u

static inline struct __pthread_rwlock_arch_t *state_of(const struct ctl_wait *w)
{
	return &((pthread_rwlock_t *)(uintptr_t)w->event.object)->__data;
}

static inline bool is_mine(const struct __pthread_rwlock_arch_t *l, uint32_t thread)
{
	return l->__cur_writer == (int)thread + 1;
}

static inline bool is_read(const struct __pthread_rwlock_arch_t *l)
{
	return l->__readers >> READER_SHIFT != 0;
}

static inline bool prefers_writers(const struct __pthread_rwlock_arch_t *l)
{
	return l->__flags == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP;
}

static inline bool is_free_to_read(const struct __pthread_rwlock_arch_t *l)
{
	return !l->__cur_writer && !(prefers_writers(l) && l->__writers);
}

static inline bool is_free_to_write(const struct __pthread_rwlock_arch_t *l)
{
	return !l->__cur_writer && !is_read(l);
}

/* The writer itself does not wait: it gets EDEADLK. */
static bool can_read(const struct ctl_wait *w)
{
	return is_free_to_read(state_of(w)) || is_mine(state_of(w), w->thread);
}

static bool can_write(const struct ctl_wait *w)
{
	return is_free_to_write(state_of(w)) || is_mine(state_of(w), w->thread);
}

static inline uint64_t reader_bit(void)
{
	return 1ull << (ctl_self()->id % 64);
}

static void check_usable(pthread_rwlock_t *lock, const void *pc)
{
	if (lock->__data.__pad4 == DESTROYED)
		ctl_misuse(lock, pc, "use of a readers-writer lock that was destroyed");
}

static int take_read(pthread_rwlock_t *lock, const void *pc)
{
	struct __pthread_rwlock_arch_t *l = &lock->__data;

	if (is_mine(l, ctl_self()->number))
		return EDEADLK;
	l->__readers += READER;
	l->__pad2 |= reader_bit();
	ctl_changed(lock);
	ctl_held_add(lock, pc);
	return 0;
}

static int take_write(pthread_rwlock_t *lock, const void *pc)
{
	struct __pthread_rwlock_arch_t *l = &lock->__data;

	if (is_mine(l, ctl_self()->number))
		return EDEADLK;
	l->__cur_writer = (int)ctl_self()->id;
	ctl_changed(lock);
	ctl_held_add(lock, pc);
	return 0;
}

/* Returns false if the limit is invalid. libc checks it even if the lock is free. */
static bool set_limit(struct ctl_wait *w, clockid_t clock, const struct timespec *limit)
{
	if (!limit)
		return true;
	if (!model_clock_known(clock) || !model_limit_valid(limit))
		return false;
	model_set_deadline(w, ctl_deadline(clock, limit));
	return true;
}

static int lock_read(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *limit,
		     enum trace_kind kind, const void *pc)
{
	struct ctl_wait w = CTL_WAIT(SCHED_OP_ACQUIRE, lock, can_read, pc);

	if (!set_limit(&w, clock, limit))
		return EINVAL;
	model_wait(&w, kind);
	check_usable(lock, pc);
	return can_read(&w) ? take_read(lock, pc) : ETIMEDOUT;
}

static int lock_write(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *limit,
		      enum trace_kind kind, const void *pc)
{
	struct ctl_wait w = CTL_WAIT(SCHED_OP_ACQUIRE, lock, can_write, pc);
	struct __pthread_rwlock_arch_t *l = &lock->__data;

	if (!set_limit(&w, clock, limit))
		return EINVAL;
	ctl_object_used(kind, lock, 0, pc);
	if (prefers_writers(l)) {
		model_point(SCHED_OP_ACQUIRE, kind, lock, pc);
		w.thread = ctl_self()->number;
		if (!can_write(&w)) {
			l->__writers++;
			ctl_changed(lock);
			model_wait(&w, kind);
			l->__writers--;
			ctl_changed(lock);
		}
	} else {
		model_wait(&w, kind);
	}
	check_usable(lock, pc);
	return can_write(&w) ? take_write(lock, pc) : ETIMEDOUT;
}

int model_rwlock_rdlock(pthread_rwlock_t *lock, const void *pc)
{
	int result = lock_read(lock, 0, NULL, TRACE_RWLOCK_RDLOCK, pc);

	snarlrt_note(TRACE_RWLOCK_RDLOCK, 0, lock, 0, result, pc);
	return result;
}

int model_rwlock_timedrdlock(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *limit,
			     const void *pc)
{
	int result = lock_read(lock, clock, limit, TRACE_RWLOCK_TIMEDRDLOCK, pc);

	snarlrt_note(TRACE_RWLOCK_TIMEDRDLOCK, TRACE_TIMED, lock, 0, result, pc);
	return result;
}

int model_rwlock_tryrdlock(pthread_rwlock_t *lock, const void *pc)
{
	int result;

	model_point(SCHED_OP_TRY, TRACE_RWLOCK_TRYRDLOCK, lock, pc);
	check_usable(lock, pc);
	result = is_free_to_read(&lock->__data) ? take_read(lock, pc) : EBUSY;
	snarlrt_note(TRACE_RWLOCK_TRYRDLOCK, 0, lock, 0, result, pc);
	return result;
}

int model_rwlock_wrlock(pthread_rwlock_t *lock, const void *pc)
{
	int result = lock_write(lock, 0, NULL, TRACE_RWLOCK_WRLOCK, pc);

	snarlrt_note(TRACE_RWLOCK_WRLOCK, 0, lock, 0, result, pc);
	return result;
}

int model_rwlock_timedwrlock(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *limit,
			     const void *pc)
{
	int result = lock_write(lock, clock, limit, TRACE_RWLOCK_TIMEDWRLOCK, pc);

	snarlrt_note(TRACE_RWLOCK_TIMEDWRLOCK, TRACE_TIMED, lock, 0, result, pc);
	return result;
}

int model_rwlock_trywrlock(pthread_rwlock_t *lock, const void *pc)
{
	int result;

	model_point(SCHED_OP_TRY, TRACE_RWLOCK_TRYWRLOCK, lock, pc);
	check_usable(lock, pc);
	result = is_free_to_write(&lock->__data) ? take_write(lock, pc) : EBUSY;
	snarlrt_note(TRACE_RWLOCK_TRYWRLOCK, 0, lock, 0, result, pc);
	return result;
}

/*
 * Unlocks. An unlock by the wrong thread is undefined in libc; here it takes effect. Readers are
 * known by number and by the bits of __pad2: a thread that never locked is detected, one that has
 * unlocked already is not.
 */
int model_rwlock_unlock(pthread_rwlock_t *lock, const void *pc)
{
	struct __pthread_rwlock_arch_t *l = &lock->__data;

	model_point(SCHED_OP_RELEASE, TRACE_RWLOCK_UNLOCK, lock, pc);
	snarlrt_note(TRACE_RWLOCK_UNLOCK, 0, lock, 0, 0, pc);
	check_usable(lock, pc);
	if (l->__cur_writer) {
		if (!is_mine(l, ctl_self()->number))
			ctl_misuse(lock, pc, "unlock of a readers-writer lock that another thread "
				   "holds for writing");
		l->__cur_writer = 0;
	} else if (is_read(l)) {
		if (!(l->__pad2 & reader_bit()))
			ctl_misuse(lock, pc, "unlock of a readers-writer lock by a thread that "
				   "does not hold it");
		l->__readers -= READER;
		if (!is_read(l))
			l->__pad2 = 0;
	} else {
		ctl_misuse(lock, pc, "unlock of a readers-writer lock that is not locked");
	}
	ctl_held_drop(lock);
	ctl_changed(lock);
	return 0;
}

int model_rwlock_destroy(pthread_rwlock_t *lock, const void *pc)
{
	struct __pthread_rwlock_arch_t *l = &lock->__data;
	int result;

	model_point(SCHED_OP_OTHER, TRACE_RWLOCK_DESTROY, lock, pc);
	check_usable(lock, pc);
	if (l->__cur_writer || is_read(l))
		ctl_misuse(lock, pc, "destruction of a readers-writer lock that is locked");
	result = REAL(pthread_rwlock_destroy)(lock);
	l->__pad4 = DESTROYED;
	snarlrt_note(TRACE_RWLOCK_DESTROY, 0, lock, 0, result, pc);
	return result;
}
