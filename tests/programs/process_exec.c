/* exec that fails, then one that succeeds: events before it are in the trace. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

extern char **environ;

static void failing(void)
{
	char *argv[] = { "all", NULL };

	if (execve("/nowhere/at/all", argv, environ) != -1 || errno != ENOENT)
		exit(9);
	if (execl("/nowhere/at/all", "all", "more", (char *)NULL) != -1 || errno != ENOENT)
		exit(9);
}

static void replacing(void)
{
	char *envp[] = { "snarl_test=yes", NULL };

	execle("/bin/sh", "sh", "-c", "test \"$snarl_test\" = yes && exit 6", (char *)NULL, envp);
	exit(9);
}

int main(void)
{
	failing();
	replacing();
	return 0;
}
