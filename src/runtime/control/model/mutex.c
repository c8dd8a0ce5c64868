/*
 * Mutexes of all kinds. Fields of glibc's struct:
 *
 * __lock    low half: the holder's trace id; above: LOCK_DIED, and the ceiling of a
 *           priority-protected mutex. A mutex that main locked before control began
 *           holds 1, which is main's id
 * __count   depth of a recursive mutex
 * __owner   the holder, or the state of a robust mutex (OWNER_...)
 * __nusers  holders and waiters of conditions: the real destroy checks it
 * __kind    as the real init or the static initialiser set it
 * __list    links the robust mutexes that are held
 *
 * Priority inheritance and ceilings have no effect: only the chosen thread runs.
 */
#include "runtime/control/model/models.h"

#define LOCK_ID 0xffffu
#define LOCK_DIED 0x40000000

#define OWNER_INCONSISTENT INT32_MAX
#define OWNER_NOT_RECOVERABLE (INT32_MAX - 1)

#define KIND_TYPE 3
#define KIND_ROBUST 16
#define KIND_KNOWN 0x3f3	/* with the bits for inheritance, ceiling, shared and elision */

/* List of all robust mutexes that any thread holds. */
static __pthread_list_t *robust_held;

static inline uint32_t holder_of(const struct __pthread_mutex_s *m)
{
	return (uint32_t)m->__lock & LOCK_ID;
}

static inline bool is_robust(const struct __pthread_mutex_s *m)
{
	return m->__kind & KIND_ROBUST;
}

static inline bool is_recursive(const struct __pthread_mutex_s *m)
{
	return (m->__kind & KIND_TYPE) == PTHREAD_MUTEX_RECURSIVE;
}

static inline bool is_errorcheck(const struct __pthread_mutex_s *m)
{
	return (m->__kind & KIND_TYPE) == PTHREAD_MUTEX_ERRORCHECK;
}

/* The real destroy leaves an invalid kind. */
static bool is_usable(pthread_mutex_t *mutex, const void *pc)
{
	if (!(mutex->__data.__kind & ~KIND_KNOWN))
		return true;
	ctl_misuse(mutex, pc, "use of a mutex that was destroyed or never initialised");
	return false;
}

/* Would a lock return at once? To the holder itself, possibly with an error. */
static bool can_lock(const struct ctl_wait *w)
{
	const struct __pthread_mutex_s *m =
		&((const pthread_mutex_t *)(uintptr_t)w->event.object)->__data;
	uint32_t holder = holder_of(m);

	return !holder ||
	       (holder == w->thread + 1 && (is_recursive(m) || is_errorcheck(m))) ||
	       (m->__kind & ~KIND_KNOWN);
}

static void robust_add(struct __pthread_mutex_s *m)
{
	m->__list.__prev = NULL;
	m->__list.__next = robust_held;
	if (robust_held)
		robust_held->__prev = &m->__list;
	robust_held = &m->__list;
}

static void robust_remove(struct __pthread_mutex_s *m)
{
	if (m->__list.__next)
		m->__list.__next->__prev = m->__list.__prev;
	if (m->__list.__prev)
		m->__list.__prev->__next = m->__list.__next;
	else
		robust_held = m->__list.__next;
	m->__list.__prev = m->__list.__next = NULL;
}

static int acquire_again(struct __pthread_mutex_s *m)
{
	if (!is_recursive(m))
		return EDEADLK;
	if (m->__count + 1 == 0)
		return EAGAIN;
	m->__count++;
	return 0;
}

/* Locks if can_lock() holds. `users` is 0 if __nusers counts the thread already, else 1. */
static int acquire(pthread_mutex_t *mutex, unsigned users, const void *pc)
{
	struct __pthread_mutex_s *m = &mutex->__data;
	uint32_t me = ctl_self()->id;
	bool owner_died = m->__lock & LOCK_DIED;

	if (holder_of(m) == me)
		return acquire_again(m);
	if (is_robust(m) && m->__owner == OWNER_NOT_RECOVERABLE)
		return ENOTRECOVERABLE;
	m->__lock = (int)(((uint32_t)m->__lock & ~(LOCK_ID | LOCK_DIED)) | me);
	m->__owner = owner_died ? OWNER_INCONSISTENT : (int)me;
	m->__count = is_recursive(m);
	m->__nusers += users - owner_died;	/* the dead owner still counts */
	if (is_robust(m))
		robust_add(m);
	ctl_changed(mutex);
	ctl_held_add(mutex, pc);
	return owner_died ? EOWNERDEAD : 0;
}

static void set_free(pthread_mutex_t *mutex, unsigned users)
{
	struct __pthread_mutex_s *m = &mutex->__data;

	if (is_robust(m))
		robust_remove(m);
	m->__owner = is_robust(m) && m->__owner == OWNER_INCONSISTENT ? OWNER_NOT_RECOVERABLE : 0;
	m->__lock = (int)((uint32_t)m->__lock & ~LOCK_ID);
	m->__nusers -= users;
	ctl_held_drop(mutex);
	ctl_changed(mutex);
}

/* Unlocks for the holder, or for any thread if the kind does not check the owner. */
static int release(pthread_mutex_t *mutex, unsigned users)
{
	struct __pthread_mutex_s *m = &mutex->__data;

	if (!model_mutex_is_held_by_self(mutex) && model_mutex_checks_owner(mutex))
		return EPERM;
	if (!holder_of(m))
		return 0;
	if (is_recursive(m) && --m->__count != 0)
		return m->__owner == OWNER_INCONSISTENT ? ENOTRECOVERABLE : 0;
	set_free(mutex, users);
	return 0;
}

bool model_mutex_is_held_by_self(const pthread_mutex_t *mutex)
{
	return holder_of(&mutex->__data) == ctl_self()->id;
}

bool model_mutex_checks_owner(const pthread_mutex_t *mutex)
{
	const struct __pthread_mutex_s *m = &mutex->__data;

	return is_robust(m) || is_recursive(m) || is_errorcheck(m);
}

int model_mutex_wait_unlock(pthread_mutex_t *mutex)
{
	return release(mutex, 0);
}

int model_mutex_wait_relock(pthread_mutex_t *mutex, const void *pc)
{
	struct ctl_wait w = CTL_WAIT(SCHED_OP_ACQUIRE, mutex, can_lock, pc);

	model_sleep(&w, TRACE_COND_WAIT);
	ctl_object_used(TRACE_MUTEX_LOCK, mutex, 0, pc);
	return acquire(mutex, 0, pc);
}

int model_mutex_lock(pthread_mutex_t *mutex, unsigned detail, const void *pc)
{
	struct ctl_wait w = CTL_WAIT(SCHED_OP_ACQUIRE, mutex, can_lock, pc);
	int result;

	model_wait(&w, TRACE_MUTEX_LOCK);
	result = is_usable(mutex, pc) ? acquire(mutex, 1, pc) : EINVAL;
	snarlrt_note(TRACE_MUTEX_LOCK, detail, mutex, 0, result, pc);
	return result;
}

/* As in glibc, a held error-checking mutex is busy even for its holder, unless it is robust. */
static int try_lock(pthread_mutex_t *mutex, const void *pc)
{
	const struct __pthread_mutex_s *m = &mutex->__data;
	uint32_t holder = holder_of(m);

	if (!holder || (holder == ctl_self()->id &&
			(is_recursive(m) || (is_robust(m) && is_errorcheck(m)))))
		return acquire(mutex, 1, pc);
	return EBUSY;
}

int model_mutex_trylock(pthread_mutex_t *mutex, unsigned detail, const void *pc)
{
	int result;

	model_point(SCHED_OP_TRY, TRACE_MUTEX_TRYLOCK, mutex, pc);
	result = is_usable(mutex, pc) ? try_lock(mutex, pc) : EINVAL;
	snarlrt_note(TRACE_MUTEX_TRYLOCK, detail, mutex, 0, result, pc);
	return result;
}

static int timedlock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *limit,
		     const void *pc)
{
	struct ctl_wait w = CTL_WAIT(SCHED_OP_ACQUIRE, mutex, can_lock, pc);

	if (!model_clock_known(clock))
		return EINVAL;
	model_set_deadline(&w, ctl_deadline(clock, limit));
	model_wait(&w, TRACE_MUTEX_TIMEDLOCK);
	if (!is_usable(mutex, pc))
		return EINVAL;
	if (can_lock(&w))
		return acquire(mutex, 1, pc);
	return model_limit_valid(limit) ? ETIMEDOUT : EINVAL;
}

int model_mutex_timedlock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *limit,
			  unsigned detail, const void *pc)
{
	int result = timedlock(mutex, clock, limit, pc);

	snarlrt_note(TRACE_MUTEX_TIMEDLOCK, detail | TRACE_TIMED, mutex, 0, result, pc);
	return result;
}

int model_mutex_unlock(pthread_mutex_t *mutex, unsigned detail, const void *pc)
{
	int result;

	model_point(SCHED_OP_RELEASE, TRACE_MUTEX_UNLOCK, mutex, pc);
	snarlrt_note(TRACE_MUTEX_UNLOCK, detail, mutex, 0, 0, pc);
	if (!is_usable(mutex, pc)) {
		result = EINVAL;
	} else {
		if (!model_mutex_is_held_by_self(mutex) && !model_mutex_checks_owner(mutex))
			ctl_misuse(mutex, pc, holder_of(&mutex->__data) ?
				   "unlock of a mutex that another thread holds" :
				   "unlock of a mutex that is not locked");
		result = release(mutex, 1);
	}
	if (result)
		snarlrt_note(TRACE_MUTEX_UNLOCK, detail, mutex, 0, result, pc);
	return result;
}

int model_mutex_consistent(pthread_mutex_t *mutex, const void *pc)
{
	struct __pthread_mutex_s *m = &mutex->__data;
	int result = EINVAL;

	model_point(SCHED_OP_OTHER, TRACE_MUTEX_CONSISTENT, mutex, pc);
	if (is_usable(mutex, pc) && is_robust(m) && m->__owner == OWNER_INCONSISTENT) {
		m->__owner = (int)ctl_self()->id;
		result = 0;
	}
	snarlrt_note(TRACE_MUTEX_CONSISTENT, 0, mutex, 0, result, pc);
	return result;
}

void model_mutex_destroying(pthread_mutex_t *mutex, const void *pc)
{
	model_point(SCHED_OP_OTHER, TRACE_MUTEX_DESTROY, mutex, pc);
	if (is_usable(mutex, pc) && holder_of(&mutex->__data))
		ctl_misuse(mutex, pc, "destruction of a mutex that is locked");
}

void model_mutex_owner_ended(struct ctl_thread *t)
{
	__pthread_list_t *next;

	for (__pthread_list_t *at = robust_held; at; at = next) {
		pthread_mutex_t *mutex = (pthread_mutex_t *)((char *)at -
			offsetof(pthread_mutex_t, __data.__list));
		struct __pthread_mutex_s *m = &mutex->__data;

		next = at->__next;
		if (holder_of(m) != t->id)
			continue;
		robust_remove(m);
		m->__lock = (int)(((uint32_t)m->__lock & ~LOCK_ID) | LOCK_DIED);
		ctl_changed(mutex);
	}
}
