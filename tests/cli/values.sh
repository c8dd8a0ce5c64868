# Values of accesses in the trace of a bug: every size, unaligned, atomics, and accesses that crash
# and so have none; the same with both back ends. Analyses ignore them; reports show them.
. "$SNARL_ROOT/tests/lib.sh"

cat >sizes.c <<'C'
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct __attribute__((packed)) odd { char pad[7]; uint64_t wide; };

volatile int8_t one = 1;
volatile int16_t two = -2;
volatile int32_t four = 4;
volatile int64_t eight = -8;
volatile double real = 0.5;
struct odd odd = { .wide = 0x1122334455667788 };
__int128 big = ((__int128)3 << 64) + 5;
atomic_int counter = 40;
int *volatile nowhere;
static pthread_barrier_t both;

static void *touch(void *arg)
{
	one--;
	two += 1;
	four = four * 3;
	eight = eight - 1;
	real += 0.25;
	odd.wide = odd.wide + 1;
	big = big + 1;
	atomic_fetch_add(&counter, 2);
	return arg;
}

/* runs after main, so all memory is shared and the values are known */
static void *second(void *arg)
{
	pthread_barrier_wait(&both);
	return touch(arg);
}

int main(int argc, char **argv)
{
	pthread_t t;
	int *freed = malloc(sizeof(*freed));

	pthread_barrier_init(&both, NULL, 2);
	pthread_create(&t, NULL, second, NULL);
	touch(NULL);
	pthread_barrier_wait(&both);
	pthread_join(t, NULL);
	if (argc > 1 && strcmp(argv[1], "null") == 0)
		*nowhere = 1;
	if (argc > 1 && strcmp(argv[1], "freed") == 0) {
		*(volatile int *)freed = 6;
		free(freed);
		*(volatile int *)freed = 7;
	}
	return 1;
}
C

# values TRACE THREAD: prints operation, object and value of each access that has one
values() {
	snarl dump --json "$1" 2>/dev/null |
		jq -r --arg t "$2" 'select(.thread == $t and (.op == "value" or .op == "read" or
		.op == "write" or (.op | startswith("atomic"))) and
		.object.kind == "global" and .object.name != "both") |
		[.op, .object.name, .object.offset, .size, (.arg // "" | tostring)] | join(" ")' |
		sed 's/ *$//'
}

# Worked out by hand: the second thread continues with main's results.
cat >wanted <<'X'
read one 0 1
value one 0 1 0
write one 0 1
value one 0 1 255
read two 0 2
value two 0 2 65535
write two 0 2
value two 0 2 0
read four 0 4
value four 0 4 12
write four 0 4
value four 0 4 36
read eight 0 8
value eight 0 8 18446744073709551607
write eight 0 8
value eight 0 8 18446744073709551606
read real 0 8
value real 0 8 4604930618986332160
write real 0 8
value real 0 8 4607182418800017408
X
cat >>wanted <<'X'
read odd 7 8
value odd 7 8 1234605616436508553
write odd 7 8
value odd 7 8 1234605616436508554
read big 0 16
value big 0 8 6
value big 8 8 3
write big 0 16
value big 0 8 7
value big 8 8 3
atomic-add counter 0 4 42
value counter 0 4 44
X
need jq
for cc in $(compilers); do
	SNARL_CC=$cc snarl-cc -g -O0 -pthread sizes.c -o sizes
	for way in plain null freed; do
		snarl test --quiet --runs 3 --out out-$way -- ./sizes $way </dev/null || [ $? = 1 ]
		bug=out-$way/bugs/B001
		for backend in user kernel; do
			status=0
			snarl replay --quiet --backend $backend --trace $backend.snarl $bug ||
				status=$?
			[ $status = 1 ] || fail "$cc $way $backend: exit $status"
			values $backend.snarl 0.1 >got
			same "$cc $way $backend: values" wanted got
			values $backend.snarl 0 >$backend.main
		done
		same "$cc $way: the back ends differ" user.main kernel.main
		rm -r out-$way
	done
done

# Recordings have no values unless asked for.
snarl record --quiet -o recorded.snarl ./sizes || [ $? = 1 ]
! snarl dump recorded.snarl 2>/dev/null | grep -q ' value ' || fail "values in a recording"

# Analyses find the same with and without values.
example bank
snarl test --quiet --out out-bank -- ./bank </dev/null || [ $? = 1 ]
snarl dump --raw out-bank/bugs/B001/trace.snarl 2>/dev/null >with.txt
grep -q ' value ' with.txt || fail "no values of bank"
grep -v ' value ' with.txt >without.txt
for text in with without; do
	snarl analyze --json $text.txt 2>/dev/null | jq 'del(.seconds, .trace)' >$text.json ||
		fail "analyze $text: exit $?"
done
jq -e '.predicted > 0' with.json >/dev/null || fail "nothing predicted"
same "analyses look at values" without.json with.json

# Each read of balance has the value written last.
snarl dump out-bank/bugs/B001/trace.snarl 2>/dev/null |
	awk -F '\t; ' '{ split($1, w, " "); op = w[2] }
	op == "value" && $2 ~ /^balance = / { split($2, v, " "); n++
		if (before == "read" && v[3] != now) { print "read", v[3], "but it is", now;
			exit 1 }
		now = v[3] }
	{ before = op }
	BEGIN { now = 0 } END { exit n < 14 }' || fail "what was read is not what was written"

# The report has the values, and the story in the right order.
snarl hunt --quiet --out out-hunt -- ./bank </dev/null || [ $? = 1 ]
snarl report --width 120 out-hunt/bugs/B001 >report.txt
snarl report --format json out-hunt/bugs/B001 >report.json
sentence=$(jq -r '[.bugs[0].picture[] | select(.number)] | sort_by(.number) |
	"Thread \(.[0].thread) read \(.[0].value) before thread \(.[1].thread) wrote " +
	"\(.[1].value), and then wrote \(.[2].value) over it."' report.json)
grep -Fq "$sentence" report.txt || { cat report.txt; fail "not in the report: $sentence"; }
jq -e '[.bugs[0].picture[] | select(.op == "read" or .op == "write") | .value |
	tonumber % 10] | length > 5 and all(. == 0)' \
	report.json >/dev/null || fail "values of the picture"
jq -e '.bugs[0].picture[] | select(.number == 1) | .text == "reads \(.value) from balance"' \
	report.json >/dev/null || fail "text of step 1"
for format in html sarif perfetto; do
	snarl report --format $format -o - out-hunt/bugs/B001 >report.$format
	value=$(jq -r '.bugs[0].picture[] | select(.number == 3) | .value' report.json)
	grep -q "writes $value to balance" report.$format || fail "$format: no value of step 3"
done
