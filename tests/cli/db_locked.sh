# A database that another process has locked is waited for; if it stays locked, one line names the
# file and the process, and nothing in it is lost.
. "$SNARL_ROOT/tests/lib.sh"
need python3 sqlite3
python3 -c 'import sqlite3' 2>/dev/null || skip 'no sqlite3 module'

compile gcc "$SNARL_ROOT/tests/cli/cover/shop.c" shop -g -O1 -pthread
snarl cover --quiet --runs 5 -- ./shop </dev/null || fail "cover"
snarl learn --quiet --runs 5 -- ./shop </dev/null || fail "learn"

# Locks database $1 until the file `go` exists.
cat >lock.py <<'END'
import os, sqlite3, sys, time
c = sqlite3.connect(sys.argv[1], isolation_level=None)
c.execute("BEGIN IMMEDIATE")
open("locked", "w").close()
while not os.path.exists("go"):
    time.sleep(0.05)
c.execute("ROLLBACK")
END

lock() {
	rm -f go locked
	python3 lock.py "$1" &
	locker=$!
	until [ -e locked ]; do
		kill -0 $locker || fail "cannot lock $1"
		sleep 0.05
	done
}

unlock() {
	: >go
	wait $locker
}

# refused COMMAND DATABASE: COMMAND gives up with one line
refused() {
	status=0
	sh -c "$1" >out 2>err </dev/null || status=$?
	[ $status = 3 ] || { cat err; fail "$1: exit $status"; }
	[ "$(wc -l <err)" = 1 ] || { cat err; fail "$1: not one line"; }
	grep -q "$2 has been locked for 5 s by python3 (pid $locker): try again when that" err ||
		{ cat err; fail "$1: which process?"; }
}

for db in snarl-out/memo.db snarl-out/learn.db; do
	sqlite3 $db .dump >before
	lock $db
	case $db in
	*memo.db) refused 'snarl cover --runs 5 -- ./shop' $db
		refused 'snarl hunt --coverage --runs 5 -- ./shop' $db ;;
	*) refused 'snarl learn --runs 5 -- ./shop' $db ;;
	esac
	unlock
	[ "$(sqlite3 $db 'PRAGMA integrity_check')" = ok ] || fail "$db: damaged"
	sqlite3 $db .dump >after
	same "$db has changed" before after

	# It goes on as soon as the database is free.
	lock $db
	(sleep 1; : >go) &
	case $db in
	*memo.db) snarl cover --quiet --runs 5 -- ./shop >out 2>err </dev/null ;;
	*) snarl learn --quiet --runs 5 -- ./shop >out 2>err </dev/null ;;
	esac || { cat err; fail "$db was locked for a second only"; }
	wait
done
