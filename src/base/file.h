/*
 * Opens files whose names come from elsewhere: a trace, a bug folder, debug information. They may
 * name a pipe or a device, at which open() or read() would wait for ever.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdio.h>

/* A descriptor for reading a regular file, or -1 and errno; EINVAL: it is no regular file. */
int file_open_regular(const char *path);

/* The same as a stream, or NULL and errno. */
FILE *file_stream_regular(const char *path);

#endif
