/*
 * From an earlier trace to the list of places worth recording.
 *
 * The list is text: "snarl-sites 1", then for each module "module BUILD-ID PATH"
 * (BUILD-ID in hexadecimal, "-" if it has none) followed by its places, one a line
 * in hexadecimal, ascending: the pc of a plain read or write as traces have it,
 * less the module's load bias.
 */
#ifndef CMD_SITES_H
#define CMD_SITES_H

#include "base/err.h"

/* `given` is a trace or already a list; the list goes to the file `made`. */
int sites_prepare(const char *given, const char *made, struct err *err);

#endif
