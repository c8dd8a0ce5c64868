/*
 * The worst case for a recorder: lu.c with the blocks dealt out like the fields of a chess board,
 * so that both threads access every block.
 */
#define OWNER(i, j) ((i) + (j))
#include "lu.c"
