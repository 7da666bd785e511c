/* Tables of kernel times that others wrote: columns are found by the names in their header.
 *
 * Known: `ncu --csv` (pages details and raw), nsys' cuda_gpu_trace, cuda_gpu_kern_sum and its kin with grids, and any
 * table with columns for the kernel's name, its grid and block, and a time whose unit is in the header (`time_us`,
 * `Duration (ns)`, `cycles`). A row is matched with the first launch of that kernel, grid and block; where the file
 * gives no grid or block, any counts. Later rows of the same launch are left out, and rows without a kernel (copies).
 */
#ifndef WS_VALIDATE_MEASURED_H
#define WS_VALIDATE_MEASURED_H

#include "validate/suite.h"

/* Fills rows, title and unit of a zeroed suite whose arena is used; row[].run is "" (the program is named elsewhere).
 * False: the file is not such a table. cold: set when a profiler wrote it that empties the caches before each launch.
 * Call suite_free even after a failure. */
bool measured_read(struct suite *, const char *path, struct err *e);

struct csv;
/* Kernel, grid and block of a suite's row, from columns of such names. */
void measured_place(struct suite_row *, const struct csv *, size_t row);

/* Whether a kernel's name in a table, demangled with or without arguments, mangled or plain, is this one. */
bool measured_same_kernel(const char *a, const char *b);

#endif
