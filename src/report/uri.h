/*
 * Names of files as URIs.
 */
#ifndef REPORT_URI_H
#define REPORT_URI_H

#include <stdbool.h>

#include "base/buf.h"

/* A folder, with a slash at the end: "file:///home/me/a%20b/". */
void uri_folder(struct buf *out, const char *path);

/*
 * A file whose name begins in `folder` (absolute, without a slash at the end) unless it is
 * absolute. True if it is below that folder: then the URI is relative to it.
 */
bool uri_file(struct buf *out, const char *folder, const char *path);

#endif
