/*
 * Calls on files that may block: opening (a FIFO waits for its other end),
 * closing, writing back, locking.
 */
#include "runtime/call.h"

/* libc reads the mode only where one is meant; so do we. */
static mode_t open_mode(int flags, va_list args)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(args, mode_t) : 0;
}

#define OPEN_FN(name, params, args)                                                       \
	SNARLRT_INTERPOSE int name params                                                 \
	{                                                                                 \
		SNARLRT_CALL(c, TRACE_CALL_OPEN, SNARLRT_NO_FD);                          \
		va_list rest;                                                             \
		mode_t mode;                                                              \
                                                                                          \
		va_start(rest, flags);                                                    \
		mode = open_mode(flags, rest);                                            \
		va_end(rest);                                                             \
		return (int)snarlrt_call_leave(&c, REAL(name) args);                      \
	}

#define SIMPLE_FN(name, what, fd, params, args)                                           \
	SNARLRT_INTERPOSE int name params                                                 \
	{                                                                                 \
		SNARLRT_CALL(c, what, fd);                                                \
		return (int)snarlrt_call_leave(&c, REAL(name) args);                      \
	}

OPEN_FN(open, (const char *path, int flags, ...), (path, flags, mode))
OPEN_FN(open64, (const char *path, int flags, ...), (path, flags, mode))
OPEN_FN(openat, (int dir, const char *path, int flags, ...), (dir, path, flags, mode))
OPEN_FN(openat64, (int dir, const char *path, int flags, ...), (dir, path, flags, mode))
SIMPLE_FN(creat, TRACE_CALL_OPEN, SNARLRT_NO_FD, (const char *path, mode_t mode), (path, mode))
SIMPLE_FN(creat64, TRACE_CALL_OPEN, SNARLRT_NO_FD, (const char *path, mode_t mode), (path, mode))
SIMPLE_FN(__open_2, TRACE_CALL_OPEN, SNARLRT_NO_FD, (const char *path, int flags), (path, flags))
SIMPLE_FN(__open64_2, TRACE_CALL_OPEN, SNARLRT_NO_FD, (const char *path, int flags), (path, flags))
SIMPLE_FN(__openat_2, TRACE_CALL_OPEN, SNARLRT_NO_FD, (int dir, const char *path, int flags),
	  (dir, path, flags))
SIMPLE_FN(__openat64_2, TRACE_CALL_OPEN, SNARLRT_NO_FD, (int dir, const char *path, int flags),
	  (dir, path, flags))

SIMPLE_FN(close, TRACE_CALL_CLOSE, fd, (int fd), (fd))
SIMPLE_FN(fsync, TRACE_CALL_FSYNC, fd, (int fd), (fd))
SIMPLE_FN(fdatasync, TRACE_CALL_FSYNC, fd, (int fd), (fd))
SIMPLE_FN(msync, TRACE_CALL_FSYNC, SNARLRT_NO_FD, (void *p, size_t size, int flags),
	  (p, size, flags))
SIMPLE_FN(flock, TRACE_CALL_FLOCK, fd, (int fd, int operation), (fd, operation))
SIMPLE_FN(lockf, TRACE_CALL_FLOCK, fd, (int fd, int command, off_t size), (fd, command, size))
SIMPLE_FN(lockf64, TRACE_CALL_FLOCK, fd, (int fd, int command, off64_t size), (fd, command, size))

/* The third argument is an int, a pointer or absent: a register that we hand on. */
#define FCNTL_FN(name)                                                                    \
	SNARLRT_INTERPOSE int name(int fd, int command, ...)                              \
	{                                                                                 \
		struct snarlrt_call c __attribute__((cleanup(snarlrt_call_unwind))) = {   \
			.open = false,                                                    \
		};                                                                        \
		va_list rest;                                                             \
		void *arg;                                                                \
                                                                                          \
		snarlrt_real_ready();                                                     \
		va_start(rest, command);                                                  \
		arg = va_arg(rest, void *);                                               \
		va_end(rest);                                                             \
		if (command == F_SETLKW || command == F_OFD_SETLKW)                       \
			c = snarlrt_call_enter(TRACE_CALL_FLOCK, snarlrt_fd(fd),          \
					       SNARLRT_PC());                             \
		return (int)snarlrt_call_leave(&c, REAL(name)(fd, command, arg));         \
	}

FCNTL_FN(fcntl)
FCNTL_FN(fcntl64)
