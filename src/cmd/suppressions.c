/*
 * The option --suppressions of the commands that report findings.
 */
#include "analyze/suppress.h"
#include "cmd/cmd.h"

int cmd_suppressions(const struct cmd *cmd, const char *path, struct suppressions **s)
{
	struct err err;

	if (!*s)
		*s = suppress_new();
	if (suppress_read(*s, path, &err) == 0)
		return CMD_OK;
	cmd_fail(cmd, "%s", err.text);
	return CMD_USAGE;
}
