/*
 * Maps the control block, and prepares the coverage profile in it.
 */
#include "runtime/core/tool_block.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "coverage/fold/iroot_fold.h"
#include "runtime/core/sys.h"

struct ctl_block *tool_block_map(const char *path)
{
	struct ctl_block *b;
	long fd = sys_call(SYS_open, path, O_RDWR | O_CLOEXEC, 0);
	struct ctl_block head;

	if (fd < 0)
		return NULL;
	if (sys_call(SYS_read, fd, &head, sizeof(head)) != (long)sizeof(head) ||
	    head.magic != CTL_MAGIC) {
		sys_call(SYS_close, fd, 0, 0);
		return NULL;
	}
	if (head.version != CTL_VERSION)
		sys_die("the program was built by another version of snarl; build it again");
	b = sys_mmap((void *)CTL_BLOCK_AT, head.size, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_FIXED_NOREPLACE, (int)fd, 0);
	sys_call(SYS_close, fd, 0, 0);
	return sys_failed(b) ? NULL : b;
}

struct iroot_profile *tool_block_profile(struct ctl_block *b, uint64_t size)
{
	struct iroot_profile *p = iroot_profile_init((char *)b + b->profile, size, IROOT_WINDOW);

	for (uint32_t i = 0; p && i < b->flag_count && i < IROOT_FLAGS; i++)
		iroot_profile_flag(p, &b->flags[i]);
	return p;
}
