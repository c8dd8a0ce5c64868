# The failure's site is named in terms of the program, even inside a library call. Failures of one
# class at the same lines are one bug, whatever schedule led there.
. "$SNARL_ROOT/tests/lib.sh"

# bugs NAME OPTIONS… <SOURCE: tests it with --keep-going; writes one line per bug to the file got
bugs() {
	name=$1
	shift
	cat >"$name.c"
	snarl-cc -g -O1 -pthread "$name.c" -o "$name"
	status=0
	snarl test --keep-going --runs 400 --replays 1 --out "out-$name" "$@" -- "./$name" 2>err \
		</dev/null || status=$?
	[ $status = 1 ] || { cat err; fail "$name: exit $status, not 1"; }
	failure='.*"failure":"\([^"]*\)".*"sites":\[\(.*\)\],"variable":\([^,]*\),.*'
	site='{"thread":[^,]*,"function":"\([^"]*\)","file":"\([^"]*\)","line":\([0-9]*\),'
	site=$site'"op":"\([a-z]*\)"[^}]*},*'
	for bug in "out-$name"/bugs/B*; do
		sed "s/$failure/\1 \2 \3/; s/$site/\4 \1 \2:\3; /g" $bug/bug.json
	done | sort >got
}

# Two calls of abort() at different lines are two bugs.
bugs aborts <<'C'
#include <pthread.h>
#include <stdlib.h>

static int turn;

static void *first(void *arg)
{
	if (turn == 1)
		abort();	/* line 9 */
	turn = 1;
	return arg;
}

static void *second(void *arg)
{
	if (turn == 1)
		abort();	/* line 17 */
	turn = 1;
	return arg;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, first, NULL);
	pthread_create(&b, NULL, second, NULL);
	pthread_join(a, NULL);
	return pthread_join(b, NULL);
}
C
cat >want <<'T'
signal abort first aborts.c:9;  null
signal abort second aborts.c:17;  null
T
same "aborts" want got

# A crash inside the C library is reported at the program's call.
bugs library <<'C'
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const char *volatile text = "x";

static void *clear(void *arg)
{
	text = (const char *)8;
	return arg;
}

static int length(void)
{
	return (int)strlen(text);	/* line 15 */
}

int main(void)
{
	pthread_t a;
	int n;

	pthread_create(&a, NULL, clear, NULL);
	n = length();
	pthread_join(a, NULL);
	return n == 0;
}
C
cat >want <<'T'
signal crash length library.c:15;  null
T
same "library" want got

# A use after free by an increment, which reads and writes, is one bug.
bugs increment <<'C'
#include <pthread.h>
#include <stdlib.h>

static int *block;

static void *work(void *arg)
{
	(*block)++;	/* line 8 */
	return arg;
}

int main(void)
{
	pthread_t a;

	block = malloc(sizeof(*block));	/* line 16 */
	*block = 0;
	pthread_create(&a, NULL, work, NULL);
	free(block);	/* line 19 */
	return pthread_join(a, NULL);
}
C
[ "$(wc -l <got)" = 1 ] || { cat got; fail "increment: more than one bug"; }
grep -q '^uaf use work increment.c:8; free main increment.c:19; malloc main increment.c:16;' got ||
	{ cat got; fail "increment"; }

# A deadlock of two threads is one bug, wherever the third thread stands.
bugs bystander <<'C'
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;

static void take(pthread_mutex_t *one, pthread_mutex_t *two)
{
	pthread_mutex_lock(one);
	pthread_mutex_lock(two);	/* line 8 */
	pthread_mutex_unlock(two);
	pthread_mutex_unlock(one);
}

static void *forth(void *arg)
{
	take(&a, &b);
	return arg;
}

static void *back(void *arg)
{
	take(&b, &a);
	return arg;
}

static void *third(void *arg)
{
	pthread_mutex_lock(&a);
	pthread_mutex_unlock(&a);
	pthread_mutex_lock(&b);
	pthread_mutex_unlock(&b);
	return arg;
}

int main(void)
{
	pthread_t t[3];

	pthread_create(&t[0], NULL, forth, NULL);
	pthread_create(&t[1], NULL, back, NULL);
	pthread_create(&t[2], NULL, third, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return 0;
}
C
[ "$(wc -l <got)" = 1 ] || { cat got; fail "bystander: more than one bug"; }
grep -q '^deadlock lock take bystander.c:8; lock take bystander.c:8;' got ||
	{ cat got; fail "bystander"; }

# The summary and results.json have the number of interleavings.
grep -q '^snarl: 400 runs in .* interleavings, 1 bug$' err || { cat err; fail "summary"; }
grep -q '"coverage":{"interleavings":[1-9][0-9]*,"shared_words"' out-bystander/results.json ||
	fail "results.json"

# A crash in a dlopened library, with and without the fork server.
cat >plugin.c <<'C'
static int *volatile p;

void plugin_set(int *to)
{
	p = to;
}

int plugin_use(void)
{
	return p ? *p : 0;	/* line 10 */
}
C
snarl-cc -g -O1 -shared -fPIC plugin.c -o plugin.so
for option in --backend=user --no-fork-server; do
	rm -rf out-host
	bugs host $option <<'C'
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

static void (*set)(int *);

static void *clear(void *arg)
{
	set(NULL);
	return arg;
}

int main(void)
{
	void *plugin = dlopen("./plugin.so", RTLD_NOW);
	int (*use)(void);
	static int value;
	pthread_t t;

	if (!plugin)
		return 9;
	set = (void (*)(int *))dlsym(plugin, "plugin_set");
	use = (int (*)(void))dlsym(plugin, "plugin_use");
	set(&value);
	pthread_create(&t, NULL, clear, NULL);
	use();
	return pthread_join(t, NULL);
}
C
	echo 'signal crash plugin_use plugin.c:10;  null' >want
	same "host $option" want got
	snarl replay out-host/bugs/B001 2>err && fail "host passes" || [ $? = 1 ]
	grep -q 'crash at plugin.c:10 (plugin_use) by thread 0' err ||
		{ cat err; fail "host: replay"; }
done
