/*
 * A complex transform of R * R points in six steps: transpose, transform rows,
 * twiddle, transpose, transform rows, transpose. Each thread has half the rows and
 * transforms them in a row of its own; the transposes carry the data from one
 * thread to the other.
 */
#include <math.h>

#include "kernel.h"

struct complex {
	double re, im;
};

static long side, rounds;	/* R, a power of two */
static struct complex *data, *other, *twiddles;

/* What a thread works with: a row and the roots of unity. */
struct workspace {
	struct complex *x, *roots;
};

static void transpose(struct complex *to, const struct complex *from, int self)
{
	long first = self * side / THREADS, last = (self + 1) * side / THREADS;

	for (long i = first; i < last; i++)
		for (long j = 0; j < side; j++)
			to[i * side + j] = from[j * side + i];
}

/* Puts a row into place, digits of its positions reversed. */
static void row_load(struct complex *x, const struct complex *from)
{
	x[0] = from[0];
	for (long i = 1, j = 0; i < side; i++) {
		long bit = side >> 1;

		for (; j & bit; bit >>= 1)
			j ^= bit;
		j ^= bit;
		x[j] = from[i];
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

static void rows(struct complex *to, int self, const struct workspace *own, int twiddle)
{
	long first = self * side / THREADS, last = (self + 1) * side / THREADS;

	for (long i = first; i < last; i++) {
		struct complex *row = &to[i * side];

		row_load(own->x, row);
		row_transform(own->x, own->roots);
		for (long j = 0; j < side; j++) {
			double re = own->x[j].re, im = own->x[j].im;
			double c = 1, s = 0;

			if (twiddle) {
				c = twiddles[i * side + j].re;
				s = twiddles[i * side + j].im;
			}
			row[j].re = re * c - im * s;
			row[j].im = re * s + im * c;
		}
	}
}

static struct workspace row_new(void)
{
	const double pi = 3.14159265358979323846;
	struct workspace own = { kernel_alloc((size_t)side * sizeof(*own.x)),
				 kernel_alloc((size_t)side * sizeof(*own.roots)) };

	for (long i = 0; i < side; i++)
		own.roots[i] = (struct complex){ cos(-2 * pi * (double)i / (double)side),
						 sin(-2 * pi * (double)i / (double)side) };
	return own;
}

static void part(int self)
{
	struct workspace own = row_new();

	for (long round = 0; round < rounds; round++) {
		transpose(other, data, self);
		kernel_sync();
		rows(other, self, &own, 1);
		kernel_sync();
		transpose(data, other, self);
		kernel_sync();
		rows(data, self, &own, 0);
		kernel_sync();
		transpose(other, data, self);
		kernel_sync();
		/* Scaled back, so that rounds do not overflow. */
		for (long i = self * side / THREADS * side; i < (self + 1) * side / THREADS * side; i++) {
			data[i].re = other[i].re / (double)side;
			data[i].im = other[i].im / (double)side;
		}
		kernel_sync();
	}
	free(own.x);
	free(own.roots);
}

int main(int argc, char **argv)
{
	const double pi = 3.14159265358979323846;
	uint64_t seed = 1, sum = 0;
	long points;

	rounds = kernel_size(argc, argv, 60);
	side = argc > 2 ? atol(argv[2]) : 512;
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
