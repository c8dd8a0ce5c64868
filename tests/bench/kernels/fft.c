/*
 * A complex transform of R * R points in six steps: transpose, transform rows,
 * twiddle, transpose, transform rows, transpose. Each thread has half the rows.
 *
 * Sharing, as in SPLASH's fft: one thread fills the arrays; each thread works on its
 * rows in place, with roots of unity of its own; a transpose writes the own rows and
 * reads, a patch at a time, what is to be found of them in everybody's rows. So the
 * second thread's rows are shared from the start, the first one's half and half.
 */
#include <math.h>

#include "kernel.h"

struct complex {
	double re, im;
};

static long side, rounds;	/* R, a power of two */
static struct complex *data, *other, *twiddles;

#define PATCH 8

static void transpose(struct complex *to, const struct complex *from, int self)
{
	long first = self * side / THREADS, last = (self + 1) * side / THREADS;

	for (long top = first; top < last; top += PATCH)
		for (long left = 0; left < side; left += PATCH)
			for (long i = top; i < top + PATCH; i++)
				for (long j = left; j < left + PATCH; j++)
					to[i * side + j] = from[j * side + i];
}

/* Swaps each point with the one whose index has the reversed digits. */
static void row_reverse(struct complex *x)
{
	for (long i = 1, j = 0; i < side; i++) {
		long bit = side >> 1;

		for (; j & bit; bit >>= 1)
			j ^= bit;
		j ^= bit;
		if (i < j) {
			struct complex t = x[i];

			x[i] = x[j];
			x[j] = t;
		}
	}
}

static void row_transform(struct complex *x, const struct complex *roots)
{
	for (long half = 1; half < side; half *= 2) {
		long stride = side / (2 * half);

		for (long base = 0; base < side; base += 2 * half)
			for (long k = 0; k < half; k++) {
				struct complex *a = &x[base + k], *b = &x[base + k + half];
				struct complex w = roots[k * stride];
				double re = b->re * w.re - b->im * w.im;
				double im = b->re * w.im + b->im * w.re;

				b->re = a->re - re;
				b->im = a->im - im;
				a->re += re;
				a->im += im;
			}
	}
}

static void rows(struct complex *to, int self, const struct complex *roots, int twiddle)
{
	long first = self * side / THREADS, last = (self + 1) * side / THREADS;

	for (long i = first; i < last; i++) {
		struct complex *row = &to[i * side];

		row_reverse(row);
		row_transform(row, roots);
		for (long j = 0; j < side && twiddle; j++) {
			double re = row[j].re, im = row[j].im;
			double c = twiddles[i * side + j].re, s = twiddles[i * side + j].im;

			row[j].re = re * c - im * s;
			row[j].im = re * s + im * c;
		}
	}
}

static struct complex *roots_new(void)
{
	const double pi = 3.14159265358979323846;
	struct complex *roots = kernel_alloc((size_t)side * sizeof(*roots));

	for (long i = 0; i < side; i++)
		roots[i] = (struct complex){ cos(-2 * pi * (double)i / (double)side),
					     sin(-2 * pi * (double)i / (double)side) };
	return roots;
}

static void part(int self)
{
	struct complex *roots = roots_new();

	for (long round = 0; round < rounds; round++) {
		transpose(other, data, self);
		kernel_sync();
		rows(other, self, roots, 1);
		kernel_sync();
		transpose(data, other, self);
		kernel_sync();
		rows(data, self, roots, 0);
		kernel_sync();
		transpose(other, data, self);
		kernel_sync();
		/* Scaled back, so that rounds do not overflow. */
		for (long i = self * side / THREADS * side; i < (self + 1) * side / THREADS * side;
		     i++) {
			data[i].re = other[i].re / (double)side;
			data[i].im = other[i].im / (double)side;
		}
		kernel_sync();
	}
	free(roots);
}

int main(int argc, char **argv)
{
	const double pi = 3.14159265358979323846;
	uint64_t seed = 1, sum = 0;
	long points;

	rounds = kernel_size(argc, argv, 6);
	side = argc > 2 ? atol(argv[2]) : 1024;
	points = side * side;
	data = kernel_alloc((size_t)points * sizeof(*data));
	other = kernel_alloc((size_t)points * sizeof(*other));
	twiddles = kernel_alloc((size_t)points * sizeof(*twiddles));
	for (long i = 0; i < points; i++) {
		double angle = -2 * pi * (double)(i / side * (i % side)) / (double)points;

		data[i].re = (double)(kernel_random(&seed) >> 11) / 9007199254740992.0;
		data[i].im = 0;
		twiddles[i] = (struct complex){ cos(angle), sin(angle) };
	}
	kernel_run(part);
	/* Rounded: compilers contract products differently. */
	for (long i = 0; i < points; i++)
		sum = kernel_mix(sum, (uint64_t)llround(data[i].re * 1e4));
	printf("fft %016llx\n", (unsigned long long)sum);
	free(data);
	free(other);
	free(twiddles);
	return 0;
}
