/* Shortens all files it has open, and the shared memory. */
#include "hostile.h"

static void cut(int fd)
{
	if (fd >= 0 && ftruncate(fd, 0) < 0)
		return;
}

int main(void)
{
	char text[4096];

	threads();
	for (int fd = 3; fd < 256; fd++)
		cut(fd);
	snprintf(text, sizeof(text), "%s", getenv("SNARL_OPTIONS"));
	for (char *word = strtok(text, ":="); word; word = strtok(NULL, ":="))
		if (strncmp(word, "/proc/", 6) == 0)
			cut(open(word, O_RDWR));
	threads();
	return 0;
}
