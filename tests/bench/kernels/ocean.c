/*
 * Red-black relaxation of a square grid.
 *
 * Sharing, as in SPLASH's ocean with contiguous partitions: each thread fills and
 * owns half the rows and reads one row of its neighbour's; a mutex guards the sum of all
 * changes.
 */
#include <math.h>

#include "kernel.h"

#ifndef FILLED_BY_ONE
#define FILLED_BY_ONE 0
#endif

static long side, steps;	/* without the border */
static double *grid;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total_change;	/* in millionths: sums in any order are the same */

static double sweep(long first, long last, long colour)
{
	long width = side + 2;
	double change = 0;

	for (long i = first; i < last; i++)
		for (long j = 1 + (i + colour) % 2; j <= side; j += 2) {
			double *c = &grid[i * width + j];
			double value = 0.2 * (c[0] + c[-1] + c[1] + c[-width] + c[width]);

			change += fabs(value - *c);
			*c = value;
		}
	return change;
}

/* The border goes with the rows next to it. */
static void fill(long first, long last)
{
	long width = side + 2;

	if (first == 1)
		first = 0;
	if (last == side + 1)
		last = side + 2;
	for (long i = first; i < last; i++) {
		uint64_t seed = 4 + (uint64_t)i;

		for (long j = 0; j < width; j++)
			grid[i * width + j] = (double)(kernel_random(&seed) >> 48);
	}
}

static void part(int self)
{
	long first = 1 + self * side / THREADS, last = 1 + (self + 1) * side / THREADS;

	if (FILLED_BY_ONE && self == 0)
		fill(1, side + 1);
	else if (!FILLED_BY_ONE)
		fill(first, last);
	kernel_sync();
	for (long step = 0; step < steps; step++) {
		double change = 0;

		for (long colour = 0; colour < 2; colour++) {
			change += sweep(first, last, colour);
			kernel_sync();
		}
		pthread_mutex_lock(&lock);
		total_change += lround(change * 1e3);
		pthread_mutex_unlock(&lock);
		kernel_sync();
	}
}

int main(int argc, char **argv)
{
	uint64_t sum = 0;
	long cells;

	steps = kernel_size(argc, argv, 400);
	side = argc > 2 ? atol(argv[2]) : 1024;
	cells = (side + 2) * (side + 2);
	grid = kernel_alloc((size_t)cells * sizeof(*grid));
	kernel_run(part);
	for (long i = 0; i < cells; i++)
		sum = kernel_mix(sum, (uint64_t)llround(grid[i] * 16));
	printf("ocean %016llx\n",
	       (unsigned long long)kernel_mix(sum, (uint64_t)(total_change / 1000)));
	free(grid);
	return 0;
}
