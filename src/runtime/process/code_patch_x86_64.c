/*
 * An entry is a NOP of five bytes, perhaps behind an endbr64 (wrap/dual/dual_write.c). It lies
 * within eight aligned bytes, so one store changes it, and a thread executes either the NOP or the
 * jump. membarrier then makes all cores discard instructions that they fetched before.
 */
#include "runtime/process/code_patch.h"

#include <linux/membarrier.h>
#include <sys/mman.h>

#include "runtime/core/sys.h"

#define PAGE 4096ull
/* Bytes. Pages at most this far behind the writable range are added to it: fewer system calls. */
#define NEAR (64 * PAGE)
#define JUMP 0xe9u		/* opcode of a jump with a 32-bit distance */
#define JUMP_SIZE 5u

static const uint8_t nop[JUMP_SIZE] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };
static const uint8_t endbr64[4] = { 0xf3, 0x0f, 0x1e, 0xfa };

/* Whether `code` begins with the bytes `with`. */
static bool starts(const uint8_t *code, const uint8_t *with, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (code[i] != with[i])
			return false;
	return true;
}

/* Where the entry has its NOP or jump; NULL if it has neither. */
static uint8_t *patch_point(uint64_t entry)
{
	uint8_t *code = (uint8_t *)entry;

	if (starts(code, endbr64, sizeof(endbr64)))
		code += sizeof(endbr64);
	if (((uint64_t)code & 7) > 8 - JUMP_SIZE ||
	    (!starts(code, nop, sizeof(nop)) && *code != JUMP))
		return NULL;
	return code;
}

bool code_patch_is_on(uint64_t entry)
{
	const uint8_t *code = patch_point(entry);

	return code && *code == JUMP;
}

static void close_pages(struct code_patch *p)
{
	if (p->high)
		sys_call(SYS_mprotect, p->low, p->high - p->low, PROT_READ | PROT_EXEC);
	p->low = p->high = 0;
}

/* Makes the page writable. It stays executable, since threads may run code in it meanwhile. */
static bool open_page(struct code_patch *p, uint64_t address)
{
	static bool warned;
	uint64_t page = address & ~(PAGE - 1);

	if (p->high && page >= p->low && page < p->high)
		return true;
	if (p->high && page >= p->high && page - p->high <= NEAR) {
		if (sys_call(SYS_mprotect, p->high, page + PAGE - p->high,
			     PROT_READ | PROT_WRITE | PROT_EXEC) == 0) {
			p->high = page + PAGE;
			return true;
		}
	}
	close_pages(p);
	if (sys_call(SYS_mprotect, page, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
		if (!warned)
			sys_warn("cannot switch functions: the system forbids writable code "
				 "(mprotect); build without --production to record all functions");
		warned = true;
		return false;
	}
	p->low = page;
	p->high = page + PAGE;
	return true;
}

bool code_patch_entry(struct code_patch *p, uint64_t entry, uint64_t inst, bool on)
{
	uint8_t *code = patch_point(entry);
	uint64_t *word = (uint64_t *)((uint64_t)code & ~7ull), value;
	uint32_t distance;
	uint8_t *bytes;

	if (!code || (*code == JUMP) == on || !open_page(p, (uint64_t)code))
		return false;
	value = *word;
	bytes = (uint8_t *)&value + ((uint64_t)code & 7);
	for (size_t i = 0; i < JUMP_SIZE; i++)
		bytes[i] = nop[i];
	if (on) {
		distance = (uint32_t)(inst - ((uint64_t)code + JUMP_SIZE));
		bytes[0] = JUMP;
		for (size_t i = 0; i < sizeof(distance); i++)
			bytes[1 + i] = (uint8_t)(distance >> 8 * i);
	}
	/* Pairs with instruction fetches of other cores. */
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
	p->changed = true;
	return true;
}

void code_patch_end(struct code_patch *p)
{
	static bool registered;

	close_pages(p);
	if (!p->changed)
		return;
	p->changed = false;
	if (!registered)
		sys_call(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0);
	registered = true;
	sys_call(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0);
}
