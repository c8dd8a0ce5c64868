/*
 * Files as a whole: replacing them at once, and opening those whose names come from elsewhere.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdio.h>

#include "base/buf.h"
#include "base/err.h"

/*
 * A descriptor for reading a regular file, or -1 and errno; EINVAL: it is no regular file. For
 * names from a trace, a bug folder or debug information, which may name a pipe or a device, at
 * which open() or read() would wait for ever.
 */
int file_open_regular(const char *path);

/* The same as a stream, or NULL and errno. */
FILE *file_stream_regular(const char *path);

/*
 * Writes a file, or replaces it, at once: a reader, and what a kill leaves behind, is the old file
 * or the new one. The temporary file beside it is PATH.tmp-PID. -1 if it cannot be written.
 */
int file_replace(const char *path, const struct buf *text, struct err *err);

#endif
