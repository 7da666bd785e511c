/* A run on one screen: at most 40 lines of 80 columns, without terminal control codes. */
#ifndef WS_VIEW_SUMMARY_H
#define WS_VIEW_SUMMARY_H

#include <stdio.h>

#include "view/report.h"

void view_summary_write(FILE *, const struct report *);

/* Why a run ended early, and where its warps were. */
void view_stop_write(FILE *, const struct report *);

/* The fault of the simulated program: what, where, who, and the allocation next to the address. */
void view_fault_write(FILE *, const struct report *, const struct gmem *);

#endif
