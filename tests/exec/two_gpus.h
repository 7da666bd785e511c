// GPUs that reach each other's memory.
#pragma once
#include "check.h"
#include <cuda_runtime.h>

enum { MOST_GPUS = 2 };

// How many a program uses: two whose memory each other's kernels reach, from then on, else one.
static int gpus_that_reach()
{
  int gpus, peers = 0;
  CUDA(cudaGetDeviceCount(&gpus));
  if (gpus > 1) CUDA(cudaDeviceCanAccessPeer(&peers, 0, 1));
  for (int g = 0; g < MOST_GPUS && peers; g++) {
    CUDA(cudaSetDevice(g));
    CUDA(cudaDeviceEnablePeerAccess(1 - g, 0));
  }
  return peers ? MOST_GPUS : 1;
}
