#!/bin/sh
# Traces of formats 1 to 4 still read as the snarl that wrote them printed them.
. "$SNARL_ROOT/tests/lib.sh"

for version in 1 2 3 4; do
	old=$SNARL_ROOT/tests/fuzz/corpus/version$version
	[ "$(od -An -tu4 -j8 -N4 "$old.snarl" | tr -d ' ')" = $version ] ||
		fail "it is not of format $version"
	snarl dump --raw --no-symbols "$old.snarl" >got.txt
	same "events of format $version" "$old.txt" got.txt
	# The old text form is read as a trace, too.
	snarl dump --raw --no-symbols "$old.txt" | grep '^[0-9~?]' >again.txt
	grep '^[0-9~?]' "$old.txt" >events.txt
	same "format $version from text" events.txt again.txt
done
