// GPUs that reach each other's memory.
#pragma once
#include "check.h"
#include <cuda_runtime.h>

enum { MOST_GPUS = 4 };

// How many a program uses: up to `most` whose memory each other's kernels reach, from then on, else one.
static int gpus_that_reach(int most = 2)
{
  int gpus;
  CUDA(cudaGetDeviceCount(&gpus));
  if (gpus > most) gpus = most;
  for (int g = 0; g < gpus; g++)
    for (int other = 0; other < gpus; other++) {
      int reaches = g == other;
      if (!reaches) CUDA(cudaDeviceCanAccessPeer(&reaches, g, other));
      if (!reaches) return 1;
    }
  for (int g = 0; g < gpus; g++) {
    CUDA(cudaSetDevice(g));
    for (int other = 0; other < gpus; other++)
      if (other != g) CUDA(cudaDeviceEnablePeerAccess(other, 0));
  }
  return gpus;
}
