#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"

int err_set(struct err *err, const char *format, ...)
{
	va_list args;

	if (!err)
		return -1;
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	return -1;
}

int err_prefix(struct err *err, const char *format, ...)
{
	char text[sizeof(err->text)];
	va_list args;
	int used;

	if (!err)
		return -1;
	va_start(args, format);
	used = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (used < 0 || (size_t)used >= sizeof(text) - 2)
		return -1;	/* a long prefix would displace the reason */
	snprintf(text + used, sizeof(text) - (size_t)used, ": %.*s",
		 (int)(sizeof(text) - (size_t)used - 3), err->text);
	memcpy(err->text, text, sizeof(text));
	return -1;
}
