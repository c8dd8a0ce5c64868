/*
 * How results can be shown. A new format is a file here and a line in formats.def.
 */
#ifndef REPORT_FORMAT_H
#define REPORT_FORMAT_H

#include "report/model.h"

/* What a terminal can do; formats that are files do not look at it. */
struct report_style {
	size_t width;		/* columns */
	bool colour, ascii;
	bool brief;		/* text: no more than the cause, for who is told of the failure already */
	bool output;		/* text: what the run printed, too */
};

struct report_format {
	const char *name;	/* as typed after --format */
	const char *summary;	/* one line of --help */
	/* All that was read, as one document. */
	void (*all)(const struct report *r, const struct report_style *style, struct buf *out);
	/* If it is made of pages: one per bug besides, and the names of the files. Else NULL. */
	void (*bug)(const struct report_bug *b, bool index, struct buf *out);
	const char *all_file, *bug_file;
};

#define FORMAT(name) extern const struct report_format report_##name;
#include "report/formats.def"
#undef FORMAT

/* NULL after the last one. */
extern const struct report_format *const report_formats[];

/* NULL if there is none of that name. */
const struct report_format *report_format_find(const char *name);

/*
 * The pages of a format: that of each bug, and the index unless the report is of a single one. Below
 * `out`, or where the results are if that is NULL. Folders are made.
 */
int report_write(const struct report *r, const struct report_format *f, const char *out,
		 struct err *err);

/* The whole of a file, which appears at once or not at all. */
int report_write_file(const char *path, const struct buf *text, struct err *err);

/* For those who have just saved a bug in `folder`, or results: report.txt and HTML. */
int report_save_bug(const char *folder, const struct symbols *known, struct err *err);
int report_save_index(const char *folder, struct err *err);

#endif
