/*
 * dlopen, dlmopen and dlclose: after each, the runtime looks for new and unmapped modules, which
 * the trace lists with their addresses.
 *
 * The real dlopen() finds the caller's run path and namespace by its return address, so an
 * interposer must not call it from another object than the caller's. The runtime is part of the
 * executable. For callers in the executable, a function of this file calls the real one and then
 * scans modules. For other callers, tail_call_x86_64.S jumps to the real function. Instrumented
 * modules then report themselves (__tsan_init); the next scan finds others.
 */
#ifndef SNARLRT_STATIC

#include "runtime/core/process_calls.h"
#include "runtime/interpose/call.h"

/* The executable's code, from the linker */
extern const char __executable_start[] __attribute__((weak)), etext[] __attribute__((weak));

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
