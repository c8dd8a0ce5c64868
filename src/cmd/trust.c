/*
 * What a schedule of unknown origin would run, and whether it may.
 */
#include <stdio.h>

#include "cmd/cmd.h"
#include "explore/schedule/trust.h"

bool cmd_trusts(const struct schedule *s, const char *path, unsigned parts, bool trust, bool quiet)
{
	struct buf what = { 0 }, name = { 0 };
	bool risk = !schedule_is_own(s) && schedule_describe_risk(s, parts, &what);

	buf_add_shell_word(&name, path);
	if (risk && !(trust && quiet))
		fprintf(stderr, "snarl: %s was not written by your snarl; it %s:\n%s",
			buf_string(&name), trust ? "runs" : "would run", buf_string(&what));
	buf_free(&what);
	buf_free(&name);
	return trust || !risk;
}
