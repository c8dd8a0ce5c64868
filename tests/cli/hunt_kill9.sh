# kill -9 of hunt, cover and learn at seeded moments: what they had reported is whole, and after the
# next run nothing that the killed ones left is there any more.
. "$SNARL_ROOT/tests/lib.sh"
need python3 sqlite3

compile gcc "$SNARL_ROOT/tests/cli/cover/shop.c" shop -g -O1 -pthread
example bank
mkdir tmp
export TMPDIR="$PWD/tmp"

# killed SECONDS COMMAND…: runs it in a process group of its own, killed after SECONDS
killed() {
	python3 - "$@" <<'PY' >said 2>&1
import subprocess, sys, time
p = subprocess.Popen(sys.argv[2:], stdin=subprocess.DEVNULL, start_new_session=True)
time.sleep(float(sys.argv[1]))
p.kill()
p.wait()
PY
}

parses() {
	python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$1"
}

# Every bug that was reported is complete.
check_bugs() {
	sed -n 's/^  saved as \([^,]*\),.*/\1/p' said >reported
	while read -r bug; do
		[ -s $bug/schedule.txt ] || fail "$1: $bug was reported and is lost"
		parses $bug/bug.json || fail "$1: $bug/bug.json"
	done <reported
	for bug in out/bugs/B???; do
		[ ! -e $bug/bug.json ] || parses $bug/bug.json || fail "$1: $bug/bug.json"
	done
	[ ! -e out/results.json ] || parses out/results.json || fail "$1: results.json"
	for db in out/memo.db out/learn.db; do
		[ ! -s $db ] || [ "$(sqlite3 $db 'PRAGMA integrity_check')" = ok ] ||
			fail "$1: $db is damaged"
	done
}

check_clean() {
	find out tmp \( -name '*.tmp*' -o -name 'trace-*' -o -name 'learn-*' -o -name 'snarl-*' \
		-o -empty -type d \) >left
	for bug in out/bugs/B???; do
		[ ! -e $bug ] || [ -s $bug/bug.json ] || echo $bug >>left
	done
	grep -v '^tmp$' left || return 0
	fail "$1: left behind"
}

awk 'BEGIN {
	srand(7)
	for (i = 0; i < 60; i++)
		print i, int(rand() * 900 + 5) / 1000,
			(i % 3 == 0) ? "hunt" : (i % 3 == 1) ? "cover" : "learn"
}' | slice 6 >kills
while read -r seed seconds command <&3; do
	what="kill $seed of $command after $seconds s"
	case $command in
	hunt) set -- hunt --keep-going --saturation 0 --seed $seed --out out -- ./bank ;;
	cover) set -- cover --runs 1M --saturation 0 --seed $seed --out out -- ./shop ;;
	learn) set -- learn --runs 1M --stable 0 --seed $seed --out out -- ./shop ;;
	esac
	killed $seconds snarl "$@"
	check_bugs "$what"
	# The next command, of another kind, cleans up.
	case $command in
	learn) snarl hunt --runs 30 --out out -- ./shop >said 2>&1 </dev/null || [ $? = 1 ] ;;
	hunt) snarl cover --runs 5 --out out -- ./shop >said 2>&1 </dev/null ;;
	cover) snarl learn --runs 3 --out out -- ./shop >said 2>&1 </dev/null ;;
	esac || { cat said; fail "$what: the next run"; }
	check_bugs "$what, next run"
	check_clean "$what"
done 3<kills
