/* Launches of CUDA 2 and 3, which programs of today still make (PyCUDA): the shape of blocks and the parameters are
 * kept with the function, cuLaunchGrid takes what was set last. Source: CUDA Driver API, "Execution Control
 * [DEPRECATED]". */
#include "cuda/core/call.h"
#include "cuda/driver/driver_forms.h"

struct kept_launch {
  uint32_t block[3], shared; /* shared: dynamic, bytes */
  uint32_t param_bytes;      /* of the block below that a launch hands over */
  uint8_t param[];           /* as many as the kernel takes */
};

/* What is kept with a function, from its first use on. NULL: there is no such function. */
static struct kept_launch *kept(struct shim *s, CUfunction f)
{
  if (!module_is_function(s, f)) return NULL;
  if (!f->kept) f->kept = shim_alloc(sizeof *f->kept + f->kernel->param_bytes);
  return f->kept;
}

static CUresult set_block(struct kept_launch *k, int x, int y, int z)
{
  if (!k) return CUDA_ERROR_INVALID_HANDLE;
  if (x < 1 || y < 1 || z < 1) return CUDA_ERROR_INVALID_VALUE;
  k->block[0] = (uint32_t)x, k->block[1] = (uint32_t)y, k->block[2] = (uint32_t)z;
  return CUDA_SUCCESS;
}

CUresult cuFuncSetBlockShape(CUfunction f, int x, int y, int z)
{
  DRIVER(NEED_CONTEXT, set_block(kept(s, f), x, y, z));
}

static CUresult set_shared(struct kept_launch *k, unsigned bytes)
{
  if (!k) return CUDA_ERROR_INVALID_HANDLE;
  k->shared = bytes;
  return CUDA_SUCCESS;
}

CUresult cuFuncSetSharedSize(CUfunction f, unsigned bytes)
{
  DRIVER(NEED_CONTEXT, set_shared(kept(s, f), bytes));
}

static CUresult set_size(struct kept_launch *k, CUfunction f, unsigned bytes)
{
  if (!k) return CUDA_ERROR_INVALID_HANDLE;
  if (bytes > f->kernel->param_bytes) return CUDA_ERROR_INVALID_VALUE;
  k->param_bytes = bytes;
  return CUDA_SUCCESS;
}

CUresult cuParamSetSize(CUfunction f, unsigned bytes)
{
  DRIVER(NEED_CONTEXT, set_size(kept(s, f), f, bytes));
}

static CUresult set_param(struct kept_launch *k, CUfunction f, int at, const void *value, unsigned bytes)
{
  if (!k) return CUDA_ERROR_INVALID_HANDLE;
  if (at < 0 || !value || (uint64_t)(unsigned)at + bytes > f->kernel->param_bytes) return CUDA_ERROR_INVALID_VALUE;
  memcpy(k->param + at, value, bytes);
  return CUDA_SUCCESS;
}

CUresult cuParamSetv(CUfunction f, int at, void *value, unsigned bytes)
{
  DRIVER(NEED_CONTEXT, set_param(kept(s, f), f, at, value, bytes));
}

CUresult cuParamSeti(CUfunction f, int at, unsigned value)
{
  DRIVER(NEED_CONTEXT, set_param(kept(s, f), f, at, &value, sizeof value));
}

CUresult cuParamSetf(CUfunction f, int at, float value)
{
  DRIVER(NEED_CONTEXT, set_param(kept(s, f), f, at, &value, sizeof value));
}

static CUresult launch_grid(struct shim *s, CUfunction f, int width, int height, CUstream stream)
{
  const struct kept_launch *k = kept(s, f);
  if (!k) return CUDA_ERROR_INVALID_HANDLE;
  if (width < 1 || height < 1) return CUDA_ERROR_INVALID_VALUE;
  struct launch_request q = { .function = f, .grid = { (uint32_t)width, (uint32_t)height, 1 },
                              .block = { k->block[0], k->block[1], k->block[2] }, .shared = k->shared,
                              .packed = k->param, .packed_bytes = k->param_bytes };
  return driver_launch(s, &q, stream);
}

CUresult cuLaunch(CUfunction f)
{
  DRIVER(NEED_CONTEXT, launch_grid(s, f, 1, 1, NULL));
}

CUresult cuLaunchGrid(CUfunction f, int width, int height)
{
  DRIVER(NEED_CONTEXT, launch_grid(s, f, width, height, NULL));
}

CUresult cuLaunchGridAsync(CUfunction f, int width, int height, CUstream stream)
{
  DRIVER(NEED_CONTEXT, launch_grid(s, f, width, height, stream));
}
