/*
 * Calls on files that may block: opening (a FIFO waits for its other end), closing, syncing,
 * locking.
 */
#include "runtime/control/model/external.h"
#include "runtime/interpose/call.h"

/* Reads the mode only if the flags demand one, as libc does. */
static mode_t open_mode(int flags, va_list args)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(args, mode_t) : 0;
}

/* `at`: the directory for openat() */
#define OPEN_FN(name, at, params, args)                                                   \
	SNARLRT_INTERPOSE int name params                                                 \
	{                                                                                 \
		SNARLRT_CALL(c, TRACE_CALL_OPEN, SNARLRT_NO_FD);                          \
		va_list rest;                                                             \
		mode_t mode;                                                              \
                                                                                          \
		va_start(rest, flags);                                                    \
		mode = open_mode(flags, rest);                                            \
		va_end(rest);                                                             \
		return (int)snarlrt_call_leave(                                           \
			&c, c.control ? ctl_call_open(&c, at, path, flags, mode) :        \
					REAL(name) args);                                 \
	}

/* For functions without a variable argument; `flags` and `mode` are what open() would get. */
#define OPEN_FIXED_FN(name, at, flags, mode, params, args)                                         \
	SNARLRT_INTERPOSE int name params                                                          \
	{                                                                                          \
		SNARLRT_CALL(c, TRACE_CALL_OPEN, SNARLRT_NO_FD);                                   \
		return (int)snarlrt_call_leave(                                                    \
			&c,                                                                        \
			c.control ? ctl_call_open(&c, at, path, flags, mode) : REAL(name) args);   \
	}

#define SIMPLE_FN(name, what, fd, params, args)                                                    \
	SNARLRT_INTERPOSE int name params                                                          \
	{                                                                                          \
		SNARLRT_CALL(c, what, fd);                                                         \
		snarlrt_call_point(&c);                                                            \
		return (int)snarlrt_call_leave(&c, REAL(name) args);                               \
	}

OPEN_FN(open, AT_FDCWD, (const char *path, int flags, ...), (path, flags, mode))
OPEN_FN(open64, AT_FDCWD, (const char *path, int flags, ...), (path, flags, mode))
OPEN_FN(openat, dir, (int dir, const char *path, int flags, ...), (dir, path, flags, mode))
OPEN_FN(openat64, dir, (int dir, const char *path, int flags, ...), (dir, path, flags, mode))
OPEN_FIXED_FN(creat, AT_FDCWD, O_CREAT | O_WRONLY | O_TRUNC, mode, (const char *path, mode_t mode),
	      (path, mode))
OPEN_FIXED_FN(creat64, AT_FDCWD, O_CREAT | O_WRONLY | O_TRUNC, mode,
	      (const char *path, mode_t mode), (path, mode))
OPEN_FIXED_FN(__open_2, AT_FDCWD, flags, 0, (const char *path, int flags), (path, flags))
OPEN_FIXED_FN(__open64_2, AT_FDCWD, flags, 0, (const char *path, int flags), (path, flags))
OPEN_FIXED_FN(__openat_2, dir, flags, 0, (int dir, const char *path, int flags), (dir, path, flags))
OPEN_FIXED_FN(__openat64_2, dir, flags, 0, (int dir, const char *path, int flags),
	      (dir, path, flags))

SIMPLE_FN(close, TRACE_CALL_CLOSE, fd, (int fd), (fd))
SIMPLE_FN(fsync, TRACE_CALL_FSYNC, fd, (int fd), (fd))
SIMPLE_FN(fdatasync, TRACE_CALL_FSYNC, fd, (int fd), (fd))
SIMPLE_FN(msync, TRACE_CALL_FSYNC, SNARLRT_NO_FD, (void *p, size_t size, int flags),
	  (p, size, flags))
/*
 * Calls `real`, which may block if `blocks`. In mode control it calls `nonblocking` instead, the
 * same function with arguments that make it fail at once, and tries again until the lock is free.
 */
#define LOCK(c, blocks, real, nonblocking)                                                         \
	({                                                                                         \
		int locked_;                                                                       \
                                                                                                   \
		snarlrt_call_point(c);                                                             \
		do                                                                                 \
			locked_ = (c)->control && (blocks) ? nonblocking : real;                   \
		while (locked_ < 0 && (c)->control && (blocks) &&                                  \
		       (errno == EAGAIN || errno == EACCES) && ctl_call_retry(c));                 \
		locked_;                                                                           \
	})

SNARLRT_INTERPOSE int flock(int fd, int operation)
{
	SNARLRT_CALL(c, TRACE_CALL_FLOCK, fd);
	return (int)snarlrt_call_leave(&c, LOCK(&c, !(operation & LOCK_NB),
						REAL(flock)(fd, operation),
						REAL(flock)(fd, operation | LOCK_NB)));
}

#define LOCKF_FN(name, offset)                                                            \
	SNARLRT_INTERPOSE int name(int fd, int command, offset size)                      \
	{                                                                                 \
		SNARLRT_CALL(c, TRACE_CALL_FLOCK, fd);                                    \
		return (int)snarlrt_call_leave(&c, LOCK(&c, command == F_LOCK,            \
							REAL(name)(fd, command, size),    \
							REAL(name)(fd, F_TLOCK, size)));  \
	}

LOCKF_FN(lockf, off_t)
LOCKF_FN(lockf64, off64_t)

/* The third argument is an int, a pointer or missing: it is passed on as the register holds it. */
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
		return (int)snarlrt_call_leave(                                           \
			&c, LOCK(&c, true, REAL(name)(fd, command, arg),                  \
				 REAL(name)(fd, command == F_SETLKW ? F_SETLK : F_OFD_SETLK, \
					    arg)));                                       \
	}

FCNTL_FN(fcntl)
FCNTL_FN(fcntl64)
