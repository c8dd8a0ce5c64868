/*
 * Finding the target, and its environment and stdin. target_exec.c starts it.
 */
#include "explore/target/target.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "explore/target/capture.h"
#include "symbol/elf.h"

#define STDIN_HINT_MS 2000	/* silence on stdin before a hint is printed */

/* Variables that change how a program runs on any machine: schedules save them. */
static const char *const saved_names[] = {
	"LANG", "LANGUAGE", "LC_*", "TZ", "LD_*", "MALLOC_*", "GLIBC_TUNABLES", "OMP_*", "GOMP_*",
	"KMP_*",
};

/*
 * Variables about snarl itself: its options, and `_`, the shell's path of the snarl command. How
 * OpenMP's threads wait is set by target_exec.c.
 */
static const char *const excluded_names[] = {
	"SNARL_*", "_", "OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME", "KMP_LIBRARY",
};

static bool named(const char *text, const char *name, size_t size)
{
	return strncmp(text, name, size) == 0 && text[size] == '=';
}

void target_set_env(struct target *t, const char *text)
{
	size_t size = strcspn(text, "="), i = 0;

	while (i < t->env_count && !named(t->env[i], text, size))
		i++;
	if (i < t->env_count) {
		free(t->env[i]);
	} else {
		t->env = xrealloc(t->env, (t->env_count + 2) * sizeof(*t->env));
		t->env[++t->env_count] = NULL;
	}
	t->env[i] = xstrdup(text);
}

static bool is_one_of(const char *text, const char *const *patterns, size_t count)
{
	size_t size = strcspn(text, "=");
	char name[128];

	if (size >= sizeof(name))
		return false;
	memcpy(name, text, size);
	name[size] = '\0';
	for (size_t i = 0; i < count; i++)
		if (fnmatch(patterns[i], name, 0) == 0)
			return true;
	return false;
}

static bool has_env(const struct target *t, const char *text)
{
	size_t size = strcspn(text, "=");

	for (size_t i = 0; i < t->env_count; i++)
		if (named(t->env[i], text, size))
			return true;
	return false;
}

static bool is_variable(const char *text)
{
	return *text && *text != '=' && strchr(text, '=') &&
	       !is_one_of(text, excluded_names, ARRAY_SIZE(excluded_names));
}

static void take_saved(struct target *t, const char *const *keep)
{
	for (char **e = environ; *e; e++)
		if (is_variable(*e) && is_one_of(*e, saved_names, ARRAY_SIZE(saved_names)))
			target_set_env(t, *e);
	for (; keep && *keep; keep++) {
		const char *value = strchr(*keep, '=') ? NULL : getenv(*keep);
		char *text = value ? xasprintf("%s=%s", *keep, value) : NULL;

		if (text || strchr(*keep, '='))
			target_set_env(t, text ? text : *keep);
		free(text);
	}
}

void target_take_rest(struct target *t)
{
	char *here = xasprintf("PWD=%s", t->directory);

	t->env_saved = t->env_count;
	for (char **e = environ; *e; e++)
		if (is_variable(*e) && !is_one_of(*e, saved_names, ARRAY_SIZE(saved_names)) &&
		    !has_env(t, *e))
			target_set_env(t, named(*e, "PWD", 3) ? here : *e);
	free(here);
}

/* Finds a program as the shell does. Returns its absolute path, to be freed, or NULL and errno. */
static char *find_program(const char *name)
{
	const char *path = getenv("PATH");
	int failure = ENOENT;

	if (strchr(name, '/'))
		return access(name, X_OK) == 0 ? realpath(name, NULL) : NULL;
	for (path = path ? path : "/usr/bin:/bin";;) {
		size_t n = strcspn(path, ":");
		char *full = n ? xasprintf("%.*s/%s", (int)n, path, name) : xasprintf("./%s", name);
		struct stat st;

		if (stat(full, &st) == 0 && S_ISREG(st.st_mode) && access(full, X_OK) == 0) {
			char *real = realpath(full, NULL);

			free(full);
			return real;
		}
		if (errno == EACCES)
			failure = EACCES;
		free(full);
		if (!path[n])
			break;
		path += n + 1;
	}
	errno = failure;
	return NULL;
}

int target_program(struct target *t, const char *name, struct err *err)
{
	char *path = find_program(name);
	struct elf_facts facts;
	struct stat st;

	if (!path)
		return err_set(err, "cannot run %s: %s", name, strerror(errno));
	free(t->program);
	t->program = path;
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return err_set(err, "cannot run %s: it is a folder", name);
	if (elf_read(path, &facts, err) < 0)
		return err_set(err, "%s is not a program that snarl-cc built: no ELF file%s", name,
			       "; name the program itself, not a script that starts it");
	/* It is not run to find out: it could be any program, with any effect. */
	if (!facts.has_runtime)
		return err_set(err, "%s has no runtime of snarl, so it is not run; was it built "
			       "with snarl-cc? Name the program itself, not one that starts it",
			       name);
	snprintf(t->build_id, sizeof(t->build_id), "%s", facts.build_id);
	return 0;
}

int target_init(struct target *t, char *const *argv, const char *const *keep, struct err *err)
{
	size_t count = 0;

	*t = (struct target){ .input = -1, .input_hash = HASH_START };
	t->env = xcalloc(1, sizeof(*t->env));
	while (argv[count])
		count++;
	t->argv = xcalloc(count + 1, sizeof(*t->argv));
	for (size_t i = 0; i < count; i++)
		t->argv[i] = xstrdup(argv[i]);
	t->directory = getcwd(NULL, 0);
	if (!t->directory)
		return err_set(err, "cannot determine the current folder: %s", strerror(errno));
	take_saved(t, keep);
	target_take_rest(t);
	return target_program(t, argv[0], err);
}

static int temporary_file(void)
{
	const char *folder = getenv("TMPDIR");
	int fd = open(folder && *folder ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	return fd >= 0 ? fd : memfd_create("snarl-stdin", MFD_CLOEXEC);
}

int target_input(struct target *t, int fd, struct err *err)
{
	char piece[64 << 10];
	ssize_t got = 0;

	if (fcntl(fd, F_GETFD) < 0 || isatty(fd))
		return 0;
	t->input = temporary_file();
	if (t->input < 0)
		return err_set(err, "cannot keep a copy of stdin: %s", strerror(errno));
	if (poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, STDIN_HINT_MS) == 0)
		log_warn("reading stdin up to its end first; give </dev/null if the program needs "
			 "none");
	for (;;) {
		got = read(fd, piece, sizeof(piece));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		if (write(t->input, piece, (size_t)got) != got)
			return err_set(err, "cannot keep a copy of stdin: %s", strerror(errno));
		t->input_size += (uint64_t)got;
		t->input_hash = hash_bytes(t->input_hash, piece, (size_t)got);
	}
	if (t->input_size == 0) {
		close(t->input);
		t->input = -1;
	}
	return got < 0 && errno != EISDIR ? err_set(err, "cannot read stdin: %s", strerror(errno))
					  : 0;
}

static void free_list(char **list)
{
	for (char **p = list; p && *p; p++)
		free(*p);
	free(list);
}

void target_free(struct target *t)
{
	free(t->program);
	free(t->directory);
	free_list(t->argv);
	free_list(t->env);
	if (t->input > 0)
		close(t->input);
	*t = (struct target){ .input = -1 };
}
