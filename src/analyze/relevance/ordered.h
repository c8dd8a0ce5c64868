/*
 * Memory that is handed over from thread to thread: whoever comes to it comes after all who were
 * there before, by *strong* happens-before (struct view), unless both only read. Most memory of
 * programs that work in rounds between barriers, or pass blocks on by semaphores, is like that.
 *
 * There no access can come between two of another thread. An access r that breaks the pair (p, i)
 * conflicts with both of them, whatever the pattern. So r is ordered with p, and with i: r before
 * p, or r behind i, or behind p and before i; each of these is so in every run that the analysis
 * thinks possible, as it is by strong order. That leaves no choice (moments_fixed()).
 *
 * Nor can one where no thread comes twice before the memory is given out anew or given back: that makes no
 * pair. Messages are mostly like that, written once and read once, under whatever locks.
 *
 * A look through the events in order, with epochs after FastTrack (Flanagan and Freund, PLDI
 * 2009). It follows strong order only: no calls, locks or atomics. Once it shows that little is
 * gained by it, it is given up.
 */
#ifndef ANALYZE_RELEVANCE_ORDERED_H
#define ANALYZE_RELEVANCE_ORDERED_H

#include "analyze/relevance/unshared.h"

/* Sets a->unordered, maybe, and what goes with it. Leaves the reader at its first event. */
void handed_look(struct alone *a, struct reader *trace);

#endif
