/*
 * mozilla_10.c, repaired: offset and length are written and read together.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define SIZE 16

struct frame {
	pthread_mutex_t lock;
	size_t offset, length;
};

struct page {
	struct frame frame;
	char text[2 * SIZE];	/* the second half is that of another frame */
};

static const char other[] = "another frame's";

static void frame_set(struct frame *f, size_t offset, size_t length)
{
	pthread_mutex_lock(&f->lock);
	f->offset = offset;
	f->length = length;
	pthread_mutex_unlock(&f->lock);
}

static size_t frame_end(struct frame *f)
{
	size_t end;

	pthread_mutex_lock(&f->lock);
	end = f->offset + f->length;
	pthread_mutex_unlock(&f->lock);
	return end;
}

static void *frame_move(void *arg)
{
	struct page *p = arg;

	frame_set(&p->frame, 12, 3);
	return NULL;
}

static void *frame_mark(void *arg)
{
	struct page *p = arg;

	p->text[frame_end(&p->frame) - 1] = '_';
	return NULL;
}

int main(void)
{
	static struct page p = { .frame = { .lock = PTHREAD_MUTEX_INITIALIZER, .length = 12 } };
	pthread_t layout, painter;

	memcpy(p.text, "hello world the", SIZE);
	memcpy(p.text + SIZE, other, SIZE);
	pthread_create(&layout, NULL, frame_move, &p);
	pthread_create(&painter, NULL, frame_mark, &p);
	pthread_join(layout, NULL);
	pthread_join(painter, NULL);
	if (memcmp(p.text + SIZE, other, SIZE) != 0) {
		printf("overwritten: %s\n", p.text + SIZE);
		return 1;
	}
	printf("marked within the frame\n");
	return 0;
}
