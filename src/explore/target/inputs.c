#include "explore/target/inputs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/mem.h"
#include "explore/target/capture.h"

static const char mark[] = "@@";

char *inputs_argument(const char *text, const char *path)
{
	struct buf out = { 0 };
	char *result;

	for (const char *at; (at = strstr(text, mark)); text = at + strlen(mark))
		buf_addf(&out, "%.*s%s", (int)(at - text), text, path);
	buf_addf(&out, "%s", text);
	result = xstrdup(buf_string(&out));
	buf_free(&out);
	return result;
}

static bool is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Lists the regular files of `folder`, without hidden ones. */
static int list(struct inputs *in, const char *folder, struct err *err)
{
	char *real = realpath(folder, NULL);
	struct dirent **names = NULL;
	int count = real ? scandir(real, &names, NULL, alphasort) : -1;

	if (count < 0) {
		err_set(err, "cannot read the folder %s: %s", folder, strerror(errno));
		free(real);
		return -1;
	}
	in->path = xcalloc((size_t)count + 1, sizeof(*in->path));
	in->count = 0;
	for (int i = 0; i < count; i++) {
		char *path = xasprintf("%s/%s", real, names[i]->d_name);

		if (*names[i]->d_name != '.' && is_file(path))
			in->path[in->count++] = path;
		else
			free(path);
		free(names[i]);
	}
	free(names);
	free(real);
	return in->count ? 0 : err_set(err, "%s has no file to use as input", folder);
}

int inputs_open(struct inputs *in, struct target *target, const char *folder, struct err *err)
{
	*in = (struct inputs){
		.target = target, .count = 1, .argv = target->argv, .input = target->input,
		.input_size = target->input_size, .input_hash = target->input_hash,
	};
	for (char **a = target->argv; *a; a++)
		in->in_arguments |= a != target->argv && strstr(*a, mark);
	return folder ? list(in, folder, err) : 0;
}

void inputs_restore(struct inputs *in)
{
	struct target *t = in->target;

	if (!in->selected)
		return;
	in->selected = false;
	if (in->in_arguments) {
		for (char **a = t->argv; *a; a++)
			free(*a);
		free(t->argv);
	} else if (t->input >= 0) {
		close(t->input);
	}
	t->argv = in->argv;
	t->input = in->input;
	t->input_size = in->input_size;
	t->input_hash = in->input_hash;
}

/* Replaces "@@" in the target's arguments by the path. */
static void name_in_arguments(struct inputs *in, const char *path)
{
	size_t count = 0;

	while (in->argv[count])
		count++;
	in->target->argv = xcalloc(count + 1, sizeof(char *));
	for (size_t i = 0; i < count; i++)
		in->target->argv[i] = i ? inputs_argument(in->argv[i], path) : xstrdup(in->argv[i]);
	in->selected = true;
}

static int give_as_stdin(struct inputs *in, const char *path, struct err *err)
{
	struct target given = { .input = -1, .input_hash = HASH_START };
	int fd = open(path, O_RDONLY | O_CLOEXEC), result;

	if (fd < 0)
		return err_set(err, "cannot read %s: %s", path, strerror(errno));
	result = target_input(&given, fd, err);
	close(fd);
	in->target->input = given.input;
	in->target->input_size = given.input_size;
	in->target->input_hash = given.input_hash;
	in->selected = true;
	return result;
}

int inputs_select(struct inputs *in, size_t i, struct err *err)
{
	inputs_restore(in);
	if (!in->path)
		return 0;
	if (!in->in_arguments)
		return give_as_stdin(in, in->path[i], err);
	name_in_arguments(in, in->path[i]);
	return 0;
}

void inputs_close(struct inputs *in)
{
	inputs_restore(in);
	for (size_t i = 0; in->path && i < in->count; i++)
		free(in->path[i]);
	free(in->path);
	*in = (struct inputs){ 0 };
}
