/*
 * Ordered memory: granules whose conflicting accesses are all ordered by *strong* happens-before
 * (struct view). Memory that is handed off between threads is like that: arrays of programs that
 * work in rounds between barriers, blocks passed on by semaphores.
 *
 * No atomicity violation is possible there. A remote access r that breaks a local pair (p, i)
 * conflicts with both, whatever the pattern. Strong order then says that r comes before p, after
 * i, or between them, and it says so in every run that the analysis considers. No run has another
 * order to be tried.
 *
 * A granule also counts as ordered if no thread accesses it twice in one life of the memory,
 * because then it has no local pair. Most messages are like that, written once and read once,
 * under whatever locks. A granule is *unordered* if two conflicting accesses are not ordered and,
 * in this or another life, a thread accesses it twice. A life ends when memory is freed,
 * unmapped or allocated again, or when the thread whose stack it is starts or ends.
 *
 * The pass reads all events in order and keeps the epochs of the last write and of the reads since
 * then for each granule, as FastTrack does (Flanagan and Freund, PLDI 2009). It follows strong
 * order only, not calls, locks or atomics. It gives up as soon as it seems to cost more than
 * analyses would save.
 *
 * Example. A clock [a b] has the components of threads A and B; A@1 is an access by A while A's
 * own component is 1. The granules are x and y, the semaphore is s.
 *
 *   event           A's clock  B's clock
 *   A writes x, y   [1 0]      [0 1]      last writes: x A@1, y A@1
 *   A posts s       [2 0]      [0 1]
 *   A writes y      [2 0]      [0 1]      last write: y A@2; A accessed y twice
 *   B waits for s   [2 0]      [1 1]      B takes over [1 0], A's clock at the post
 *   B writes x      [2 0]      [1 1]      A@1 is seen (1 <= 1): ordered; last write: x B@1
 *   B reads x       [2 0]      [1 1]      B accessed x twice
 *   B reads y       [2 0]      [1 1]      A@2 is not seen (2 > 1): not ordered
 *
 * x was handed off from A to B and is ordered. y is unordered: analyses get its accesses.
 */
#ifndef ANALYZE_RELEVANCE_ORDERED_H
#define ANALYZE_RELEVANCE_ORDERED_H

#include "analyze/relevance/unshared.h"

/*
 * Makes the pass and leaves the reader at its first event. Fills a->unordered and the members after
 * it, or leaves them as they are if the pass gave up.
 */
void ordered_prescan(struct unshared *a, struct reader *trace);

#endif
