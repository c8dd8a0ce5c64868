/*
 * Replay under gdb. gdb starts the program through an exec-wrapper, `snarl replay --into FILE BUG`,
 * which sets up environment, folder, stdin and the control block in FILE, turns address
 * randomisation off, and becomes the program. A stop in gdb does not change the run, since the
 * schedule determines it. The gdb commands are in snarl-gdb.py.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/proc.h"
#include "cmd/cmd.h"
#include "cmd/replay/replay_internal.h"
#include "explore/target/block.h"
#include "wrap/args/compiler.h"

/*
 * Returns the gdb command "set exec-wrapper …", or NULL and *err. `block`: path of the control
 * block.
 */
static char *wrapper_command(const struct replay_options *o, char **program, const char *block,
			     struct err *err)
{
	char self[4096], *full = realpath(o->path, NULL), *result = NULL;
	ssize_t size = readlink("/proc/self/exe", self, sizeof(self) - 1);
	struct buf text = { 0 };

	if (size <= 0 || !full) {
		err_set(err, "cannot find the path of snarl or of %s: %s", o->path,
			strerror(errno));
	} else {
		self[size] = '\0';
		buf_add_text(&text, "set exec-wrapper ");
		buf_add_shell_word(&text, self);
		buf_addf(&text, " replay --quiet --trust --backend %s --into ",
			 o->backend ? o->backend : "kernel");
		buf_add_shell_word(&text, block);
		buf_add_char(&text, ' ');
		buf_add_shell_word(&text, full);
		/*
		 * gdb appends the program and its arguments; without --given the wrapper ignores
		 * them.
		 */
		buf_add_text(&text, program ? " --given --" : " --");
		result = xstrdup(buf_string(&text));
	}
	free(full);
	buf_free(&text);
	return result;
}

/* Creates the file for the control block; returns its descriptor, or -1 and *err. */
static int make_block_file(char *path, size_t size, struct err *err)
{
	const char *folder = getenv("TMPDIR");
	int fd;

	snprintf(path, size, "%s/snarl-gdb-XXXXXX", folder && *folder ? folder : "/tmp");
	fd = mkostemp(path, O_CLOEXEC);
	return fd < 0 ? err_set(err, "cannot create %s: %s", path, strerror(errno)) : fd;
}

/*
 * Prints where the last run under gdb diverged from the schedule, if it did; returns the exit code.
 */
static int print_divergence(int fd, const struct replay_options *o)
{
	struct ctl_block *b = xcalloc(1, sizeof(*b));
	struct oracle_result result = { 0 };
	struct buf text = { 0 };
	struct places places;
	int code = CMD_OK;

	/* A copy: the program may go on changing the file. If it is short, gdb started nothing. */
	if (pread(fd, b, sizeof(*b), 0) == (ssize_t)sizeof(*b) && b->magic == CTL_MAGIC &&
	    b->report.outcome == CTL_DIVERGED && !block_report_damage(b, &b->report)) {
		places_init(&places);
		places_add_program(&places, o->target.program);
		oracle_divergence(&b->report, &result);
		oracle_describe_divergence(&result, &o->schedule, &b->report, &places, &text);
		if (!o->quiet)
			fprintf(stderr, "snarl: %s\n", buf_string(&text));
		buf_free(&text);
		places_free(&places);
		code = CMD_DIVERGED;
	}
	free(b);
	return code;
}

static void ignore(int sig)
{
	(void)sig;
}

/*
 * The first commands for gdb: load snarl-gdb.py, and if BUG is a bug's folder, run to its first
 * event.
 */
static int first_commands(const struct replay_options *o, char **source, char **start,
			  struct err *err)
{
	struct compiler_home home;
	char *full = realpath(o->folder, NULL),
	     *bug = xasprintf("%s/bug.json", full ? full : o->folder);

	*source = *start = NULL;
	if (compiler_find_home(getenv("SNARL_HOME"), &home, err) == 0) {
		*source = xasprintf("source %s/snarl-gdb.py", home.lib);
		if (access(bug, R_OK) == 0)
			*start = xasprintf("snarl-start %s", full);
		compiler_home_free(&home);
	}
	free(full);
	free(bug);
	return *source ? 0 : -1;
}

/* Returns the command line of gdb: our settings, then --args PROGRAM ARGUMENT… */
static char **gdb_words(const struct replay_options *o, char **program, char *wrapper, char *source,
			char *start)
{
	static const char *const first[] = { "gdb", "-q",
					     "-ex", "set disable-randomization on",
					     "-ex", "set follow-fork-mode parent",
					     "-ex" };
	size_t count = 0, more = 0;
	char **argv;

	while (program && program[more])
		more++;
	argv = xcalloc(ARRAY_SIZE(first) + more + 9, sizeof(*argv));
	while (count < ARRAY_SIZE(first)) {
		argv[count] = (char *)first[count];
		count++;
	}
	argv[count++] = wrapper;
	argv[count++] = (char *)"-ex";
	argv[count++] = source;
	if (start) {
		argv[count++] = (char *)"-ex";
		argv[count++] = start;
	}
	argv[count++] = (char *)"--args";
	argv[count++] = o->target.program;
	for (size_t i = 1; i < more; i++)
		argv[count++] = program[i];
	return argv;
}

int replay_gdb(const struct replay_options *o, char **program, struct err *err)
{
	struct sigaction action = { .sa_handler = ignore };
	char block[512];
	int fd = make_block_file(block, sizeof(block), err), code = -1, failure;
	char *wrapper = fd < 0 ? NULL : wrapper_command(o, program, block, err);
	struct proc_start start = { .in = -1, .out = -1, .error = -1 };
	char *source = NULL, *run = NULL, **argv = NULL;
	pid_t pid;

	if (wrapper && first_commands(o, &source, &run, err) == 0) {
		start.argv = argv = gdb_words(o, program, wrapper, source, run);
		sigaction(SIGINT, &action, NULL);	/* ^C is for gdb; exec resets the handler */
		pid = proc_spawn(&start, &failure, err);
		if (pid < 0 && failure == ENOENT)
			err_set(err, "gdb is not installed; --gdb needs it");
		if (pid > 0) {
			proc_wait(pid);
			code = print_divergence(fd, o);
		}
	}
	free(wrapper);
	free(source);
	free(run);
	free(argv);
	if (fd >= 0) {
		unlink(block);
		close(fd);
	}
	return code;
}

int replay_into(const struct replay_options *o, struct err *err)
{
	struct server server = { .memory = -1 };
	struct server_config config = {
		.target = &o->target,
		.plan_size = schedule_plan_size(&o->schedule),
	};
	struct target_start start = { .control = o->into, .server = -1, .input = o->target.input,
				      .output = -1, .error = -1, .backend = o->backend };
	struct places places;
	int fd = open(o->into, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return err_set(err, "cannot open %s: %s", o->into, strerror(errno));
	places_init(&places);
	places_add_program(&places, o->target.program);
	if (server_map_file(&server, &config, fd, err) < 0 ||
	    replay_prepare(server.block, &o->schedule, &places, 0, err) < 0)
		return -1;
	server.block->request.flags |= CTL_DEBUG;
	block_publish(&server);
	if (o->target.input >= 0)
		lseek(o->target.input, 0, SEEK_SET);
	else
		start.input = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return err_set(err, "cannot start %s: %s", o->target.program,
		       strerror(target_exec(&o->target, &start)));
}
