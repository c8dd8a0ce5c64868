/* Declarations as in snarl.h, <sanitizer/tsan_interface.h> and dynamic_annotations.h. */
#include <stddef.h>

#include "snarl.h"

void __tsan_acquire(void *p);
void __tsan_release(void *p);
void __tsan_mutex_pre_lock(void *mutex, unsigned flags);
void __tsan_mutex_post_lock(void *mutex, unsigned flags, int recursion);
int __tsan_mutex_pre_unlock(void *mutex, unsigned flags);
void __tsan_mutex_post_unlock(void *mutex, unsigned flags);
void __tsan_ignore_thread_begin(void);
void __tsan_ignore_thread_end(void);
void AnnotateHappensBefore(const char *file, int line, const volatile void *p);
void AnnotateHappensAfter(const char *file, int line, const volatile void *p);
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);
void AnnotateBenignRace(const char *file, int line, const volatile void *p, const char *why);
void AnnotateBenignRaceSized(const char *file, int line, const volatile void *p, size_t size,
			     const char *why);
void AnnotateRWLockAcquired(const char *file, int line, const volatile void *lock, long writer);
void AnnotateRWLockReleased(const char *file, int line, const volatile void *lock, long writer);
