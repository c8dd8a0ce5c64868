/* Streams: lines of two threads do not mix, flockfile holds, reading waits for a writer. */
#include "want.h"

#include <string.h>
#include <unistd.h>

static int fds[2];
static FILE *out, *in;

static void *prints(void *letter)
{
	for (int i = 0; i < 5; i++) {
		flockfile(out);
		fputc(*(char *)letter, out);
		fprintf(out, "%c", *(char *)letter);
		fputs((char *)letter, out);
		funlockfile(out);
	}
	return NULL;
}

static void *writes(void *arg)
{
	want(write(fds[1], "he", 2), 2);
	want(write(fds[1], "llo\nwor", 7), 7);
	want(write(fds[1], "ld\n12345", 8), 8);
	close(fds[1]);
	return arg;
}

static void lines(void)
{
	char text[256] = "";
	pthread_t t[2];
	int a = 0, b = 0;

	out = fmemopen(text, sizeof(text), "w");
	t[0] = start(prints, "a");
	t[1] = start(prints, "b");
	finish(t[0]);
	finish(t[1]);
	fclose(out);
	want(strlen(text), 30);
	for (int i = 0; i < 30; i += 3) {
		want(text[i] == text[i + 1] && text[i] == text[i + 2], 1);
		a += text[i] == 'a';
		b += text[i] == 'b';
	}
	want(a, 5);
	want(b, 5);
}

static void *reads_line(void *line)
{
	want(fgets(line, 64, in) != NULL, 1);
	return NULL;
}

static void reading(void)
{
	char line[2][64], rest[8] = "";
	pthread_t t[3];

	want(pipe(fds), 0);
	in = fdopen(fds[0], "r");
	t[0] = start(reads_line, line[0]);
	t[1] = start(reads_line, line[1]);
	t[2] = start(writes, NULL);
	finish(t[0]);
	finish(t[1]);
	want(strcmp(line[0], "hello\n") == 0 || strcmp(line[1], "hello\n") == 0, 1);
	want(strcmp(line[0], "world\n") == 0 || strcmp(line[1], "world\n") == 0, 1);
	want(fgetc(in), '1');
	want(fread(rest, 1, sizeof(rest), in), 4);
	want(memcmp(rest, "2345", 4), 0);
	want(fgetc(in), EOF);
	finish(t[2]);
	fclose(in);
}

int main(void)
{
	lines();
	reading();
	puts("ok");
	return 0;
}
