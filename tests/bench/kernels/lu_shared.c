/*
 * The worst case for a recorder: lu.c, but blocks belong to the threads like the
 * fields of a chess board, so that both come to touch every one of them.
 */
#define OWNER(i, j) ((i) + (j))
#include "lu.c"
