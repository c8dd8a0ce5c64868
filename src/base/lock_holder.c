#include "base/lock_holder.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* The fields of a line of /proc/locks that matter here. */
struct lock {
	char access[16];	/* READ or WRITE */
	int pid;		/* below 1: not known */
	unsigned major, minor;
	unsigned long inode;
};

/* Line: "1: POSIX  ADVISORY  WRITE 4711 fd:00:131077 120 120", "1: -> …" for one that waits. */
static bool parse(const char *line, struct lock *l)
{
	return sscanf(line, "%*d: %*s %*s %15s %d %x:%x:%lu", l->access, &l->pid, &l->major,
		      &l->minor, &l->inode) == 5;
}

static bool is_of(const struct lock *l, const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && st.st_ino == l->inode && major(st.st_dev) == l->major &&
	       minor(st.st_dev) == l->minor;
}

static void add_process(int pid, struct buf *out)
{
	char path[64], name[64] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	f = fopen(path, "re");
	if (f && fgets(name, sizeof(name), f))
		name[strcspn(name, "\n")] = '\0';
	if (f)
		fclose(f);
	buf_addf(out, "%s (pid %d)", *name ? name : "a process", pid);
}

bool lock_holder_add(const char *const *paths, size_t count, struct buf *out)
{
	FILE *f = fopen("/proc/locks", "re");
	bool found = false;
	struct lock l;
	char line[256];

	while (f && !found && fgets(line, sizeof(line), f)) {
		if (!parse(line, &l) || strcmp(l.access, "WRITE") != 0 || l.pid < 1 ||
		    l.pid == getpid())
			continue;
		for (size_t i = 0; i < count && !found; i++)
			found = is_of(&l, paths[i]);
		if (found)
			add_process(l.pid, out);
	}
	if (f)
		fclose(f);
	return found;
}
