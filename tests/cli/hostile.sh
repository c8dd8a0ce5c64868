# Each program of tests/hostile under snarl test and snarl hunt: snarl ends by itself, in time, with
# an exit status of its own and a line that says what happened. It leaves no process, running or
# stopped, and no file in $TMPDIR or /dev/shm.
. "$SNARL_ROOT/tests/lib.sh"
# Some programs write to all descriptors, and shorten all files: close those inherited.
exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
TMPDIR=$PWD/tmp
XDG_STATE_HOME=$PWD/state
mark=hostile-$$-$(date +%s)
export TMPDIR XDG_STATE_HOME
mkdir "$TMPDIR"

# Prints the processes that a run left: those with $mark in their environment, or with a program of
# this folder. Zombies without a parent do not count.
left_behind() {
	for left_pid in /proc/[0-9]*; do
		left_pid=${left_pid#/proc/}
		case $(readlink "/proc/$left_pid/exe" 2>/dev/null) in
		"$PWD"/*) ;;
		*) grep -qsz "^HOSTILE_MARK=$mark\$" "/proc/$left_pid/environ" || continue ;;
		esac
		left_state=$(sed -n 's/^State:[^A-Z]*\([A-Z]\).*/\1/p' \
			"/proc/$left_pid/status" 2>/dev/null) || continue
		case $left_state in ''|Z|X) ;; *) echo "$left_pid($left_state)" ;; esac
	done
}
end_all() {
	left_behind | sed 's/(.*//' | xargs -r kill -KILL 2>/dev/null || :
}
trap end_all EXIT
files() {
	ls -d /dev/shm/*snarl* 2>/dev/null || :
}

# The limit of 5 seconds, runs that are killed late, a fork server that does not answer, replays.
slack=${SNARL_ASAN:+120}
slack=${slack:-60}

# attack NAME COMMAND…
attack() {
	name=$1 status=0
	shift
	rm -rf run
	mkdir run
	cp "$name" run/
	files >before
	began=$(date +%s)
	(cd run && HOSTILE_MARK=$mark exec timeout -s KILL $slack \
		snarl "$@" --time 5 --timeout 2 --replays 2 -j 2 -o out -- "./$name" \
		>../out 2>../err </dev/null) ||
		status=$?
	took=$(($(date +%s) - began))
	case $name:$status in
	*:[0135]) grep -q '^snarl' err || { cat err; fail "$name, $1: not a word"; } ;;
	kill_parent:137)	# it killed snarl by a raw system call; the kernel ends what is left
		[ $took -lt $slack ] || fail "$name, $1: does not end"
		for wait in 1 2 3 4 5 6 7 8 9 10; do
			[ -z "$(left_behind)" ] || sleep 0.2
		done
		rm -rf "$TMPDIR"/*
		;;
	*) tail -n 20 err; fail "$name, $1: exit $status after $took s" ;;
	esac
	left=$(left_behind)
	[ -z "$left" ] || { end_all; cat err; fail "$name, $1: processes are left: $left"; }
	[ -z "$(ls "$TMPDIR")" ] || fail "$name, $1: files are left: $(ls "$TMPDIR")"
	files >after
	same "$name, $1: files are left" before after
	echo "$name $1: exit $status, $took s: $(grep -m 1 '^snarl' err | cut -c 1-100)"
}

ls "$SNARL_ROOT"/tests/hostile/*.c | slice 5 >sources
while read -r source; do
	name=$(basename "$source" .c)
	compile gcc "$source" "$name" -g -O1 -pthread -D_GNU_SOURCE || fail "$name does not compile"
	attack "$name" test --runs 3
	attack "$name" hunt
	# Without a fork server the parent is snarl itself.
	[ "$name" != kill_parent ] || attack "$name" test --no-fork-server --runs 3
done <sources
