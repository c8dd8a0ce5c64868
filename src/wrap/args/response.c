#include "wrap/args/response.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

#define MAX_RESPONSE_FILES 2000	/* with more, a file probably names itself */

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

void response_parse(const char *text, size_t size, struct args *out)
{
	const char *end = text + size;
	char *word = xmalloc(size + 1);

	while (text < end) {
		char *to = word;
		char quote = 0;

		if (is_space(*text)) {
			text++;
			continue;
		}
		for (; text < end && (quote || !is_space(*text)); text++) {
			if (*text == '\\' && text + 1 < end)
				*to++ = *++text;
			else if (quote ? *text == quote : *text == '"' || *text == '\'')
				quote = quote ? 0 : *text;
			else
				*to++ = *text;
		}
		*to = '\0';
		args_add(out, word);
	}
	free(word);
}

/* Returns the file's content from malloc, or NULL if it cannot be read. */
static char *read_file(const char *path, size_t *size)
{
	size_t room = 1 << 14, used = 0;
	char *text = NULL;
	struct stat st;
	ssize_t got = -1;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && !S_ISDIR(st.st_mode)) {
		do {
			if (!text || used == room)
				text = xrealloc(text, room *= 2);
			got = read(fd, text + used, room - used);
			if (got > 0)
				used += (size_t)got;
		} while (got > 0 || (got < 0 && errno == EINTR));
	}
	close(fd);
	if (got < 0) {
		free(text);
		return NULL;
	}
	*size = used;
	return text;
}

/* *files: response files read so far. */
static int expand(char *const *words, size_t count, struct args *out, unsigned *files,
		  struct err *err)
{
	for (size_t i = 0; i < count; i++) {
		struct args inner = { 0 };
		char *text = NULL;
		size_t size;
		int failed;

		if (words[i][0] == '@')
			text = read_file(words[i] + 1, &size);
		if (!text) {
			args_add(out, words[i]);
			continue;
		}
		if (++*files > MAX_RESPONSE_FILES) {
			free(text);
			return err_set(err, "too many response files: does '%s' name itself?",
				       words[i]);
		}
		response_parse(text, size, &inner);
		free(text);
		failed = expand(inner.v, inner.count, out, files, err);
		args_free(&inner);
		if (failed)
			return -1;
	}
	return 0;
}

int response_expand(char *const *words, size_t count, struct args *out, struct err *err)
{
	unsigned files = 0;

	return expand(words, count, out, &files, err);
}

char *response_text(const struct args *a, size_t *size)
{
	size_t room = 1;
	char *text, *p;

	for (size_t i = 0; i < a->count; i++)
		room += 2 * strlen(a->v[i]) + 3;
	p = text = xmalloc(room);
	for (size_t i = 0; i < a->count; i++) {
		*p++ = '"';
		for (const char *c = a->v[i]; *c; c++) {
			if (*c == '"' || *c == '\\')
				*p++ = '\\';
			*p++ = *c;
		}
		*p++ = '"';
		*p++ = '\n';
	}
	*p = '\0';
	*size = (size_t)(p - text);
	return text;
}

static int write_all(int fd, const char *text, size_t size)
{
	while (size > 0) {
		ssize_t done = write(fd, text, size);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return -1;
		text += done;
		size -= (size_t)done;
	}
	return 0;
}

int response_shorten(struct args *a, size_t from, size_t limit, struct err *err)
{
	struct args rest = { 0 };
	size_t length = 0, size;
	char *text;
	int fd, failed;

	for (size_t i = 0; i < a->count; i++)
		length += strlen(a->v[i]) + 1 + sizeof(char *);
	if (length <= limit)
		return 0;
	for (size_t i = from; i < a->count; i++)
		args_add(&rest, a->v[i]);
	text = response_text(&rest, &size);
	args_free(&rest);
	fd = memfd_create("snarl-cc", 0);
	failed = fd < 0 || write_all(fd, text, size);
	free(text);
	if (failed)
		return err_set(err, "cannot write a response file: %s", strerror(errno));
	args_truncate(a, from);
	args_addf(a, "@/proc/self/fd/%d", fd);
	return 0;
}
