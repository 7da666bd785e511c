/* Findings of the checks (sanitize/sanitize.h): collected while a launch runs, one for all threads that made the same
 * mistake at the same instruction, and printed when it has ended, in compute-sanitizer's form
 * (docs.nvidia.com/compute-sanitizer, "Compute Sanitizer User Manual", outputs of the tools).
 */
#ifndef WS_SANITIZE_FINDING_H
#define WS_SANITIZE_FINDING_H

#include <stdio.h>

#include "base/arena.h"
#include "func/sass/step_observer.h"
#include "load/line_table.h"

/* What a finding says. */
enum finding_kind {
  FINDING_ACCESS,   /* memcheck: an address that is in no allocation, in a freed one, or misaligned */
  FINDING_RACE,     /* racecheck: two accesses that nothing orders */
  FINDING_UNINIT,   /* initcheck: a read of what nobody wrote */
  FINDING_REGISTER, /* initcheck: what nobody computed decides something */
  FINDING_BARRIER,  /* synccheck */
  FINDING_FAULT,    /* memcheck: what ended the kernel otherwise */
};

/* Errors are surely defects. Warnings may be meant, and notes harmless; they are off unless asked for. */
enum finding_level { LEVEL_NOTE, LEVEL_WARNING, LEVEL_ERROR };

/* One end of a finding. */
struct finding_access {
  uint64_t pc;
  uint8_t space, op; /* enum mem_space, enum mem_op */
  uint8_t bytes;
  struct func_place at;
};

struct finding {
  enum finding_kind kind;
  enum finding_level level;
  struct finding_access a, b; /* b: the other party of a race, the earlier access */
  uint64_t addr;
  char what[96];              /* first line of FINDING_REGISTER, _BARRIER and _FAULT; of a race: what makes it one */
  char detail[2][128];        /* further lines; "": none */
  uint64_t count;             /* threads; bytes of a race */
};

/* Different ones of the launch that runs, in the order in which they were made. */
struct finding_list {
  struct finding *item;
  uint32_t n, cap;
  uint32_t recent[256]; /* 1 + where one lies, by a hash of its instructions; 0: none */
};

/* All of a run. */
struct findings {
  FILE *out;
  enum finding_level least;  /* lower ones are left out: neither printed nor among errors and warnings */
  uint64_t limit;            /* findings to print; those above it are counted */
  uint64_t printed, hidden;
  uint64_t beyond;           /* of the launch that runs: further ones, when there were too many to keep */
  uint64_t errors, warnings; /* of threads, as compute-sanitizer counts; races: of findings */
  uint64_t races;
  uint64_t left_out[LEVEL_ERROR]; /* by level: of each launch the different ones, as far as a list takes them */
  struct finding_list kept, left;
};

void findings_free(struct findings *);

/* The finding of this kind at these two instructions, in this space; count is added to it. A new one has *fresh set,
 * and the caller fills in the rest. NULL: it is left out, or there are too many, and it is only counted. */
struct finding *finding_note(struct findings *, const struct finding *like, uint64_t count, bool *fresh);

/* As finding_note does of the finding that it returned, kept.item[index], in this launch. */
static inline void finding_again(struct findings *fs, uint32_t index, uint64_t count)
{
  fs->kept.item[index].count += count;
}

/* A launch of this module has ended: its findings are printed and forgotten. lines: NULL: there are none. */
void findings_flush(struct findings *, const struct module *, const struct line_table *);

#endif
