/* The region: where the command line has all its memory in a run that can be saved (cli/checkpoint.h). It lies at one
 * address of every process, so that its bytes, written to a file and put back by another process of the same build, are
 * that state again, pointers and all.
 *
 * cli/region_calls.c sends what the program asks the host for (malloc, mmap and their kin) here while the region is in
 * use. What libraries ask for themselves stays the host's, and must not be needed across a save.
 *
 * Nothing of it is there in a run that nobody asked to save.
 */
#ifndef WS_CLI_REGION_H
#define WS_CLI_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { REGION_PAGE = 4096 };

/* An empty region, in use from now on. False: its addresses are taken, or the host has no room for them. */
bool region_new(struct err *e);
/* In use: requests for memory come here. */
bool region_in_use(void);
/* Requests go to the host for a while, or here again; what is the region's goes back to it in either case. */
void region_use(bool);
bool region_has(const void *);

/* As malloc and its kin; align: a power of two below 4 GiB. There is always room, or the process has ended with a line
 * (base/host_memory.h). */
void *region_take(size_t bytes, bool zeroed);
void *region_take_aligned(size_t align, size_t bytes);
void *region_resize(void *, size_t bytes);
void region_give(void *);
/* As anonymous private mappings: pages of zeros. Any pages of the region can be given back. */
void *region_map(size_t bytes);
void region_unmap(void *, size_t bytes);

/* Mappings at places that the program chose: they are saved, too. Any part of them can be given back. */
void region_note(void *, size_t bytes);
void region_forget(void *, size_t bytes);
/* Memory that others have, too, was asked for: that cannot be saved. */
void region_note_shared(void);
bool region_is_shared(void);

/* The one pointer by which what is in it is found again. */
void region_set_root(void *);
void *region_root(void);

/* Streams that the program has opened since the region is in use, and has not closed: they would be lost. */
void region_count_stream(int more);
int region_streams(void);

/* Writes it to a file, with the name of this build; what is there stays in use. Between the calls of a save nothing may
 * change in it: region_use(false). */
bool region_save(const char *path, struct err *e);
/* The region of a file, in use. False: it is none, it is damaged, or it is of another build. */
bool region_load(const char *path, struct err *e);

/* ---- for region_file.c ---- */

/* Its addresses are reserved, all of them empty; not in use. */
bool region_reserve(struct err *e);
/* The part of it that has ever been handed out. */
uintptr_t region_first(void);
uintptr_t region_end(void);
uintptr_t region_limit(void);
/* What was put at region_first() is a region's. */
bool region_looks_right(void);
/* Noted mappings. NULL: there are no more than i. */
struct region_range {
  uintptr_t at;
  size_t bytes;
};
const struct region_range *region_noted(unsigned i);

#endif
