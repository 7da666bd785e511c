/* Private to sanitize/: reads of global, shared and local memory and of registers that nobody has written. */
#ifndef WS_SANITIZE_INITCHECK_H
#define WS_SANITIZE_INITCHECK_H

#include "sanitize/watched.h"

struct init_range; /* an allocation that is followed */
struct reg_use;    /* registers of an instruction (reg_shadow.h) */
struct init_cta;   /* shared and local memory and the registers of a CTA that runs */

enum { INITCHECK_LAST = 64 };

struct initcheck {
  struct init_range *range; /* ascending addresses */
  size_t n_ranges, cap_ranges;
  size_t last[INITCHECK_LAST]; /* the range that an instruction accessed last, by its address */
  struct init_cta *ctas;    /* of the launch, newest use first */
  struct reg_use *use;      /* of the launch, by instruction */
  bool quiet;               /* of this launch: services of the device runtime write through pointers */
  bool shared_unknown;      /* of this launch: something writes shared memory whose place is not followed */
};

void initcheck_free(struct initcheck *);
/* The launch lasts until initcheck_end. */
void initcheck_begin(struct initcheck *, const struct watched_launch *);
void initcheck_end(struct initcheck *);
void initcheck_cta_end(struct initcheck *, const struct step_cta *);
/* Of every instruction, ahead of its access to memory. */
void initcheck_step(struct initcheck *, const struct watched_step *);
void initcheck_access(struct initcheck *, const struct watched_step *);

/* The host. */
void initcheck_allocated(struct initcheck *, uint64_t addr, uint64_t bytes);
void initcheck_freed(struct initcheck *, uint64_t addr);
void initcheck_written(struct initcheck *, uint64_t addr, uint64_t bytes);
void initcheck_copied(struct initcheck *, uint64_t to, uint64_t from, uint64_t bytes);

#endif
