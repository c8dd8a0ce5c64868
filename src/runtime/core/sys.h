/*
 * System calls and a few instructions, without libc: no errno, no cancellation points, no
 * interposers. Errors are returned as negative errno values.
 */
#ifndef RUNTIME_CORE_SYS_H
#define RUNTIME_CORE_SYS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

static inline long sys_call6(long n, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

#define sys_call(n, a, b, c) sys_call6((n), (long)(a), (long)(b), (long)(c), 0, 0, 0)

static inline void *sys_mmap(void *addr, size_t size, int prot, int flags, int fd, long offset)
{
	return (void *)sys_call6(SYS_mmap, (long)addr, (long)size, prot, flags, fd, offset);
}

static inline int sys_failed(const void *p)
{
	return (unsigned long)p > -4096ul;
}

/* memset to 0, without a call and without vector registers. */
static inline void sys_clear(void *p, size_t size)
{
	__asm__ volatile("rep stosb" : "+D"(p), "+c"(size) : "a"(0) : "memory");
}

/* memcpy, without a call and without vector registers. */
static inline void sys_copy(void *to, const void *from, size_t size)
{
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
}

/* Writes all bytes; returns 0 or a negative errno. */
int sys_write_all(int fd, const void *data, size_t size) __attribute__((visibility("hidden")));

/* Option quiet=1: sys_warn() prints nothing. */
extern _Bool sys_quiet __attribute__((visibility("hidden")));

/* Writes one line "snarl: <text>" to stderr. */
void sys_warn(const char *text) __attribute__((visibility("hidden")));
/* Warns "<text><reason>: <subject>", truncated to 480 bytes. */
void sys_warn_about(const char *text, const char *reason, const char *subject)
	__attribute__((visibility("hidden")));
/* Writes the line, also with quiet=1, and ends the process with exit code 3. */
void sys_die(const char *text) __attribute__((visibility("hidden"), noreturn));

/* Nanoseconds of the kernel's clock, even in runs with virtual time. */
uint64_t sys_clock_ns(int clock) __attribute__((visibility("hidden")));

/* The processor's time stamp counter. */
static inline uint64_t sys_ticks(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

/* Completes earlier loads. Without it, the processor may read the counter before them. */
static inline void sys_loads_done(void)
{
	__asm__ volatile("lfence" : : : "memory");
}

static inline void sys_pause(void)
{
	__asm__ volatile("pause");
}

#endif
