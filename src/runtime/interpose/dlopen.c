/*
 * dlopen and dlclose: the trace must know which files were mapped where.
 *
 * The real dlopen looks at its return address to find the run path and the
 * namespace of the object that called it. So only for a caller in the executable,
 * where we are too, is there a frame of ours, and the new modules are told at once.
 * For another caller tail_x86_64.S jumps to the real one; instrumented modules
 * then tell themselves (__tsan_init), the rest is found at the next occasion.
 */
#ifndef SNARLRT_STATIC

#include "runtime/core/process_calls.h"
#include "runtime/interpose/call.h"

/* Where the linker put the executable's code. */
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

/* From tail_x86_64.S, which then jumps to what we return. */
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

/* Before: its last chance to be told. After: another one may take its place. */
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
