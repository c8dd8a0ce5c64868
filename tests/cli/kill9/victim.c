/*
 * Works until it is killed: two threads, locks, shared and private memory, heap. After each round a
 * thread writes its number of rounds into a shared file; every round counted there must be in the
 * trace.
 *
 *   victim PROGRESS    prints its process id first
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile long *progress;	/* counters of the threads, 64 bytes apart */
static long table[4096];

static void *work(void *arg)
{
	long self = (long)arg, private[256] = { 0 };

	for (long round = 1;; round++) {
		long *block = malloc(64 + (size_t)(round % 512));

		if (!block)
			abort();
		block[0] = round;
		for (int i = 0; i < 256; i++)
			private[i] += block[0] + i;
		pthread_mutex_lock(&lock);
		for (int i = 0; i < 16; i++)
			table[(round * 16 + i) % 4096] += private[i];
		pthread_mutex_unlock(&lock);
		free(block);
		__atomic_store_n(&progress[self * 8], round, __ATOMIC_RELEASE);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int fd = argc > 1 ? open(argv[1], O_RDWR) : -1;
	pthread_t second;

	progress = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (progress == MAP_FAILED)
		return 2;
	pthread_create(&second, NULL, work, (void *)1);
	printf("%d\n", (int)getpid());
	fflush(stdout);
	work((void *)0);
}
