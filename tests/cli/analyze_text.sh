#!/bin/sh
# snarl analyze of a text trace: the printed list and its summary, --limit, --json, the choice of
# analyses, and the messages for wrong arguments and for a file that is no trace.
. "$SNARL_ROOT/tests/lib.sh"

cat >in.txt <<'END'
snarl-text 1
0 create 0.1 @main:3
0 malloc box 16 @main:4
0.1 enter 0 @worker
0.1 lock m @worker:7
0.1 write x @worker:8
0.1 unlock m @worker:9
0.1 write box+8 @worker:10
0 lock m @main:5
0 unlock m @main:6
0 read x @main:7
0 read box+8 @main:8
END

snarl analyze -a race -a race-predict in.txt >out 2>err || fail "exit $?"
[ ! -s err ] || fail "something on stderr"
cat >want <<'END'
1. race WR on box+8
  1  0.1 write box+8  worker:10
       called from 0x0
  2  0 read box+8  main:8
     to try: 2 before 1

2. race WR on x
  1  0.1 write x  worker:8
       called from 0x0
       holding m (taken at worker:7)
  2  0 read x  main:7
  3  0.1 lock m  worker:7
       called from 0x0
       holding m (taken at worker:7)
     to try: 2 before 1
     predicted: no lock or strong order keeps them apart

2 candidates in 11 events of 2 threads; pruned: 1 in a fixed order
END
# A heap block is named after its allocation site; box+8 is the byte at offset 8 of the block box.
sed -i 's/heap@[^ ]*#1+8/box+8/' out
same text want out

# A limit.
snarl analyze -n 1 -a race -a race-predict in.txt | tail -n 2 >out
cat >want <<'END'
2 candidates in 11 events of 2 threads, 1 shown; pruned: 1 in a fixed order
1 more: --limit all shows it
END
same limit want out

snarl analyze --json -a race in.txt >out
jq -e '.version == 1 and .events == 11 and .threads == 2 and .predicted == 1 and .dropped == 0' \
	out >/dev/null || fail "JSON: head"
jq -e '.candidates[0] | .class == "race" and .pattern == "WR" and .count == 1 and (.seen | not)
	and .orders == [{"first":1,"second":0}] and .note == null' out >/dev/null ||
	fail "JSON: candidate"
jq -e '.candidates[0].sites | length == 2 and .[0].thread == "0.1" and .[0].op == "write"
	and .[0].function == "worker:10" and .[0].nth == 1 and .[1].locks == []
	and (.[0].stack | length == 1)' out >/dev/null || fail "JSON: sites"
jq -e '.candidates[] | select(.note) | .sites[0].locks[0] | .lock == "m" and (.shared | not)' \
	>/dev/null <<END || fail "JSON: locks"
$(snarl analyze --json -a race-predict in.txt)
END

wrong() {
	message=$1
	shift
	status=0
	snarl analyze "$@" >out 2>err || status=$?
	[ $status = 2 ] || fail "snarl analyze $*: exit $status, not 2"
	echo "snarl analyze: $message (see snarl analyze --help)" >want
	same "snarl analyze $*" want err
}
wrong "missing TRACE; usage: snarl analyze [options] TRACE"
wrong "one trace at a time, not also 'b'" a b
wrong "no analysis 'rase'; did you mean 'race'?" -a rase in.txt
wrong "no analysis 'xyzzyplugh'" -a xyzzyplugh in.txt
wrong "--limit needs a number or all, not '-3'" --limit -3 in.txt
snarl analyze --help | grep -q '  race-predict ' || fail "help does not list the analyses"

# A file that is no trace gives exit code 3 and one line.
echo nonsense >bad
status=0
snarl analyze bad >out 2>err || status=$?
[ $status = 3 ] && [ ! -s out ] && [ "$(wc -l <err)" = 1 ] || fail "not a trace: exit $status"
