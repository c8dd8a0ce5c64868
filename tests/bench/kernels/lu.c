/*
 * Factors a dense matrix into L and U, block by block, without pivoting (the
 * matrix is made diagonally dominant). Blocks are contiguous and belong to the
 * threads like the fields of a chess board; the bulk of the work is done in a
 * thread's own copies of them.
 */
#include <math.h>

#include "kernel.h"

#define BLOCK 32
#ifndef IN_PLACE
#define IN_PLACE 0
#endif

static long blocks;	/* per side */
static double *matrix;

struct workspace {
	double a[BLOCK * BLOCK], b[BLOCK * BLOCK], sum[BLOCK * BLOCK];
};

static double *block_at(long i, long j)
{
	return matrix + (i * blocks + j) * BLOCK * BLOCK;
}

static int owner(long i, long j)
{
	return (int)((i + j) % THREADS);
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

static void load(double *to, const double *from)
{
	for (int i = 0; i < BLOCK * BLOCK; i++)
		to[i] = from[i];
}

static void multiply(double *restrict sum, const double *restrict a, const double *restrict b)
{
	for (int i = 0; i < BLOCK; i++)
		for (int j = 0; j < BLOCK; j++) {
			double s = 0;

			for (int k = 0; k < BLOCK; k++)
				s += a[i * BLOCK + k] * b[k * BLOCK + j];
			sum[i * BLOCK + j] = s;
		}
}

static void update_in_place(double *c, const double *a, const double *b)
{
	for (int i = 0; i < BLOCK; i++)
		for (int k = 0; k < BLOCK; k++)
			for (int j = 0; j < BLOCK; j++)
				c[i * BLOCK + j] -= a[i * BLOCK + k] * b[k * BLOCK + j];
}

/* The row's block a is loaded already. */
static void update(struct workspace *own, double *c, const double *a, const double *b)
{
	if (IN_PLACE) {
		update_in_place(c, a, b);
		return;
	}
	load(own->b, b);
	multiply(own->sum, own->a, own->b);
	for (int i = 0; i < BLOCK * BLOCK; i++)
		c[i] -= own->sum[i];
}

static void part(int self)
{
	struct workspace *own = kernel_alloc(sizeof(*own));

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
		for (long i = k + 1; i < blocks; i++) {
			load(own->a, block_at(i, k));
			for (long j = k + 1; j < blocks; j++)
				if (owner(i, j) == self)
					update(own, block_at(i, j), block_at(i, k), block_at(k, j));
		}
		kernel_sync();
	}
	free(own);
}

int main(int argc, char **argv)
{
	uint64_t seed = 2, sum = 0;
	long n, count;

	blocks = kernel_size(argc, argv, 52);
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
