/*
 * dlopen, dlmopen and dlclose: after each, the runtime looks for new and unmapped modules, which
 * the trace lists with their addresses. dlsym: gives interposers, not the functions behind them.
 *
 * The real dlopen() finds the caller's run path and namespace by its return address, so an
 * interposer must not call it from another object than the caller's. The runtime is part of the
 * executable. For callers in the executable, a function of this file calls the real one and then
 * scans modules. For other callers, tail_call_x86_64.S jumps to the real function. Instrumented
 * modules then report themselves (__tsan_init); the next scan finds others.
 */
#ifndef SNARLRT_STATIC

#include <dlfcn.h>

#include "runtime/core/process_calls.h"
#include "runtime/core/real.h"
#include "runtime/interpose/call.h"

/* The executable's code, from the linker */
extern const char __executable_start[] __attribute__((weak)), etext[] __attribute__((weak));

/* Is this pc in the executable's code? */
static bool from_executable(const void *pc)
{
	return (uintptr_t)pc >= (uintptr_t)__executable_start && (uintptr_t)pc < (uintptr_t)etext;
}

static void *dlopen_and_scan(const char *file, int mode)
{
	void *handle = REAL(dlopen)(file, mode);

	if (handle && !mode_is_off())
		snarlrt_process->modules_scan();
	return handle;
}

static void *dlmopen_and_scan(Lmid_t space, const char *file, int mode)
{
	void *handle = REAL(dlmopen)(space, file, mode);

	if (handle && !mode_is_off())
		snarlrt_process->modules_scan();
	return handle;
}

/* Called by tail_call_x86_64.S, which jumps to the returned address. */
SNARLRT_HIDDEN void *snarlrt_dlopen_enter(const void *pc);
SNARLRT_HIDDEN void *snarlrt_dlmopen_enter(const void *pc);

void *snarlrt_dlopen_enter(const void *pc)
{
	snarlrt_real_ready();
	return from_executable(pc) ? (void *)dlopen_and_scan : (void *)REAL(dlopen);
}

void *snarlrt_dlmopen_enter(const void *pc)
{
	snarlrt_real_ready();
	return from_executable(pc) ? (void *)dlmopen_and_scan : (void *)REAL(dlmopen);
}

/*
 * dlsym: a program that asks for the function behind its own pthread_create, as allocators do, must
 * get the runtime's. Otherwise the thread would be one that the runtime does not know. So a
 * function that is interposed is answered with its interposer, whatever handle it was found by.
 *
 * The Makefile defines snarlrt_own_NAME as a second name of the interposer NAME, since the program
 * may define NAME itself.
 */
#define REAL_FN(name, version) extern SNARLRT_HIDDEN char snarlrt_own_##name[];
#include "runtime/core/reals.def"
#undef REAL_FN

static const struct {
	const char *name;
	char *own;
} interposers[] = {
#define REAL_FN(name, version) { #name, snarlrt_own_##name },
#include "runtime/core/reals.def"
#undef REAL_FN
};

static void *dlsym_mapped(void *handle, const char *name)
{
	void *const *reals = (void *const *)&snarlrt_reals;
	void *found = REAL(dlsym)(handle, name);

	for (size_t i = 0; found && i < ARRAY_SIZE(interposers); i++)
		if (reals[i] == found)
			return interposers[i].own;
	return found;
}

/* Is the function in the same library as dlsym(), which is libc? */
static bool in_libc(const void *function)
{
	Dl_info at, libc;
	bool same;

	snarlrt_hide();
	same = dladdr(function, &at) && dladdr((void *)(uintptr_t)REAL(dlsym), &libc) &&
	       at.dli_fbase == libc.dli_fbase;
	snarlrt_unhide();
	return same;
}

/*
 * The interposer of that name, or NULL. Not if a library wraps the function, as libasan does: its
 * wrapper is the function that the interposer calls, and would call the interposer for ever.
 */
static void *dlsym_own(void *unused, const char *name)
{
	void *const *reals = (void *const *)&snarlrt_reals;

	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(interposers); i++)
		if (REAL(strcmp)(interposers[i].name, name) == 0)
			return in_libc(reals[i]) ? interposers[i].own : NULL;
	return NULL;
}

/*
 * Called by tail_call_x86_64.S, which jumps to the returned address. RTLD_NEXT and RTLD_DEFAULT
 * depend on the object that calls dlsym(). For a library, the next function of an interposed name
 * is taken to be the interposer.
 */
SNARLRT_HIDDEN void *snarlrt_dlsym_enter(void *handle, const char *name, const void *pc);

void *snarlrt_dlsym_enter(void *handle, const char *name, const void *pc)
{
	snarlrt_real_ready();
	if (mode_is_off())
		return (void *)REAL(dlsym);
	if (from_executable(pc) || (handle != RTLD_NEXT && handle != RTLD_DEFAULT))
		return (void *)dlsym_mapped;
	if (handle == RTLD_NEXT && name && dlsym_own(NULL, name))
		return (void *)dlsym_own;
	return (void *)REAL(dlsym);
}

/*
 * Scans before, to record modules that are about to be unmapped, and after, because another module
 * may be mapped at the same address.
 */
SNARLRT_INTERPOSE int dlclose(void *handle)
{
	int got;

	snarlrt_real_ready();
	if (mode_is_off())
		return REAL(dlclose)(handle);
	snarlrt_process->modules_scan();
	got = REAL(dlclose)(handle);
	snarlrt_process->modules_scan();
	return got;
}

#endif
