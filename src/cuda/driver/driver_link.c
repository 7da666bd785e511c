/* Linking of the driver. */
#include <stdlib.h>

#include "cuda/core/call.h"
#include "cuda/core/linker.h"

static CUresult create(unsigned n, int *option, void **value, CUlinkState *out)
{
  struct jit jit = {0};
  if (!out || (n && (!option || !value)) || !jit_read(&jit, n, option, value, false))
    return CUDA_ERROR_INVALID_VALUE;
  struct link_state *l = shim_alloc(sizeof *l);
  *l = (struct link_state){.jit = jit, .n_options = n, .option = option, .value = value};
  link_init(l);
  *out = l;
  return CUDA_SUCCESS;
}

CUresult cuLinkCreate_v2(unsigned n, int *option, void **value, CUlinkState *out)
{
  DRIVER(NEED_CONTEXT, create(n, option, value, out));
}

static CUresult add(struct shim *s, CUlinkState l, int kind, const void *data, size_t bytes,
                    const char *name, unsigned n, const int *option, void **value)
{
  if (!l) return CUDA_ERROR_INVALID_HANDLE;
  if (!data || bytes == 0 || kind < 0 || kind >= LINK_INPUT__N || (n && (!option || !value)))
    return CUDA_ERROR_INVALID_VALUE;
  struct jit own = l->jit;
  if (!jit_read(&own, n, option, value, true)) return CUDA_ERROR_INVALID_VALUE;
  CUresult r = link_add(s, l, (enum link_input)kind, data, bytes, name ? name : "input", &own);
  jit_write(&l->jit, l->n_options, l->option, l->value);
  return r;
}

CUresult cuLinkAddData_v2(CUlinkState l, int kind, void *data, size_t bytes, const char *name,
                          unsigned n, int *option, void **value)
{
  DRIVER(NEED_CONTEXT, add(s, l, kind, data, bytes, name, n, option, value));
}

static CUresult add_file(struct shim *s, CUlinkState l, int kind, const char *path, unsigned n,
                         const int *option, void **value)
{
  CUresult r;
  size_t bytes;
  char *data = module_read_file(path, &bytes, &r);
  if (!data) return r;
  r = add(s, l, kind, data, bytes, path, n, option, value);
  free(data);
  return r;
}

CUresult cuLinkAddFile_v2(CUlinkState l, int kind, const char *path, unsigned n, int *option,
                          void **value)
{
  DRIVER(NEED_CONTEXT,
         l ? add_file(s, l, kind, path, n, option, value) : CUDA_ERROR_INVALID_HANDLE);
}

static CUresult complete(struct shim *s, CUlinkState l, void **image, size_t *bytes)
{
  size_t made = 0;
  if (!l) return CUDA_ERROR_INVALID_HANDLE;
  if (!l->first || !image) return CUDA_ERROR_INVALID_VALUE;
  CUresult r = link_finish(s, l, image, &made);
  jit_write(&l->jit, l->n_options, l->option, l->value);
  if (bytes) *bytes = made;
  return r;
}

CUresult cuLinkComplete(CUlinkState l, void **image, size_t *bytes)
{
  DRIVER(NEED_CONTEXT, complete(s, l, image, bytes));
}

static CUresult destroy(CUlinkState l)
{
  if (!l) return CUDA_ERROR_INVALID_HANDLE;
  link_free(l);
  return CUDA_SUCCESS;
}

CUresult cuLinkDestroy(CUlinkState l)
{
  DRIVER(NEED_NOTHING, destroy(l));
}
