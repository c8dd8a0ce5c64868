/*
 * Annotations for programs built with snarl-cc or snarl-c++. With other compilers
 * they expand to nothing. For C89 and later, C++98 and later.
 *
 *   SNARL_BLOCK_BEGIN(name)    mark a block of this thread that is meant to be
 *   SNARL_BLOCK_END()          atomic. Blocks nest; `name` is a string literal.
 *   SNARL_HAPPENS_BEFORE(p)    declare synchronisation that snarl cannot see: all
 *   SNARL_HAPPENS_AFTER(p)     events before HAPPENS_BEFORE(p) happen before all
 *                              events after a later HAPPENS_AFTER(p), same p
 *   SNARL_IGNORE_BEGIN()       make analyses ignore the accesses of this thread
 *   SNARL_IGNORE_END()         in between; pairs nest
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

/* The arguments are not evaluated: they must not have side effects that the program needs. */
#define SNARL_BLOCK_BEGIN(name) ((void)0)
#define SNARL_BLOCK_END() ((void)0)
#define SNARL_HAPPENS_BEFORE(p) ((void)0)
#define SNARL_HAPPENS_AFTER(p) ((void)0)
#define SNARL_IGNORE_BEGIN() ((void)0)
#define SNARL_IGNORE_END() ((void)0)
#define SNARL_BENIGN_RACE(p) ((void)0)

#endif

#endif
