# When snarl hunt ends by any signal, even kill -9, no run of the program is left behind. INT, TERM
# and HUP, also two at once as timeout(1) sends them, keep the results.
. "$SNARL_ROOT/tests/lib.sh"
need python3

cat >spins.c <<'END'
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static void *spin(void *arg)
{
	volatile unsigned long n = 0;

	for (;;)
		n++;
	return arg;
}

int main(void)
{
	char text[32];
	int fd = open("new", O_CREAT | O_WRONLY | O_TRUNC, 0644);
	pthread_t thread;

	if (write(fd, text, (size_t)snprintf(text, sizeof(text), "%d\n", (int)getpid())) < 0)
		return 1;
	rename("new", "began");
	pthread_create(&thread, NULL, spin, NULL);
	pthread_join(thread, NULL);
	return 0;
}
END
snarl-cc -g -O1 -pthread spins.c -o spins

# begin OPTIONS…: starts a hunt and returns once its program runs; stderr goes to the file said
begin() {
	rm -rf began out
	snarl hunt --timeout 1h --out out "$@" -- ./spins >/dev/null 2>said </dev/null &
	hunter=$!
	until [ -s began ]; do
		kill -0 $hunter 2>/dev/null || { cat said; fail "the hunt has ended"; }
		sleep 0.05
	done
}

# gone TEXT: waits until the program has ended
gone() {
	tries=0
	while kill -0 "$(cat began)" 2>/dev/null; do
		tries=$((tries + 1))
		[ $tries -lt 400 ] || { kill -9 "$(cat began)"; fail "$1: the program goes on"; }
		sleep 0.05
	done
}

for options in '' --no-fork-server '--backend kernel'; do
	begin $options
	kill -KILL $hunter
	wait $hunter 2>/dev/null || :
	gone "killed $options"
done

for signal in INT:130 TERM:143 HUP:129; do
	code=${signal#*:} signal=${signal%:*}
	begin
	kill -$signal $hunter
	kill -$signal $hunter
	status=0
	wait $hunter || status=$?
	[ $status = $code ] || { cat said; fail "$signal: exit $status"; }
	grep -q ', interrupted$' said ||
		{ cat said; fail "$signal: the summary does not say interrupted"; }
	python3 -c 'import json; assert json.load(open("out/results.json"))["bugs"] == []' ||
		fail "$signal: no results"
	gone "$signal"
done
