/*
 * After the shape of a bug of Mozilla's zip reader (Mozilla-2, 342577): an atomicity
 * violation. The offset of a file in the archive first points to its header; the first
 * reader that opens the file moves it on to the data, once.
 *
 * Breaks when both readers see `!item->at_data` in item_seek() before one of them
 * sets it: the offset moves on twice, and a reader gets bytes of the next file
 * (read, remote write, write). The twin holds a lock over the whole of item_seek().
 *
 * Lesson: "once" needs a lock, or pthread_once().
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
	size_t offset;	/* of the header, later of the data */
	bool at_data;
};

struct reader {
	struct item *item;
	char data[SIZE + 1];
};

static const char *item_seek(struct item *item)
{
	if (!item->at_data) {
		item->offset += HEADER;
		item->at_data = true;
	}
	return archive + item->offset;
}

static void *item_read(void *arg)
{
	struct reader *r = arg;

	memcpy(r->data, item_seek(r->item), SIZE);
	return NULL;
}

int main(void)
{
	static struct item berry = { .offset = HEADER + SIZE };
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
