/* Files: open, write back, locks; and a FIFO whose two ends wait for each other. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/snarl_file_XXXXXX", path[64], fifo[64];

static void check(long wrong)
{
	if (wrong)
		exit(9);
}

static void locking(void)
{
	struct flock range = { .l_type = F_WRLCK };
	int fd = open(path, O_RDWR | O_CREAT, 0640);
	struct stat st;

	check(fd < 0 || fstat(fd, &st) != 0 || (st.st_mode & 07777) != 0640);
	check(flock(fd, LOCK_EX) != 0);
	check(fcntl(fd, F_SETLKW, &range) != 0);
	check((fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDWR);	/* cannot block, so not recorded */
	check(lockf(fd, F_ULOCK, 0) != 0);
	check(fsync(fd) != 0);
	check(fdatasync(fd) != 0);
	check(close(fd) != 0);
	check(openat(AT_FDCWD, "/nowhere/at/all", O_RDONLY) != -1);
}

static void *reader(void *unused)
{
	int fd = open(fifo, O_RDONLY);

	close(fd);
	return unused;
}

static void meeting(void)
{
	pthread_t thread;

	check(mkfifo(fifo, 0600) != 0);
	check(pthread_create(&thread, NULL, reader, NULL) != 0);
	close(open(fifo, O_WRONLY));
	pthread_join(thread, NULL);
}

int main(void)
{
	umask(0);
	check(!mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/file", dir);
	snprintf(fifo, sizeof(fifo), "%s/fifo", dir);
	locking();
	meeting();
	unlink(path);
	unlink(fifo);
	rmdir(dir);
	return 0;
}
