#include "wrap/args/compiler.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"

extern char **environ;

/* Pairs of C compiler and C++ compiler. */
static const char *const names[][2] = {
	{ "clang", "clang++" },
	{ "gcc", "g++" },
	{ "cc", "c++" },
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Returns where `name` stands in `base` as a word of its own, or NULL: "ccache" has no "cc". */
static const char *find_name(const char *base, const char *name)
{
	size_t size = strlen(name);

	for (const char *p = base; (p = strstr(p, name)); p++)
		if ((p == base || p[-1] == '-') &&
		    (p[size] == '\0' || p[size] == '-' || p[size] == '.'))
			return p;
	return NULL;
}

/* Adds the C++ compiler that belongs to the C compiler `word`, or the other way round. */
static bool add_counterpart(const char *word, bool cxx, struct args *out)
{
	const char *base = base_name(word);

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *have = names[i][!cxx], *want = names[i][cxx];
		const char *at = find_name(base, have);

		if (at) {
			args_addf(out, "%.*s%s%s", (int)(at - word), word, want,
				  at + strlen(have));
			return true;
		}
	}
	return false;
}

/* Adds the command `text` with its compiler replaced; adds nothing if it names no known one. */
static bool add_counterpart_command(const char *text, bool cxx, struct args *out)
{
	struct args words = { 0 };
	bool renamed = false;

	args_split(&words, text);
	for (size_t i = 0; i < words.count; i++) {
		if (!renamed && words.v[i][0] != '-' && add_counterpart(words.v[i], cxx, out))
			renamed = true;
		else
			args_add(out, words.v[i]);
	}
	args_free(&words);
	if (!renamed)
		args_truncate(out, 0);
	return renamed;
}

void compiler_command(const char *cc, const char *cxx_value, bool cxx, struct args *out)
{
	const char *mine = cxx ? cxx_value : cc;
	const char *other = cxx ? cc : cxx_value;

	if (mine)
		args_split(out, mine);
	else if (other)
		add_counterpart_command(other, cxx, out);
	if (out->count == 0)
		args_add(out, cxx ? "g++" : "gcc");
}

enum compiler_kind compiler_kind(const struct args *command)
{
	for (size_t i = 0; i < command->count; i++) {
		const char *base = base_name(command->v[i]);

		if (command->v[i][0] == '-')
			continue;
		if (find_name(base, "clang") || find_name(base, "clang++"))
			return COMPILER_CLANG;
		if (find_name(base, "gcc") || find_name(base, "g++"))
			return COMPILER_GCC;
	}
	return COMPILER_UNKNOWN;
}

/*
 * Runs the command with --version and stores the first room - 1 bytes of its output in `text`.
 * Returns -1 if it cannot be run (errno says why) or fails (errno is 0).
 */
static int run_version(const struct args *command, char *text, size_t room)
{
	struct args argv = { 0 };
	posix_spawn_file_actions_t actions;
	size_t used = 0;
	int ends[2], status = -1, failed;
	pid_t pid;

	if (pipe(ends))
		return -1;
	args_add_all(&argv, command);
	args_add(&argv, "--version");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
	posix_spawn_file_actions_addclose(&actions, ends[0]);
	posix_spawn_file_actions_addclose(&actions, ends[1]);
	failed = posix_spawnp(&pid, argv.v[0], &actions, NULL, argv.v, environ);
	posix_spawn_file_actions_destroy(&actions);
	args_free(&argv);
	close(ends[1]);
	if (!failed) {
		char rest[512];
		ssize_t got;

		/* Read all output, or SIGPIPE would kill the compiler. */
		do {
			bool full = used + 1 >= room;

			got = full ? read(ends[0], rest, sizeof(rest))
				   : read(ends[0], text + used, room - 1 - used);
			if (got > 0 && !full)
				used += (size_t)got;
		} while (got > 0 || (got < 0 && errno == EINTR));
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	close(ends[0]);
	text[used] = '\0';
	errno = failed;
	return failed || status != 0 ? -1 : 0;
}

int compiler_ask(const struct args *command, enum compiler_kind *kind, struct err *err)
{
	char text[4096];

	if (run_version(command, text, sizeof(text)))
		return err_set(err, "cannot run '%s --version'%s%s; set SNARL_CC and SNARL_CXX",
			       command->v[0], errno ? ": " : "", errno ? strerror(errno) : "");
	if (strstr(text, "clang"))
		*kind = COMPILER_CLANG;
	else if (strstr(text, "see the source for copying conditions"))
		*kind = COMPILER_GCC;
	else
		return err_set(err, "'%s' is neither gcc nor clang; set SNARL_CC and SNARL_CXX",
			       command->v[0]);
	return 0;
}

/* Returns folder/name from malloc if access() allows `mode`, else NULL. */
static char *existing(const char *folder, const char *name, int mode)
{
	char *path = xasprintf("%s/%s", folder, name);

	if (access(path, mode) == 0)
		return path;
	free(path);
	return NULL;
}

/* Fills *out if root/sub holds the runtime, else returns false. */
static bool set_home(const char *root, const char *sub, struct compiler_home *out)
{
	char *runtime, *lib, *as = NULL;

	lib = existing(root, sub, X_OK);
	if (!lib)
		return false;
	runtime = existing(lib, "libsnarlrt.a", R_OK);
	if (!runtime) {
		free(lib);
		return false;
	}
	free(runtime);
	out->lib = lib;
	if (strcmp(sub, "lib") == 0) {	/* a build tree, else an installation */
		out->libexec = existing(root, "libexec", X_OK);
		out->include = existing(root, "include", X_OK);
	} else {
		out->libexec = existing(lib, "libexec", X_OK);
		out->include = existing(lib, "include", X_OK);
	}
	if (out->libexec)
		as = existing(out->libexec, "as", X_OK);
	if (!as) {
		free(out->libexec);
		out->libexec = NULL;
	}
	free(as);
	return true;
}

int compiler_find_home(const char *home, struct compiler_home *out, struct err *err)
{
	char path[PATH_MAX];

	*out = (struct compiler_home){ 0 };
	if (home && *home) {
		if (!realpath(home, path))
			return err_set(err, "SNARL_HOME=%s: %s", home, strerror(errno));
	} else {
		ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);

		if (size < 0)
			return err_set(err, "cannot find snarl's files: /proc/self/exe: %s; "
				       "set SNARL_HOME", strerror(errno));
		path[size] = '\0';
		for (int up = 0; up < 2; up++)	/* from ROOT/bin/snarl-cc to ROOT */
			if (strrchr(path, '/'))
				*strrchr(path, '/') = '\0';
	}
	if (!set_home(path, "lib", out) && !set_home(path, "lib/snarl", out))
		return err_set(err, "no libsnarlrt.a under '%s/lib' or '%s/lib/snarl'; "
			       "build or install snarl, or set SNARL_HOME", path, path);
	return 0;
}

void compiler_home_free(struct compiler_home *home)
{
	free(home->lib);
	free(home->libexec);
	free(home->include);
	*home = (struct compiler_home){ 0 };
}
