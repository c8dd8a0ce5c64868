/*
 * Runs the rows of rows.S on memory that is private, shared, or some of both. One thread at a time: the events are
 * always the same. Says at the end how many rows ran without hooks, on shared memory and on other.
 *
 *   rows bunch|hooks short|long|killed|forked|closed|profiled
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/format.h"

_Static_assert(TRACE_BUNCH == 98, "rows.S has it as a number");

typedef void row(char *p, long hooks);
row again, pair, around, many;
extern long rows_fast;

static _Alignas(4096) char ours[1 << 16], mine[1 << 16], some[1 << 16];
static long hooks, on_shared;

static void all_rows(char *p)
{
	again(p + 8, hooks);
	pair(p + 16, hooks);
	pair(p + 96, hooks);
	around(p + 32, hooks);
	many(p + 64, hooks);
	many(p + 66, hooks);
}

/* Calls that nothing has been told of yet. */
static __attribute__((noinline)) void deep(char *p, int depth)
{
	if (depth > 0)
		deep(p, depth - 1);
	else
		around(p, hooks);
	__asm__ volatile("" : : : "memory");
}

static void work(long turns)
{
	for (long i = 0; i < turns; i++) {
		long before = rows_fast;

		all_rows(ours + i % 500 * 128);
		on_shared += rows_fast - before;
		all_rows(mine + i % 500 * 128);
		all_rows(some + i % 500 * 128);
	}
	for (int depth = 0; depth < 12; depth++)
		deep(ours + 512, depth);
}

static void *touch(void *unused)
{
	memset(ours, 0, sizeof(ours));
	for (size_t i = 0; i < sizeof(some); i += 48)
		memset(some + i, 1, 16);
	return unused;
}

static void in_thread(void *routine(void *))
{
	pthread_t t;

	if (pthread_create(&t, NULL, routine, NULL) || pthread_join(t, NULL))
		exit(3);
}

/* Another library in the place of the first. */
static void use(const char *file)
{
	void *handle = dlopen(file, RTLD_NOW);
	void (*run)(char *, long);

	if (!handle) {
		fprintf(stderr, "%s\n", dlerror());
		exit(3);
	}
	run = (void (*)(char *, long))dlsym(handle, "run");
	for (int i = 0; i < 40; i++)
		run(ours + 64 * i, hooks);
	if (dlclose(handle))
		exit(3);
}

static void *other(void *unused)
{
	for (int i = 0; i < 100; i++)
		all_rows(ours);
	return unused;
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[2] : "short";

	hooks = argc > 1 && argv[1][0] == 'h';
	touch(NULL);
	in_thread(touch);
	if (!strcmp(what, "forked")) {
		pid_t child = fork();

		if (child > 0)
			return waitpid(child, NULL, 0) != child;
	}
	if (!strcmp(what, "closed")) {
		for (int i = 0; i < 2; i++) {
			use("./one.so");
			use("./two.so");
		}
		return 0;
	}
	if (!strcmp(what, "profiled")) {
		in_thread(other);
		other(NULL);
		in_thread(other);
		return 0;
	}
	work(!strcmp(what, "long") ? 4000 : 30);
	if (!strcmp(what, "killed"))
		kill(getpid(), SIGKILL);
	printf("%ld %ld\n", on_shared, rows_fast - on_shared);
	return 0;
}
