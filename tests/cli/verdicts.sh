# What hunt and test call a bug: only a failure that replays. A run that exceeds a limit is
# inconclusive, a failure of every run is not blamed on an interleaving, a failure that does not
# replay is a finding, and one cause is one bug.
. "$SNARL_ROOT/tests/lib.sh"

# build NAME: compiles stdin to ./NAME.
build() {
	cat >"$1.c"
	wrap gcc "$1.c" "$1" -g -O1 -pthread || fail "$1 does not compile"
}

# expect CODE COMMAND…: runs snarl COMMAND… with results in ./out; stdout and stderr are in ./log.
expect() {
	expect_code=$1 expect_got=0
	shift
	rm -rf out
	snarl "$@" >log 2>&1 </dev/null || expect_got=$?
	[ $expect_got = "$expect_code" ] || { cat log; fail "snarl $*: exit $expect_got, not $expect_code"; }
}

# says TEXT…: each TEXT is in ./log, as a basic regular expression.
says() {
	for says_text in "$@"; do
		grep -q -e "$says_text" log || { cat log; fail "does not say '$says_text'"; }
	done
}

# silent_about TEXT…: no TEXT is in ./log.
silent_about() {
	for silent_text in "$@"; do
		! grep -q -e "$silent_text" log || { cat log; fail "says '$silent_text'"; }
	done
}

# has FILTER: the jq filter is true for out/results.json.
has() {
	[ "$(jq "$1" out/results.json)" = true ] || { jq . out/results.json; fail "results.json: not $1"; }
}

# Errors of the heap are no misuse of locks, conditions or threads: --ignore-misuse shows them.
build heap <<'C'
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	volatile char *block = malloc(16);
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "overflow") == 0)
		block[16] = 1;
	free((void *)block);
	if (strcmp(what, "use") == 0)
		block[0] = 1;
	if (strcmp(what, "twice") == 0)
		free((void *)block);
	return 0;
}
C
for what in 'overflow:heap overflow' 'use:use after free' 'twice:double free'; do
	expect 1 test --ignore-misuse --runs 5 -o out -- ./heap "${what%%:*}"
	says "${what#*:}"
done
expect 0 test --ignore-misuse --runs 5 -o out -- ./heap
build misuse <<'C'
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

int main(void)
{
	pthread_mutex_unlock(&m);
	return 0;
}
C
expect 1 test --runs 5 -o out -- ./misuse
expect 0 test --ignore-misuse --runs 5 -o out -- ./misuse
