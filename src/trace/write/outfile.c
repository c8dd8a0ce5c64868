#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "trace/codec/codec.h"
#include "trace/write/outfile.h"

#define FLUSH_AT (1u << 20)	/* bytes to collect before a write() */

int outfile_open(struct outfile *o, const char *path, struct err *err)
{
	*o = (struct outfile){ .fd = -1 };
	for (unsigned i = 0; i < 100 && o->fd < 0; i++) {
		free(o->temporary);
		o->temporary = xasprintf("%s.tmp%d.%u", path, (int)getpid(), i);
		o->fd = open(o->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (o->fd < 0 && errno != EEXIST)
			break;
	}
	if (o->fd < 0) {
		err_set(err, "cannot create '%s': %s", o->temporary, strerror(errno));
		free(o->temporary);
		return -1;
	}
	o->path = xstrdup(path);
	return 0;
}

static void flush(struct outfile *o)
{
	size_t done = 0;

	while (done < o->pending.size && !o->error) {
		ssize_t got = write(o->fd, o->pending.data + done, o->pending.size - done);

		if (got > 0)
			done += (size_t)got;
		else if (got == 0)
			o->error = ENOSPC;
		else if (errno != EINTR)
			o->error = errno;
	}
	buf_clear(&o->pending);
}

void outfile_write(struct outfile *o, const void *data, size_t size)
{
	o->size += size;
	buf_add(&o->pending, data, size);
	if (o->pending.size >= FLUSH_AT)
		flush(o);
}

void outfile_patch(struct outfile *o, uint64_t offset, const void *data, size_t size)
{
	flush(o);
	if (!o->error && pwrite(o->fd, data, size, (off_t)offset) != (ssize_t)size)
		o->error = errno;
}

void outfile_chunk(struct outfile *o, struct trace_chunk *chunk, const void *payload,
		   size_t stored)
{
	chunk->magic = TRACE_CHUNK_MAGIC;
	chunk->stored = (uint32_t)stored;
	if (!(chunk->flags & TRACE_CHUNK_ZSTD))
		chunk->size = (uint32_t)stored;
	chunk->check = trace_check(payload, stored);
	chunk->header_check = trace_check(chunk, offsetof(struct trace_chunk, header_check));
	outfile_write(o, chunk, sizeof(*chunk));
	outfile_write(o, payload, stored);
}

static void release(struct outfile *o)
{
	buf_free(&o->pending);
	free(o->path);
	free(o->temporary);
	*o = (struct outfile){ .fd = -1 };
}

int outfile_commit(struct outfile *o, struct err *err)
{
	flush(o);
	/* Some file systems report a full disk only here. */
	if (close(o->fd) < 0 && !o->error)
		o->error = errno;
	o->fd = -1;
	if (!o->error && rename(o->temporary, o->path) < 0)
		o->error = errno;
	if (o->error) {
		err_set(err, "cannot write '%s': %s", o->path, strerror(o->error));
		unlink(o->temporary);
		release(o);
		return -1;
	}
	release(o);
	return 0;
}

void outfile_abort(struct outfile *o)
{
	if (!o->path)
		return;
	close(o->fd);
	unlink(o->temporary);
	release(o);
}
