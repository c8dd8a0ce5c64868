#include "explore/schedule/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mac.h"
#include "base/mem.h"

/* --- the key --- */

/* The folder of the key, to be freed; NULL: the user has none. */
static char *key_folder(void)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

	if (state && *state == '/')
		return xasprintf("%s/snarl", state);
	return home && *home == '/' ? xasprintf("%s/.local/state/snarl", home) : NULL;
}

static bool read_key(const char *path, uint8_t key[MAC_KEY])
{
	int fd = file_open_regular(path);
	struct stat st;
	bool good;

	if (fd < 0)
		return false;
	/* A key that others can read or write proves nothing. */
	good = fstat(fd, &st) == 0 && st.st_uid == geteuid() && !(st.st_mode & 077) &&
	       read(fd, key, MAC_KEY) == (ssize_t)MAC_KEY;
	close(fd);
	return good;
}

static void make_folders(const char *path)
{
	char *copy = xstrdup(path);

	for (char *p = strchr(copy + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		mkdir(copy, 0700);
		*p = '/';
	}
	mkdir(copy, 0700);
	free(copy);
}

/* Makes a key. Another process may do so at the same time: link() lets one of them win. */
static void make_key(const char *folder, const char *path)
{
	char *work = xasprintf("%s/key.%d", folder, (int)getpid());
	uint8_t key[MAC_KEY];
	int fd;

	make_folders(folder);
	unlink(work);
	fd = open(work, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0 && getrandom(key, sizeof(key), 0) == (ssize_t)sizeof(key) &&
	    write(fd, key, sizeof(key)) == (ssize_t)sizeof(key) && link(work, path) < 0)
		errno = 0;	/* the winner's key will be read */
	if (fd >= 0)
		close(fd);
	unlink(work);
	free(work);
}

static bool get_key(bool make, uint8_t key[MAC_KEY])
{
	char *folder = key_folder(), *path = folder ? xasprintf("%s/key", folder) : NULL;
	bool good = path && read_key(path, key);

	if (path && !good && make) {
		make_key(folder, path);
		good = read_key(path, key);
	}
	free(path);
	free(folder);
	return good;
}

/* --- the seal --- */

/* Each text with its NUL, so that no two schedules have the same message. */
static void add_text(struct buf *out, const char *text)
{
	buf_add_char(out, text ? '+' : '-');
	if (text)
		buf_add(out, text, strlen(text) + 1);
}

static void add_list(struct buf *out, const struct schedule_list *list)
{
	buf_addf(out, "%zu ", list->count);
	for (size_t i = 0; i < list->count; i++)
		add_text(out, list->items[i]);
}

static char *compute(const struct schedule *s, bool make)
{
	struct buf message = { 0 };
	uint8_t key[MAC_KEY];
	char *seal = NULL;

	if (!get_key(make, key))
		return NULL;
	add_text(&message, "snarl-schedule 1");
	add_text(&message, s->program);
	add_text(&message, s->directory);
	add_list(&message, &s->arguments);
	add_list(&message, &s->environment);
	add_text(&message, s->input);
	add_text(&message, s->check);
	seal = xasprintf("%016llx", (unsigned long long)mac(key, message.data, message.size));
	buf_free(&message);
	return seal;
}

char *schedule_seal(const struct schedule *s)
{
	return compute(s, true);
}

bool schedule_is_own(const struct schedule *s)
{
	char *seal = s->seal ? compute(s, false) : NULL;
	bool own = seal && strcmp(seal, s->seal) == 0;

	free(seal);
	return own;
}

/* --- what a foreign schedule would run --- */

/* Variables that cannot make a program run other code, unless their value is a path. */
static const char *const harmless[] = {
	"LANG", "LANGUAGE", "LC_*", "TZ", "MALLOC_ARENA_*", "MALLOC_PERTURB_", "MALLOC_CHECK_",
	"GLIBC_TUNABLES", "MALLOC_TOP_PAD_", "MALLOC_MMAP_*", "MALLOC_TRIM_THRESHOLD_",
};

static bool is_harmless(const char *variable)
{
	size_t size = strcspn(variable, "=");
	const char *value = variable + size + (variable[size] == '=');
	char name[64];

	if (size >= sizeof(name) || *value == '/' || *value == ':' || strstr(value, ".."))
		return false;
	memcpy(name, variable, size);
	name[size] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(harmless); i++)
		if (fnmatch(harmless[i], name, 0) == 0)
			return true;
	return false;
}

static void add_program(const struct schedule *s, struct buf *out)
{
	buf_add_text(out, "  the program ");
	buf_add_shell_word(out, s->program);
	for (size_t i = 1; i < s->arguments.count; i++) {
		buf_add_char(out, ' ');
		buf_add_shell_word(out, s->arguments.items[i]);
	}
	if (s->directory) {
		buf_add_text(out, ", in the folder ");
		buf_add_shell_word(out, s->directory);
	}
	buf_add_char(out, '\n');
}

bool schedule_describe_risk(const struct schedule *s, unsigned parts, struct buf *out)
{
	size_t before = out->size;

	if (parts & TRUST_PROGRAM && s->program)
		add_program(s, out);
	for (size_t i = 0; parts & TRUST_ENVIRONMENT && i < s->environment.count; i++)
		if (!is_harmless(s->environment.items[i])) {
			buf_add_text(out, "  with the variable ");
			buf_add_shell_word(out, s->environment.items[i]);
			buf_add_char(out, '\n');
		}
	if (parts & TRUST_CHECK && s->check) {
		buf_add_text(out, "  after each run, sh -c ");
		buf_add_shell_word(out, s->check);
		buf_add_char(out, '\n');
	}
	return out->size > before;
}
