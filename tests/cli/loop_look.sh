# What the ends of loops see of memory: the same as one granule after the other does.
. "$SNARL_ROOT/tests/lib.sh"

gcc -c -O2 -Wall -Wextra "$SNARL_ROOT/tests/cli/loops/look.c" -o look.o
snarl-cc -pthread look.o -o look
record look.snarl ./look
[ "$(cat record.out)" = 'own is known' ] || fail "said: $(cat record.out)"
