# Sourced by tests/cli/control_*.sh after tests/lib.sh; see tests/control/README.md.

control_programs=$SNARL_ROOT/tests/control/programs
rerun=$tools/rerun

# stdin of all programs: lines.c reads it, the others ignore it
seq 20 | sed 's/^/line /' >lines.txt

# control_sources [PATTERN]: prints the programs, one per line.
control_sources() {
	for control_source in "$control_programs"/${1:-*}.c "$control_programs"/${1:-*}.cc; do
		[ ! -e "$control_source" ] || echo "$control_source"
	done
}

# control_field SOURCE KEY: prints what the first comment of SOURCE has after "KEY:".
control_field() {
	sed -n "1,/\*\//s/^[ /*]*$2: *//p" "$1" | sed 's/ *\*\/$//'
}

# control_name SOURCE
control_name() {
	control_name_base=$(basename "$1")
	echo "${control_name_base%.*}"
}

# control_build CC FOLDER SOURCE…: compiles all of them to FOLDER, two at a time.
control_build() {
	control_cc=$1 control_folder=$2
	shift 2
	mkdir -p "$control_folder"
	export control_cc control_folder
	printf '%s\n' "$@" | xargs -P 2 -I '{}' sh -c '
		. "$SNARL_ROOT/tests/lib.sh"
		out=$control_folder/$(basename "{}")
		case {} in *.cc) language=-std=c++17 ;; *) language=-D_GNU_SOURCE ;; esac
		compile "$control_cc" "{}" "${out%.*}" $language -O1 -g -pthread -lm 2>"$out.err" ||
			{ cat "$out.err"; exit 255; }' ||
		fail "$control_cc: a program does not compile"
}

# control_arguments SOURCE PROGRAM: prints a line of arguments for each way to run the program.
control_arguments() {
	case $(control_field "$1" fails) in
	*"each name it lists"*) "$2" | sed 's/^/ /' ;;
	*) echo ;;
	esac
}

# control_bug: hunts in a small program with a bug that every strategy finds; it is saved as
# snarl-out/bugs/B001.
control_bug() {
	cat >bug.c <<'BUG'
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static int counter;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *add(void *arg)
{
	int seen = counter;

	pthread_mutex_lock(&lock);
	counter = seen + 1;
	pthread_mutex_unlock(&lock);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t t[3];

	(void)argv;
	printf("%d arguments\n", argc - 1);
	fflush(stdout);
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, add, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	assert(counter == 3);
	return 0;
}
BUG
	snarl-cc -O1 -g -pthread bug.c -o bug
	control_status=0
	snarl test -q -o snarl-out -- ./bug one two </dev/null 2>err || control_status=$?
	[ $control_status = 1 ] || { cat err; fail "the bug was not found: exit $control_status"; }
}

# control_try PROGRAM-AND-ARGUMENTS BACKEND STRATEGY RUNS: snarl test passes, or fails as $fails
# says.
control_try() {
	status=0
	rm -rf out
	# Options and arguments are meant to be split.
	snarl test --json --timeout 60 --backend "$2" --strategy "$3" --runs "$4" \
		$(control_field "$source" options) -o out -- $1 <lines.txt >json 2>err || status=$?
	case $fails,$status in
	,0) ;;
	?*,1)
		grep -q "\"failure\":\"$fails\"" json || { cat err; fail "$1: not $fails"; } ;;
	*)
		cat err out/bugs/B001/report.txt 2>/dev/null || :
		fail "$1: exit $status of snarl test --backend $2 --strategy $3 --runs $4" ;;
	esac
	! grep -q 'did not replay' err || { cat err; fail "$1: a failure that does not replay"; }
}

# control_head SOURCE: sets source, fails, slow, runs, few
control_head() {
	source=$1
	fails=$(control_field "$source" fails | sed 's/[ ,.].*//')
	slow=$(control_field "$source" slow)
	runs=$(control_field "$source" runs)
	runs=${runs:-200}
	few=$(((runs + 9) / 10))
	# A bug that only some schedules show needs all runs; the search ends with the first
	# failure.
	[ -z "$fails" ] || few=$runs
}
