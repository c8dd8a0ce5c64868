/* The annotations of ThreadSanitizer and of dynamic_annotations.h. */
#include <stddef.h>
#include <stdlib.h>

void __tsan_acquire(void *p);
void __tsan_release(void *p);
void __tsan_mutex_create(void *mutex, unsigned flags);
void __tsan_mutex_destroy(void *mutex, unsigned flags);
void __tsan_mutex_pre_lock(void *mutex, unsigned flags);
void __tsan_mutex_post_lock(void *mutex, unsigned flags, int recursion);
int __tsan_mutex_pre_unlock(void *mutex, unsigned flags);
void __tsan_mutex_post_unlock(void *mutex, unsigned flags);
void __tsan_mutex_pre_signal(void *mutex, unsigned flags);
void __tsan_mutex_post_signal(void *mutex, unsigned flags);
void __tsan_mutex_pre_divert(void *mutex, unsigned flags);
void __tsan_mutex_post_divert(void *mutex, unsigned flags);
void __tsan_ignore_thread_begin(void);
void __tsan_ignore_thread_end(void);
void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void *fiber);
void __tsan_switch_to_fiber(void *fiber, unsigned flags);

void AnnotateHappensBefore(const char *file, int line, const volatile void *p);
void AnnotateHappensAfter(const char *file, int line, const volatile void *p);
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);
void AnnotateBenignRaceSized(const char *file, int line, const volatile void *p, size_t size,
			     const char *why);
void AnnotateRWLockCreate(const char *file, int line, const volatile void *lock);
void AnnotateRWLockAcquired(const char *file, int line, const volatile void *lock, long writer);
void AnnotateRWLockReleased(const char *file, int line, const volatile void *lock, long writer);
void AnnotateRWLockDestroy(const char *file, int line, const volatile void *lock);
void AnnotateThreadName(const char *file, int line, const char *name);
int RunningOnValgrind(void);

#define READ_LOCK (1 << 3)
#define TRY_LOCK (1 << 4)
#define TRY_LOCK_FAILED (1 << 5)

static int tag, lock, data;

static void tsan(void)
{
	__tsan_release(&tag);
	__tsan_acquire(&tag);

	__tsan_mutex_create(&lock, 0);
	__tsan_mutex_pre_lock(&lock, 0);
	__tsan_mutex_post_lock(&lock, 0, 1);
	if (__tsan_mutex_pre_unlock(&lock, 0) != 0)
		abort();
	__tsan_mutex_post_unlock(&lock, 0);
	__tsan_mutex_pre_lock(&lock, READ_LOCK);
	__tsan_mutex_post_lock(&lock, READ_LOCK, 1);
	__tsan_mutex_pre_unlock(&lock, READ_LOCK);
	__tsan_mutex_post_unlock(&lock, READ_LOCK);
	__tsan_mutex_pre_lock(&lock, TRY_LOCK);
	__tsan_mutex_post_lock(&lock, TRY_LOCK | TRY_LOCK_FAILED, 1);
	__tsan_mutex_pre_signal(&lock, 0);
	__tsan_mutex_pre_divert(&lock, 0);
	__tsan_mutex_post_divert(&lock, 0);
	__tsan_mutex_post_signal(&lock, 0);
	__tsan_mutex_destroy(&lock, 0);

	__tsan_ignore_thread_begin();
	__tsan_ignore_thread_end();
}

static void fibers(void)
{
	void *home = __tsan_get_current_fiber(), *one = __tsan_create_fiber(0);

	if (!home || !one || home == one)
		abort();
	__tsan_switch_to_fiber(one, 0);
	__tsan_switch_to_fiber(home, 0);
	__tsan_destroy_fiber(one);
}

static void dynamic(void)
{
	AnnotateHappensBefore(__FILE__, __LINE__, &tag);
	AnnotateHappensAfter(__FILE__, __LINE__, &tag);
	AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
	AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
	AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
	AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
	AnnotateBenignRaceSized(__FILE__, __LINE__, &data, sizeof(data), "a counter");
	AnnotateRWLockCreate(__FILE__, __LINE__, &lock);
	AnnotateRWLockAcquired(__FILE__, __LINE__, &lock, 1);
	AnnotateRWLockReleased(__FILE__, __LINE__, &lock, 1);
	AnnotateRWLockAcquired(__FILE__, __LINE__, &lock, 0);
	AnnotateRWLockReleased(__FILE__, __LINE__, &lock, 0);
	AnnotateRWLockDestroy(__FILE__, __LINE__, &lock);
	AnnotateThreadName(__FILE__, __LINE__, "main");
	if (RunningOnValgrind())
		abort();
}

int main(void)
{
	tsan();
	fibers();
	dynamic();
	return 0;
}
