# Forked children write traces of their own, including atfork handlers; with --fork off they write
# none.
. "$SNARL_ROOT/tests/lib.sh"

source=$SNARL_ROOT/tests/programs/process_fork.c

begin='0 start - -;0 lock m =0 forked;0 unlock m =0 forked'
added='0.1 start - add;0.1 lock m =0 add;0.1 unlock m =0 add;0.1 end - -;'
waited='0 call:wait - finished;0 return:wait - =0 finished'
cat >want <<END
0 start - -;0 exit-process - bare;
$begin;0 create 0.1 =0 plain;0 join 0.1 =0 plain;0 exit-process - plain;$added
$begin;0 exit-process - nested;
$begin;0 fork - nested;$waited;0 exit-process - nested;
END
LC_ALL=C sort want -o want

for cc in $(compilers); do
	wrap "$cc" "$source" prog -O1 -pthread
	rm -f on.snarl* off.snarl*
	RECORD_OPTIONS="--fork off" record off.snarl ./prog
	for child in off.snarl.*; do
		[ ! -e "$child" ] || fail "$cc: --fork off left $child"
	done
	RECORD_OPTIONS= record on.snarl ./prog
	for child in on.snarl.*; do
		events "$child" | tr '\n' ';'
		echo
	done | LC_ALL=C sort >got
	same "$cc: children's events" want got
done
