# Many threads and all ways to start and end one: each has its name, start, end, one lock and one
# unlock in the trace, and nothing is lost.
. "$SNARL_ROOT/tests/lib.sh"
here=$SNARL_ROOT/tests/cli/threads

# per_thread KIND: prints "T x N" for T threads other than main with N events of this kind each
per_thread() {
	"$tools/count" t.snarl "$1" |
		awk '$1 != "0" { n[$2]++ } END { for (i in n) print n[i] " x " i }'
}

# expect KIND WANTED: compares per_thread with WANTED
expect() {
	got=$(per_thread "$1")
	[ "$got" = "$2" ] || fail "$what: $1: $got, not $2"
}

life() {
	what=$*
	RECORD_OPTIONS= record t.snarl ./life "$@"
	! grep lost record.err || fail "$what: something was lost"
}

wrap gcc "$here/life.c" life -O1 -pthread

life alive 256
expect lock "256 x 1"
expect unlock "256 x 1"
expect start "256 x 1"
expect end "256 x 1"

# More threads than the runtime has slots: the rest is counted as not recorded, and runs
# undisturbed.
RECORD_OPTIONS= record t.snarl ./life alive 2100
[ "$(cat record.out)" = 2100 ] || fail "alive 2100: $(cat record.out)"
grep -q '53 threads were not recorded' record.err || { cat record.err; fail "alive 2100"; }
snarl dump --stats t.snarl | grep -q '53 threads not recorded' || fail "alive 2100: statistics"

life many 5000
[ "$(cat record.out)" = 5000 ] || fail "many: $(cat record.out)"
expect lock "5000 x 1"
expect end "5000 x 1"
"$tools/count" t.snarl lock | awk '$1 != "0" && $1 != "0." ++n { print; exit 1 }' ||
	fail "many: names"
# Slots of ended threads are reused: memory is bounded by the threads alive at a time.
[ "$(wc -c <t.snarl)" -lt 3000000 ] || fail "many: $(wc -c <t.snarl) bytes"

life detached 300
expect lock "300 x 1"

life keys 10
[ "$(cat record.out)" = 50 ] || fail "keys: $(cat record.out)"
expect lock "10 x 5"
expect unlock "10 x 5"

life main 1
[ "$(cat record.out)" = 2 ] || fail "main: $(cat record.out)"
"$tools/count" t.snarl end >ends
printf '0 1\n0.1 1\n' >want
same "main: ends" want ends

life foreign 5
[ "$(cat record.out)" = 5 ] || fail "foreign: $(cat record.out)"
# The C library's own helper thread may have events, too.
"$tools/count" t.snarl lock >locks
[ "$(grep -c '^~[0-9]* 1$' locks)" = 5 ] || { cat locks; fail "foreign: locks"; }

life bare 20
[ "$(cat record.out)" = 20 ] || fail "bare: $(cat record.out)"
"$tools/count" t.snarl lock >locks
echo "0 20" >want
same "bare: locks" want locks

for i in $(seq 0 $((${ROUNDS:-100} - 1)) | slice 4); do
	life hot $((i * 37 % 400))
	"$tools/count" t.snarl unlock >unlocks || fail "hot: unreadable"
	[ "$(wc -l <unlocks)" = 4 ] || { cat unlocks; fail "hot: threads"; }
	"$tools/count" t.snarl exit-process | grep -q '^0.3 1$' || fail "hot: no exit in the trace"
done

for cc in $(compilers); do
	wrap "$cc" "$here/locals.cc" locals -O1 -pthread
	RECORD_OPTIONS= record t.snarl ./locals
	what="thread_local, $cc"
	expect lock "20 x 1"
	expect unlock "20 x 1"
done
