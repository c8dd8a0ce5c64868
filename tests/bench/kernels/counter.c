/*
 * Accounts with a lock each; both threads move money between two of them as fast as they can.
 * Mostly locking.
 */
#include "kernel.h"

#define ACCOUNTS 64

struct account {
	pthread_mutex_t lock;
	long balance, moves;
};

static struct account accounts[ACCOUNTS];
static long transfers;

static void transfer(struct account *from, struct account *to, long amount)
{
	/* In the order of addresses, so that two transfers cannot block each other. */
	pthread_mutex_lock(from < to ? &from->lock : &to->lock);
	pthread_mutex_lock(from < to ? &to->lock : &from->lock);
	from->balance -= amount;
	from->moves++;
	to->balance += amount;
	to->moves++;
	pthread_mutex_unlock(&from->lock);
	pthread_mutex_unlock(&to->lock);
}

static void part(int self)
{
	uint64_t seed = (uint64_t)(6 + self);

	for (long i = 0; i < transfers; i++) {
		uint64_t r = kernel_random(&seed);
		unsigned from = r >> 8 & (ACCOUNTS - 1), to = r >> 16 & (ACCOUNTS - 1);

		if (from != to)
			transfer(&accounts[from], &accounts[to], (long)(r >> 56));
	}
}

int main(int argc, char **argv)
{
	uint64_t sum = 0;

	transfers = kernel_size(argc, argv, 10000000);
	for (int i = 0; i < ACCOUNTS; i++)
		pthread_mutex_init(&accounts[i].lock, NULL);
	kernel_run(part);
	for (int i = 0; i < ACCOUNTS; i++) {
		sum = kernel_mix(sum, (uint64_t)accounts[i].balance);
		sum = kernel_mix(sum, (uint64_t)accounts[i].moves);
		pthread_mutex_destroy(&accounts[i].lock);
	}
	printf("counter %016llx\n", (unsigned long long)sum);
	return 0;
}
