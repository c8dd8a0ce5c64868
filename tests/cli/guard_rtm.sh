#!/bin/sh
# Learnt transactions in hardware, on an emulated processor (tests/tools/rtm.c): whatever becomes of them the
# program does the same, and each of them is counted; what does not fit is done in software.
. "$SNARL_ROOT/tests/lib.sh"
[ -z "$SNARL_ASAN" ] || skip "tested by the plain run"

# guarded PLAN PROGRAM ARGUMENT…: OPTIONS=… of guard, rules of the program's name
guarded() {
	plan=$1 program=$2
	shift 2
	status=0
	timeout 300 snarl guard --rules "$program.rules" --wait 1000 --json --out . ${OPTIONS:-} -- \
		"$tools/rtm" "$plan" report "./$program" "$@" >json 2>out </dev/null || status=$?
	[ $status != 77 ] || skip "no emulation here: no ptrace"
	[ $status = 0 ] || { cat out; fail "$cc: $plan $program $*: exit $status"; }
}

# says TEXT: all that the program printed
says() {
	grep -v '^snarl: ' out >said || :
	printf '%s\n' "$1" >want
	same "$cc: $plan $program: result" want said
}

# hardware USED COMMITS CONFLICTS CAPACITY UNFIT BUSY GIVEN_UP: as guard tells it; the processor's word agrees.
hardware() {
	grep -o '"hardware":{[^}]*}' json >got
	printf '"hardware":{"used":%s,"commits":%d,"aborts":%d,"conflicts":%d,"capacity":%d,"unfit":%d,"busy":%d,"given_up":%d}\n' \
		"$1" "$2" $(($3 + $4 + $5 + $6)) "$3" "$4" "$5" "$6" "$7" >want
	same "$cc: $plan $program: hardware" want got
	[ "$1" = false ] && return
	sed 's/ undone .*//' report >got
	echo "begun $(($2 + $3 + $4 + $5 + $6 + 1)) committed $(($2 + 1)) aborted $(($3 + $4 + $5 + $6))" >want
	same "$cc: $plan $program: processor" want got
}

# undid: what was given up had changed something, or it was no test.
undid() { ! grep -q ' undone 0$' report || fail "$cc: $plan $program: nothing to undo"; }

# member NAME: of the JSON's hardware
member() { grep -o '"hardware":{[^}]*}' json | grep -o "\"$1\":[0-9]*" | cut -d: -f2; }

line() { grep -n "@$1 " "$source" | cut -d: -f1; }

# rules_with LETTERS: of all four accesses
rules_with() {
	printf '%s r %s\n%s w %s\n%s r %s\n%s w %s\nmove = 1\n' "$(line read)" "$1" "$(line write)" "$1" \
		"$(line check)" "$1" "$(line follow)" "$1" | "$tools/rules" rtm.rules trace.snarl
}

for cc in $(one_of $(compilers)); do
	source=$SNARL_ROOT/tests/cli/guard/rtm.c
	SNARL_CC=$cc snarl-cc -O1 -g -pthread "$source" -o rtm
	record trace.snarl ./rtm plain 3 2
	rules_with T
	twenty='x 20 y 20 torn 0 faults 0 turns 0'

	# The first transaction is guard's own trial. One that always gives up is none; nor is one that is not wanted.
	guarded a0 rtm plain 20 1
	says "$twenty"
	hardware false 0 0 0 0 0 0
	[ "$(cut -d' ' -f1-6 report)" = 'begun 64 committed 0 aborted 64' ] || fail "$cc: trials: $(cat report)"
	OPTIONS='--rtm off' guarded c rtm plain 20 1
	says "$twenty"
	hardware false 0 0 0 0 0 0
	[ "$(cut -d' ' -f1-2 report)" = 'begun 0' ] || fail "$cc: off: $(cat report)"
	OPTIONS='--protect pset' guarded c rtm plain 20 1
	hardware false 0 0 0 0 0 0
	OPTIONS='--noise 1' guarded c rtm plain 20 1
	hardware false 0 0 0 0 0 0

	# All commit: with and without PSet, alone and beside others, which stand still meanwhile.
	for OPTIONS in '--rtm auto' '--protect tx'; do
		guarded a0*3,c rtm plain 20 1
		says "$twenty"
		[ "$(member commits)" = 20 ] || fail "$cc: commits"
		guarded c rtm plain 50 4
		says 'x 200 y 200 torn 0 faults 0 turns 0'
		hardware true 200 0 0 0 0 0
	done
	OPTIONS=

	# Given up at once, or at the end, when all is done and must be undone. A conflict is tried four times in all;
	# what does not fit eight times in a row is software's, and then one in 4096 is tried again.
	for when in a e; do
		guarded c,${when}4 rtm plain 20 1
		says "$twenty"
		hardware true 0 80 0 0 0 0
		guarded c,${when}2 rtm plain 20 1
		hardware true 0 80 0 0 0 0
		guarded c,${when}6*3,c rtm plain 20 1
		says "$twenty"
		hardware true 20 3 0 0 0 0
		guarded c,${when}8 rtm plain 20 1
		says "$twenty"
		hardware true 0 0 8 0 0 1
		guarded c,${when}12 rtm plain 20 1	# capacity and conflict: capacity
		hardware true 0 0 8 0 0 1
		guarded c,${when}0 rtm plain 20 1
		hardware true 0 0 0 8 0 1
		guarded c,${when}0x07000001 rtm plain 20 1	# xabort of somebody else's
		says "$twenty"
		hardware true 0 0 0 8 0 1
		guarded c,${when}8*7,c,${when}0*7,c rtm plain 20 1
		says "$twenty"
		hardware true 6 0 7 7 0 0
	done
	undid
	guarded c,a8*8,c rtm plain 4200 1
	says 'x 4200 y 4200 torn 0 faults 0 turns 0'
	hardware true $((4200 - 8 - 4095)) 0 8 0 0 1
	guarded c,a0*9,c rtm plain 8300 1
	says 'x 8300 y 8300 torn 0 faults 0 turns 0'
	hardware true $((8300 - 9 - 2 * 4095)) 0 0 9 0 1

	# What does not belong in hardware, and what ends a transaction. The first time nobody knows that nothing
	# follows the lock.
	for scene in call lock heap; do
		guarded c rtm $scene 20 1
		says "$twenty"
		hardware true 0 0 0 8 0 1
		undid
	done
	guarded c rtm spin 20 1
	says 'x 20 y 20 torn 0 faults 0 turns 40000'
	hardware true 0 0 0 8 0 1
	guarded c rtm lock_last 20 1
	says "$twenty"
	hardware true 19 0 0 1 0 0
	guarded c rtm fault 20 1
	says 'x 20 y 20 torn 0 faults 1 turns 0'
	hardware true 19 0 0 1 0 0
	guarded c rtm jump 20 1
	says "$twenty"
	hardware true 20 0 0 0 0 0
	guarded c rtm exit 1 1
	says 'x 1 y 1 torn 0 faults 0 turns 0'
	# The signal that it waits for undoes it, and comes to the handler all the same.
	guarded c rtm alarm 5 1
	says 'x 5 y 5 torn 0 faults 5 turns 0'
	undid

	# Transactions of the program's own: around ours, which is software's then; within; and one that ends ours, so
	# that there is nothing to end any more, and hardware is left alone.
	guarded c rtm outer 20 1
	says "$twenty"
	[ "$(member commits) $(cut -d' ' -f1-6 report)" = '0 begun 21 committed 21 aborted 0' ] || { cat json report; fail "$cc: outer"; }
	guarded c rtm inner 20 1
	says "$twenty"
	hardware true 20 0 0 0 0 0
	guarded c rtm steal 20 1
	says "$twenty"
	hardware true 1 0 0 0 0 0

	# Given up in the middle, at one instruction after the other, in the hooks as well as between them.
	for scene in plain lock_last jump; do
		guarded c,s31:6*60,c rtm $scene 80 1
		says 'x 80 y 80 torn 0 faults 0 turns 0'
		undid
		[ "$(member commits)" -gt 0 ] && [ "$(member conflicts)" -gt 20 ] || { cat json; fail "$cc: $scene: sweep"; }
		sed 's/ undone .*//' report >got
		echo "begun $(($(member commits) + $(member aborts) + 1)) committed $(($(member commits) + 1)) aborted $(member aborts)" >want
		same "$cc: $scene: sweep" want got
	done

	# A correct program, whatever becomes of its transactions, in hardware and in software at once.
	guarded c,c,e4,n70:6,a8,c*3,n700:2,a4*4,e0,n500:0,e6*5,c,n90:8,r rtm locked 50 4
	says 'x 200 y 200 torn 0 faults 0 turns 0'
	undid

	# A cut: two transactions in each round.
	printf '%s r T\n%s w T\n%s r TC\n%s w T\nmove = 1\n' "$(line read)" "$(line write)" "$(line check)" \
		"$(line follow)" | "$tools/rules" rtm.rules trace.snarl
	guarded c rtm plain 20 1
	says "$twenty"
	hardware true 40 0 0 0 0 0

	# Production builds.
	SNARL_CC=$cc snarl-cc --production -O1 -g -pthread "$source" -o rtm
	record trace.snarl ./rtm plain 3 2
	rules_with T
	guarded c,e4*2,c rtm plain 20 1
	says "$twenty"
	hardware true 20 2 0 0 0 0

	# Two threads, in an order that flags force: one is in software, the other one finds its mark, four times, and
	# waits for it.
	source=$SNARL_ROOT/tests/cli/guard/scene.c
	SNARL_CC=$cc snarl-cc -O1 -g -pthread "$source" -o scene
	record trace.snarl ./scene patient order
	printf '%s r T\n%s w T\n%s r T\n%s w T\nadd_one = 1\nadd_ten = 1\n' "$(line read)" "$(line write)" "$(line other)" \
		"$(line other)" | "$tools/rules" scene.rules trace.snarl
	# On a busy machine the first one may have done when the other one comes.
	for try in $(seq 30); do
		guarded c,a8,c scene between
		says 'between: x 11 seen 0'
		! grep -q '"resolved":1,' json || break
	done
	hardware true 0 0 1 0 4 0
	# It waits in hardware for what cannot come, as long as nobody sees that it is there: not for ever.
	guarded c scene patient
	says 'patient: x 1 seen 0'
	hardware true 0 0 0 1 4 0
	guarded c,a8,c*4,a8,c scene fork between
	says 'between: x 11 seen 0
between: x 11 seen 0'

	# PSet hears of what was done in hardware; and who was never first waits, which it can in software only.
	printf '%s r TLP %s w\n%s w TS\nput_ten = 1\nreader = 1\n' "$(line early)" "$(line init)" "$(line init)" |
		"$tools/rules" scene.rules trace.snarl
	guarded c scene order
	says 'order: x 10 seen 10'
	hardware true 2 0 0 0 0 0
	grep -q '"delays":\[\]' json || { cat json; fail "$cc: order: a delay"; }
	# Likewise the one that is meant to be early may come late, or try again late enough: then it has nothing to wait for.
	for try in $(seq 30); do
		guarded c scene early
		says 'early: x 10 seen 10'
		! grep -q '"resolved":1,' json || break
		hardware true 2 0 0 0 "$(member busy)" 0
	done
	hardware true 1 0 0 0 4 0
done
