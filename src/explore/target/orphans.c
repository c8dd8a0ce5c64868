#include "explore/target/orphans.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 64	/* each round kills the children that appeared during the round before */

void orphans_adopt(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

void orphans_end_group(pid_t leader)
{
	/* Atomic against fork() in the group: no child escapes. */
	if (leader > 1)
		kill(-leader, SIGKILL);
}

static bool read_line(const char *path, char *line, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, line, size - 1);

	if (fd >= 0)
		close(fd);
	if (got <= 0)
		return false;
	line[got] = '\0';
	return true;
}

unsigned orphans_tasks(void)
{
	char line[128], *slash;

	if (!read_line("/proc/loadavg", line, sizeof(line)))
		return 0;
	slash = strchr(line, '/');
	return slash ? (unsigned)strtoul(slash + 1, NULL, 10) : 0;
}

/* Whether `self` is the parent. The name in /proc/PID/stat may contain any character, even ')'. */
static bool is_child(pid_t pid, pid_t self, char *state)
{
	char path[64], line[512], *after;
	int parent;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (!read_line(path, line, sizeof(line)))
		return false;
	after = strrchr(line, ')');
	return after && sscanf(after + 1, " %c %d", state, &parent) == 2 && parent == self;
}

static bool among(pid_t pid, const pid_t *keep, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (keep[i] == pid)
			return true;
	return false;
}

/* Kills and reaps all children but those in `keep`. Returns their number. */
static unsigned end_children(const pid_t *keep, size_t count)
{
	pid_t self = getpid();
	unsigned found = 0;
	DIR *dir = opendir("/proc");
	struct dirent *e;

	if (!dir)
		return 0;
	while ((e = readdir(dir))) {
		pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);
		char state;

		if (!isdigit((unsigned char)*e->d_name) || among(pid, keep, count) ||
		    !is_child(pid, self, &state))
			continue;
		if (getpgid(pid) == pid)
			kill(-pid, SIGKILL);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		found++;
	}
	closedir(dir);
	return found;
}

void orphans_end_all(const pid_t *keep, size_t count)
{
	for (int i = 0; i < ROUNDS && end_children(keep, count) > 0; i++)
		;
}
