/*
 * The tool's side of the control block (abi/control_block.h).
 *
 * The program can write to all memory that it shares with the tool, and may do so at any time. So
 * the tool works on a copy of its own, server.block: the header, the request, and what the last
 * run left. block_publish() copies the request to the program, block_read() copies the results
 * back, once for each run, and checks every figure in the copy. Nothing else reads server.live.
 *
 * In the tool's address space, only the areas `plan` and `shared` of server.block are the shared
 * ones. The tool writes the plan and reads no count or index from either.
 */
#ifndef EXPLORE_TARGET_BLOCK_H
#define EXPLORE_TARGET_BLOCK_H

#include <stdbool.h>

#include "base/err.h"
#include "explore/target/worker.h"

/* Makes the block in the file s->memory, as s->config says. */
int block_make(struct server *s, struct err *err);
void block_free(struct server *s);

/* Before a run: empties report and profile, and gives the program the request. */
void block_publish(struct server *s);

/*
 * After a run: copies and checks what it left. False: s->result.damage says which figure makes no
 * sense, and the copies are empty.
 */
bool block_read(struct server *s);

/* Gives the program the strategy's state back, after the tool has changed its copy. */
void block_write_state(struct server *s);

/*
 * Why a report makes no sense, or NULL. `b` is the tool's copy of the block that the report comes
 * from. The report itself has to be a copy, too.
 */
const char *block_report_damage(const struct ctl_block *b, const struct ctl_report *r);

/* Why the first `count` words of a turn log make no sense, or NULL. The run had `threads`. */
const char *block_turns_damage(const uint32_t *words, uint64_t count, uint32_t threads);

#endif
