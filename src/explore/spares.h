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
	int64_t looked;		/* when it was last looked for strays, s */
};

void spares_free(struct spares *p);

/* As server_open(), but takes one that was kept and fits the config. `p` may be NULL. */
int spares_open(struct spares *p, struct server *s, const struct server_config *config, struct err *err);

/* As server_close(), but keeps it, if no run is under way. `p` may be NULL. */
void spares_close(struct spares *p, struct server *s);

/* Ends processes that runs have left behind; now and then only, if there are spares. */
void spares_end_strays(struct spares *p);

#endif
