/*
 * What the hostile programs share. Each does its harm between two calls of threads(), so that snarl
 * has something to control before and after it.
 */
#ifndef HOSTILE_H
#define HOSTILE_H

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t hostile_lock = PTHREAD_MUTEX_INITIALIZER;
static int hostile_shared;

static inline void *hostile_add(void *arg)
{
	pthread_mutex_lock(&hostile_lock);
	hostile_shared++;
	pthread_mutex_unlock(&hostile_lock);
	return arg;
}

/* Two threads that count under a lock. */
static inline void threads(void)
{
	pthread_t t[2];

	for (int i = 0; i < 2; i++)
		if (pthread_create(&t[i], NULL, hostile_add, NULL) != 0)
			exit(0);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
}

/* Calls `use` with begin and end of each mapping of this mode, such as "rw-s". */
static inline void each_mapping(const char *wanted, void (*use)(unsigned long, unsigned long))
{
	static unsigned long at[256][2];
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512], mode[5];
	int count = 0;

	while (maps && count < 256 && fgets(line, sizeof(line), maps))
		count += sscanf(line, "%lx-%lx %4s", &at[count][0], &at[count][1], mode) == 3 &&
			 strcmp(mode, wanted) == 0;
	if (maps)
		fclose(maps);
	for (int i = 0; i < count; i++)
		use(at[i][0], at[i][1]);
}

#endif
