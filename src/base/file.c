#include "base/file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

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
