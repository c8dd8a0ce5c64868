/* Three stages connected by pipes, bytes one by one and in blocks; end of file is passed on. */
#include "want.h"

#include <string.h>
#include <unistd.h>

static int first[2], second[2];

static void *makes(void *arg)
{
	for (char c = 'a'; c <= 'j'; c++)
		want(write(first[1], &c, 1), 1);
	close(first[1]);
	return arg;
}

static void *raises(void *arg)
{
	char block[4];
	ssize_t n;

	while ((n = read(first[0], block, sizeof(block))) > 0) {
		for (ssize_t i = 0; i < n; i++)
			block[i] = (char)(block[i] - 'a' + 'A');
		want(write(second[1], block, (size_t)n), n);
	}
	close(second[1]);
	return arg;
}

int main(void)
{
	char line[32] = "";
	pthread_t t[2];
	FILE *in;

	want(pipe(first) + pipe(second), 0);
	t[0] = start(makes, NULL);
	t[1] = start(raises, NULL);
	in = fdopen(second[0], "r");
	want(fgets(line, sizeof(line), in) == line, 1);
	want(strcmp(line, "ABCDEFGHIJ"), 0);
	finish(t[0]);
	finish(t[1]);
	fclose(in);
	return 0;
}
