/*
 * Thread-specific data (pthread and C11 keys) and destructors of C++ thread_local objects under
 * control.
 *
 * With user-level threads libc never sees a thread end and would not run the destructors. In mode
 * control all keys are therefore implemented here, from the start of the process. libc's internal
 * uses of its keys do not come here. In other modes all calls go to libc.
 *
 * A value is valid only for the key for which it was set: `generation` changes with each creation
 * and deletion of a key, and is odd while the key exists.
 *
 * A thread's values are reached through thread-local storage, which is switched with the thread.
 * Uncontrolled threads have values, too, but their destructors are not run.
 */
#include <errno.h>
#include <limits.h>

#include "runtime/control/control.h"
#include "runtime/core/arena.h"
#include "runtime/core/lock.h"
#include "runtime/core/real.h"

struct ctl_keys {
	uint32_t used;		/* keys at or above this have no value */
	struct ctl_keys *next_free;
	struct {
		void *value;
		uint32_t generation;
	} at[PTHREAD_KEYS_MAX];
};

struct at_exit {
	void (*run)(void *);
	void *object;
	struct at_exit *next;
};

static struct {
	struct snarlrt_lock lock;
	struct {
		void (*destructor)(void *);
		uint32_t generation;
	} key[PTHREAD_KEYS_MAX];
	struct ctl_keys *free;
	struct at_exit *free_exits;
} keys SNARLRT_BIG;

static __thread struct ctl_keys *own_keys;
static __thread struct at_exit *own_exits;

static inline bool controlled(void)
{
	return unlikely(mode_controls());
}

static int key_create(unsigned *out, void (*destructor)(void *))
{
	int error = EAGAIN;

	snarlrt_lock(&keys.lock);
	for (unsigned i = 0; i < PTHREAD_KEYS_MAX; i++)
		if (!(keys.key[i].generation & 1)) {
			keys.key[i].generation++;
			keys.key[i].destructor = destructor;
			*out = i;
			error = 0;
			break;
		}
	snarlrt_unlock(&keys.lock);
	return error;
}

static inline bool key_exists(unsigned key)
{
	return key < PTHREAD_KEYS_MAX && keys.key[key].generation & 1;
}

static int key_delete(unsigned key)
{
	int error = EINVAL;

	snarlrt_lock(&keys.lock);
	if (key_exists(key)) {
		keys.key[key].generation++;
		error = 0;
	}
	snarlrt_unlock(&keys.lock);
	return error;
}

static void *key_get(unsigned key)
{
	const struct ctl_keys *k = own_keys;

	if (!k || key >= k->used || k->at[key].generation != keys.key[key].generation)
		return NULL;
	return k->at[key].value;
}

/* Reuses the array of a thread that has ended; its values are all NULL. */
static struct ctl_keys *keys_new(void)
{
	struct ctl_keys *k;

	snarlrt_lock(&keys.lock);
	k = keys.free;
	if (k)
		keys.free = k->next_free;
	snarlrt_unlock(&keys.lock);
	/* Fresh pages are zero, and touched only as far as keys are used. */
	return k ? k : arena_pages(sizeof(*k));
}

static int key_set(unsigned key, void *value)
{
	if (!key_exists(key))
		return EINVAL;
	if (!own_keys) {
		if (!value)
			return 0;
		own_keys = keys_new();
		if (!own_keys)
			return ENOMEM;
	}
	own_keys->at[key].value = value;
	own_keys->at[key].generation = keys.key[key].generation;
	if (own_keys->used <= key)
		own_keys->used = key + 1;
	return 0;
}

/* Runs the destructor of each value once. Values that destructors set are for the next round. */
static bool keys_round(struct ctl_keys *k)
{
	bool any = false;

	for (unsigned i = 0; i < k->used; i++) {
		void (*destructor)(void *) = keys.key[i].destructor;
		void *value = key_get(i);

		if (!value || !(keys.key[i].generation & 1) || !destructor)
			continue;
		k->at[i].value = NULL;
		destructor(value);
		any = true;
	}
	return any;
}

void ctl_keys_run_destructors(struct ctl_thread *t)
{
	struct ctl_keys *k = own_keys;

	(void)t;
	if (!k)
		return;
	for (int i = 0; i < PTHREAD_DESTRUCTOR_ITERATIONS && keys_round(k); i++)
		;
	for (unsigned i = 0; i < k->used; i++)
		k->at[i].value = NULL;
	k->used = 0;
	own_keys = NULL;
	snarlrt_lock(&keys.lock);
	k->next_free = keys.free;
	keys.free = k;
	snarlrt_unlock(&keys.lock);
}

static int exit_add(void (*run)(void *), void *object)
{
	struct at_exit *e;

	snarlrt_lock(&keys.lock);
	e = keys.free_exits;
	if (e)
		keys.free_exits = e->next;
	snarlrt_unlock(&keys.lock);
	if (!e)
		e = arena_alloc(sizeof(*e));
	if (!e)
		return -1;
	*e = (struct at_exit){ run, object, own_exits };
	own_exits = e;
	return 0;
}

/* A destructor may create another thread_local object, which is destroyed next. */
void ctl_thread_atexit_run(struct ctl_thread *t)
{
	(void)t;
	while (own_exits) {
		struct at_exit *e = own_exits, copy = *e;

		own_exits = e->next;
		snarlrt_lock(&keys.lock);
		e->next = keys.free_exits;
		keys.free_exits = e;
		snarlrt_unlock(&keys.lock);
		copy.run(copy.object);
	}
}

SNARLRT_INTERPOSE int pthread_key_create(pthread_key_t *key, void (*destructor)(void *))
{
	if (controlled())
		return key_create(key, destructor);
	snarlrt_real_ready();
	return REAL(pthread_key_create)(key, destructor);
}

SNARLRT_INTERPOSE int pthread_key_delete(pthread_key_t key)
{
	if (controlled())
		return key_delete(key);
	snarlrt_real_ready();
	return REAL(pthread_key_delete)(key);
}

SNARLRT_INTERPOSE void *pthread_getspecific(pthread_key_t key)
{
	if (controlled())
		return key_get(key);
	snarlrt_real_ready();
	return REAL(pthread_getspecific)(key);
}

SNARLRT_INTERPOSE int pthread_setspecific(pthread_key_t key, const void *value)
{
	if (controlled())
		return key_set(key, (void *)value);
	snarlrt_real_ready();
	return REAL(pthread_setspecific)(key, value);
}

SNARLRT_INTERPOSE int tss_create(tss_t *key, tss_dtor_t destructor)
{
	if (controlled())
		return key_create(key, destructor) == 0 ? thrd_success : thrd_error;
	snarlrt_real_ready();
	return REAL(tss_create)(key, destructor);
}

SNARLRT_INTERPOSE void tss_delete(tss_t key)
{
	if (controlled()) {
		key_delete(key);
		return;
	}
	snarlrt_real_ready();
	REAL(tss_delete)(key);
}

SNARLRT_INTERPOSE void *tss_get(tss_t key)
{
	if (controlled())
		return key_get(key);
	snarlrt_real_ready();
	return REAL(tss_get)(key);
}

SNARLRT_INTERPOSE int tss_set(tss_t key, void *value)
{
	if (controlled())
		return key_set(key, value) == 0 ? thrd_success : thrd_error;
	snarlrt_real_ready();
	return REAL(tss_set)(key, value);
}

/* Unlike libc, does not keep the library `dso` loaded until the thread ends. */
SNARLRT_INTERPOSE int __cxa_thread_atexit_impl(void (*run)(void *), void *object, void *dso)
{
	if (controlled())
		return exit_add(run, object);
	snarlrt_real_ready();
	return REAL(__cxa_thread_atexit_impl)(run, object, dso);
}
