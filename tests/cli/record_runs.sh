#!/bin/sh
# snarl record: where the trace goes, what it prints, its exit codes, and what it leaves alone if it
# fails.
. "$SNARL_ROOT/tests/lib.sh"

cat >prog.c <<'END'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static int counter;
static void *work(void *arg)
{
	counter++;
	return arg;
}
int main(int argc, char **argv)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, work, NULL) || pthread_join(thread, NULL))
		return 99;
	printf("counter %d\n", ++counter);
	fflush(stdout);
	if (argc > 1 && argv[1][0] == 'w')
		pause();
	if (argc > 1 && argv[1][0] == 'k')
		raise(SIGKILL);
	return argc > 1 ? atoi(argv[1]) : 0;
}
END
snarl-cc -O1 -pthread prog.c -o prog
mkdir empty

# recorded ARGS…: runs snarl record; leaves status, out and err
recorded() {
	status=0
	snarl record "$@" >out 2>err </dev/null || status=$?
}
expect() {
	[ "$status" = "$1" ] || { cat out err; fail "$2: exit $status, not $1"; }
}

recorded -- ./prog
expect 0 "plain"
[ "$(cat out)" = "counter 2" ] || fail "the program's output: $(cat out)"
[ -s trace.snarl ] || fail "no trace.snarl"
[ "$(wc -l <err)" = 1 ] && grep -q '^snarl: trace.snarl: [0-9]* records of 2 threads, ' err ||
	fail "summary: $(cat err)"
snarl dump --json trace.snarl | grep -c '"name":"counter"' >count
[ "$(cat count)" -ge 4 ] || fail "only $(cat count) accesses to counter"

recorded --quiet --out empty/t.snarl -- ./prog 3
expect 0 "status of the program is not ours"
[ ! -s err ] || fail "--quiet: $(cat err)"
[ "$(ls empty)" = t.snarl ] || fail "left behind: $(ls empty)"
recorded --exit-code -- ./prog 3
expect 3 "--exit-code"
grep -q 'prog ended with exit status 3' err || fail "$(cat err)"
recorded --exit-code -- ./prog k
expect 137 "killed"
grep -q 'was killed by signal 9' err || fail "$(cat err)"
snarl dump --stats trace.snarl | grep -q '^incomplete' || fail "a killed run is incomplete"

recorded --json --out j.snarl -- ./prog 5
expect 0 "--json"
case $(cat out) in
'{"program":["./prog","5"],"status":5,'*'"trace":"'*'/j.snarl"'*'"children":[]}') ;;
*) fail "--json: $(cat out)" ;;
esac

# A program that cannot be recorded leaves an older trace as it is, and no other files.
cp trace.snarl old
for words in "./nothing" "./prog.c" "$PWD"; do
	recorded -- $words
	expect 3 "$words"
	[ "$(wc -l <err)" = 1 ] && grep -q '^snarl record: cannot start ' err || fail "$(cat err)"
done
recorded -- /bin/true
expect 3 "not instrumented"
echo 'snarl record: /bin/true was not built with snarl-cc (no trace was written)' >want
same "not instrumented" want err
same "old trace" old trace.snarl
# A set-user-ID program ignores SNARL_OPTIONS, which could name any file. Only root can make one,
# and not in every folder.
cp prog rights
if chown 1 rights 2>/dev/null && chmod u+s rights &&
	cp "$(command -v id)" whoami && chown 1 whoami && chmod u+s whoami &&
	[ "$(./whoami -u)" = 1 ]; then
	chmod a+rwx .
	recorded --out rights.snarl -- ./rights
	expect 3 "set-user-ID"
	grep -q '^snarl record: ./rights is set-user-ID' err || fail "$(cat err)"
	ls rights.snarl* 2>/dev/null && fail "set-user-ID: recorded"
	chmod u-s rights
	recorded --out rights.snarl -- ./rights
	expect 0 "no longer set-user-ID"
	rm -f rights.snarl
fi
recorded --out nowhere/t.snarl -- ./prog
expect 3 "no such folder"
recorded --out empty -- ./prog
expect 3 "a folder"
ls | grep tmp- && fail "left behind"

# SNARL_OPTIONS of the environment stay in force, except for options that record sets itself.
SNARL_OPTIONS=filter=off:mode=off
export SNARL_OPTIONS
recorded --out all.snarl -- ./prog
expect 0 "SNARL_OPTIONS"
unset SNARL_OPTIONS
snarl dump --stats --json all.snarl | grep -q '"filtered":false' || fail "filter=off was lost"

# A path with the characters that separate options.
mkdir 'a:b%c d'
recorded --out 'a:b%c d/t.snarl' -- ./prog
expect 0 "odd path"
[ -s 'a:b%c d/t.snarl' ] || fail "odd path: nothing there"

# SIGTERM to snarl is passed on to the program, and the trace is complete.
mkfifo output
snarl record --exit-code --out term.snarl -- ./prog w >output 2>err &
recorder=$!
read -r line <output
kill -TERM $recorder
status=0
wait $recorder || status=$?
expect 143 "SIGTERM"
snarl dump term.snarl 2>/dev/null | grep -q ' join ' || fail "the trace ends before the output"

# The second of two programs run by a shell gets a trace of its own.
recorded --out two.snarl -- sh -c './prog; ./prog; exit 4'
expect 0 "two processes"
[ "$(ls two.snarl* | wc -l)" = 2 ] || fail "two processes: $(ls two.snarl*)"
grep -q '^snarl: process [0-9]*: two.snarl.[0-9]*: ' err || fail "$(cat err)"
for trace in two.snarl*; do
	snarl dump "$trace" | grep -q ' counter  work prog.c' || fail "$trace is not whole"
done


# The runtime without snarl record: warnings unless quiet=1, wherever that stands; fatal errors are
# always printed.
bad=mode=record:trace=$PWD/nowhere/t.snarl:bogus=1
SNARL_OPTIONS=$bad ./prog >out 2>err || fail "the program was disturbed"
[ "$(grep -c '^snarl: ' err)" = 2 ] || { cat err; fail "two warnings expected"; }
SNARL_OPTIONS=$bad:quiet=1 ./prog >out 2>err || fail "the program was disturbed"
[ ! -s err ] || { cat err; fail "quiet=1 was not quiet"; }
status=0
(ulimit -v 4000000 && SNARL_OPTIONS=quiet=1 ./prog >out 2>err) || status=$?
expect 3 "no address space"
grep -q '^snarl: cannot reserve address space' err || fail "no reason given"

# A program that called exec and was not followed looks like a killed one; the last event says exec.
cat >replaced.c <<'C'
#include <unistd.h>

int main(void)
{
	execl("/bin/true", "true", (char *)0);
	return 1;
}
C
snarl cc replaced.c -o replaced
recorded --out replaced.snarl -- ./replaced
expect 0 "exec"
snarl dump replaced.snarl >out 2>err || fail "exec: dump: exit $?"
grep -q 'replaced.snarl ends early: .* called exec' err ||
	{ cat err; fail "exec: no word of exec"; }
tail -n 1 out | grep -q '^0 exec ' || { cat out; fail "exec: not the last event"; }
