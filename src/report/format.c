#include "report/format.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

const struct report_format *const report_formats[] = {
#define FORMAT(name) &report_##name,
#include "report/formats.def"
#undef FORMAT
	NULL,
};

const struct report_format *report_format_find(const char *name)
{
	for (size_t i = 0; report_formats[i]; i++)
		if (strcmp(report_formats[i]->name, name) == 0)
			return report_formats[i];
	return NULL;
}

int report_write_file(const char *path, const struct buf *text, struct err *err)
{
	return file_replace(path, text, err);
}

static int write_below(const char *folder, const char *name, struct buf *text, struct err *err)
{
	char *path = xasprintf("%s/%s", folder, name);
	int result = report_write_file(path, text, err);

	free(path);
	buf_free(text);
	return result;
}

static int write_bug(const struct report_bug *b, const struct report_format *f, const char *folder,
		     bool index, struct err *err)
{
	struct buf text = { 0 };

	f->bug(b, index, &text);
	return write_below(folder, f->bug_file, &text, err);
}

static int make_folder(const char *path, struct err *err)
{
	if (mkdir(path, 0777) == 0 || errno == EEXIST)
		return 0;
	return err_set(err, "cannot make the folder %s: %s", path, strerror(errno));
}

/* Writes the pages of all bugs to OUT/bugs/ID/. */
static int write_bugs(const struct report *r, const struct report_format *f, const char *out,
		      struct err *err)
{
	char *bugs = xasprintf("%s/bugs", out);
	int result = make_folder(out, err) < 0 ? -1 : make_folder(bugs, err);

	for (size_t i = 0; result == 0 && i < r->bug_count; i++) {
		const char *name = strrchr(r->bugs[i].path, '/');
		char *folder = xasprintf("%s%s", bugs, name ? name : "/bug");

		result = make_folder(folder, err);
		if (result == 0)
			result = write_bug(&r->bugs[i], f, folder, true, err);
		free(folder);
	}
	free(bugs);
	return result;
}

int report_write(const struct report *r, const struct report_format *f, const char *out,
		 struct err *err)
{
	struct buf text = { 0 };
	int result = 0;

	if (r->single) {
		if (out && make_folder(out, err) < 0)
			return -1;
		return write_bug(&r->bugs[0], f, out ? out : r->path, false, err);
	}
	if (out)
		result = write_bugs(r, f, out, err);
	for (size_t i = 0; !out && result == 0 && i < r->bug_count; i++)
		result = write_bug(&r->bugs[i], f, r->bugs[i].path, true, err);
	if (result < 0)
		return -1;
	f->all(r, NULL, &text);
	return write_below(out ? out : r->path, f->all_file, &text, err);
}

int report_save_bug(const char *folder, const struct symbols *loaded, struct err *err)
{
	static const struct report_style style = { .width = 100, .output = true };
	struct report r;
	struct buf text = { 0 };
	int result = report_open(&r, folder, true, loaded, err);

	if (result == 0) {
		report_text.all(&r, &style, &text);
		result = write_below(folder, "report.txt", &text, err);
	}
	if (result == 0)
		result = write_bug(&r.bugs[0], &report_html, folder, true, err);
	report_close(&r);
	return result;
}

int report_save_index(const char *folder, struct err *err)
{
	struct report r;
	struct buf text = { 0 };
	int result = report_open(&r, folder, false, NULL, err);

	if (result == 0) {
		report_html.all(&r, NULL, &text);
		result = write_below(folder, report_html.all_file, &text, err);
	}
	report_close(&r);
	return result;
}
