/*
 * Output by raw system calls, and the runtime's memory (core/arena.h).
 */
#include <errno.h>
#include <sys/mman.h>
#include <time.h>

#include "runtime/core/arena.h"
#include "runtime/core/lock.h"
#include "runtime/core/sys.h"

#define BLOCK (256u << 10)	/* bytes mapped at a time; larger objects are mapped alone */

uint64_t sys_clock_ns(int clock)
{
	struct timespec t = { 0 };

	sys_call(SYS_clock_gettime, clock, &t, 0);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

int sys_write_all(int fd, const void *data, size_t size)
{
	const char *p = data;

	while (size > 0) {
		long n = sys_call(SYS_write, fd, p, size);

		if (n == -EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? (int)n : -EIO;
		p += n;
		size -= (size_t)n;
	}
	return 0;
}

_Bool sys_quiet;

/* One write, so that lines of two threads do not mix. */
static void write_line(const char *text)
{
	char line[512] = "snarl: ";
	size_t n = 7;

	while (*text && n < sizeof(line) - 1)
		line[n++] = *text++;
	line[n++] = '\n';
	sys_write_all(2, line, n);
}

void sys_warn(const char *text)
{
	if (!sys_quiet)
		write_line(text);
}

void sys_warn_about(const char *text, const char *reason, const char *subject)
{
	const char *parts[] = { text, reason, ": ", subject };
	char line[480];
	size_t n = 0;

	for (size_t i = 0; i < 4; i++)
		for (const char *p = parts[i]; *p && n + 1 < sizeof(line); p++)
			line[n++] = *p;
	line[n] = 0;
	sys_warn(line);
}

void sys_die(const char *text)
{
	write_line(text);
	sys_call(SYS_exit_group, 3, 0, 0);
	__builtin_trap();
}

void *arena_pages(size_t size)
{
	static uint64_t next = ARENA_BEGIN;	/* a hint: the kernel maps elsewhere if need be */
	uint64_t at = __atomic_fetch_add(&next, (size + 4095) & ~4095ull, __ATOMIC_RELAXED);
	void *p = sys_mmap((void *)at, size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return sys_failed(p) ? NULL : p;
}

static struct snarlrt_lock arena_lock;

void arena_fork(bool begin)
{
	if (begin)
		snarlrt_lock(&arena_lock);
	else
		snarlrt_unlock(&arena_lock);
}

void *arena_alloc(size_t size)
{
	static char *next, *end;
	void *p = NULL;

	size = (size + 15) & ~(size_t)15;
	if (size >= BLOCK)
		return arena_pages(size);
	snarlrt_lock(&arena_lock);
	if ((size_t)(end - next) < size) {
		next = arena_pages(BLOCK);
		end = next ? next + BLOCK : NULL;
	}
	if (next) {
		p = next;
		next += size;
	}
	snarlrt_unlock(&arena_lock);
	return p;
}
