# A run continued from a snapshot ends in the same way and after the same steps as its schedule
# replayed from the beginning (tests/tools/snapshot.c).
. "$SNARL_ROOT/tests/lib.sh"

for program in bank bank_fixed inversion buffer joblist session; do
	example $program
	"$tools/snapshot" ./$program >out 2>&1 </dev/null || { cat out; fail "$program"; }
	case $(cat out) in
	"0 snapshots"*|*" 0 deep"*|*" 1 deep"*) cat out; fail "$program: never stopped" ;;
	esac
done
