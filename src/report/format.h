/*
 * The formats of reports. A new format is a file here and a line in formats.def.
 */
#ifndef REPORT_FORMAT_H
#define REPORT_FORMAT_H

#include "report/model.h"

/* How the text format writes; other formats ignore it and accept NULL. */
struct report_style {
	size_t width;		/* columns */
	bool colour;		/* with ANSI escape sequences */
	bool ascii;		/* no other characters */
	bool brief;		/* only the cause: the caller has printed the failure */
	bool output;		/* also the output of the run */
};

struct report_format {
	const char *name;	/* as typed after --format; lower-case letters */
	const char *summary;	/* one line of --help */
	/*
	 * Appends the whole report as one document, which may have no bugs. A format for CI leaves
	 * out the bugs that report_is_current() denies and marks those that are `known`; other
	 * formats show all bugs.
	 */
	void (*all)(const struct report *r, const struct report_style *style, struct buf *out);
	/* Only for formats of several pages, else NULL. */
	/* Appends the page of one bug; if `index`, with a link to the index, which all() makes. */
	void (*bug)(const struct report_bug *b, bool index, struct buf *out);
	const char *all_file, *bug_file;	/* file names of the index and a bug's page */
};

#define FORMAT(name) extern const struct report_format report_##name;
#include "report/formats.def"
#undef FORMAT

/* All formats, terminated by NULL. */
extern const struct report_format *const report_formats[];

/* Returns the format of that name, or NULL. */
const struct report_format *report_format_find(const char *name);

/*
 * Writes the pages of a format: one for each bug, and the index unless the report is of a single
 * bug. The files go below the folder `out`, which is created, or beside the results if it is NULL.
 */
int report_write(const struct report *r, const struct report_format *f, const char *out,
		 struct err *err);

/* Writes a file by way of a temporary one and rename(): it appears completely or not at all. */
int report_write_file(const char *path, const struct buf *text, struct err *err);

/* Writes report.txt and report.html into the folder of a saved bug. `loaded`: report_open(). */
int report_save_bug(const char *folder, const struct symbols *loaded, struct err *err);

/* Writes index.html into a folder of results. */
int report_save_index(const char *folder, struct err *err);

#endif
