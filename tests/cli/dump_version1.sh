#!/bin/sh
# A trace of format 1, encoded and put into text by the snarl of that time: it says the same today.
. "$SNARL_ROOT/tests/lib.sh"

old=$SNARL_ROOT/tests/fuzz/corpus/version1
[ "$(od -An -tu4 -j8 -N4 "$old.snarl" | tr -d ' ')" = 1 ] || fail "it is not of format 1"
snarl dump --raw --no-symbols "$old.snarl" >got.txt
same "events" "$old.txt" got.txt
# The text is a trace, too.
snarl dump --raw --no-symbols "$old.txt" | grep '^[0-9~?]' >again.txt
grep '^[0-9~?]' "$old.txt" >events.txt
same "from text" events.txt again.txt
