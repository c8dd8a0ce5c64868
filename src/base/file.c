#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

int file_open_regular(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)))
		return fd;
	close(fd);
	errno = EINVAL;
	return -1;
}

FILE *file_stream_regular(const char *path)
{
	int fd = file_open_regular(path);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");

	if (!f && fd >= 0)
		close(fd);
	return f;
}

int file_replace(const char *path, const struct buf *text, struct err *err)
{
	char *work = xasprintf("%s.tmp-%d", path, (int)getpid());
	FILE *f = fopen(work, "we");
	bool ok = f && (!text->size || fwrite(text->data, 1, text->size, f) == text->size);

	ok = (!f || fclose(f) == 0) && ok && rename(work, path) == 0;
	if (!ok) {
		err_set(err, "cannot write %s: %s", path, strerror(errno));
		if (f)
			unlink(work);
	}
	free(work);
	return ok ? 0 : -1;
}
