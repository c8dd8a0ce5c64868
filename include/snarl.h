/*
 * Annotations for programs built with snarl-cc or snarl-c++; nothing at all
 * when built without. Any C from C89 on, any C++ from C++98 on.
 *
 *   SNARL_BLOCK_BEGIN(name)    what this thread does from here …
 *   SNARL_BLOCK_END()          … to here is meant to be atomic. They nest.
 *                              `name` is a string literal.
 *   SNARL_HAPPENS_BEFORE(p)    all this thread did so far comes before all that
 *   SNARL_HAPPENS_AFTER(p)     a thread does after this, on the same p: for
 *                              synchronisation that snarl cannot see
 *   SNARL_IGNORE_BEGIN()       accesses of this thread in between are nobody's
 *   SNARL_IGNORE_END()         business. They nest.
 *   SNARL_BENIGN_RACE(p)       races on the object *p are intended
 */
#ifndef SNARL_H
#define SNARL_H

#ifdef __SNARL__

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

void __snarl_block_begin(const char *name);
void __snarl_block_end(void);
void __snarl_happens_before(const volatile void *p);
void __snarl_happens_after(const volatile void *p);
void __snarl_ignore_begin(void);
void __snarl_ignore_end(void);
void __snarl_benign_race(const volatile void *p, size_t size);

#ifdef __cplusplus
}
#endif

#define SNARL_BLOCK_BEGIN(name) __snarl_block_begin("" name)
#define SNARL_BLOCK_END() __snarl_block_end()
#define SNARL_HAPPENS_BEFORE(p) __snarl_happens_before(p)
#define SNARL_HAPPENS_AFTER(p) __snarl_happens_after(p)
#define SNARL_IGNORE_BEGIN() __snarl_ignore_begin()
#define SNARL_IGNORE_END() __snarl_ignore_end()
#define SNARL_BENIGN_RACE(p) __snarl_benign_race((p), sizeof(*(p)))

#else

/* The arguments are not evaluated: a program must not need them to be. */
#define SNARL_BLOCK_BEGIN(name) ((void)0)
#define SNARL_BLOCK_END() ((void)0)
#define SNARL_HAPPENS_BEFORE(p) ((void)0)
#define SNARL_HAPPENS_AFTER(p) ((void)0)
#define SNARL_IGNORE_BEGIN() ((void)0)
#define SNARL_IGNORE_END() ((void)0)
#define SNARL_BENIGN_RACE(p) ((void)0)

#endif

#endif
