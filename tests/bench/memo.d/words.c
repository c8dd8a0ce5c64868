/*
 * Counts the words of a file: main reads lines into a short queue, two workers take and split them
 * and add what they find to one table. Numbers, long words and names are counted apart, so that not
 * every text needs all of it.
 */
#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS 4
#define BUCKETS 16
#define WORKERS 2

struct word {
	struct word *next;
	int count;
	char text[24];
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t filled, emptied;
	char line[SLOTS][80];
	int first, used;
	int over;
} queue = { .lock = PTHREAD_MUTEX_INITIALIZER, .filled = PTHREAD_COND_INITIALIZER,
	    .emptied = PTHREAD_COND_INITIALIZER };

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER,
		       special_lock = PTHREAD_MUTEX_INITIALIZER;
static struct word *table[BUCKETS];
static int different;
static long numbers, number_sum;
static int names;
static char longest[24];

static void put(const char *line)
{
	pthread_mutex_lock(&queue.lock);
	while (queue.used == SLOTS)
		pthread_cond_wait(&queue.emptied, &queue.lock);
	strcpy(queue.line[(queue.first + queue.used++) % SLOTS], line);
	pthread_cond_signal(&queue.filled);
	pthread_mutex_unlock(&queue.lock);
}

static int take(char *line)
{
	pthread_mutex_lock(&queue.lock);
	while (!queue.used && !queue.over)
		pthread_cond_wait(&queue.filled, &queue.lock);
	if (!queue.used) {
		pthread_mutex_unlock(&queue.lock);
		return 0;
	}
	strcpy(line, queue.line[queue.first]);
	queue.first = (queue.first + 1) % SLOTS;
	queue.used--;
	pthread_cond_signal(&queue.emptied);
	pthread_mutex_unlock(&queue.lock);
	return 1;
}

static void add_word(const char *text)
{
	unsigned hash = 0;
	struct word *w;

	for (const char *c = text; *c; c++)
		hash = hash * 31 + (unsigned char)*c;
	pthread_mutex_lock(&table_lock);
	for (w = table[hash % BUCKETS]; w && strcmp(w->text, text) != 0; w = w->next)
		;
	if (!w) {
		w = calloc(1, sizeof(*w));
		strcpy(w->text, text);
		w->next = table[hash % BUCKETS];
		table[hash % BUCKETS] = w;
		different++;
	}
	w->count++;
	pthread_mutex_unlock(&table_lock);
}

static void add_special(const char *text)
{
	pthread_mutex_lock(&special_lock);
	if (isdigit((unsigned char)*text)) {
		numbers++;
		number_sum += atoi(text);
	} else {
		names++;
	}
	pthread_mutex_unlock(&special_lock);
}

static void *work(void *arg)
{
	char line[80], *rest, *text;

	while (take(line))
		for (text = strtok_r(line, " ,.\n", &rest); text;
		     text = strtok_r(NULL, " ,.\n", &rest)) {
			if (strlen(text) > 20)
				text[20] = '\0';
			if (isdigit((unsigned char)*text) || isupper((unsigned char)*text))
				add_special(text);
			else
				add_word(text);
			if (strlen(text) > 9 && strlen(text) > strlen(longest)) {	/* a race */
				pthread_mutex_lock(&special_lock);
				strcpy(longest, text);
				pthread_mutex_unlock(&special_lock);
			}
		}
	return arg;
}

int main(int argc, char **argv)
{
	FILE *f = argc > 1 ? fopen(argv[1], "r") : stdin;
	pthread_t worker[WORKERS];
	char line[80];

	if (!f)
		return 2;
	for (int i = 0; i < WORKERS; i++)
		pthread_create(&worker[i], NULL, work, NULL);
	while (fgets(line, 60, f))
		put(line);
	pthread_mutex_lock(&queue.lock);
	queue.over = 1;
	pthread_cond_broadcast(&queue.filled);
	pthread_mutex_unlock(&queue.lock);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(worker[i], NULL);
	printf("%d words, %ld numbers (%ld), %d names, longest %s\n", different, numbers,
	       number_sum, names, longest);
	return 0;
}
