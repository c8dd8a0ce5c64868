/*
 * A program on a processor with hardware transactions, as if it had none: their instructions, of which guard's
 * runtime and the tests have some few, become undefined ones in its memory.
 */
#ifndef TESTS_RTM_PATCH_H
#define TESTS_RTM_PATCH_H

#include <cpuid.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ptrace.h>

#include "rtm_memory.h"

#define PATCHES 256

static struct {
	uint64_t at, code;	/* the eight bytes that were there */
} patches[PATCHES];
static unsigned patch_count;

static bool has_rtm(void)
{
	unsigned a, b, c, d;

	return __get_cpuid_count(7, 0, &a, &b, &c, &d) && b >> 11 & 1;
}

/* xbegin that goes on behind it, xend, xtest; xabort with one of the runtime's codes. */
static bool is_rtm(uint64_t code)
{
	return (code & 0xffffffffffff) == 0xf8c7 || (code & 0xffffff) == 0xd5010f || (code & 0xffffff) == 0xd6010f ||
	       (code & 0xffffff) == 0x5bf8c6 || (code & 0xffffff) == 0x5df8c6;
}

static void patch_range(int mem, uint64_t start, size_t size)
{
	uint8_t *bytes = xmalloc(size);

	if (pread(mem, bytes, size, (off_t)start) != (ssize_t)size)
		die("text");
	for (size_t i = 0; i + 8 <= size; i++) {
		uint64_t code;

		memcpy(&code, bytes + i, 8);
		if (!is_rtm(code))
			continue;
		if (patch_count == PATCHES)
			errno = ENOMEM, die("patches");
		patches[patch_count].at = start + i;
		patches[patch_count++].code = code;
		if (pwrite(mem, "\x0f\x0b", 2, (off_t)(start + i)) != 2)
			die("patch");
	}
	free(bytes);
}

/* When it has just been loaded: nothing but itself and the loader is there. */
static void patch_program(pid_t tid)
{
	FILE *maps = fdopen(memory_file(tid, "maps", O_RDONLY), "r");
	int mem = memory_file(tid, "mem", O_RDWR);
	char line[PATH_MAX + 128], self[PATH_MAX + 1], name[64];
	ssize_t length;

	snprintf(name, sizeof(name), "/proc/%d/exe", tid);
	length = readlink(name, self, PATH_MAX);
	if (length <= 0)
		die(name);
	self[length] = '\0';
	while (has_rtm() && maps && fgets(line, sizeof(line), maps)) {
		unsigned long long start, end;
		char access[5];

		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%llx-%llx %4s", &start, &end, access) == 3 && access[2] == 'x' && strstr(line, self))
			patch_range(mem, start, end - start);
	}
	close(mem);
	fclose(maps);
}

/* The instruction there, as it was. 0: none. */
static uint64_t patch_code(pid_t tid, uint64_t at)
{
	uint64_t code;

	for (unsigned i = patch_count; i-- > 0;)
		if (patches[i].at == at)
			return patches[i].code;
	errno = 0;
	code = (uint64_t)ptrace(PTRACE_PEEKTEXT, tid, (void *)at, NULL);
	return errno ? 0 : code;
}

#endif
