/*
 * The functions behind dynamic_annotations.h. Their first two arguments are file and line, which
 * the event's site gives as well. Annotations without a meaning for a trace do nothing, but must
 * exist.
 */
#include "runtime/core/mode.h"

/* The headers of users declare these functions. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wunused-parameter"

enum ignore { IGNORE_READS = 1, IGNORE_WRITES = 2, IGNORE_SYNC = 4, IGNORE_ALL = 7 };

/* An annotation that becomes an event, and one that does nothing. */
#define NOTE(name, params, kind, detail, object, arg)                                   \
	SNARLRT_INTERPOSE void name params                                              \
	{                                                                               \
		snarlrt_note(kind, detail, (const void *)(object), arg, 0, SNARLRT_PC()); \
	}
#define NOTHING(name, params)                                                           \
	SNARLRT_INTERPOSE void name params                                              \
	{                                                                               \
	}

#define AT const char *file, int line
#define PTR const volatile void *p

/*
 * Happens-before, also by put and get of a queue, and by condition variables of the program's own.
 */
NOTE(AnnotateHappensBefore, (AT, PTR), TRACE_HB_BEFORE, 0, p, 0)
NOTE(AnnotateHappensAfter, (AT, PTR), TRACE_HB_AFTER, 0, p, 0)
NOTHING(AnnotateHappensBeforeForgetAll, (AT, PTR))
NOTE(WTFAnnotateHappensBefore, (AT, PTR), TRACE_HB_BEFORE, 0, p, 0)
NOTE(WTFAnnotateHappensAfter, (AT, PTR), TRACE_HB_AFTER, 0, p, 0)
NOTE(AnnotateCondVarSignal, (AT, PTR), TRACE_HB_BEFORE, 0, p, 0)
NOTE(AnnotateCondVarSignalAll, (AT, PTR), TRACE_HB_BEFORE, 0, p, 0)
NOTE(AnnotateCondVarWait, (AT, PTR, const volatile void *lock), TRACE_HB_AFTER, 0, p, 0)
NOTHING(AnnotatePCQCreate, (AT, PTR))
NOTHING(AnnotatePCQDestroy, (AT, PTR))
NOTE(AnnotatePCQPut, (AT, PTR), TRACE_HB_BEFORE, 0, p, 0)
NOTE(AnnotatePCQGet, (AT, PTR), TRACE_HB_AFTER, 0, p, 0)
NOTHING(AnnotatePublishMemoryRange, (AT, PTR, size_t size))
NOTHING(AnnotateUnpublishMemoryRange, (AT, PTR, size_t size))
NOTHING(AnnotateMutexIsNotPHB, (AT, PTR))
NOTHING(AnnotateMutexIsUsedAsCondVar, (AT, PTR))

/* Locks and barriers. */
NOTE(AnnotateRWLockCreate, (AT, PTR), TRACE_RWLOCK_INIT, 0, p, 0)
NOTE(AnnotateRWLockCreateStatic, (AT, PTR), TRACE_RWLOCK_INIT, 0, p, 0)
NOTE(AnnotateRWLockDestroy, (AT, PTR), TRACE_RWLOCK_DESTROY, 0, p, 0)
NOTE(AnnotateRWLockAcquired, (AT, PTR, long writer),
     writer ? TRACE_RWLOCK_WRLOCK : TRACE_RWLOCK_RDLOCK, 0, p, 0)
NOTE(AnnotateRWLockReleased, (AT, PTR, long writer), TRACE_RWLOCK_UNLOCK, 0, p, 0)
NOTE(AnnotateBarrierInit, (AT, PTR, long count, long again), TRACE_BARRIER_INIT, 0, p,
     (uint64_t)count)
NOTE(AnnotateBarrierWaitBefore, (AT, PTR), TRACE_BARRIER_ENTER, 0, p, 0)
NOTE(AnnotateBarrierWaitAfter, (AT, PTR), TRACE_BARRIER_LEAVE, 0, p, 0)
NOTE(AnnotateBarrierDestroy, (AT, PTR), TRACE_BARRIER_DESTROY, 0, p, 0)

/* Intended races. */
NOTE(AnnotateBenignRace, (AT, PTR, const char *why), TRACE_BENIGN, 0, p, 1)
NOTE(AnnotateBenignRaceSized, (AT, PTR, size_t size, const char *why), TRACE_BENIGN, 0, p, size)
NOTE(WTFAnnotateBenignRaceSized, (AT, PTR, size_t size, const char *why), TRACE_BENIGN, 0, p, size)
NOTE(AnnotateIgnoreReadsBegin, (AT), TRACE_IGNORE_BEGIN, IGNORE_READS, NULL, 0)
NOTE(AnnotateIgnoreReadsEnd, (AT), TRACE_IGNORE_END, IGNORE_READS, NULL, 0)
NOTE(AnnotateIgnoreWritesBegin, (AT), TRACE_IGNORE_BEGIN, IGNORE_WRITES, NULL, 0)
NOTE(AnnotateIgnoreWritesEnd, (AT), TRACE_IGNORE_END, IGNORE_WRITES, NULL, 0)
NOTE(AnnotateIgnoreSyncBegin, (AT), TRACE_IGNORE_BEGIN, IGNORE_SYNC, NULL, 0)
NOTE(AnnotateIgnoreSyncEnd, (AT), TRACE_IGNORE_END, IGNORE_SYNC, NULL, 0)
NOTE(AnnotateEnableRaceDetection, (AT, int enable),
     enable ? TRACE_IGNORE_END : TRACE_IGNORE_BEGIN, IGNORE_ALL, NULL, 0)
NOTHING(AnnotateExpectRace, (AT, PTR, const char *why))
NOTHING(AnnotateFlushExpectedRaces, (AT))

NOTHING(AnnotateNewMemory, (AT, PTR, size_t size))
NOTHING(AnnotateTraceMemory, (AT, PTR))
NOTHING(AnnotateThreadName, (AT, const char *name))
NOTHING(AnnotateFlushState, (AT))
NOTHING(AnnotateNoOp, (AT, PTR))
NOTHING(AnnotateMemoryIsInitialized, (AT, PTR, size_t size))
NOTHING(AnnotateMemoryIsUninitialized, (AT, PTR, size_t size))

/* The program runs natively: it need not lengthen its timeouts. */
SNARLRT_INTERPOSE int RunningOnValgrind(void)
{
	return 0;
}

SNARLRT_INTERPOSE double ValgrindSlowdown(void)
{
	return 1.0;
}
