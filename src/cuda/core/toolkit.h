/* Programs of a CUDA toolkit that is not in the search path but in part in the process: Python packages
 * keep libnvrtc in nvidia/cu13/lib, and what nvidia-cuda-nvcc brings in nvidia/cu13/bin. */
#ifndef WS_CUDA_TOOLKIT_H
#define WS_CUDA_TOOLKIT_H

#include <stdbool.h>
#include <stddef.h>

/* bin/TOOL in the folder above the one from which a library of NVIDIA's compilers was loaded. False: none
 * was, or it is not there. */
bool toolkit_beside(const char *tool, char *path, size_t size);

#endif
