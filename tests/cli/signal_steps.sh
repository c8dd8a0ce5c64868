# A signal before each single instruction of instrumented code and of the runtime below it: every
# round has the same events, and the handler's events once and unbroken. If the handler leaves by
# siglongjmp, a round has a prefix of its events. A lost, duplicated or torn record shows up.
. "$SNARL_ROOT/tests/lib.sh"
here=$SNARL_ROOT/tests/cli/signal_steps

${CC:-cc} -O1 "$here/stepper.c" -o stepper
./stepper 10 /bin/true 2>/dev/null || skip "ptrace is not allowed here"

# check ROUNDS HITS [jump] <EVENTS: EVENTS are those of thread 0
check() {
	awk -v rounds="$1" -v hits="$2" -v jump="${3:-}" '
	# Drops a call without events: it was recorded only because the handler ran inside it.
	function add(event) {
		if (event ~ /^0 exit / && n > 0 && kept[n] ~ /^0 enter /)
			n--
		else
			kept[++n] = event
	}
	function say(what) {
		print "round " round ": " what
		for (i = 1; i <= n; i++)
			print "  " kept[i]
		print "  handler: " in_handler
		bad = 1
		exit
	}
	function finish(  all, i) {
		for (i = 1; i <= n; i++)
			if (!jump || kept[i] !~ /^0 (enter|exit) /)
				all = all kept[i] ";"
		handled += handlers
		if (round == 1)
			whole = all
		else if (handlers > 1)
			say(handlers " handlers")
		else if (jump && handlers ? substr(whole, 1, length(all)) != all : all != whole)
			say("other events than without a signal")
		else if (!handlers)
			return
		else if (handler == "")
			handler = in_handler
		else if (handler != in_handler)
			say("other events in the handler")
	}
	$2 == "write" && $3 == "begin" {
		if (started)
			finish()
		# the first write of `begin` precedes the rounds
		if (seen_begin++)
			started = 1
		round++
		if (!started)
			round = 0
		n = handlers = inside = resting = 0
		in_handler = ""
		next
	}
	$2 == "write" && $3 == "rest" { resting = 1 }
	!started || resting { next }
	$3 == "stack" { next }	# the stack is private, and kept only by chance of its chunk
	$2 == "signal" { handlers++; inside = 1 }
	inside { in_handler = in_handler $0 ";" }
	!inside && $2 != "exit-process" && $2 != "output" { add($0) }
	$2 == "signal-return" || $2 == "longjmp" { inside = 0 }
	END {
		if (bad)
			exit 1
		finish()
		if (bad)
			exit 1
		if (round != rounds || handled != hits) {
			print round " rounds with " handled " signals in the trace"
			print rounds " rounds with " hits " signals in the program"
			exit 1
		}
	}'
}

# steps PROGRAM: all ways of stepping
steps() {
	for which in "0" "0 jump" "1" "1 jump" "2" "2 jump" "3"; do
		record t.snarl ./stepper 10 "./$1" $which
		read -r rounds hits <record.out
		# A few rounds take another path and miss the breakpoint.
		[ "$rounds" -gt 60 ] && [ "$hits" -ge $((rounds - 20)) ] ||
			fail "$1 $which: $hits signals in $rounds rounds"
		snarl dump --json t.snarl | "$tools/normalize" all >all
		grep '^0 ' all >events
		check "$rounds" "$hits" ${which#?} <events >why ||
			{ cat why; fail "$1 $which"; }
	done
}

for cc in $(compilers); do
	SNARL_CC=$cc
	export SNARL_CC
	snarl-cc -O1 -pthread "$here/main.c" "$here/window.c" -o prog.$cc
	steps prog.$cc
	snarl-cc -O2 -pthread -fPIC -shared "$here/window.c" -o libwindow.so
	snarl-cc -O2 -pthread "$here/main.c" -o lib.$cc libwindow.so -Wl,-rpath,"$PWD"
	steps lib.$cc
done
snarl-cc --no-inline -O1 -pthread "$here/main.c" "$here/window.c" -o calls
steps calls
