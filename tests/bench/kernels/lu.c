/*
 * Factors a dense matrix into L and U, block by block, without pivoting (the
 * matrix is made diagonally dominant). Blocks are contiguous; a column of blocks
 * belongs to one thread, which alone writes to it, in place.
 *
 * Sharing, as in SPLASH's lu with contiguous blocks: one thread fills the matrix; of
 * the factored blocks those of L and the diagonal are read by both threads, those of U
 * by their owner. So the second thread's blocks are shared from the start, the first
 * one's blocks of L when the work on them is done, and its blocks of U never.
 */
#include <math.h>

#include "kernel.h"

#define BLOCK 16
#ifndef OWNER
#define OWNER(i, j) (j)
#endif

static long blocks;	/* per side */
static double *matrix;

static double *block_at(long i, long j)
{
	return matrix + (i * blocks + j) * BLOCK * BLOCK;
}

static int owner(long i, long j)
{
	(void)i;
	return (int)(OWNER(i, j) % THREADS);
}

static void factor_diagonal(double *d)
{
	for (int k = 0; k < BLOCK; k++)
		for (int i = k + 1; i < BLOCK; i++) {
			d[i * BLOCK + k] /= d[k * BLOCK + k];
			for (int j = k + 1; j < BLOCK; j++)
				d[i * BLOCK + j] -= d[i * BLOCK + k] * d[k * BLOCK + j];
		}
}

/* L is unit lower triangular: b becomes L^-1 b. */
static void solve_row(const double *d, double *b)
{
	for (int k = 0; k < BLOCK; k++)
		for (int i = k + 1; i < BLOCK; i++)
			for (int j = 0; j < BLOCK; j++)
				b[i * BLOCK + j] -= d[i * BLOCK + k] * b[k * BLOCK + j];
}

/* b becomes b U^-1. */
static void solve_column(const double *d, double *b)
{
	for (int i = 0; i < BLOCK; i++)
		for (int k = 0; k < BLOCK; k++) {
			b[i * BLOCK + k] /= d[k * BLOCK + k];
			for (int j = k + 1; j < BLOCK; j++)
				b[i * BLOCK + j] -= b[i * BLOCK + k] * d[k * BLOCK + j];
		}
}

static void update(double *c, const double *a, const double *b)
{
	for (int i = 0; i < BLOCK; i++)
		for (int k = 0; k < BLOCK; k++)
			for (int j = 0; j < BLOCK; j++)
				c[i * BLOCK + j] -= a[i * BLOCK + k] * b[k * BLOCK + j];
}

static void part(int self)
{
	for (long k = 0; k < blocks; k++) {
		if (owner(k, k) == self)
			factor_diagonal(block_at(k, k));
		kernel_sync();
		for (long i = k + 1; i < blocks; i++) {
			if (owner(k, i) == self)
				solve_row(block_at(k, k), block_at(k, i));
			if (owner(i, k) == self)
				solve_column(block_at(k, k), block_at(i, k));
		}
		kernel_sync();
		for (long i = k + 1; i < blocks; i++)
			for (long j = k + 1; j < blocks; j++)
				if (owner(i, j) == self)
					update(block_at(i, j), block_at(i, k), block_at(k, j));
		kernel_sync();
	}
}

int main(int argc, char **argv)
{
	uint64_t seed = 2, sum = 0;
	long n, count;

	blocks = kernel_size(argc, argv, 88);
	n = blocks * BLOCK;
	count = n * n;
	matrix = kernel_alloc((size_t)count * sizeof(*matrix));
	for (long i = 0; i < count; i++)
		matrix[i] = (double)(kernel_random(&seed) >> 11) / 9007199254740992.0;
	for (long i = 0; i < blocks; i++)
		for (long k = 0; k < BLOCK; k++)
			block_at(i, i)[k * BLOCK + k] += (double)n;
	kernel_run(part);
	for (long i = 0; i < count; i++)
		sum = kernel_mix(sum, (uint64_t)llround(matrix[i] * 1e6));
	printf("lu %016llx\n", (unsigned long long)sum);
	free(matrix);
	return 0;
}
