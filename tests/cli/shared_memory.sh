# A program that overwrites all memory it shares with snarl, or shortens it, harms its own runs
# only: they are not judged, one line says so, and other runs go on.
. "$SNARL_ROOT/tests/lib.sh"

cat >writes.c <<'C'
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int shared;

static void *add(void *arg)
{
	pthread_mutex_lock(&lock);
	shared++;
	pthread_mutex_unlock(&lock);
	return arg;
}

static void add_twice(void)
{
	pthread_t t[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, add, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
}

/* Calls `use` for every shared mapping that can be written. */
static void each_shared(void (*use)(unsigned long from, unsigned long to))
{
	static unsigned long at[64][2];
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512], mode[5];
	int count = 0;

	while (maps && count < 64 && fgets(line, sizeof(line), maps))
		count += sscanf(line, "%lx-%lx %4s", &at[count][0], &at[count][1], mode) == 3 &&
			 mode[1] == 'w' && mode[3] == 's';
	if (maps)
		fclose(maps);
	for (int i = 0; i < count; i++)
		use(at[i][0], at[i][1]);
}

/* Random words; of a large mapping only the first megabyte, and then one in each page. */
static void overwrite(unsigned long from, unsigned long to)
{
	for (unsigned long at = from; at < to; at += at - from < (1 << 20) ? 4 : 65536)
		*(unsigned *)at = (unsigned)rand();
}

/* Random bytes here and there. */
static void sprinkle(unsigned long from, unsigned long to)
{
	unsigned long size = to - from < 131072 ? to - from : 131072;

	for (int i = 0; i < 2000; i++)
		*(unsigned char *)(from + (unsigned long)rand() % size) = (unsigned char)rand();
}

/* Shortens all files that are open, and the memory that the environment names. */
static void shorten(void)
{
	char text[4096];

	for (int fd = 3; fd < 256; fd++)
		if (ftruncate(fd, 0) == 0)
			continue;
	snprintf(text, sizeof(text), "%s", getenv("SNARL_OPTIONS") ? getenv("SNARL_OPTIONS") : "");
	for (char *word = strtok(text, ":="); word; word = strtok(NULL, ":=")) {
		int fd = strncmp(word, "/proc/", 6) == 0 ? open(word, O_RDWR) : -1;

		if (fd >= 0 && ftruncate(fd, 0) == 0)
			continue;
	}
}

int main(int argc, char **argv)
{
	srand(argc > 2 ? (unsigned)atoi(argv[2]) : (unsigned)getpid());
	add_twice();
	if (strcmp(argv[1], "all") == 0)
		each_shared(overwrite);
	if (strcmp(argv[1], "some") == 0)
		each_shared(sprinkle);
	if (strcmp(argv[1], "shorten") == 0)
		shorten();
	if (strcmp(argv[1], "some") != 0)
		add_twice();
	_exit(0);
}
C
compile gcc "$PWD/writes.c" writes -g -O1 -pthread

# lives CODES COMMAND…: the exit status is one of CODES, and no bug is reported
lives() {
	codes=$1
	shift
	status=0
	timeout 60 snarl "$@" >stdout 2>err </dev/null || status=$?
	case " $codes " in *" $status "*) ;; *) cat err; fail "snarl $*: exit $status" ;; esac
	! grep -q 'saved as' err || { cat err; fail "snarl $*: a bug"; }
}
# says TEXT: stderr of the last command has TEXT in one line only
says() {
	[ "$(grep -c "$1" err)" = 1 ] || { cat err; fail "not once: $1"; }
}

damaged='damaged the memory that it shares with snarl'
for mode in '' --no-fork-server; do
	lives 3 test --runs 3 $mode -- ./writes all 1
	says "$damaged"
	says '3 runs not judged'
done
lives 3 test --runs 3 -s chess -- ./writes all 1
says '3 runs not judged'
lives 3 hunt --runs 6 -- ./writes all 1
says 'runs not judged'
lives 3 cover --runs 2 -- ./writes all 1
lives 3 learn --runs 2 -- ./writes all 1
lives '0 3' record -- ./writes all 1

# Only some bytes: whatever the figures become, snarl lives. A seed for each slice.
for seed in $(seq 1 60 | slice 10); do
	lives '0 1 3 5' test --runs 4 --keep-going -- ./writes some "$seed"
	lives '0 3' cover --runs 2 -- ./writes some "$seed"
done 2>/dev/null

# The size of the shared memory is sealed, or read so that it does not matter.
lives 0 test --runs 3 -- ./writes shorten
lives '0 3 5' hunt --runs 6 -- ./writes shorten
lives '0 3' cover --runs 2 -- ./writes shorten
lives '0 3' cover --parallel --runs 2 -- ./writes shorten
lives '0 3' record -- ./writes shorten

# The log of check and guard.
lives 0 learn --runs 3 -- ./writes none
for command in check guard; do
	lives '0 3' $command -- ./writes none
	lives 3 $command -- ./writes all 1
	says "$damaged"
	lives '0 3' $command -- ./writes shorten
done
