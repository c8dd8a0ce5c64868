/*
 * Starts a recording, kills the recorded program at a point drawn from the seed, and prints how far
 * the victim's threads got.
 *
 *   killer SEED PROGRESS snarl record … -- victim PROGRESS
 *   exit S rounds A B        wait status of the recorder, rounds of both threads
 */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t draw(uint64_t seed)
{
	seed = (seed + 1) * 0x9e3779b97f4a7c15ull;
	seed ^= seed >> 29;
	seed *= 0xbf58476d1ce4e5b9ull;
	return seed ^ seed >> 32;
}

int main(int argc, char **argv)
{
	volatile long *progress;
	int out[2], fd, pid, victim = 0, status;
	uint64_t r, spin;
	FILE *in;

	if (argc < 4)
		return 2;
	fd = open(argv[2], O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || ftruncate(fd, 4096) < 0 || pipe(out) < 0)
		return 2;
	progress = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (progress == MAP_FAILED)
		return 2;
	pid = fork();
	if (pid < 0)
		return 2;
	if (pid == 0) {
		dup2(out[1], 1);
		close(out[0]);
		close(out[1]);
		execvp(argv[3], argv + 3);
		_exit(127);
	}
	close(out[1]);
	in = fdopen(out[0], "r");
	if (!in || fscanf(in, "%d", &victim) != 1 || victim < 2) {
		fprintf(stderr, "killer: the victim did not tell its process id\n");
		waitpid(pid, &status, 0);
		return 2;
	}
	/* Wait for a number of rounds, then spin a little, so that any point of a round may be
	 * hit. */
	r = draw(strtoull(argv[1], NULL, 0));
	while (progress[0] < (long)(r % 4000) && kill(victim, 0) == 0)
		;
	for (spin = r >> 32 & 0x3fff; spin > 0; spin--)
		__asm__ volatile("");
	kill(victim, SIGKILL);
	while (waitpid(pid, &status, 0) < 0)
		;
	printf("exit %d rounds %ld %ld\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1,
	       progress[0], progress[8]);
	return 0;
}
