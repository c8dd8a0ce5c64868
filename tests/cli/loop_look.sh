# The runtime's check of a whole loop's memory gives the same answer as checking one granule after
# the other.
. "$SNARL_ROOT/tests/lib.sh"

for what in look look_apart; do
	gcc -c -O2 -Wall -Wextra "$SNARL_ROOT/tests/cli/loops/$what.c" -o $what.o
	snarl-cc -pthread $what.o -o $what
	record $what.snarl ./$what
	case $(cat record.out) in
	'own is known' | 'own is known, much is') ;;
	*) fail "$what said: $(cat record.out)" ;;
	esac
done
