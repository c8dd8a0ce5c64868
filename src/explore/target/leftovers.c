#include "explore/target/leftovers.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/proc.h"

#define MARK ".tmp-" /* before the process id in the name of a file that is being written */

static const char *temporary_folder(void)
{
	const char *tmp = getenv("TMPDIR");

	return tmp && *tmp ? tmp : "/tmp";
}

char *leftovers_template(const char *what)
{
	return xasprintf("%s/snarl-%s-%d-XXXXXX", temporary_folder(), what, (int)getpid());
}

/* The number at `text` if `rest` follows it; else 0. */
static long number_before(const char *text, const char *rest)
{
	char *end;
	long number = isdigit((unsigned char)*text) ? strtol(text, &end, 10) : 0;

	return number && strncmp(end, rest, strlen(rest)) == 0 ? number : 0;
}

/* The owner of a temporary file in a folder of results; 0: it is none. */
static long owner_in_results(const char *name)
{
	const char *mark = strstr(name, MARK);
	long owner = 0;

	if (strncmp(name, "trace-", 6) == 0)
		owner = number_before(name + 6, ".");
	if (strncmp(name, "learn-", 6) == 0)
		owner = number_before(name + 6, "-");
	return owner ? owner : mark ? number_before(mark + strlen(MARK), "") : 0;
}

/* The owner of a folder or file made by leftovers_template(); 0: it is none. */
static long owner_in_temporary(const char *name)
{
	const char *what;

	if (strncmp(name, "snarl-", 6) != 0)
		return 0;
	what = strchr(name + 6, '-');
	return what ? number_before(what + 1, "-") : 0;
}

static bool is_gone(long owner)
{
	return owner > 0 && kill((pid_t)owner, 0) < 0 && errno == ESRCH;
}

/* Removes the temporary files in `folder` whose owners are gone, and that are this user's. */
static void clean(const char *folder, long (*owner_of)(const char *name))
{
	DIR *dir = opendir(folder);

	for (struct dirent *e; dir && (e = readdir(dir));) {
		char *path, *mark;
		struct stat st;

		if (!is_gone(owner_of(e->d_name)))
			continue;
		path = xasprintf("%s/%s", folder, e->d_name);
		if (lstat(path, &st) < 0 || st.st_uid != geteuid()) {
			free(path);
			continue;
		}
		proc_remove_tree(path);
		/* B007.tmp-PID had reserved B007, which is still empty then. */
		mark = S_ISDIR(st.st_mode) ? strstr(path + strlen(folder), MARK) : NULL;
		if (mark) {
			*mark = '\0';
			rmdir(path);
		}
		free(path);
	}
	if (dir)
		closedir(dir);
}

void leftovers_remove(const char *out)
{
	char *bugs = xasprintf("%s/bugs", out);
	DIR *dir = opendir(bugs);

	for (struct dirent *e; dir && (e = readdir(dir));)
		if (*e->d_name != '.') {
			char *bug = xasprintf("%s/%s", bugs, e->d_name);

			clean(bug, owner_in_results);
			free(bug);
		}
	if (dir)
		closedir(dir);
	clean(bugs, owner_in_results);
	clean(out, owner_in_results);
	clean(temporary_folder(), owner_in_temporary);
	free(bugs);
}
