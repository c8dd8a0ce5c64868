/*
 * The memory of another process as it was: what rtm.c puts back when a transaction is given up. Private pages that
 * may be written and are in use; the process stands still meanwhile.
 */
#ifndef TESTS_RTM_MEMORY_H
#define TESTS_RTM_MEMORY_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/mem.h"

#define PAGE 4096u
#define BIG (256ull << 20)	/* shadow memory and the like: nobody writes there in a transaction */

struct page {
	uint64_t at;
	uint8_t bytes[PAGE];
};

static struct {
	int file;		/* /proc/…/mem */
	struct page *pages;	/* ascending */
	size_t count, room;
	unsigned long undone;	/* bytes that were put back and differed */
} memory;

static __attribute__((noreturn)) void die(const char *what);

static int memory_file(pid_t tid, const char *which, int how)
{
	char name[64];
	int fd;

	snprintf(name, sizeof(name), "/proc/%d/%s", tid, which);
	fd = open(name, how);
	if (fd < 0)
		die(name);
	return fd;
}

static void memory_each(pid_t tid, void (*each)(uint64_t at))
{
	FILE *maps = fdopen(memory_file(tid, "maps", O_RDONLY), "r");
	int used = memory_file(tid, "pagemap", O_RDONLY);
	char line[512];

	while (maps && fgets(line, sizeof(line), maps)) {
		unsigned long long start, end, words[512];
		char access[5];

		if (sscanf(line, "%llx-%llx %4s", &start, &end, access) != 3 || access[1] != 'w' ||
		    access[3] != 'p' || end - start > BIG)
			continue;
		while (start < end) {
			size_t n = (end - start) / PAGE < 512 ? (end - start) / PAGE : 512;

			if (pread(used, words, n * 8, (off_t)(start / PAGE * 8)) != (ssize_t)(n * 8))
				die("pagemap");
			for (size_t i = 0; i < n; i++, start += PAGE)
				if (words[i] >> 62)
					each(start);
		}
	}
	close(used);
	fclose(maps);
}

static void save_page(uint64_t at)
{
	if (memory.count == memory.room) {
		memory.room = memory.room ? memory.room * 2 : 1024;
		memory.pages = xrealloc(memory.pages, memory.room * sizeof(*memory.pages));
	}
	memory.pages[memory.count].at = at;
	if (pread(memory.file, memory.pages[memory.count].bytes, PAGE, (off_t)at) == PAGE)
		memory.count++;
}

static int page_compare(const void *key, const void *page)
{
	uint64_t a = *(const uint64_t *)key, b = ((const struct page *)page)->at;

	return a < b ? -1 : a > b;
}

/* One that was not in use was empty. */
static void restore_page(uint64_t at)
{
	static const struct page empty;
	const struct page *was = bsearch(&at, memory.pages, memory.count, sizeof(*was), page_compare);
	const uint8_t *old = (was ? was : &empty)->bytes;
	uint8_t now[PAGE];
	unsigned long differ = 0;

	if (pread(memory.file, now, PAGE, (off_t)at) != PAGE)
		return;
	for (unsigned i = 0; i < PAGE; i++)
		differ += now[i] != old[i];
	memory.undone += differ;
	if (differ && pwrite(memory.file, old, PAGE, (off_t)at) != PAGE)
		die("memory");
}

static void memory_save(pid_t tid)
{
	memory.count = 0;
	memory.file = memory_file(tid, "mem", O_RDWR);
	memory_each(tid, save_page);
}

static void memory_restore(pid_t tid)
{
	memory_each(tid, restore_page);
}

static void memory_forget(void)
{
	close(memory.file);
}

#endif
