/*
 * The cause of a failure for people: what happened in which order, the threads beside
 * each other with their source lines, and what locks have to do with it.
 */
#ifndef EXPLORE_STORY_H
#define EXPLORE_STORY_H

#include "base/buf.h"
#include "explore/lead.h"
#include "explore/places.h"

/* Several lines, the last one ended. */
void story_tell(const struct lead *lead, struct places *places, struct buf *out);

/* Why locks did not help, one line; nothing if there is nothing to say. Part of the above. */
void story_locks(const struct lead *lead, struct places *places, struct buf *out);

#endif
