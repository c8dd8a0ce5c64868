#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

bool log_wanted(const char *module)
{
	const char *p = getenv("SNARL_LOG");
	size_t size = strlen(module);

	while (p && *p) {
		size_t word = strcspn(p, ",");

		if ((word == size && !memcmp(p, module, size)) ||
		    (word == 3 && !memcmp(p, "all", 3)))
			return true;
		p += word;
		p += *p == ',';
	}
	return false;
}

void log_debug(const char *module, const char *format, ...)
{
	char text[512];
	va_list args;

	if (!log_wanted(module))
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(stderr, "snarl: %s: %s\n", module, text);
}

void log_warn(const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(stderr, "snarl: warning: %s\n", text);
}
