/*
 * File names as URIs.
 */
#ifndef REPORT_URI_H
#define REPORT_URI_H

#include <stdbool.h>

#include "base/buf.h"

/* Appends the URI of a folder, with a slash at the end: "file:///home/me/a%20b/". */
void uri_folder(struct buf *out, const char *path);

/*
 * Appends the URI of the file `path`, relative to `folder` if the file is below it; returns whether
 * it is. A relative `path` starts from `folder`, which is absolute and has no slash at the end.
 */
bool uri_file(struct buf *out, const char *folder, const char *path);

#endif
