/*
 * Servers that outlive a search, for who makes many short ones of the same program: to start
 * one takes as long as dozens of runs. All zero: empty.
 */
#ifndef EXPLORE_SPARES_H
#define EXPLORE_SPARES_H

#include "explore/server.h"

#define SPARES_MOST 64u

struct spares {
	struct server server[SPARES_MOST];
	unsigned count;
};

void spares_free(struct spares *p);

/* As server_open(), but takes one that was kept and fits the config. `p` may be NULL. */
int spares_open(struct spares *p, struct server *s, const struct server_config *config, struct err *err);

/* As server_close(), but keeps it, if no run is under way. `p` may be NULL. */
void spares_close(struct spares *p, struct server *s);

/* Ends processes that runs have left behind. */
void spares_end_strays(const struct spares *p);

#endif
