/*
 * The worst case for a recorder: ocean.c, but one thread fills the whole grid, so that both threads
 * access all of it.
 */
#define FILLED_BY_ONE 1
#include "ocean.c"
