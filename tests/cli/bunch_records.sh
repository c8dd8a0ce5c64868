# Accesses that are told by one record: the same events as with hooks, in the mode that allows it; hooks in all
# others.
. "$SNARL_ROOT/tests/lib.sh"
need jq

dir=$SNARL_ROOT/tests/cli/bunches

# plain TRACE: its events without their times, and without what the program says
plain() {
	snarl dump --raw --no-symbols "$1" | sed -n 's/ t=[0-9]*//; / output /d; /^[0-9~?]/p'
}

# records TRACE: how many raw ones
records() {
	snarl dump --chunks "$1" | awk '$2 == "events" { n += $5 } END { print n }'
}

# bunches TRACE: how many it tells of
bunches() {
	snarl dump --chunks "$1" | awk '$2 == "bunches" { n += $5 } END { print n + 0 }'
}

# both NAME WHAT OPTIONS…: records with bunches and with hooks, and compares
both() {
	name=$1 what=$2
	shift 2
	for kind in bunch hooks; do
		RECORD_OPTIONS=$* record $name.$kind.snarl ./rows $kind $what
		plain $name.$kind.snarl >$name.$kind.txt
	done
	same "$cc, $name: other events" $name.hooks.txt $name.bunch.txt
}

for cc in $(compilers); do
	rm -f ./*.snarl*
	SNARL_CC=$cc snarl-cc -O1 -pthread -I"$SNARL_ROOT/src" "$dir/rows.c" "$dir/rows.S" -o rows
	both short short
	[ "$(grep -c ' read \| write ' short.bunch.txt)" -gt 6000 ] || fail "$cc: few events"
	[ "$(bunches short.bunch.snarl)" = 4 ] || fail "$cc: the table is not in the trace"
	read -r shared other <record.out
	[ "$shared $other" = "0 0" ] || fail "$cc: hooks were to run"
	record t.snarl ./rows bunch short
	read -r shared other <record.out
	[ "$shared" = 540 ] || fail "$cc: $shared rows without hooks on shared memory"
	[ "$(records t.snarl)" -lt $(($(records short.hooks.snarl) - 2700)) ] || fail "$cc: no bunches in the trace"

	# Many rings, and private memory that is cut.
	for kind in bunch hooks; do
		RECORD_OPTIONS='--window 64K' record long.$kind.snarl ./rows $kind long
		"$tools/shared" long.$kind.snarl >long.$kind.txt
	done
	same "$cc: other accesses to shared memory" long.hooks.txt long.bunch.txt
	[ "$(wc -l <long.hooks.txt)" -gt 100000 ] || fail "$cc: few accesses"
	RECORD_OPTIONS=--no-filter record all.snarl ./rows bunch long
	[ "$(cat record.out)" = "0 0" ] || fail "$cc: bunches without the filter"
	"$tools/shared" all.snarl >all.txt
	same "$cc: other accesses without the filter" all.txt long.bunch.txt

	# Text has events, and they are the same again.
	snarl dump --raw --no-symbols short.bunch.snarl >text
	plain text >again.txt
	same "$cc: the text" short.bunch.txt again.txt

	# Killed: what is in the ring is expanded, too.
	for kind in bunch hooks; do
		$fixed snarl record --out killed.$kind.snarl -- ./rows $kind killed >out 2>err || :
		plain killed.$kind.snarl | grep '^0 ' >killed.$kind.txt
	done
	same "$cc, killed: other events" killed.hooks.txt killed.bunch.txt
	[ "$(wc -l <killed.hooks.txt)" -gt "$(grep -c '^0 ' short.hooks.txt)" ] || fail "$cc: killed too early"

	# The child's trace tells what its bunches are.
	for kind in bunch hooks; do
		rm -f f.snarl*
		record f.snarl ./rows $kind forked
		[ "$(bunches f.snarl.[0-9]*)" = 4 ] || fail "$cc: the child's table"
		plain f.snarl.[0-9]* >f.$kind.txt
	done
	same "$cc: a child's events" f.hooks.txt f.bunch.txt

	# One library in the place of another.
	SNARL_CC=$cc snarl-cc -O1 -fPIC -shared -DLIBRARY "$dir/plug.c" "$dir/rows.S" -o one.so
	SNARL_CC=$cc snarl-cc -O1 -fPIC -shared -DLIBRARY -DTWO "$dir/plug.c" "$dir/rows.S" -o two.so
	for kind in bunch hooks; do
		record closed.$kind.snarl ./rows $kind closed
		"$tools/shared" closed.$kind.snarl >closed.$kind.txt
	done
	same "$cc, libraries: other accesses" closed.hooks.txt closed.bunch.txt
	[ "$(bunches closed.bunch.snarl)" = 20 ] || fail "$cc: tables of libraries"
	[ "$(records closed.bunch.snarl)" -lt $(($(records closed.hooks.snarl) - 3000)) ] || fail "$cc: no bunches in libraries"

	# A list of sites: what it leaves out is left out of bunches.
	both listed short --sites short.hooks.snarl
	snarl dump --sites short.hooks.snarl >all.sites
	awk 'NR == 1 || NF == 1 || n++ % 2' all.sites >half.sites
	both half short --sites half.sites
	[ "$(wc -l <half.bunch.txt)" -lt "$(wc -l <short.bunch.txt)" ] || fail "$cc: nothing was left out"
	awk 'NR == 1 || NF == 1' all.sites >none.sites
	both none short --sites none.sites
	grep -q ' read [^ ]*:2 ' none.bunch.txt && fail "$cc: all was to be left out"
	record t.snarl ./rows bunch short
	RECORD_OPTIONS='--sites none.sites' record t.snarl ./rows bunch short
	[ "$(cat record.out)" = "540 1116" ] || fail "$cc: not all bunches that are off are passed: $(cat record.out)"
done

# says WANTED COMMAND…: how many rows ran without hooks
says() {
	says_wanted=$1
	shift
	"$@" >out 2>err || { cat out err; fail "$*"; }
	grep -qx "$says_wanted" out || { cat out; fail "$*: not $says_wanted"; }
}

says '540 1116' ./rows
says '0 .*' env SNARL_OPTIONS=mode=record:times=all:trace=t2.snarl ./rows

# Under control each access is a step.
for kind in bunch hooks; do
	snarl test --runs 5 --json -- ./rows $kind 2>err | jq .steps >$kind.steps || { cat err; fail "under control"; }
done
same "under control: other steps" hooks.steps bunch.steps

# Profiles, of which the tool sees what the runtime has expanded.
for kind in bunch hooks; do
	rm -f $kind.db
	snarl cover --parallel --runs 1 --db $kind.db -- ./rows $kind profiled >out 2>err || { cat err; fail "profile"; }
	snarl cover --json $kind.db | jq -c '.events as $e | .iroots[] | [.idiom, .state, (.events[] | $e[.] |
		.access, .function, .line, .column)]' | sort >$kind.roots
done
[ "$(wc -l <hooks.roots)" -gt 20 ] || { cat hooks.roots; fail "few iRoots"; }
same "other iRoots" hooks.roots bunch.roots
