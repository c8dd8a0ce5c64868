# The filter keeps private loop records when they are a small part of a ring, which saves the time
# to decide, and drops them when they are many. The share counts records as well as accesses.
. "$SNARL_ROOT/tests/lib.sh"

cat >loops.c <<'EOF'
#include <pthread.h>
#include <stdlib.h>

#define WORDS 64
#define TURNS 8000

static long both[WORDS], mine[WORDS];

__attribute__((noinline)) static long sum(const long *p)
{
	long s = 0;

	for (int i = 0; i < WORDS; i++)
		s += p[i];
	return s;
}

static void *other(void *arg)
{
	return (void *)(sum(both) + (long)arg);
}

int main(int argc, char **argv)
{
	long every = atol(argv[1]), s = 0;
	pthread_t thread;

	both[0] = argc;
	pthread_create(&thread, NULL, other, NULL);
	pthread_join(thread, NULL);
	for (long i = 0; i < TURNS; i++)
		s += sum(i % every ? both : mine);
	return s == 0;
}
EOF

# kept EVERY: prints how many per cent of the private accesses were kept
kept() {
	$fixed snarl record --window 64M --out t.snarl -- ./prog $1 >out 2>err </dev/null ||
		{ cat err; fail "$cc: cannot record"; }
	snarl dump --no-symbols t.snarl | awk -v private=$((8000 / $1)) '$2 == "read" { n++ }
		END { print int((n / 64 - 1 - (8000 - private)) * 100 / private) }'
}

for cc in $(compilers); do
	wrap $cc loops.c prog -O1 -pthread
	few=$(kept 32) many=$(kept 4)
	# 60, not 100: the last ring is not full.
	[ $few -ge 60 ] || fail "$cc: few private accesses are dropped, $few % are left"
	[ $many = 0 ] || fail "$cc: many private accesses are kept, $many % are left"
done
