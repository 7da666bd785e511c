/* Sections of a profile and sets of them, as Nsight Compute has them: ncu_section.def. */
#ifndef WS_NCU_SECTION_H
#define WS_NCU_SECTION_H

#include <stdbool.h>

enum { NCU_MAX_SECTIONS = 32 };

/* Sets are bits. */
enum ncu_set { BASIC = 1, DETAILED = 2, FULL = 4, ROOFLINE = 8, SOURCE = 16 };

struct ncu_section_row {
  const char *label, *metric;
  bool body; /* shown with --print-details all; else in the section's header */
};

struct ncu_section {
  const char *id, *name;
  unsigned sets;
  bool rules; /* some rule is of it (ncu/ncu_rule.h) */
  bool code;  /* it is about instructions */
  const struct ncu_section_row *row;
  unsigned n;
};

extern const struct ncu_section ncu_sections[];
extern const unsigned ncu_n_sections;

/* 0: no such set ("none" is one without a bit). */
unsigned ncu_set_called(const char *name);
/* The n-th set's name; NULL: there are no more. */
const char *ncu_set_at(unsigned n);

#endif
