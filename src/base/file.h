/*
 * Writing whole files.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/buf.h"
#include "base/err.h"

/*
 * Writes a file, or replaces it, at once: a reader, and what a kill leaves behind, is the old file
 * or the new one. The temporary file beside it is PATH.tmp-PID. -1 if it cannot be written.
 */
int file_replace(const char *path, const struct buf *text, struct err *err);

#endif
