/* The GPU that is simulated when --gpu is not given. */
#ifndef WS_CLI_DEFAULT_GPU_H
#define WS_CLI_DEFAULT_GPU_H

#include <stdbool.h>

#include "base/err.h"

/* The preset for a file with code: the first default whose SM it was compiled for, else the first it
 * runs on. A path with "%d" stands for a file for each GPU and gets the first default. False: the file
 * cannot be read, or no default runs it; presets: the folder in which advice is looked for, NULL: as found. */
bool default_gpu(const char *path, const char *presets, const char **name, struct err *e);
/* The first default, for those who have no file to look at. */
const char *default_gpu_any(void);
/* The default for code compiled for this SM; NULL: there is none. */
const char *default_gpu_of(unsigned sm);

#endif
