/*
 * After the shape of a bug of Mozilla's text frames (Mozilla-10): an atomicity
 * violation over two variables. Offset and length say together which part of the
 * text a frame shows. The layout thread moves the frame, the painter marks the last
 * letter of what it shows.
 *
 * Breaks when frame_mark() reads both between the two writes of frame_move(): new
 * offset and old length point behind the text, into the memory of another frame,
 * which is overwritten. Every access is locked. The twin writes both, and reads
 * both, in one critical section.
 *
 * Lesson: what must agree is written under one hold of the lock.
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

static void frame_set_offset(struct frame *f, size_t offset)
{
	pthread_mutex_lock(&f->lock);
	f->offset = offset;
	pthread_mutex_unlock(&f->lock);
}

static void frame_set_length(struct frame *f, size_t length)
{
	pthread_mutex_lock(&f->lock);
	f->length = length;
	pthread_mutex_unlock(&f->lock);
}

static size_t frame_offset(struct frame *f)
{
	size_t offset;

	pthread_mutex_lock(&f->lock);
	offset = f->offset;
	pthread_mutex_unlock(&f->lock);
	return offset;
}

static size_t frame_length(struct frame *f)
{
	size_t length;

	pthread_mutex_lock(&f->lock);
	length = f->length;
	pthread_mutex_unlock(&f->lock);
	return length;
}

static void *frame_move(void *arg)
{
	struct page *p = arg;

	frame_set_offset(&p->frame, 12);
	frame_set_length(&p->frame, 3);
	return NULL;
}

static void *frame_mark(void *arg)
{
	struct page *p = arg;
	size_t offset = frame_offset(&p->frame);
	size_t length = frame_length(&p->frame);

	p->text[offset + length - 1] = '_';
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
