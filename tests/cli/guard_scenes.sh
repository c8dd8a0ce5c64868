#!/bin/sh
# snarl guard with hand-made rules, one scene of scene.c at a time: delays that avoid the bad order,
# delays that time out, fork, exec, kill -9, and switching it off during a run. Then snarl check
# with such rules.
. "$SNARL_ROOT/tests/lib.sh"
[ -z "$SNARL_ASAN" ] || skip "tested by the plain run"

source=$SNARL_ROOT/tests/cli/guard/scene.c
line() { grep -n "@$1 " "$source" | cut -d: -f1; }

# guarded RULES ARGUMENT…: runs ./scene; leaves json, out, status and guard.log. PROTECT is an
# option.
guarded() {
	rules=$1
	shift
	status=0
	snarl guard --rules "$rules.rules" --protect ${PROTECT:-both} --wait 1000 --json --out . \
		-- ./scene "$@" >json 2>out </dev/null ||
		status=$?
}

# says TEXT: the program printed this line
says() { grep -qxF "$1" out || { cat out json; fail "no '$1'"; }; }
# counted MEMBER NUMBER: the sum of this member over all delays
counted() {
	got=$(grep -o "\"$1\":[0-9]*" json | awk -F: '{ n += $2 } END { print n + 0 }')
	[ "$got" = "$2" ] || { cat json; fail "$1 is $got, not $2"; }
}

# delayed RULES SCENE TEXT: no update is lost; repeats until an access came in time to be delayed,
# as the log shows
delayed() {
	tries=0
	while :; do
		guarded "$1" "$2"
		says "$2: x 11 seen 0"
		counted timed_out 0
		! grep -q "^pset .*$3" guard.log || return 0
		tries=$((tries + 1))
		[ $tries -lt 50 ] || { cat guard.log; fail "$cc: $2: never delayed"; }
	done
}

for cc in $(one_of $(compilers)); do
	SNARL_CC=$cc snarl-cc -O1 -g -pthread "$source" -o scene
	record trace.snarl ./scene patient order turns cancel lock_early

	printf '%s r T\n%s w T\n%s r T\n%s w T\nadd_one = 1\n' "$(line read)" "$(line write)" \
		"$(line other)" \
		"$(line other)" | "$tools/rules" tx.rules trace.snarl
	printf '%s r LP %s w\n%s w S\n' "$(line early)" "$(line init)" "$(line init)" |
		"$tools/rules" pset.rules trace.snarl
	printf '%s r OP %s r! %s w\n%s r S\n%s w S\n%s w S\n' "$(line other)" "$(line read)" \
		"$(line write)" \
		"$(line read)" "$(line write)" "$(line other)" |
		"$tools/rules" reads.rules trace.snarl
	printf '%s l OP %s l!\n%s l S\n%s l S\n' "$(line third)" "$(line first)" "$(line first)" \
		"$(line second)" |
		"$tools/rules" turns.rules trace.snarl
	printf '%s l LP\n%s l S\n' "$(line late)" "$(line soon)" |
		"$tools/rules" late.rules trace.snarl
	printf '%s c LP\n' "$(line cancel)" | "$tools/rules" cancel.rules trace.snarl
	for each in check:I:I:read seen:IW:IW:read judged:IW:IWB:read strange:IW:IWB:other; do
		IFS=: read -r name flags last before <<X
$each
X
		printf '%s r %s\n%s w %s %s r<\n%s r %s\n%s w %s\n' "$(line read)" $flags \
			"$(line write)" $last \
			"$(line $before)" "$(line other)" $flags "$(line other)" $flags |
			"$tools/rules" $name.rules trace.snarl
	done

	# Without guard the other thread's 10 are lost; with it they are added before or after.
	./scene patient >alone
	echo 'patient: x 1 seen 0' >want
	same "$cc: alone" want alone
	guarded tx between
	[ $status = 0 ] || fail "$cc: between: $status"
	says 'between: x 11 seen 0'
	counted timed_out 0

	# The transaction waits for the delayed thread: the delay times out after one second.
	guarded tx patient
	[ $status = 0 ] || fail "$cc: patient: $status"
	says 'patient: x 1 seen 0'
	counted timed_out 1

	# The transaction needs a lock that the other thread holds: guard does not delay it.
	guarded tx locked
	[ $status = 0 ] || fail "$cc: locked: $status"
	says 'locked: x 1 seen 0'
	counted timed_out 0

	# The early reader is delayed until the writer came.
	guarded pset early
	says 'early: x 10 seen 10'
	counted resolved 1
	guarded pset order
	says 'order: x 10 seen 10'
	counted count 0

	# A lock operation is delayed like an access, also if only transactions are protected.
	for PROTECT in pset tx both; do
		guarded late lock_early
		says 'lock_early: x 10 seen 10'
	done
	PROTECT=

	# Nothing comes between a read and the write after it, or between two critical sections.
	./scene turns_patient >alone
	echo 'turns_patient: x 1 seen 0' >want
	same "$cc: turns alone" want alone
	at="scene.c:$(line read) (add_one)"
	delayed reads between "scene.c:$(line other) (add_ten) right after .*$at"
	at="scene.c:$(line first) (add_one_locked)"
	delayed turns turns "scene.c:$(line third) (writer) right after .*$at"

	# A cancellation is delayed until the lock is free, or one second at most.
	./scene cancel >alone
	echo 'cancel: x 10 seen 1' >want
	same "$cc: cancel alone" want alone
	guarded cancel cancel
	says 'cancel: x 11 seen 0'
	counted resolved 1
	guarded cancel cancel_patient
	says 'cancel_patient: x 10 seen 1'
	counted timed_out 1

	# Forked children and exec'd images are guarded; the log survives kill -9.
	guarded tx fork between
	[ "$(grep -cxF 'between: x 11 seen 0' out)" = 2 ] || { cat out; fail "$cc: fork"; }
	guarded tx between exec between
	[ "$(grep -cxF 'between: x 11 seen 0' out)" = 2 ] || { cat out; fail "$cc: exec"; }
	guarded tx patient kill
	[ $status = 137 ] || fail "$cc: kill: $status"
	counted timed_out 1
	within="(add_ten) within the transaction at .*scene.c:$(line read) "
	grep -q "^tx .*scene.c:$(line other) $within" guard.log ||
		{ cat guard.log; fail "$cc: log"; }

	# After snarl guard --off nothing is delayed.
	mkfifo go
	snarl guard --rules tx.rules --json --out . -- ./scene pid patient <go >json 2>out &
	pid=$!
	exec 3>go
	while ! grep -q '^[0-9]' out; do sleep 0.02; done
	snarl guard --off "$(head -n 1 out)"
	echo >&3
	exec 3>&-
	wait $pid || fail "$cc: off: $?"
	says 'patient: x 1 seen 0'
	counted count 0
	rm go

	# snarl check reports a write between a read and a write. These rules do not say what is
	# breakable, so --all.
	status=0
	snarl check --rules check.rules -- ./scene patient >out 2>err || status=$?
	[ $status = 0 ] && grep -q 'nothing to watch' err ||
		{ cat err; fail "$cc: check of nothing: $status"; }
	status=0
	snarl check --rules check.rules --all -q -- ./scene patient >out || status=$?
	[ $status = 1 ] || fail "$cc: check: $status"
	sed -n '/^violation/,$p' out | sed 's|[^ (]*/scene|scene|g' >got
	cat >want <<X
violation RWW of x (scene.c:$(grep -n '^static long x' "$source" | cut -d: -f1)), 1 time
  first   reads   scene.c:$(line read) (add_one)
  another writes  scene.c:$(line other) (add_ten)
  then    writes  scene.c:$(line write) (add_one), over 10
X
	same "$cc: check" want got
	# A site may be watched (flag W) only because others need it: its invariant is judged only
	# if it is breakable (flag B).
	snarl check --rules seen.rules -q -- ./scene patient >out ||
		{ cat out; fail "$cc: seen is judged"; }
	snarl check --rules judged.rules -q -- ./scene patient >out && fail "$cc: not judged"
	sed -n '/^violation/,$p' out | sed 's|[^ (]*/scene|scene|g' >got
	same "$cc: judged" want got
	# A predecessor that was never seen is not judged.
	snarl check --rules strange.rules -q -- ./scene patient >out ||
		{ cat out; fail "$cc: strange is judged"; }
	status=0
	snarl check --rules check.rules --all -q -- ./scene order >out || status=$?
	[ $status = 0 ] || { cat out; fail "$cc: check of order: $status"; }
done
