/* What to say to somebody whose code no simulated GPU, or not the chosen one, runs. */
#ifndef WS_HOST_GPU_ADVICE_H
#define WS_HOST_GPU_ADVICE_H

#include <stddef.h>

#include "load/target.h"

/* "choose --gpu a40, rtx-3070, rtx-3080 … (warpstep gpus)" when presets in this folder run code for this SM, at most
 * six and those of that very SM first, else "no GPU that can be simulated runs it; compile for sm_75, sm_80: nvcc
 * -gencode arch=compute_86,code=sm_86" with the SMs that presets have. Returns buf, always terminated. dir: as for
 * preset_load; NULL: where presets_dir finds them. */
char *gpu_advice(const char *dir, unsigned sm, enum target_form form, char *buf, size_t size);

#endif
