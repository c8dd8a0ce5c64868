/*
 * After the shape of a bug of Mozilla's script loader (Mozilla-1): an atomicity
 * violation. The loader makes a script the current one, loads it, and compiles the
 * current one. Each step locks, but the steps are not one critical section: a page that
 * is closed in between clears the current script.
 *
 * Breaks when page_close() clears `current` between script_set() and the reading
 * of `current` in script_compile() (write, remote write, read): a NULL pointer is
 * dereferenced. No data race. The twin loads and compiles in one critical section.
 *
 * Lesson: what is read back must still be what was written.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define SCRIPTS 2

struct script {
	const char *text;
	char code[16];
	size_t length;
};

struct loader {
	pthread_mutex_t lock;
	struct script *current;	/* NULL if no page wants it */
	struct script scripts[SCRIPTS];
	int compiled;
};

static void script_set(struct loader *l, struct script *script)
{
	pthread_mutex_lock(&l->lock);
	l->current = script;
	pthread_mutex_unlock(&l->lock);
}

static void script_compile(struct loader *l)
{
	struct script *script;

	pthread_mutex_lock(&l->lock);
	script = l->current;
	script->length = strlen(script->text);
	memcpy(script->code, script->text, script->length + 1);
	l->compiled++;
	pthread_mutex_unlock(&l->lock);
}

static void *load(void *arg)
{
	struct loader *l = arg;

	for (int i = 0; i < SCRIPTS; i++) {
		script_set(l, &l->scripts[i]);
		script_compile(l);
	}
	return NULL;
}

static void *page_close(void *arg)
{
	struct loader *l = arg;

	pthread_mutex_lock(&l->lock);
	l->current = NULL;
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

int main(void)
{
	static struct loader l = {
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.scripts = { { .text = "on_load()" }, { .text = "on_click()" } },
	};
	pthread_t loader, closer;

	pthread_create(&loader, NULL, load, &l);
	pthread_create(&closer, NULL, page_close, &l);
	pthread_join(loader, NULL);
	pthread_join(closer, NULL);
	printf("%d scripts compiled\n", l.compiled);
	return l.compiled != SCRIPTS;
}
