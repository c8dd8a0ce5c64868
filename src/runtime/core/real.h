/*
 * The functions behind the interposers: REAL(name)(arguments).
 *
 * Call snarlrt_real_ready() (core/runtime.h) before. In a dynamic program, REAL(name) is a pointer
 * found by name, NULL if no library has the function. In a static program (SNARLRT_STATIC) it is
 * __real_name, which the linker's --wrap provides. These references are strong, since a weak one
 * would not pull its member out of libc.a. Types come from the system's headers;
 * core/undeclared.h declares the functions that no header does.
 */
#ifndef RUNTIME_CORE_REAL_H
#define RUNTIME_CORE_REAL_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <threads.h>
#include <unistd.h>

#include "runtime/core/undeclared.h"

/* Deprecated functions are interposed, too. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#ifdef SNARLRT_STATIC

#define REAL_FN(name, version) extern __typeof__(name) __real_##name;
#include "runtime/core/reals.def"
#undef REAL_FN

#define REAL(name) __real_##name

#else

struct snarlrt_reals {
#define REAL_FN(name, version) __typeof__(name) *fn_##name;
#include "runtime/core/reals.def"
#undef REAL_FN
};

extern __attribute__((visibility("hidden"))) struct snarlrt_reals snarlrt_reals;

#define REAL(name) snarlrt_reals.fn_##name

#endif

#pragma GCC diagnostic pop

#endif
