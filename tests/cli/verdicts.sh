# What hunt and test call a bug: only a failure that replays. A run that exceeds a limit is
# inconclusive, a failure of every run is not blamed on an interleaving, a failure that does not
# replay is a finding, and one cause is one bug.
. "$SNARL_ROOT/tests/lib.sh"
need jq

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
	[ $expect_got = "$expect_code" ] ||
		{ cat log; fail "snarl $*: exit $expect_got, not $expect_code"; }
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
	[ "$(jq "$1" out/results.json)" = true ] ||
		{ jq . out/results.json; fail "results.json: not $1"; }
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

# A run that exceeds a limit proves nothing. `busy` counts for ever without a visible event, but
# only if the thread came first: with that, some runs end and others do not.
build busy <<'C'
#include <pthread.h>
#include <string.h>

static int came, always;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *come(void *arg)
{
	pthread_mutex_lock(&m);
	came = 1;
	pthread_mutex_unlock(&m);
	return arg;
}

__attribute__((no_sanitize("thread"))) static void wait_for_ever(void)
{
	for (volatile unsigned long i = 0;; i++)
		;
}

int main(int argc, char **argv)
{
	pthread_t t;
	int first;

	always = argc > 1 && strcmp(argv[1], "always") == 0;
	pthread_create(&t, NULL, come, NULL);
	pthread_mutex_lock(&m);
	first = came;
	pthread_mutex_unlock(&m);
	if (first || always)
		wait_for_ever();
	pthread_join(t, NULL);
	return 0;
}
C
for command in hunt test; do
	expect 0 $command --timeout 0.3 --runs 30 -o out -- ./busy
	says 'is inconclusive: it did not end within 0.3 s' \
		'thread 0 runs at .*busy.c:[0-9]* (main)' \
		'raise --timeout' '0 bugs, [0-9]* inconclusive'
	silent_about 'nothing was tested' 'failed:'
	has '.bugs == [] and .failed_runs == 0'
	has '.inconclusive.timed_out > 0 and .inconclusive.cut == 0'
	has '.inconclusive.first | .limit == "timeout" and (.text | contains("busy.c"))'
	expect 0 $command --timeout 0.3 -o out -- ./busy always
	says '4 of 4 runs are inconclusive' 'no run ended, so nothing was tested'
	[ ! -e out/bugs ] || fail "$command: a time-out has a folder"
	snarl report out | grep -q '^Inconclusive: 4 of 4 runs exceeded a limit' ||
		fail "text: inconclusive"
	snarl report --format junit out | grep -q '<system-out>Inconclusive: 4 of 4' ||
		fail "JUnit: inconclusive"
	snarl report --format sarif out >sarif
	jq -e '.runs[0].invocations[0].toolExecutionNotifications[0] | .level == "warning" and
		(.message.text | contains("--timeout"))' sarif >/dev/null ||
		fail "SARIF: inconclusive"
	grep -q 'Inconclusive: 4 of 4' out/index.html || fail "HTML: inconclusive"
done
expect 0 test --max-steps 2 --runs 20 -o out -- ./busy
says 'it took more than 2 steps' 'thread 0 .*busy.c:[0-9]* (main)' 'raise --max-steps'
has '.inconclusive.first.limit == "max-steps" and .inconclusive.cut == .inconclusive.runs'
has '.cut_runs == .inconclusive.cut and .inconclusive.cut > 0'

# A failure that does not replay is a finding: exit 5, with the first event that differs between two
# replays, and the call that may have brought the difference in. `once` fails in its first run only.
build once <<'C'
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static void *nothing(void *arg)
{
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t t;
	int self = (int)getpid();

	(void)argv;
	pthread_create(&t, NULL, nothing, NULL);
	pthread_join(t, NULL);
	if (self > 0 && access("mark", F_OK) != 0) {
		close(creat("mark", 0600));
		return 7;
	}
	return argc > 1 ? 8 : 0;
}
C
# In `longer`, each run makes a file longer, and its length decides how often a lock is taken.
build longer <<'C'
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *count(void *arg)
{
	int fd = open("length", O_RDWR | O_CREAT, 0600);
	static char text[1 << 16];
	long n = read(fd, text, sizeof(text));

	if (write(fd, "x", 1) != 1)
		return NULL;
	close(fd);
	for (long i = 0; i < n; i++) {
		pthread_mutex_lock(&m);
		pthread_mutex_unlock(&m);
	}
	return n == 5 ? arg : NULL;
}

int main(void)
{
	pthread_t t;
	void *wrong;

	pthread_create(&t, NULL, count, &m);
	pthread_join(t, &wrong);
	return wrong ? 9 : 0;
}
C
# Every format of reports shows the finding of ./once.
shows_finding() {
	snarl report out >text
	grep -q '^no bugs' text && grep -q '^Failed, not proved: exit status 7$' text &&
		grep -q '^  not proved, since it did not replay: a replay passed$' text ||
		{ cat text; fail "text"; }
	snarl report --format json out | jq -e '.findings[0].number == 7' >/dev/null || fail "JSON"
	snarl report --format junit out >junit
	grep -q 'failures="0" errors="1"' junit &&
		grep -q '<error message="Failed, not proved: exit status 7" type' junit &&
		grep -q 'getpid at .*</error>' junit || { cat junit; fail "JUnit"; }
	snarl report --format sarif out >sarif
	jq -e '.runs[0].results | length == 1 and .[0].kind == "review" and .[0].level == "none" and
		(.[0].message.text | contains("getpid"))' sarif >/dev/null ||
		{ cat sarif; fail "SARIF"; }
	grep -q 'Failed, not proved: exit status 7' out/index.html || fail "HTML"
}

for command in hunt test; do
	rm -f mark length
	expect 5 $command --runs 20 -o out -- ./once
	says 'failed: exit status 7' 'not proved, since it did not replay: a replay passed' \
		'the last call that returned something from outside: getpid at' \
		'once.c:14 (main) by thread 0' \
		'0 bugs, 1 failure that did not replay'
	has '.bugs == [] and .not_replayed == 1 and (.findings | length) == 1'
	has '.findings[0] | .failure == "exit" and .number == 7 and .why == "a replay passed" and
		.divergence == null and .outside.call == "getpid" and .outside.line == 14 and
		(.fingerprint | test("^[0-9a-f]{12}$"))'
	shows_finding
	expect 5 $command --quiet --runs 20 -o out -- ./longer
	[ ! -s log ] || { cat log; fail "$command --quiet is not quiet"; }
	has '.findings[0].outside | .call == "read" and .function == "count"'
	has '.findings[0].divergence | test("diverged at event [0-9]+ in turn")'
	[ ! -e out/bugs ] || fail "$command: a finding has a folder"
done
# A proved bug wins.
rm -f mark
expect 1 test --keep-going --runs 20 -o out -- ./once then
says '1 bug, 1 failure that did not replay'
has '(.bugs | length) == 1 and .bugs[0].number == 8 and (.findings | length) == 1'

# A hunt that ends before it has tried all candidates says so.
build counters <<'C'
#include <pthread.h>

static int count[8];

static void *add(void *arg)
{
	count[0]++;
	count[1]++;
	count[2]++;
	count[3]++;
	count[4]++;
	count[5]++;
	count[6]++;
	count[7]++;
	return arg;
}

int main(void)
{
	pthread_t t[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, add, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
C
expect 0 hunt --runs 12 -o out -- ./counters
says 'incomplete: [0-9]* of [0-9]* candidates tried; raise --time or --runs'
has '.incomplete and .candidates.left > 0'
expect 0 hunt --runs 1000 -o out -- ./counters
silent_about 'incomplete'
has '(.incomplete | not) and .candidates.left == 0 and .candidates.tried > 0'

# A failure of every run is a bug without a cause, and does not hide others: behind exit status 6,
# two threads take two locks in opposite orders.
build every_run <<'C'
#include <pthread.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static int balance;

static void *forth(void *arg)
{
	pthread_mutex_lock(&first);
	pthread_mutex_lock(&second);
	balance++;
	pthread_mutex_unlock(&second);
	pthread_mutex_unlock(&first);
	return arg;
}

static void *back(void *arg)
{
	pthread_mutex_lock(&second);
	pthread_mutex_lock(&first);
	balance++;
	pthread_mutex_unlock(&first);
	pthread_mutex_unlock(&second);
	return arg;
}

int main(void)
{
	pthread_t t[2];

	pthread_create(&t[0], NULL, forth, NULL);
	pthread_create(&t[1], NULL, back, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return balance == 2 ? 6 : 0;
}
C
for command in hunt test; do
	expect 1 $command --runs 500 -o out -- ./every_run
	says 'run 1 failed: exit status 6' 'fails in every run' 'not about interleaving' \
		'--expect-exit 6' 'failed: deadlock' '2 bugs'
	has '[.bugs[].failure] == ["exit", "deadlock"] and [.bugs[].every_run] == [true, false]'
	has '.bugs[0] | .cause == null and .class == "other" and .pattern == null'
	fingerprint=$(jq -r '.bugs[0].fingerprint' out/results.json)
	says "--ignore $fingerprint"
	expect 1 $command --runs 500 --ignore "$fingerprint" -o out -- ./every_run
	silent_about 'every run' 'exit status 6'
	has '[.bugs[].failure] == ["deadlock"] and .ignored_runs > 0'
	expect 1 $command --runs 500 --ignore "$fingerprint" --ignore 0123456789ab \
		--expect-exit 5 -o out -- ./heap
	has '.bugs[0].number == 0 and .bugs[0].every_run'
done
expect 1 hunt --runs 500 --expect-exit 6 -o out -- ./every_run
deadlock=$(jq -r '.bugs[0].fingerprint' out/results.json)
silent_about 'every run'
# With both ignored nothing is left; the fingerprint does not depend on lines.
sed '1i\
/* a line more */' every_run.c | build moved
expect 0 hunt --runs 100 --ignore "$fingerprint" --ignore "$deadlock" -o out -- ./moved
has '.bugs == [] and .ignored_runs == .runs'
expect 2 hunt --ignore nonsense -- ./every_run
says "'nonsense' is no fingerprint"

# One cause is one bug. main frees and clears what its threads use, without joining them: they fail
# at many lines and in several ways.
build not_joined <<'C'
#include <pthread.h>
#include <stdlib.h>

struct table {
	int *first, *second, *third;
};

static struct table *table;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int sum;

static void *work(void *arg)
{
	for (int i = 0; i < 2; i++) {
		pthread_mutex_lock(&m);
		sum += *table->first;
		sum += *table->second;
		pthread_mutex_unlock(&m);
		sum += *table->third;
	}
	return arg;
}

int main(void)
{
	pthread_t t;

	table = malloc(sizeof(*table));
	table->first = calloc(1, sizeof(int));
	table->second = calloc(1, sizeof(int));
	table->third = calloc(1, sizeof(int));
	for (int i = 0; i < 2; i++) {
		pthread_create(&t, NULL, work, NULL);
		pthread_detach(t);
	}
	pthread_mutex_lock(&m);
	sum++;
	pthread_mutex_unlock(&m);
	free(table->first);
	free(table->second);
	free(table->third);
	free(table);
	table = NULL;
	return 0;
}
C
# A lost update that three assertions notice.
build three_checks <<'C'
#include <assert.h>
#include <pthread.h>

static int balance, spent;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *add(void *arg)
{
	for (int i = 0; i < 3; i++) {
		int seen = balance;

		balance = seen + 1;
		pthread_mutex_lock(&m);
		spent++;
		pthread_mutex_unlock(&m);
	}
	return arg;
}

int main(void)
{
	pthread_t t[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, add, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	assert(balance != 5);
	assert(balance > 3);
	assert(balance == spent);
	return 0;
}
C
# Two bugs that have nothing in common stay two.
build two_bugs <<'C'
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static int first, second;
static int *one, *other;

static void *add(void *arg)
{
	if (arg) {
		int seen = first;

		first = seen + 1;
	} else {
		int seen = second;

		second = seen + 1;
	}
	return arg;
}

static void *use_one(void *arg)
{
	*one = 1;
	return arg;
}

static void *use_other(void *arg)
{
	*other = 1;
	return arg;
}

static void drop_one(void)
{
	free(one);
}

static void drop_other(void)
{
	free(other);
}

static void updates(void)
{
	pthread_t t[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, add, i % 2 ? &first : NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	assert(first == 2);
	assert(second == 2);
}

static void frees(void)
{
	pthread_t t[2];

	one = malloc(sizeof(*one));
	other = malloc(sizeof(*other));
	pthread_create(&t[0], NULL, use_one, NULL);
	pthread_create(&t[1], NULL, use_other, NULL);
	drop_one();
	drop_other();
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "updates") == 0)
		updates();
	else
		frees();
	return 0;
}
C
for command in hunt test; do
	expect 1 $command --keep-going --runs 600 -o out -- ./not_joined
	# A crash by what main cleared has no known cause, so it may be listed beside.
	has '(.bugs | length) <= 2 and ([.bugs[] | select(.failure == "uaf")] | length) == 1'
	has '[.bugs[].failures | length] | max > 1'
	expect 1 $command --keep-going --runs 600 -o out -- ./two_bugs frees
	has '[.bugs[].failure] == ["uaf", "uaf"]'
	expect 1 $command --keep-going --runs 600 -o out -- ./two_bugs updates
	has '(.bugs | length) == 2'
done
# snarl test looks for no causes, so that it cannot know.
expect 1 hunt --keep-going --runs 600 -o out -- ./three_checks
has '(.bugs | length) == 1 and (.bugs[0].failures | length) == 3'

# Threads that still run when main has returned fail in many ways: by what exit handlers took away.
build at_exit <<'C'
#include <pthread.h>
#include <stdlib.h>

static int *log_lines, *names;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void note(void)
{
	pthread_mutex_lock(&m);
	log_lines[0]++;
	pthread_mutex_unlock(&m);
}

static void remember(void)
{
	pthread_mutex_lock(&m);
	names[0]++;
	pthread_mutex_unlock(&m);
}

static void drop_log(void)
{
	pthread_mutex_lock(&m);
	free(log_lines);
	log_lines = NULL;
	pthread_mutex_unlock(&m);
}

static void linger(void)
{
	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(&m);
		pthread_mutex_unlock(&m);
	}
}

static void drop_names(void)
{
	free(names);
}

static void *work(void *arg)
{
	for (int i = 0; i < 3; i++) {
		note();
		remember();
	}
	return arg;
}

int main(void)
{
	pthread_t t;

	log_lines = calloc(4, sizeof(*log_lines));
	names = calloc(4, sizeof(*names));
	atexit(linger);
	atexit(drop_log);
	atexit(drop_names);
	pthread_create(&t, NULL, work, NULL);
	pthread_detach(t);
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	return 0;
}
C
for command in hunt test; do
	expect 1 $command --keep-going --runs 600 -o out -- ./at_exit
	says 'while thread 0 ends the process'
	has '(.bugs | length) == 1'
	has '([.bugs[0].failures[].failure] | unique) == ["signal", "uaf"]'
done
