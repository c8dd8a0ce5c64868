# An index beside a global array is a failure at its line in programs that are built with checks of
# bounds; docs/test.md names the options.
. "$SNARL_ROOT/tests/lib.sh"

cat >index.c <<'C'
#include <pthread.h>

static int table[8];
static volatile int place;

static void *store(void *arg)
{
	table[place] = 1;
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t t;

	(void)argv;
	place = argc > 1 ? 8 : 7;
	pthread_create(&t, NULL, store, NULL);
	return pthread_join(t, NULL);
}
C
for cc in $(compilers); do
	case $cc in
	gcc*) trap=-fsanitize-undefined-trap-on-error ;;
	*) trap=-fsanitize-trap=bounds ;;
	esac
	wrap "$cc" index.c index -O1 -g -pthread -fsanitize=bounds $trap
	snarl test --runs 5 --out out -- ./index 2>err || { cat err; fail "$cc: within bounds"; }
	status=0
	snarl test --runs 5 --out out -- ./index beside 2>err || status=$?
	[ $status = 1 ] || { cat err; fail "$cc: not found"; }
	grep -q 'signal 4 ' err && grep -q 'index.c:8 (store)' err ||
		{ cat err; fail "$cc: what is said"; }
done
