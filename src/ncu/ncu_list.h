/* What there is: lists of `warpstep ncu` that need no program. */
#ifndef WS_NCU_LIST_H
#define WS_NCU_LIST_H

#include <stdio.h>

#include "ncu/ncu_choice.h"

void ncu_list_sets(FILE *);
void ncu_list_sections(FILE *, const struct ncu_choice *enabled);
/* Of the sections and metrics chosen, a name a line. */
void ncu_list_metrics(FILE *, const struct ncu_choice *);
void ncu_list_chips(FILE *);
/* All metrics of a chip ("ga102", cc 86), without their roll-ups; those that are not known here say so. */
void ncu_query_metrics(FILE *, const char *chip, unsigned cc);

#endif
