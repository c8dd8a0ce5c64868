# kill -9 of snarl cover at 50 points: the database stays intact and holds every iRoot that was
# reported as saved before the kill.
. "$SNARL_ROOT/tests/lib.sh"
need sqlite3
kills=${KILLS:-50}

snarl-cc -g -O1 -pthread "$SNARL_ROOT/tests/cli/cover/shop.c" -o shop
mkfifo reports
k=0
while [ $k -lt "$kills" ]; do
	SNARL_LOG=cover snarl cover --quiet --runs 1M --saturation 0 -j 1 --seed $k -- ./shop \
		>/dev/null 2>reports </dev/null &
	victim=$!
	# Kill it after it reported a (seeded) number of commits.
	exec 3<reports
	n=0
	exposed=0
	while [ $n -le $((k * 7 % 23)) ] && read -r line <&3; do
		case $line in
		*" iRoots exposed"*) exposed=${line##*: } exposed=${exposed%% *} n=$((n + 1)) ;;
		esac
	done
	kill -9 $victim
	wait $victim 2>/dev/null || :
	exec 3<&-
	[ "$n" -gt 0 ] || fail "kill $k: it never wrote"
	[ "$(sqlite3 snarl-out/memo.db 'PRAGMA integrity_check')" = ok ] || fail "kill $k: damaged"
	got=$(sqlite3 snarl-out/memo.db 'SELECT count(*) FROM iroot WHERE exposed > 0')
	[ "$got" -ge "$exposed" ] ||
		fail "kill $k: it reported $exposed iRoots, the database has $got"
	k=$((k + 1))
done
# Every iRoot belongs to a run that is in the database.
[ "$(sqlite3 snarl-out/memo.db 'SELECT count(*) FROM iroot
	WHERE first_run NOT IN (SELECT id FROM run)')" = 0 ] ||
	fail "an iRoot of a run that is not there"
snarl cover >/dev/null || fail "unreadable"
