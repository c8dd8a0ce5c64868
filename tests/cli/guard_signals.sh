#!/bin/sh
# Signal handlers, and jumps out of them, during guard and check: no update is lost and no thread
# hangs.
. "$SNARL_ROOT/tests/lib.sh"
[ -z "$SNARL_ASAN" ] || skip "tested by the plain run"

source=$SNARL_ROOT/tests/cli/guard/signals.c
line() { grep -n "@$1 " "$source" | cut -d: -f1; }
echo 'sum 40000' >want
for cc in $(compilers); do
	SNARL_CC=$cc snarl-cc -O1 -g -pthread "$source" -o signals
	record trace.snarl ./signals
	printf '%s r ITOP\n%s w ITOPS\n%s w TOP\n%s r TOP\nadd_one = 1\nwork = 1\n' "$(line read)" \
		"$(line write)" \
		"$(line handler)" "$(line handler)" | "$tools/rules" all.rules trace.snarl
	for mode in guard check; do
		SNARL_OPTIONS="mode=$mode:rules=all.rules" timeout 120 ./signals >got 2>&1 ||
			fail "$cc, $mode: $?"
		same "$cc, $mode" want got
	done
done
