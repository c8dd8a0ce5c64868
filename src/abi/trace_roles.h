/*
 * What each kind of event does: bits of enum trace_role, from abi/kinds.def.
 *
 * A consumer that treats all kinds with a role alike asks for the role instead of listing the
 * kinds. It then handles a new kind without an edit. The runtime includes this header, so it uses
 * no libc functions.
 */
#ifndef ABI_TRACE_ROLES_H
#define ABI_TRACE_ROLES_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "abi/trace_format.h"

enum trace_role {
	ROLE_READ = 1u << 0,		/* reads memory at addr */
	ROLE_WRITE = 1u << 1,		/* writes memory at addr */
	ROLE_ATOMIC = 1u << 2,		/* beside READ or WRITE: atomically */
	ROLE_PLAIN = 1u << 3,		/* beside READ or WRITE: not atomically */
	ROLE_SIZED = 1u << 4,		/* detail holds the size */
	ROLE_RANGE = 1u << 5,		/* arg holds the size */
	ROLE_ACQUIRE = 1u << 6,		/* takes the lock addr, unless it fails */
	ROLE_SHARED = 1u << 7,		/* beside ACQUIRE: other readers may hold the lock, too */
	ROLE_TRY = 1u << 8,		/* beside ACQUIRE or SEM: may give up instead of waiting */
	ROLE_RELEASE = 1u << 9,		/* releases the lock addr */
	ROLE_WAIT_BEGIN = 1u << 10,	/* releases the lock arg, waits on the condition addr */
	ROLE_WAIT_END = 1u << 11,	/* takes the lock arg again, whatever the result */
	ROLE_NOTIFY = 1u << 12,		/* wakes threads that wait on the condition variable addr */
	ROLE_SEM = 1u << 13,		/* takes (with PASS) or posts (with SIGNAL) a semaphore */
	ROLE_SIGNAL = 1u << 14,		/* happens before a later PASS of the object */
	ROLE_PASS = 1u << 15,		/* happens after the earlier SIGNALs of the object */
	ROLE_INIT = 1u << 16,		/* initialises the synchronisation object addr */
	ROLE_DESTROY = 1u << 17,	/* destroys the synchronisation object addr */
	ROLE_ALLOC = 1u << 18,		/* arg bytes of new memory at addr */
	ROLE_FREE = 1u << 19,		/* frees the memory at addr */
	ROLE_THREAD = 1u << 20,		/* arg is the id of another thread */
	/* May wait for another thread or the outside world, but not for a lock. */
	ROLE_BLOCKS = 1u << 21,

	ROLE_LOAD = ROLE_READ | ROLE_ATOMIC | ROLE_SIZED,
	ROLE_STORE = ROLE_WRITE | ROLE_ATOMIC | ROLE_SIZED,
	ROLE_UPDATE = ROLE_READ | ROLE_WRITE | ROLE_ATOMIC | ROLE_SIZED,
};

static const uint32_t trace_role_table[TRACE_KIND_COUNT] = {
#define TRACE_KIND(name, text, extra, class, roles) roles,
#include "abi/kinds.def"
#undef TRACE_KIND
};

/* The roles of a kind; 0 if there is no such kind. */
static inline unsigned trace_roles(uint64_t kind)
{
	return kind < TRACE_KIND_COUNT ? trace_role_table[kind] : 0;
}

/*
 * Whether an event of a kind with ACQUIRE or WAIT_END got its lock. With EOWNERDEAD, a robust mutex
 * is held.
 */
static inline bool trace_acquired(uint64_t kind, unsigned result)
{
	return result == 0 || result == EOWNERDEAD || trace_roles(kind) & ROLE_WAIT_END;
}

/* The lock that an event acquires or releases. */
static inline uint64_t trace_lock(uint64_t kind, uint64_t addr, uint64_t arg)
{
	return trace_roles(kind) & (ROLE_WAIT_BEGIN | ROLE_WAIT_END) ? arg : addr;
}

#endif
