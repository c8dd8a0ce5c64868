/*
 * A fake target without the runtime: the test binary starts itself and speaks the fork server's
 * protocol (abi/control_block.h). Its first argument selects what a run does.
 */
#ifndef FAKE_TARGET_H
#define FAKE_TARGET_H

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/control_block.h"
#include "abi/program_note.h"
#include "abi/run_options.h"

/* The tool runs only programs that contain the runtime, which has this note. */
__attribute__((section(PROGRAM_NOTE_SECTION), used, aligned(4)))
static const struct program_note fake_note = PROGRAM_NOTE;

struct fake {
	struct ctl_block *block;
	int server, memory;	/* descriptors: socket, control block */
	const char *what;
};

static inline uint64_t fake_mix(uint64_t a, uint64_t b)
{
	uint64_t h = (a * 0x9e3779b97f4a7c15ull) ^ b;

	h = (h ^ h >> 31) * 0xbf58476d1ce4e5b9ull;
	return h ^ h >> 29;
}

/* Reports steps and a shared granule, and fails: all by a hash of seed, run number and request. */
static inline int fake_random(struct ctl_block *b)
{
	const struct ctl_request *q = &b->request;
	uint64_t *shared = (uint64_t *)((char *)b + b->shared);
	uint64_t h = fake_mix(q->seed, q->run);

	b->report.threads = 2;
	b->report.ordinal[1] = 1;
	b->report.steps = 100 + h % 50;
	b->report.events[1] = h % 50;
	if (q->flags & CTL_LEARN)
		shared[q->shared_count + b->report.shared_new++] = 0x1000 + h % 5 * 8;
	b->report.outcome = CTL_EXITED;
	printf("%llu %llu\n", (unsigned long long)q->shared_count, (unsigned long long)q->length);
	return fake_mix(h, q->shared_count + q->length) % 40 == 0 ? 1 + (int)(h % 3) : 0;
}

static inline void fake_big(void)
{
	char piece[1000];

	for (int i = 0; i < 3000; i++) {
		memset(piece, 'a' + i % 26, sizeof(piece));
		fwrite(piece, 1, sizeof(piece), stdout);
	}
}

/* In odd runs, damages the part of the block that `what` names. All runs pass. */
static inline int fake_damage(struct ctl_block *b, const char *what, int fd)
{
	bool odd = b->request.run % 2;

	b->ready = 1;
	b->report.steps = 100;
	b->report.threads = 1;
	b->report.outcome = CTL_EXITED;
	memset((char *)b + b->state, odd && strcmp(what, "state") == 0 ? 0xff : 0, 4096);
	if (strcmp(what, "cut") == 0 && ftruncate(fd, 0) == 0)
		return 9;	/* the memory is sealed against that */
	if (!odd)
		return 0;
	if (strcmp(what, "request") == 0)
		b->request.plan_size++;
	if (strcmp(what, "areas") == 0)
		b->turns = b->state = UINT64_MAX;
	if (strcmp(what, "report") == 0)
		b->report.described = UINT32_MAX;
	if (strcmp(what, "turns") == 0) {
		memset((char *)b + b->turns, 0xff, 4096);
		b->report.turns = 1024;
	}
	if (strcmp(what, "granule") == 0) {
		memset((char *)b + b->shared, 0xff, 4096);
		b->report.shared_new = 5;
	}
	return 0;
}

static inline int fake_run(struct fake *f)
{
	struct ctl_block *b = f->block;
	char line[100];

	memset(&b->report, 0, offsetof(struct ctl_report, events));
	b->report.described = 0;
	if (strcmp(f->what, "random") == 0)
		return fake_random(b);
	if (strncmp(f->what, "wrong-", 6) == 0)
		return fake_damage(b, f->what + 6, -1);
	if (strcmp(f->what, "cut") == 0)
		return fake_damage(b, f->what, f->memory);
	if (strcmp(f->what, "hang") == 0)
		for (;;)
			pause();
	if (strcmp(f->what, "abort") == 0) {
		fputs("fake: f.c:3: g: Assertion `x' failed.\n", stderr);
		abort();
	}
	if (strcmp(f->what, "kill-server") == 0) {
		kill(getppid(), SIGKILL);
		pause();
	}
	if (strcmp(f->what, "big") == 0)
		fake_big();
	if (strcmp(f->what, "stray") == 0 && fork() == 0)
		for (;;)
			pause();
	if (strcmp(f->what, "input") == 0 && fgets(line, sizeof(line), stdin))
		fputs(line, stdout);
	if (strcmp(f->what, "echo") == 0)
		printf("%llu after %llu\n", (unsigned long long)b->request.seed,
		       (unsigned long long)b->report.steps);
	b->report.outcome = CTL_EXITED;
	return 0;
}

static inline void fake_say(struct fake *f, enum ctl_message_kind kind, int pid, int status)
{
	struct ctl_message m = { .kind = kind, .pid = pid, .status = status };

	if (send(f->server, &m, sizeof(m), MSG_NOSIGNAL) != (ssize_t)sizeof(m))
		_exit(0);
}

/* Serves runs; returns in the child that is to execute a run. */
static inline void fake_serve(struct fake *f)
{
	struct ctl_message m;

	fake_say(f, CTL_HELLO, getpid(), 0);
	while (recv(f->server, &m, sizeof(m), 0) == (ssize_t)sizeof(m) && m.kind == CTL_RUN) {
		pid_t pid;
		int status;

		lseek(0, 0, SEEK_SET);
		pid = fork();
		if (pid == 0) {
			setpgid(0, 0);
			if (!(f->block->request.flags & CTL_SNAPSHOT))
				return;
			fake_say(f, CTL_HELLO, getpid(), 0);	/* a snapshot */
			continue;
		}
		fake_say(f, CTL_STARTED, pid, 0);
		waitpid(pid, &status, 0);
		fake_say(f, CTL_ENDED, pid, status);
	}
	_exit(0);
}

/* Call it first in main(). It returns only in the test process, not in the fake target. */
static inline void fake_target_main(int argc, char **argv)
{
	const char *options = getenv(SNARL_OPTIONS_ENV), *control, *server;
	struct fake f = { .server = -1, .what = argc > 1 ? argv[1] : "" };
	char path[512];
	struct stat st;
	int fd;

	if (argc < 2)
		return;
	if (strcmp(f.what, "deaf") == 0)
		exit(5);
	control = options ? strstr(options, "control=/") : NULL;
	server = options ? strstr(options, "server=") : NULL;
	if (!control)
		exit(6);
	snprintf(path, sizeof(path), "%.*s", (int)strcspn(control + 8, ":"), control + 8);
	fd = open(path, O_RDWR);
	if (fd < 0 || fstat(fd, &st) < 0)
		exit(7);
	f.block = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	f.memory = fd;
	if (strcmp(f.what, "early") == 0)
		if (write(1, "early\n", 6) != 6)
			exit(8);
	if (server) {
		f.server = atoi(server + 7);
		fake_serve(&f);
	}
	exit(fake_run(&f));
}

#endif
