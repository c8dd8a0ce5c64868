#include "symbol/key.h"

#include <string.h>

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void symbol_key(const struct symbol_frame *frame, const char *module, uint64_t offset,
		struct buf *out)
{
	if (frame->file && frame->line && frame->begin && frame->begin <= frame->line)
		buf_addf(out, "%s %s +%u:%u", base_name(frame->file), frame->function,
			 frame->line - frame->begin, frame->column);
	else if (frame->file && frame->line)
		buf_addf(out, "%s %s %u:%u", base_name(frame->file), frame->function, frame->line,
			 frame->column);
	else
		buf_addf(out, "%s 0x%llx", module ? base_name(module) : "?",
			 (unsigned long long)offset);
}
