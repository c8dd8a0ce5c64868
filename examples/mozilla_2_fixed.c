/*
 * mozilla_2.c, repaired: checking and moving the offset are one critical section.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define HEADER 4
#define SIZE 5

/* Header, data; header, data; header, data. */
static const char archive[] = "zip1apple"
			      "zip2berry"
			      "zip3cacao";

struct item {
	pthread_mutex_t lock;
	size_t offset;	/* of the header, later of the data */
	bool at_data;
};

struct reader {
	struct item *item;
	char data[SIZE + 1];
};

static const char *item_seek(struct item *item)
{
	const char *data;

	pthread_mutex_lock(&item->lock);
	if (!item->at_data) {
		item->offset += HEADER;
		item->at_data = true;
	}
	data = archive + item->offset;
	pthread_mutex_unlock(&item->lock);
	return data;
}

static void *item_read(void *arg)
{
	struct reader *r = arg;

	memcpy(r->data, item_seek(r->item), SIZE);
	return NULL;
}

int main(void)
{
	static struct item berry = { .lock = PTHREAD_MUTEX_INITIALIZER, .offset = HEADER + SIZE };
	static struct reader readers[2] = { { .item = &berry }, { .item = &berry } };
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, item_read, &readers[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 2; i++) {
		if (strcmp(readers[i].data, "berry") != 0) {
			printf("reader %d got garbage: %s\n", i, readers[i].data);
			return 1;
		}
	}
	printf("both read berry\n");
	return 0;
}
