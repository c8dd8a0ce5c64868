# --time and the first signal end hunt, test, cover, learn and check-fix in every stage, whatever
# the program does: within two seconds, and what a loaded machine adds to that. No process is left
# behind, and results.json is written.
. "$SNARL_ROOT/tests/lib.sh"
need python3

limit=3		# seconds of --time

compile gcc "$SNARL_ROOT/tests/cli/time_limits/outcomes.c" outcomes -g -O1 -pthread
cp outcomes outcomes.asserts

now() {
	date +%s%N
}

# A quick hunt takes about 0.2 s on an idle machine. What it takes here says how late snarl may be.
began=$(now)
snarl hunt --quiet --runs 40 --out quick -- ./outcomes pass >/dev/null 2>&1 </dev/null ||
	fail "a quick hunt"
quick=$((($(now) - began) / 1000000))
late=$((2000 + 5 * quick))
[ $late -le 6000 ] || late=6000
[ -z "${SNARL_ASAN:-}" ] || late=$((2 * late))

# Bugs for check-fix.
status=0
snarl hunt --quiet --no-minimise --runs 300 --out known -- ./outcomes assert >/dev/null 2>&1 \
	</dev/null || status=$?
[ $status = 1 ] || fail "no bug for check-fix: exit $status"

# arguments COMMAND PROGRAM: prints the command line.
arguments() {
	limits_options="--timeout 60 --out out"
	limits_check=
	case $2 in
	check) limits_check="--check 'sleep 100'" ;;
	esac
	limits_rest="$limits_check -- ./outcomes $2"
	case $1 in
	check-fix) echo "check-fix $limits_options $limits_check known -- ./outcomes $2" ;;
	exec) echo "test --keep-going --no-fork-server $limits_options $limits_rest" ;;
	hunt) echo "hunt --keep-going --saturation 0 $limits_options $limits_rest" ;;
	test) echo "test --keep-going $limits_options $limits_rest" ;;
	chase) echo "cover --chase --timeout 60 --out out -- ./outcomes $2" ;;
	cover) echo "cover --saturation 0 --timeout 60 --out out -- ./outcomes $2" ;;
	learn) echo "learn --stable 0 --timeout 60 --out out -- ./outcomes $2" ;;
	esac
}

# run SECONDS SIGNAL LIMIT COMMAND PROGRAM: runs it, with a signal after SECONDS unless it is NONE;
# sets status and ms, the time from the start, or from the signal, to the end.
run() {
	rm -rf out
	environment=
	[ "$5" != start ] || environment=SLOW_START=1
	# A shell ignores SIGINT in what it starts in the background, so Python starts it.
	arguments "$4" "$5" | sed "s/ -- / $3 -- /" >words
	python3 - "$1" "$2" "$environment" $(cat words) <<'PY' >timing 2>said || fail "$4 $5"
import os, shlex, signal, subprocess, sys, time
after, name, environment, *words = sys.argv[1:]
words = shlex.split(" ".join(words))
if environment:
    os.environ.update([environment.split("=")])
began = time.monotonic()
p = subprocess.Popen(["snarl"] + words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                     restore_signals=True, start_new_session=True)
if name != "NONE":
    try:
        p.wait(float(after))
    except subprocess.TimeoutExpired:
        began = time.monotonic()
        p.send_signal(getattr(signal, "SIG" + name))
status = p.wait()
print(status, int((time.monotonic() - began) * 1000))
PY
	read -r status ms <timing
}

# nothing_left WHAT: no process of the program outlives snarl.
nothing_left() {
	tries=0
	while pgrep -f "^./outcomes |^$PWD/outcomes " >left; do
		tries=$((tries + 1))
		[ $tries -lt 100 ] || {
			ps -fp $(cat left)
			kill -9 $(cat left)
			fail "$1: processes are left"
		}
		sleep 0.05
	done
	for file in out/*.tmp* out/*.tmp out/learn-*; do
		[ ! -e "$file" ] || fail "$1: $file is left"
	done
}

# All pairs of commands and programs.
programs='pass assert exit crash deadlock output always endless spin outside pipe long-trace
	long-assert slow-pass slow-assert slow-deadlock steps late-abort child check start ignores'
for command in hunt test exec cover chase learn check-fix; do
	for program in $programs; do
		[ $program = check ] && case $command in cover | chase) continue ;; esac
		echo $command $program
	done
done >pairs

slice 22 <pairs >chosen
while read -r command program <&3; do
	run 0 NONE "--time $limit" $command $program
	[ $ms -le $((limit * 1000 + late)) ] ||
		{ cat said; fail "$command $program: --time $limit took $ms ms"; }
	case $command:$program:$status in
	*:0 | *:1 | *:3 | *:5) ;;
	*) cat said; fail "$command $program: exit $status" ;;
	esac
	nothing_left "$command $program"
	echo "time: $command $program: exit $status, $ms ms"
done 3<chosen

# Signals at moments that the line number decides.
awk -v r="${ROTATE:-0}" '{ srand(NR); print $0, int(rand() * 3000) / 1000,
	(NR % 3 == 0) ? "INT" : (NR % 3 == 1) ? "TERM" : "HUP" }' pairs |
	ROTATE=$((${ROTATE:-0} + 11)) slice 22 >chosen
while read -r command program after signal <&3; do
	run $after $signal "--runs 1M" $command $program
	case $signal in INT) code=130 ;; TERM) code=143 ;; HUP) code=129 ;; esac
	echo "signal: $command $program $signal after $after s: exit $status, $ms ms"
	case $status in
	0 | 1 | 3 | 5) continue ;;	# it ended before the signal came
	esac
	# A signal that comes before the handlers are there ends snarl like any program.
	[ $status = $code ] || [ $after \< 0.3 ] ||
		{ cat said; fail "$command $program: $signal after $after s: exit $status"; }
	[ $ms -le $late ] ||
		{ cat said; fail "$command $program: $signal after $after s took $ms ms"; }
	nothing_left "$command $program $signal"
	case $command:$status in
	hunt:$code | test:$code | exec:$code)
		python3 -c 'import json; json.load(open("out/results.json"))' ||
			{ cat said; fail "$command $program: no results"; } ;;
	esac
done 3<chosen

# What is done about a failure is shown, and fewer replays are enough if they take long: a run of
# this one burns seconds.
status=0
snarl test --time 9 --replays 50 --out long -- ./outcomes late-abort >/dev/null 2>said </dev/null ||
	status=$?
case $status in
1) grep -Eq 'replayed ([0-9]+) of \1 times \(50 would take [0-9]+ s\)' said &&
	{ grep -Eq 'replayed [0-4] of' said ||	# over within the 5 seconds between two lines
		grep -Eq '^snarl: (minimising|replaying|recording|explaining) the' said; } ;;
*) grep -Eq 'the time was up after [0-2] of 50 replays' said ;;	# a loaded machine
esac || { cat said; fail "replays that take long: exit $status"; }

# A check that hangs is killed at the run's time-out, with its children, and said.
snarl test --runs 2 --timeout 1 --check 'sleep 4711 & wait' --out hangs -- ./outcomes pass \
	>/dev/null 2>said </dev/null ||
	{ cat said; fail "a check that hangs: exit $?"; }
grep -q "check 'sleep 4711 & wait' did not end within 1 s (--timeout) and was killed" said ||
	{ cat said; fail "a check that hangs"; }
[ "$(grep -c 'and was killed' said)" = 1 ] ||
	{ cat said; fail "a check that hangs: said more than once"; }
! pgrep -f '^sleep 4711' >left || { kill $(cat left); fail "a part of the check is left"; }
