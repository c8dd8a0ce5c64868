/*
 * Trust in schedules: a schedule file names a program, variables and a shell command, which a
 * replay runs. It may come from another user.
 *
 * When snarl writes a schedule, it adds a seal: a code over all that a replay would run, made with
 * a secret key of the user (STATE/snarl/key, where STATE is $XDG_STATE_HOME or ~/.local/state). A
 * file with a seal that holds was written by this user's snarl, and what it runs is what the user
 * ran. The turns and goals are not covered: they may be edited.
 */
#ifndef EXPLORE_SCHEDULE_TRUST_H
#define EXPLORE_SCHEDULE_TRUST_H

#include <stdbool.h>

#include "base/buf.h"
#include "explore/schedule/schedule.h"

/* The seal of the schedule as 16 hex digits, to be freed; NULL: there can be no key. */
char *schedule_seal(const struct schedule *s);

/* Whether this user's snarl wrote what the schedule runs. Call it before changing the schedule. */
bool schedule_is_own(const struct schedule *s);

/* Parts of a schedule that a command runs. */
#define TRUST_PROGRAM 1u	/* program and arguments */
#define TRUST_ENVIRONMENT 2u
#define TRUST_CHECK 4u

/*
 * Appends what a schedule of unknown origin would run, one line each, indented. False: nothing that
 * could do harm, so it may be run. `parts`: what the command takes from the schedule.
 */
bool schedule_describe_risk(const struct schedule *s, unsigned parts, struct buf *out);

#endif
