/*
 * Bodies that attract each other in the plane; distant groups count as one body.
 *
 * Sharing, much as in SPLASH's barnes: bodies are read by all threads and moved by their owner; the
 * tree is built by both threads, each one half of the space, and walked recursively by both; the
 * sums for a body are the thread's own.
 */
#include <math.h>

#include "kernel.h"

#define OPENING 0.5
#define SOFT 1e-3
#define STEP 1e-3
#define DEEPEST 48
#define POOL(bodies) ((size_t)(bodies) * 8 + DEEPEST * 8)	/* limit of nodes */

struct body {
	double x, y, vx, vy, mass;
	double ax, ay;
};

struct node {
	double x, y, mass;	/* of all bodies below */
	double left, bottom, size;
	int child[4];		/* nodes; 0: none */
	int body;		/* of a leaf; -1: none */
};

static long count, steps;
static struct body *bodies;
static struct node *pool[THREADS];	/* node 0 is the root */
static int used[THREADS];

static int node_new(int tree, double left, double bottom, double size)
{
	struct node *n = &pool[tree][used[tree]];

	*n = (struct node){ .left = left, .bottom = bottom, .size = size, .body = -1 };
	return used[tree]++;
}

static int quadrant(const struct node *n, const struct body *b, double *left, double *bottom)
{
	double half = n->size / 2;
	int east = b->x >= n->left + half, north = b->y >= n->bottom + half;

	*left = n->left + (east ? half : 0);
	*bottom = n->bottom + (north ? half : 0);
	return east + 2 * north;
}

static int child_for(int tree, int at, int body)
{
	struct node *n = &pool[tree][at];
	double left, bottom;
	int q = quadrant(n, &bodies[body], &left, &bottom);

	if (!n->child[q])
		n->child[q] = node_new(tree, left, bottom, n->size / 2);
	return n->child[q];
}

static void insert(int tree, int body)
{
	const struct body *b = &bodies[body];
	int at = 0, parent = 1;

	for (int depth = 0; depth < DEEPEST; depth++) {
		struct node *n = &pool[tree][at];
		double mass = n->mass + b->mass;
		int before = n->body;

		parent = n->mass > 0;
		n->x = (n->x * n->mass + b->x * b->mass) / mass;
		n->y = (n->y * n->mass + b->y * b->mass) / mass;
		n->mass = mass;
		if (!parent) {
			n->body = body;
			return;
		}
		if (before >= 0) {
			/* No leaf any more: its body moves one level down. */
			struct node *down = &pool[tree][child_for(tree, at, before)];

			down->x = bodies[before].x;
			down->y = bodies[before].y;
			down->mass = bodies[before].mass;
			down->body = before;
			n->body = -1;
		}
		at = child_for(tree, at, body);
	}
}

static void build(int self)
{
	double left = -2 + 2 * self;

	used[self] = 0;
	node_new(self, left, -2, 4);
	for (int i = 0; i < count; i++)
		if ((bodies[i].x >= 0) == self)
			insert(self, i);
}

static void pull(struct body *b, const struct node *n, double dx, double dy, double d2)
{
	double f = n->mass / (d2 * sqrt(d2));

	b->ax += dx * f;
	b->ay += dy * f;
}

static void walk(struct body *b, int body, const struct node *tree, int at)
{
	const struct node *n = &tree[at];
	double dx = n->x - b->x, dy = n->y - b->y;
	double d2 = dx * dx + dy * dy + SOFT;

	if (n->mass == 0 || n->body == body)
		return;
	if (n->body >= 0 || n->size * n->size < OPENING * OPENING * d2) {
		pull(b, n, dx, dy, d2);
		return;
	}
	for (int q = 0; q < 4; q++)
		if (n->child[q])
			walk(b, body, tree, n->child[q]);
}

static void part(int self)
{
	int first = (int)(self * count / THREADS), last = (int)((self + 1) * count / THREADS);

	for (long step = 0; step < steps; step++) {
		build(self);
		kernel_sync();
		for (int i = first; i < last; i++) {
			struct body b = bodies[i];

			b.ax = b.ay = 0;
			for (int t = 0; t < THREADS; t++)
				walk(&b, i, pool[t], 0);
			bodies[i] = b;
		}
		kernel_sync();
		for (int i = first; i < last; i++) {
			struct body *b = &bodies[i];

			b->vx += b->ax * STEP;
			b->vy += b->ay * STEP;
			b->x = fmax(-1.9, fmin(1.9, b->x + b->vx * STEP));
			b->y = fmax(-1.9, fmin(1.9, b->y + b->vy * STEP));
		}
		kernel_sync();
	}
}

static double uniform(uint64_t *seed)
{
	return (double)(kernel_random(seed) >> 11) / 4503599627370496.0 - 1;
}

int main(int argc, char **argv)
{
	uint64_t seed = 5, sum = 0;

	steps = kernel_size(argc, argv, 60);
	count = argc > 2 ? atol(argv[2]) : 6000;
	bodies = kernel_alloc((size_t)count * sizeof(*bodies));
	for (int t = 0; t < THREADS; t++)
		pool[t] = kernel_alloc(POOL(count) * sizeof(*pool[t]));
	for (long i = 0; i < count; i++)
		bodies[i] = (struct body){ .x = uniform(&seed), .y = uniform(&seed),
					   .mass = 1.0 / (double)count };
	kernel_run(part);
	for (long i = 0; i < count; i++)
		sum = kernel_mix(sum, (uint64_t)llround(bodies[i].x * 1e5));
	printf("barnes %016llx\n", (unsigned long long)sum);
	free(bodies);
	for (int t = 0; t < THREADS; t++)
		free(pool[t]);
	return 0;
}
