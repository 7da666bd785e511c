/* Statistics of simulated against measured figures. */
#ifndef WS_VALIDATE_SUMMARY_H
#define WS_VALIDATE_SUMMARY_H

#include <stddef.h>

struct summary {
  size_t n;
  double mean_abs, p50, p90, worst; /* of the absolute error, percent */
  double bias;                      /* mean of the signed error, percent: above zero is too slow */
  double r, rank;                   /* Pearson's and Spearman's correlation; NAN below three pairs */
  double slope;                     /* of log(simulated) over log(measured); NAN below three pairs */
};

/* Over n pairs of numbers above zero. Percentiles are interpolated between order statistics. */
struct summary summary_of(const double *measured, const double *simulated, size_t n);

/* Least squares: slope of log y over log x; NAN for fewer than two different x. All above zero. */
double summary_log_slope(const double *x, const double *y, size_t n);

#endif
