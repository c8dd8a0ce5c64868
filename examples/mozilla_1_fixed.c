/*
 * mozilla_1.c, repaired: setting and compiling are one critical section.
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

/* Both need the lock. */
static void script_set(struct loader *l, struct script *script)
{
	l->current = script;
}

static void script_compile(struct loader *l)
{
	struct script *script = l->current;

	script->length = strlen(script->text);
	memcpy(script->code, script->text, script->length + 1);
	l->compiled++;
}

static void *load(void *arg)
{
	struct loader *l = arg;

	for (int i = 0; i < SCRIPTS; i++) {
		pthread_mutex_lock(&l->lock);
		script_set(l, &l->scripts[i]);
		script_compile(l);
		pthread_mutex_unlock(&l->lock);
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
