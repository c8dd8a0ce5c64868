/*
 * runs: 1
 * slow: seconds a run
 * Frees more memory than the quarantine holds, so memory is reused: small blocks, large ones
 * whose pages were returned to the kernel, huge and aligned ones. Passes under every
 * schedule.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_zero(const unsigned char *p, size_t size)
{
	for (size_t i = 0; i < size; i += 61)
		if (p[i])
			return 0;
	return size == 0 || p[size - 1] == 0;
}

static void churn(size_t size, int rounds)
{
	for (int i = 0; i < rounds; i++) {
		unsigned char *p = calloc(1, size);

		if (!p || !is_zero(p, size)) {
			printf("round %d of %zu bytes: not zero\n", i, size);
			exit(1);
		}
		memset(p, 0xa5, size < 4096 ? size : 4096);
		p[size / 2] = p[size - 1] = 1;
		free(p);
	}
}

static void churn_aligned(void)
{
	for (int i = 0; i < 3000; i++) {
		size_t align = (size_t)16 << i % 8;
		unsigned char *p = memalign(align, 30000);

		if (!p || (uintptr_t)p % align) {
			printf("round %d: not aligned to %zu\n", i, align);
			exit(1);
		}
		memset(p, 0x5a, 30000);
		free(p);
	}
}

static void *worker(void *unused)
{
	churn(24, 140000);
	return unused;
}

int main(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, worker, NULL) != 0)
		return 2;
	churn(24, 140000);
	pthread_join(t, NULL);
	churn(60000, 1500);
	churn(3 << 20, 200);
	churn(48 << 20, 100);
	churn_aligned();
	puts("ok");
	return 0;
}
