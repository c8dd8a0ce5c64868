#include "cmd/numbers.h"

#include <errno.h>
#include <stdlib.h>

int numbers_count(const struct cmd *cmd, const char *option, const char *text, uint64_t least,
		  uint64_t most, uint64_t *out)
{
	unsigned long long value;
	uint64_t scale = 1, result = 0;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	switch (*end) {
	case 'k': case 'K': scale = 1000; end++; break;
	case 'm': case 'M': scale = 1000000; end++; break;
	case 'g': case 'G': scale = 1000000000; end++; break;
	}
	if (errno || *text < '0' || *text > '9' || *end ||
	    __builtin_mul_overflow((uint64_t)value, scale, &result) || result < least ||
	    result > most) {
		if (most == UINT64_MAX)
			return cmd_usage(cmd, "%s needs a number%s, not '%s'", option,
					 least ? " above 0" : "", text);
		return cmd_usage(cmd, "%s needs a number from %llu to %llu, not '%s'", option,
				 (unsigned long long)least, (unsigned long long)most, text);
	}
	*out = result;
	return CMD_OK;
}

int numbers_seconds(const struct cmd *cmd, const char *option, const char *text, double *out)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || !(value >= 0 && value <= 1e9))
		return cmd_usage(cmd, "%s needs a time such as 90, 1.5s, 10m or 2h, not '%s'",
				 option, text);
	switch (*end) {
	case 's': end++; break;
	case 'm': value *= 60; end++; break;
	case 'h': value *= 3600; end++; break;
	}
	if (*end)
		return cmd_usage(cmd, "%s needs a time such as 90, 1.5s, 10m or 2h, not '%s'",
				 option, text);
	*out = value;
	return CMD_OK;
}
