#!/bin/sh
# Learnt transactions in hardware, on a processor that has such: a thread alone commits some, and whatever undoes those of
# several threads, maybe all of them on a busy machine, nothing is lost, not even between hardware and software.
. "$SNARL_ROOT/tests/lib.sh"
[ -z "$SNARL_ASAN" ] || skip "tested by the plain run"

# guarded PROGRAM ARGUMENT…: OPTIONS=… of guard, rules of the program's name
guarded() {
	program=$1 did=$*
	shift
	status=0
	timeout 300 snarl guard --rules "$program.rules" --wait 1000 --json --out . ${OPTIONS:-} -- "./$program" "$@" \
		>json 2>out </dev/null || status=$?
	[ $status = 0 ] || { cat out; fail "$cc: $did: exit $status"; }
}

# says TEXT: all that the program printed
says() {
	grep -v '^snarl: ' out >said || :
	printf '%s\n' "$1" >want
	same "$cc: $did: result" want said
}

# member NAME: of the JSON's hardware
member() { grep -o '"hardware":{[^}]*}' json | grep -o "\"$1\":[0-9]*" | cut -d: -f2; }
commits() { [ "$(member commits)" "$@" ] || { cat json; fail "$cc: $did: commits"; }; }

# kept: nothing was let pass, because it was waited for in vain or too long, and nothing forgotten.
kept() { ! grep -Eq '"(timed_out|passed|cells|busy)":[1-9]' no_hardware; }

# exact TEXT PROGRAM ARGUMENT…: it says that whenever a guard kept what it should, which is so once at least.
exact() {
	text=$1 tries=0
	shift
	while :; do
		guarded "$@"
		sed 's/"hardware":{[^}]*}//' json >no_hardware
		! kept || break
		tries=$((tries + 1))
		[ $tries -lt 20 ] || { cat json; fail "$cc: $did: never left alone"; }
	done
	says "$text"
}

line() { grep -n "@$1 " "$source" | cut -d: -f1; }

# build NAME COMMAND: by FLAGS; the COMMAND prints its rules.
build() {
	name=$1 source=$SNARL_ROOT/tests/cli/guard/$1.c
	shift
	SNARL_CC=$cc snarl-cc $FLAGS -O1 -g -pthread "$source" -o $name
	case $name in
	rtm) record trace.snarl ./rtm plain 3 2 ;;
	*) record trace.snarl ./$name all 3 2 ;;
	esac
	"$@" | "$tools/rules" $name.rules trace.snarl
}
rtm_rules() {
	printf '%s r T\n%s w T\n%s r T\n%s w T\nmove = 1\n' "$(line read)" "$(line write)" "$(line check)" "$(line follow)"
}
hard_rules() {
	for which in '' soft_ wide_ big_ fork_; do
		printf '%s r T\n%s w T\n' "$(line ${which}read)" "$(line ${which}write)"
		printf '%s r T\n%s w T\n' "$(line ${which}tail)" "$(line ${which}tail)"
	done
	printf '%s = 1\n' add add_softly add_wide add_big add_fork
}

for cc in $(compilers); do
	for FLAGS in '' --production; do
		build rtm rtm_rules
		build hard hard_rules
		guarded hard add 100 1
		grep -q '"used":true' json || skip "no hardware transactions here, or none that commit: cli/guard_rtm emulates them"
		says 'add: 100, strangers 0'
		commits -gt 0
		OPTIONS='--rtm off' guarded hard add 100 1
		says 'add: 100, strangers 0'
		commits = 0

		# Alone: those that can be in hardware are, the first one perhaps not; the others never.
		for scene in plain lock_last locked jump inner; do
			guarded rtm $scene 1000 1
			says 'x 1000 y 1000 torn 0 faults 0 turns 0'
			commits -gt 0
		done
		for scene in call lock heap; do
			guarded rtm $scene 100 1
			says 'x 100 y 100 torn 0 faults 0 turns 0'
			commits = 0
		done
		guarded rtm spin 20 1
		says 'x 20 y 20 torn 0 faults 0 turns 40000'
		[ -n "$FLAGS" ] || commits = 0	# atomics outside of transactions are not seen there
		guarded rtm fault 100 1
		says 'x 100 y 100 torn 0 faults 1 turns 0'
		commits -gt 0
		guarded rtm alarm 5 1
		says 'x 5 y 5 torn 0 faults 5 turns 0'
		commits = 0
		guarded rtm exit 1 1
		says 'x 1 y 1 torn 0 faults 0 turns 0'
		for scene in outer steal; do
			guarded rtm $scene 100 1
			says 'x 100 y 100 torn 0 faults 0 turns 0'
		done
		guarded hard big 20 1
		says 'big: 20, strangers 0'
		commits = 0
		# New memory each time, so software's by page faults, until most of it is known.
		guarded hard wide 20000 1
		says 'wide: 20000, strangers 0'
		commits -gt 0

		# Together.
		exact 'add: 40000, strangers 0' hard add 10000 4
		exact 'storm: 20000, strangers 0' hard storm 10000 2
		exact 'big: 20, strangers 0' hard big 10 2
		exact 'fork: 20, strangers 0' hard fork 10 2
		# Every second one in software: never both within, though nothing but its mark tells the other one.
		for i in 1 2 3; do
			exact 'meet: 2000, strangers 0' hard meet 1000 2
		done
		exact 'meet: 800, strangers 0' hard meet 200 4
	done

	# Switched off and on while it runs; the program has its own lock.
	mkfifo ready
	snarl guard --rules rtm.rules --json --out . -- sh -c 'echo $$ >ready; exec ./rtm locked 200000 2' >json 2>out &
	guard=$!
	read -r pid <ready
	while kill -0 $guard 2>/dev/null; do
		snarl guard --off "$pid" >/dev/null 2>&1 || :
		snarl guard --on "$pid" >/dev/null 2>&1 || :
	done
	did='off and on'
	wait $guard || { cat out; fail "$cc: $did: exit $?"; }
	says 'x 400000 y 400000 torn 0 faults 0 turns 0'
	rm ready
done

# Correct programs, with rules that were learnt.
for name in bank_fixed buffer_fixed mozilla_7_fixed; do
	example $name
	snarl learn --quiet --runs 10 --out $name.out -- ./$name >/dev/null
	./$name >want
	run=1
	while [ $run -le 30 ]; do
		timeout 60 snarl guard --quiet --out $name.out -- ./$name >got 2>&1 || fail "$name: $?"
		same "$name" want got
		run=$((run + 1))
	done
done
