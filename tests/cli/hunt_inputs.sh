# snarl hunt --input-dir runs every file of a folder as stdin or in place of @@. A bug that one of
# them shows is found and replays with that input.
. "$SNARL_ROOT/tests/lib.sh"
need python3

# Both threads add only if the input begins with 'b'.
cat >reader.c <<'X'
#include <pthread.h>
#include <stdio.h>

static int sum, wanted;
static char what;

static void *add(void *arg)
{
	int before;

	if (what != 'b')
		return arg;
	before = *(volatile int *)&sum;
	*(volatile int *)&sum = before + 1;
	return arg;
}

int main(int argc, char **argv)
{
	FILE *f = argc > 1 ? fopen(argv[1], "r") : stdin;
	pthread_t t[2];

	if (!f)
		return 3;
	what = (char)getc(f);
	wanted = what == 'b' ? 2 : 0;
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, add, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return sum != wanted;
}
X
snarl-cc -g -O1 -pthread reader.c -o reader
mkdir in
printf alpha >in/1
printf beta >in/2
printf gamma >in/3
printf beta >in/.hidden

for argument in '' @@; do
	rm -rf out
	status=0
	snarl hunt --out out --input-dir in -- ./reader $argument 2>err </dev/null || status=$?
	[ $status = 1 ] || { cat err; fail "'$argument': exit $status"; }
	status=0
	snarl replay --quiet --times 5 out/bugs/B001 </dev/null || status=$?
	[ $status = 1 ] || fail "'$argument': replay: exit $status"
	case $argument in
	@@) grep -q "^argument .*/in/2$" out/bugs/B001/schedule.txt ||
		fail "@@: not in the schedule" ;;
	*) grep -q '^stdin ' out/bugs/B001/schedule.txt && cmp -s in/2 out/bugs/B001/stdin ||
		fail "stdin: not saved" ;;
	esac
	# The results have the arguments as given, with @@.
	python3 -c 'import json, sys
sys.exit(json.load(open("out/results.json"))["arguments"][1:] != sys.argv[1:])' \
		$argument || fail "'$argument': arguments"
done

# Without the file that shows the bug, all inputs pass.
rm in/2
rm -rf out
snarl hunt --quiet --runs 100 --out out --input-dir in -- ./reader @@ </dev/null ||
	fail "no bug: exit $?"

# The result is the same for any -j.
printf beta >in/2
for jobs in 1 3; do
	rm -rf out
	snarl hunt --quiet --keep-going --runs 120 -j $jobs --out out \
		--input-dir in -- ./reader @@ </dev/null || :
	cat out/bugs/*/schedule.txt >j$jobs
	python3 -c 'import json
r = json.load(open("out/results.json"))
print(r["runs"], r["candidates"], r["coverage"])' >>j$jobs
done
same "-j 1 and 3" j1 j3

status=0
snarl hunt --input-dir nowhere -- ./reader 2>err </dev/null || status=$?
[ $status = 3 ] && grep -q 'cannot read the folder nowhere' err ||
	{ cat err; fail "no folder: exit $status"; }
mkdir empty
status=0
snarl hunt --input-dir empty -- ./reader 2>err </dev/null || status=$?
[ $status = 3 ] && grep -q 'empty has no file to use as input' err ||
	{ cat err; fail "no file: exit $status"; }
