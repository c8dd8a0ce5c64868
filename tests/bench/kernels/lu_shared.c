/*
 * The worst case for a recorder: lu.c, but all work is done in place, on memory
 * that both threads touch.
 */
#define IN_PLACE 1
#include "lu.c"
