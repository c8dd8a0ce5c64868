/* A child leaves for a session and a process group of its own. */
#include "hostile.h"

int main(void)
{
	threads();
	if (fork() == 0) {
		setsid();
		setpgid(0, 0);
		signal(SIGHUP, SIG_IGN);
		signal(SIGTERM, SIG_IGN);
		for (;;)
			pause();
	}
	threads();
	return 0;
}
