/* The program that calls. It is this process, whose addresses are the host's; or it runs on a simulated CPU
 * (cuda/guest/), whose addresses mean nothing here: then all of its memory that calls name is reached by these
 * functions, which check it.
 *
 * Memory of a simulated CPU, [0, end), is apart from that of GPUs; or it is in their image, under the same addresses,
 * and kernels reach it as their own.
 */
#ifndef WS_CUDA_CALLING_PROGRAM_H
#define WS_CUDA_CALLING_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/program_memory.h"

struct gmem;
struct l2_rights;
struct page_tables;
struct program_report;
struct shim;
struct span_list;
struct task;

struct program {
  const struct program_memory *memory; /* NULL: the program is this process */
  uint64_t end;        /* addresses below are the program's own */
  struct gmem *shared; /* its image, which is that of the GPU, too; NULL: kernels do not see it */
  const char *options; /* KEY=VALUE lines of a guest; else they are in the environment */
  void (*host_call)(void *ctx, struct task *); /* a guest: one of its functions is due; ctx: that of memory */
  const struct program_report *report; /* NULL: nothing */
  struct span_list *written; /* gets what GPUs change, for a CPU that has caches; NULL: it has none */
  struct l2_rights *rights;  /* what the GPU's L2 and the caches of a CPU on its memory tell each other; NULL: none */
  struct page_tables *tables; /* of that CPU, which the GPU walks; NULL: it has its own */
  bool at_host;        /* for kernels it lies behind the link to the host */
};

/* Whether it runs on a simulated CPU. */
bool program_is_guest(const struct shim *);
/* Whether addr is the own memory of a program on a simulated CPU; and whether kernels reach it there. */
bool program_shows(const struct shim *, uint64_t addr);

/* Between the host and the program's memory. False: it may not touch all of that. */
bool program_read(const struct shim *, void *to, uint64_t from, uint64_t bytes);
bool program_write(const struct shim *, uint64_t to, const void *from, uint64_t bytes);
/* Inside of it; the two may overlap. */
bool program_move(const struct shim *, uint64_t to, uint64_t from, uint64_t bytes);
/* Whether it may. Of a program that is this process nobody knows: true. */
bool program_reaches(const struct shim *, uint64_t addr, uint64_t bytes, bool writes);

#endif
