/* What the kinds of operations do when their time has come: kernels, copies, fills, functions of the program, memory of
 * graphs, memory operations, conditions (task.h). */
#ifndef WS_CUDA_TASK_KINDS_H
#define WS_CUDA_TASK_KINDS_H

#include "cuda/core/task.h"

extern const struct task_kinds task_kinds;

#endif
