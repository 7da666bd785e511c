/* Scatter plot of a suite as SVG: simulated over measured, both logarithmic, with lines at equality and at 25 %
 * above and below. */
#ifndef WS_VALIDATE_PLOT_H
#define WS_VALIDATE_PLOT_H

#include <stdio.h>

#include "validate/suite.h"

/* Rows that ran; those that are not comparable are hollow. */
void plot_write(FILE *, const struct suite *);

#endif
