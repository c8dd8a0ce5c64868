#include "report/uri.h"

#include <string.h>

/* Encodes all characters that have a meaning in URIs, also a colon, which could end a scheme. */
static void add_encoded(struct buf *out, const char *text, size_t size)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";

	for (size_t i = 0; i < size; i++)
		if (text[i] && strchr(plain, text[i]))
			buf_add_char(out, text[i]);
		else
			buf_addf(out, "%%%02X", (unsigned char)text[i]);
}

/* Appends the components of a path, each after a slash, and resolves "." and "..". */
static void add_parts(struct buf *out, const char *path)
{
	while (*path) {
		size_t size = strcspn(path, "/");

		if (size == 2 && strncmp(path, "..", 2) == 0) {
			while (out->size && out->data[--out->size] != '/')
				;
		} else if (size && !(size == 1 && *path == '.')) {
			buf_add_char(out, '/');
			buf_add(out, path, size);
		}
		path += size + (path[size] == '/');
	}
}

void uri_folder(struct buf *out, const char *path)
{
	struct buf whole = { 0 };

	add_parts(&whole, path);
	buf_add_text(out, "file://");
	add_encoded(out, (const char *)whole.data, whole.size);
	buf_add_char(out, '/');
	buf_free(&whole);
}

bool uri_file(struct buf *out, const char *folder, const char *path)
{
	struct buf whole = { 0 }, base = { 0 };
	bool below;

	add_parts(&base, folder);
	if (*path != '/')
		add_parts(&whole, folder);
	add_parts(&whole, path);
	below = whole.size > base.size + 1 &&
		(!base.size || memcmp(whole.data, base.data, base.size) == 0) &&
		whole.data[base.size] == '/';
	if (below) {
		add_encoded(out, (const char *)whole.data + base.size + 1,
			    whole.size - base.size - 1);
	} else {
		buf_add_text(out, "file://");
		add_encoded(out, (const char *)whole.data, whole.size);
	}
	buf_free(&whole);
	buf_free(&base);
	return below;
}
