/*
 * The table of commands, the help text, and dispatch to a command.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/version.h"
#include "cmd/cmd.h"

static const struct cmd *const commands[] = {
#define COMMAND(name) &cmd_##name,
#include "cmd/commands.def"
#undef COMMAND
};

static const struct cmd *find_command(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

static int unknown(const char *name)
{
	const char *names[ARRAY_SIZE(commands)], *nearest;

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		names[i] = commands[i]->name;
	nearest = cmd_nearest(name, names, ARRAY_SIZE(names));
	if (nearest)
		fprintf(stderr, "snarl: no command '%s'; did you mean '%s'?\n", name, nearest);
	else
		fprintf(stderr, "snarl: no command '%s' (see snarl help)\n", name);
	return CMD_USAGE;
}

static void print_help(FILE *out)
{
	fputs("snarl finds and proves concurrency bugs in C and C++ programs.\n"
	      "\n"
	      "usage: snarl COMMAND [options] …\n"
	      "\n",
	      out);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(out, "  %-9s  %s\n", commands[i]->name, commands[i]->summary);
	fputs("\n"
	      "A first look:\n"
	      "  snarl-cc -O1 -pthread bank.c -o bank\n"
	      "  snarl hunt -- ./bank\n"
	      "  snarl replay snarl-out/bugs/B001\n"
	      "\n"
	      "snarl help COMMAND and man snarl-COMMAND describe a command, snarl help options "
	      "the keys of\n"
	      "SNARL_OPTIONS. Exit codes: 0 no bug, 1 bug proved, 2 wrong usage, 3 snarl or the "
	      "program\n"
	      "could not run, 4 replay diverged, 5 failed but not proved, 77 not supported on this "
	      "machine.\n",
	      out);
}

static int help(int argc, char **argv)
{
	static char option[] = "--help";
	char *args[] = { NULL, option, NULL };
	const struct cmd *cmd;

	if (argc < 2) {
		print_help(stdout);
		return fflush(stdout) == 0 ? CMD_OK : CMD_FAILED;
	}
	if (strcmp(argv[1], "options") == 0)
		return help_options();
	cmd = find_command(argv[1]);
	if (!cmd)
		return unknown(argv[1]);
	if (cmd->help) {
		fputs(cmd->help, stdout);
		return cmd_flush(cmd, CMD_OK);
	}
	args[0] = argv[1];
	return cmd->run(2, args);
}

/* A file that another process shortens while snarl reads it. */
static void on_bus_error(int sig)
{
	static const char text[] = "snarl: a file was shortened while it was read; try again\n";

	(void)sig;
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(CMD_FAILED);
	_exit(CMD_FAILED);
}

int main(int argc, char **argv)
{
	const struct cmd *cmd;

	if (argc < 2) {
		print_help(stderr);
		return CMD_USAGE;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "version") == 0) {
		puts("snarl " VERSION);
		return CMD_OK;
	}
	if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 ||
	    strcmp(argv[1], "-h") == 0)
		return help(argc - 1, argv + 1);
	cmd = find_command(argv[1]);
	if (!cmd)
		return unknown(argv[1]);
	/* A write beyond `ulimit -f` returns EFBIG, which is reported, instead of killing snarl. */
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGBUS, on_bus_error);
	return cmd->run(argc - 1, argv + 1);
}
