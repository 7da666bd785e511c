/* Whether a GPU can do something that not all can: rows of features.def. */
#ifndef WS_CUDA_FEATURES_H
#define WS_CUDA_FEATURES_H

#include <stdbool.h>

#include "config/params.h"

enum gpu_feature {
#define FEATURE(name, since) GPU_##name,
#include "cuda/core/features.def"
#undef FEATURE
  GPU_FEATURES,
};

static inline bool gpu_has(const struct params *p, enum gpu_feature f)
{
  static const unsigned since[GPU_FEATURES] = {
#define FEATURE(name, since) [GPU_##name] = since,
#include "cuda/core/features.def"
#undef FEATURE
  };
  return p->arch_sm >= since[f];
}

#endif
