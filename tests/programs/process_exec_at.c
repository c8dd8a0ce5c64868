/* exec of an open descriptor, and of paths relative to one. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

extern char **environ;

static void failing(void)
{
	char *argv[] = { "all", NULL };

	if (execveat(AT_FDCWD, "/nowhere/at/all", argv, environ, 0) != -1 || errno != ENOENT)
		exit(9);
	if (fexecve(-1, argv, environ) != -1)
		exit(9);
}

static void replacing(void)
{
	char *argv[] = { "sh", "-c", "test \"$snarl_test\" = yes && exit 6", NULL };
	char *envp[] = { "snarl_test=yes", NULL };
	int folder = open("/bin", O_PATH | O_DIRECTORY | O_CLOEXEC);

	execveat(folder, "sh", argv, envp, 0);
	exit(9);
}

int main(void)
{
	failing();
	replacing();
	return 0;
}
