# A replay gets the run's stdin, arguments, folder and saved environment, so that addresses and
# output are the same; oracles for output and exit status work in test and replay.
. "$SNARL_ROOT/tests/lib.sh"

cat >world.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int count, words;
static const char *given;

/* uses addresses of arguments and variables, so that a change of their place shows in the events */
static void *add(void *arg)
{
	count++;
	words += given[0] + ((char **)arg)[0][0];
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[2];
	char line[100] = "", folder[4000];
	int lines = 0;
	FILE *f = fopen("here", "r");

	given = getenv("GIVEN") ? getenv("GIVEN") : "none";
	while (fgets(line, sizeof(line), stdin))
		lines++;
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, add, argv);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	printf("%d lines, last %s%d arguments, last %s, %s, %s, %s, count %d\n", lines, line, argc,
	       argv[argc - 1], given, getenv("MINE") ? "mine" : "not mine",
	       f ? "here" : "not here", count);
	if (!getcwd(folder, sizeof(folder)))
		return 9;
	return count == 2 ? 0 : 3;
}
C
snarl-cc -g -O1 -pthread world.c -o world
: >here
export GIVEN='a b' MINE=x
printf '1\n2\nthree\n' >input

# found WANT_FAILURE OPTIONS…: runs with the file input as stdin
found() {
	failure=$1
	shift
	status=0
	rm -rf out
	snarl test --out out "$@" -- ./world x "odd 'word\" $(printf 'a\nb')" <input 2>err ||
		status=$?
	[ $status = 1 ] || { cat err; fail "$*: exit $status, not 1"; }
	grep -q "^failure $failure\$" out/bugs/B001/schedule.txt || fail "$*: not $failure"
}

want="3 lines, last three
3 arguments, last odd 'word\" a
b, a b, mine, here, count"
found '"exit 3"' --env GIVEN
cat input >copy
same "the copy of stdin" copy out/bugs/B001/stdin
unset GIVEN
# Only variables that matter to the C library and those named by --env are saved.
sed -n 's/^environment "*\([A-Z_]*\)=.*/\1/p' out/bugs/B001/schedule.txt |
	grep -v -e '^LD_' -e '^LANG' -e '^LC_' -e '^TZ$' -e '^MALLOC_' -e '^GLIBC_T' >got
grep -q '^environment LC_ALL=C$' out/bugs/B001/schedule.txt || fail "LC_ALL"
echo GIVEN >want
same "saved variables" want got
# Another folder, other stdin and a larger environment do not change the replay.
echo "$want 1" >want
for backend in user kernel; do
	status=0
	(cd / && echo nothing |
		MORE=$(printf '%05000d' 0) LC_TIME=xx snarl replay --backend $backend \
		"$OLDPWD/out/bugs/B001") >got 2>err || status=$?
	[ $status = 1 ] || { cat err; fail "replay: exit $status"; }
	same "output of the replay" want got
done
# Variables that were not saved come from the replaying user's environment.
status=0
(unset MINE && snarl replay out/bugs/B001) >got 2>err || status=$?
[ $status = 1 ] || { cat err; fail "replay: exit $status"; }
grep -q ', not mine, ' got || fail "the environment of the replay"
export GIVEN='a b'

found output --expect-exit any --same-output
echo "$want 2" >good
found output --expect-exit any --expect-output good
snarl replay --quiet out/bugs/B001 && fail "an unexpected output passes" || [ $? = 1 ]
found check --check 'grep -q "count 2$" && [ $SNARL_STATUS = 0 ]'
snarl replay --quiet out/bugs/B001 && fail "the check passes" || [ $? = 1 ]
snarl test --expect-exit any --runs 100 --quiet --out none -- ./world <input ||
	fail "--expect-exit any"
snarl test --check 'cat >/dev/null' --runs 100 --quiet --out none -- ./world <input ||
	fail "--check that says yes"

# stdin from a pipe is the same for every run, with any number of workers, and in the replay.
for option in -j1 -j3 --no-fork-server; do
	status=0
	rm -rf out
	cat input | snarl test --out out $option --env GIVEN -- ./world x \
		"odd 'word\" $(printf 'a\nb')" 2>err || status=$?
	[ $status = 1 ] || { cat err; fail "a pipe, $option: exit $status, not 1"; }
	same "the copy of a pipe" copy out/bugs/B001/stdin
	status=0
	snarl replay out/bugs/B001 >got 2>err </dev/null || status=$?
	[ $status = 1 ] || { cat err; fail "a pipe, $option: replay: exit $status"; }
	echo "$want 1" | cmp -s - got || fail "a pipe, $option: the replay printed $(cat got)"
done

# --env NAME=VALUE sets a variable.
! grep -r MINE out || fail "a variable was saved without --env"
found '"exit 3"' --env MINE=y
grep -q '^environment MINE=y$' out/bugs/B001/schedule.txt || fail "--env"

# A changed stdin is reported.
echo more >>out/bugs/B001/stdin
status=0
snarl replay out/bugs/B001 2>err || status=$?
[ $status = 3 ] || fail "changed stdin: exit $status"
echo "snarl replay: out/bugs/B001/stdin is not the stdin of this schedule any more" >want
same "changed stdin" want err
