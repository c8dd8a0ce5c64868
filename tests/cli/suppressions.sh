# --suppressions of snarl hunt, test and analyze: matching bugs and candidates are counted, not
# reported; all others are reported.
. "$SNARL_ROOT/tests/lib.sh"
need python3

# snarl_runs STATUS COMMAND PROGRAM LINE…: runs COMMAND with these lines as suppressions
snarl_runs() {
	runs_want=$1 runs_command=$2 runs_program=$3
	shift 3
	printf '%s\n' "$@" >lines
	rm -rf out
	status=0
	snarl "$runs_command" --runs 300 --out out --suppressions lines -- "./$runs_program" \
		>runs.out 2>runs.err </dev/null || status=$?
	[ $status = "$runs_want" ] ||
		{
			cat runs.err
			fail "$runs_command $runs_program, $*: exit $status, not $runs_want"
		}
}

# expect EXPRESSION: about the results r, their bugs b and candidates c
expect() {
	python3 - "$1" <<-'END' || { cat lines out/results.json; fail "$runs_program: $1"; }
		import json, sys
		r = json.load(open("out/results.json"))
		b, c = r["bugs"], r["candidates"]
		sys.exit(not eval(sys.argv[1]))
	END
}

# silent PROGRAM LINE…: hunt and test fail to report the bug, but count it as suppressed
silent() {
	snarl_runs 0 hunt "$@"
	expect "r['runs'] == 300 and r['failed_runs'] > 0 and r['suppressed'] > 0 and not b"
	expect "c['suppressed'] > 0 and \\
		c['predicted'] == c['pruned'] + c['suppressed'] + c['tried']"
	grep -q 'suppressed' runs.err || fail "hunt says nothing of what it suppressed"
	[ ! -d out/bugs ] || fail "a folder of a suppressed bug"
	snarl_runs 0 test "$@"
	expect "r['failed_runs'] > 0 and r['suppressed'] > 0 and not b"
}

# reported PROGRAM LINE…: the bug is not suppressed
reported() {
	snarl_runs 1 hunt "$@"
	expect "len(b) == 1 and r['suppressed'] == 0"
	snarl_runs 1 test "$@"
}

# Patterns match functions in any frame, files and variables; comments and several patterns are
# allowed.
example bank
silent bank '# the tellers' '' race:teller
silent bank 'race:bank.c$'
silent bank 'race:^balance$'
silent bank 'race:nobody' 'race:^balance_*et$'
silent bank race_top:balance_
reported bank race_top:teller
reported bank race:balance_get
reported bank race:^alance
reported bank deadlock:teller mutex:teller thread:teller signal:teller called_from_lib:libbank

# A candidate with a matching event is not tried.
wrap gcc "$SNARL_ROOT/tests/correct/benign_flag.c" flag -g -O1 -pthread
snarl_runs 0 hunt flag race:nobody
expect "c['tried'] == 1 and c['suppressed'] == 0"
snarl_runs 0 hunt flag race:worker
expect "c['tried'] == 0 and c['suppressed'] == 1 and r['suppressed'] == 0"

example inversion
silent inversion deadlock:move
reported inversion race:move
example session
silent session race:session.c
wrap gcc "$SNARL_ROOT/tests/correct/lock_kinds.c" misuse -g -O1 -pthread -DBROKEN
reported misuse deadlock:with_luck
silent misuse mutex:with_luck race:lock_kinds.c

# If one of two bugs is suppressed, the other is reported.
cat >two.c <<'END'
#include <assert.h>
#include <pthread.h>
static volatile int first, second;
static void *one(void *arg) { first = first + 1; second = second + 1; return arg; }
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, one, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	assert(first == 2);
	assert(second == 2);
	return 0;
}
END
snarl-cc -g -O1 -pthread two.c -o two
snarl_runs 1 hunt two race:^first
expect "len(b) == 1 and b[0]['variable'] == 'second' and 'second == 2' in b[0]['text']"
snarl_runs 1 hunt two race:^second
expect "len(b) == 1 and b[0]['variable'] == 'first'"
silent two race:^first race:^second

# called_from_lib matches a library.
mkdir lib
cat >lib/count.c <<'END'
volatile int counter;
void count(void) { counter = counter + 1; }
END
cat >uses.c <<'END'
#include <assert.h>
#include <pthread.h>
extern volatile int counter;
void count(void);
static void *one(void *arg) { count(); return arg; }
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, one, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	assert(counter == 2);
	return 0;
}
END
snarl-cc -g -O1 -fPIC -shared lib/count.c -o libcount.so
snarl-cc -g -O1 -pthread uses.c -o uses -L. -lcount -Wl,-rpath,"$PWD"
reported uses called_from_lib:libother
silent uses called_from_lib:libcount.so
silent uses race:libcount

# snarl analyze.
record bank.snarl ./bank
snarl analyze bank.snarl >all
snarl analyze --suppressions lines bank.snarl >same
same "suppressions that do not match" all same
echo race:teller >lines
snarl analyze --suppressions lines bank.snarl >none
grep -q '^0 candidates .*; [1-9][0-9]* suppressed$' none || { cat none; fail "analyze"; }
snarl analyze --suppressions lines --json bank.snarl | python3 -c '
import json, sys
r = json.load(sys.stdin)
sys.exit(r["predicted"] != 0 or r["candidates"] != [] or r["suppressed"] < 1)' ||
	fail "analyze --json"

# A suppression file that is damaged or missing.
printf 'race:x\n\nraces:y\n' >bad
for command in hunt test analyze; do
	status=0
	snarl $command --suppressions bad ./bank >runs.out 2>runs.err </dev/null || status=$?
	[ $status = 2 ] || fail "$command with a bad file: exit $status"
	grep -q "^snarl $command: bad:3: no type 'races'" runs.err ||
		{ cat runs.err; fail "$command: no message about line 3"; }
	[ "$(wc -l <runs.err)" = 1 ] || { cat runs.err; fail "$command: more than a line"; }
	status=0
	snarl $command --suppressions no-such-file ./bank >runs.out 2>runs.err </dev/null ||
		status=$?
	[ $status = 2 ] && grep -q 'no-such-file: No such file' runs.err ||
		fail "$command without the file: exit $status"
done
