/* Modules, libraries and linking of the driver. */
#include <stdlib.h>
#include <string.h>

#include "cuda/kernel.h"

/* CUjit_option */
enum {
  JIT_MAX_REGISTERS = 0, JIT_WALL_TIME = 2, JIT_INFO_BUFFER = 3, JIT_INFO_SIZE = 4,
  JIT_ERROR_BUFFER = 5, JIT_ERROR_SIZE = 6, JIT_OPT_LEVEL = 7, JIT_TARGET = 9, JIT_DEBUG = 11,
  JIT_VERBOSE = 12, JIT_LINE_INFO = 13,
};

/* Option values are pointers that hold numbers. */
static unsigned number(void *value)
{
  return (unsigned)(uintptr_t)value;
}

static void read_options(struct jit *j, unsigned n, const int *option, void **value)
{
  for (unsigned i = 0; i < n; i++) {
    switch (option[i]) {
    case JIT_MAX_REGISTERS: j->max_registers = number(value[i]); break;
    case JIT_INFO_BUFFER: j->info = value[i]; break;
    case JIT_INFO_SIZE: j->info_bytes = number(value[i]); break;
    case JIT_ERROR_BUFFER: j->error = value[i]; break;
    case JIT_ERROR_SIZE: j->error_bytes = number(value[i]); break;
    case JIT_OPT_LEVEL: j->opt_level = (int)(number(value[i]) & 7) + 1; break;
    case JIT_TARGET: j->target = number(value[i]); break;
    case JIT_DEBUG: j->debug = number(value[i]); break;
    case JIT_VERBOSE: j->verbose = number(value[i]); break;
    case JIT_LINE_INFO: j->line_info = number(value[i]); break;
    default: break; /* caching, fallback: no meaning here */
    }
  }
  if (!j->info) j->info_bytes = 0;
  if (!j->error) j->error_bytes = 0;
}

/* The sizes become what was written. */
static void write_options(const struct jit *j, unsigned n, const int *option, void **value)
{
  for (unsigned i = 0; i < n; i++) {
    if (option[i] == JIT_INFO_SIZE) value[i] = (void *)(uintptr_t)j->info_used;
    if (option[i] == JIT_ERROR_SIZE) value[i] = (void *)(uintptr_t)j->error_used;
    if (option[i] == JIT_WALL_TIME) memset(&value[i], 0, sizeof value[i]);
  }
}

static CUresult load(struct shim *s, CUmodule *out, const void *image, unsigned n, const int *option,
                     void **value)
{
  struct jit j = {0};
  if (!out || !image || (n && (!option || !value))) return CUDA_ERROR_INVALID_VALUE;
  read_options(&j, n, option, value);
  CUresult r = module_open(s, image, &j, out);
  write_options(&j, n, option, value);
  return r;
}

CUresult cuModuleLoadData(CUmodule *out, const void *image)
{
  DRIVER(NEED_CONTEXT, load(s, out, image, 0, NULL, NULL));
}

CUresult cuModuleLoadDataEx(CUmodule *out, const void *image, unsigned n, int *option, void **value)
{
  DRIVER(NEED_CONTEXT, load(s, out, image, n, option, value));
}

CUresult cuModuleLoadFatBinary(CUmodule *out, const void *image)
{
  DRIVER(NEED_CONTEXT, load(s, out, image, 0, NULL, NULL));
}

/* A file's bytes with a 0 behind them (PTX is text); NULL: *r says why. */
static char *read_file(const char *path, CUresult *r)
{
  FILE *f = path ? fopen(path, "rb") : NULL;
  long size = -1;
  char *data = NULL;
  *r = !path ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_FILE_NOT_FOUND;
  if (!f) return NULL;
  if (fseek(f, 0, SEEK_END) == 0 && (size = ftell(f)) >= 0 && fseek(f, 0, SEEK_SET) == 0) {
    data = shim_alloc((size_t)size + 64); /* headers are read before their kind is known */
    if (fread(data, 1, (size_t)size, f) != (size_t)size) {
      free(data);
      data = NULL;
    }
  }
  fclose(f);
  return data;
}

static CUresult load_file(struct shim *s, CUmodule *out, const char *path, unsigned n,
                          const int *option, void **value)
{
  CUresult r;
  char *image = read_file(path, &r);
  if (!image) return r;
  r = load(s, out, image, n, option, value);
  free(image);
  return r;
}

CUresult cuModuleLoad(CUmodule *out, const char *path)
{
  DRIVER(NEED_CONTEXT, load_file(s, out, path, 0, NULL, NULL));
}

static CUresult unload(struct shim *s, CUmodule m)
{
  if (!module_is_open(s, m)) return CUDA_ERROR_INVALID_HANDLE;
  shim_flush_print(s);
  module_close(s, m);
  return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule m)
{
  DRIVER(NEED_CONTEXT, unload(s, m));
}

CUresult cuModuleGetFunction(CUfunction *out, CUmodule m, const char *name)
{
  DRIVER(NEED_CONTEXT, module_get_function(s, m, name, out));
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *addr, size_t *bytes, CUmodule m, const char *name)
{
  DRIVER(NEED_CONTEXT, module_get_variable(s, m, name, addr, bytes));
}

static CUresult count_functions(struct shim *s, unsigned *count, CUmodule m)
{
  if (!module_is_open(s, m)) return CUDA_ERROR_INVALID_HANDLE;
  if (!count) return CUDA_ERROR_INVALID_VALUE;
  *count = module_kernel_count(m->code.module);
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunctionCount(unsigned *count, CUmodule m)
{
  DRIVER(NEED_CONTEXT, count_functions(s, count, m));
}

static CUresult list_functions(struct shim *s, CUfunction *out, unsigned n, CUmodule m)
{
  if (!module_is_open(s, m)) return CUDA_ERROR_INVALID_HANDLE;
  for (unsigned i = 0; i < n && i < module_kernel_count(m->code.module); i++) {
    CUresult r =
        module_get_function(s, m, module_kernel_at(m->code.module, i)->name, &out[i]);
    if (r != CUDA_SUCCESS) return r;
  }
  return CUDA_SUCCESS;
}

CUresult cuModuleEnumerateFunctions(CUfunction *out, unsigned n, CUmodule m)
{
  DRIVER(NEED_CONTEXT, out ? list_functions(s, out, n, m) : CUDA_ERROR_INVALID_VALUE);
}

CUresult cuModuleGetLoadingMode(int *mode)
{
  DRIVER(NEED_GPU, mode ? (*mode = 1 /* eager */, CUDA_SUCCESS) : CUDA_ERROR_INVALID_VALUE);
}

/* Libraries: a module by another name ------------------------------------------------------------- */

CUresult cuLibraryLoadData(CUlibrary *out, const void *image, int *option, void **value, unsigned n,
                           int *library_option, void **library_value, unsigned n_library)
{
  (void)library_option, (void)library_value, (void)n_library;
  DRIVER(NEED_CONTEXT, load(s, out, image, n, option, value));
}

CUresult cuLibraryLoadFromFile(CUlibrary *out, const char *path, int *option, void **value, unsigned n,
                               int *library_option, void **library_value, unsigned n_library)
{
  (void)library_option, (void)library_value, (void)n_library;
  DRIVER(NEED_CONTEXT, load_file(s, out, path, n, option, value));
}

CUresult cuLibraryUnload(CUlibrary library)
{
  DRIVER(NEED_CONTEXT, unload(s, library));
}

CUresult cuLibraryGetKernel(CUkernel *out, CUlibrary library, const char *name)
{
  DRIVER(NEED_CONTEXT, module_get_function(s, library, name, out));
}

CUresult cuLibraryGetGlobal(CUdeviceptr *addr, size_t *bytes, CUlibrary library, const char *name)
{
  DRIVER(NEED_CONTEXT, module_get_variable(s, library, name, addr, bytes));
}

CUresult cuLibraryGetKernelCount(unsigned *count, CUlibrary library)
{
  DRIVER(NEED_CONTEXT, count_functions(s, count, library));
}

CUresult cuLibraryEnumerateKernels(CUkernel *out, unsigned n, CUlibrary library)
{
  DRIVER(NEED_CONTEXT, out ? list_functions(s, out, n, library) : CUDA_ERROR_INVALID_VALUE);
}

static CUresult same_module(struct shim *s, CUmodule *out, CUlibrary library)
{
  if (!module_is_open(s, library)) return CUDA_ERROR_INVALID_HANDLE;
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  *out = library;
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetModule(CUmodule *out, CUlibrary library)
{
  DRIVER(NEED_CONTEXT, same_module(s, out, library));
}

static CUresult same_function(struct shim *s, CUfunction *out, CUkernel kernel)
{
  if (!module_is_function(s, kernel)) return CUDA_ERROR_INVALID_HANDLE;
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  *out = kernel;
  return CUDA_SUCCESS;
}

CUresult cuKernelGetFunction(CUfunction *out, CUkernel kernel)
{
  DRIVER(NEED_CONTEXT, same_function(s, out, kernel));
}

/* Linking: inputs are kept as they come; what they hold is looked at in the end, when it is known how many
 * there are. ------------------------------------------------------------------------------------- */

struct link_input {
  struct link_input *next;
  char *image; /* PTX, cubin or fat binary; a 0 behind it */
};

struct cu_link {
  struct jit jit;
  unsigned n_options;
  int *option;
  void **value;
  struct link_input *first, **last;
  unsigned n_inputs;
  uint8_t *cubin;
};

static CUresult link_create(unsigned n, int *option, void **value, CUlinkState *out)
{
  if (!out || (n && (!option || !value))) return CUDA_ERROR_INVALID_VALUE;
  struct cu_link *l = shim_alloc(sizeof *l);
  *l = (struct cu_link){ .n_options = n, .option = option, .value = value };
  l->last = &l->first;
  read_options(&l->jit, n, option, value);
  *out = l;
  return CUDA_SUCCESS;
}

CUresult cuLinkCreate_v2(unsigned n, int *option, void **value, CUlinkState *out)
{
  DRIVER(NEED_CONTEXT, link_create(n, option, value, out));
}

/* Takes the image over. */
static CUresult link_add(struct shim *s, CUlinkState l, char *image, unsigned n, const int *option,
                         void **value)
{
  static const char archive[] = "!<arch>";
  if (strncmp(image, archive, sizeof archive - 1) == 0) {
    free(image);
    return shim_unsupported(s, "cuLink… with a library of objects");
  }
  read_options(&l->jit, n, option, value);
  struct link_input *in = shim_alloc(sizeof *in);
  in->image = image;
  *l->last = in;
  l->last = &in->next;
  l->n_inputs++;
  return CUDA_SUCCESS;
}

static CUresult link_add_data(struct shim *s, CUlinkState l, const void *data, size_t bytes,
                              unsigned n, const int *option, void **value)
{
  if (!l || !data || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  char *image = shim_alloc(bytes + 64); /* headers are read before their kind is known */
  memcpy(image, data, bytes);
  return link_add(s, l, image, n, option, value);
}

CUresult cuLinkAddData_v2(CUlinkState l, int type, void *data, size_t bytes, const char *name,
                          unsigned n, int *option, void **value)
{
  (void)type, (void)name;
  DRIVER(NEED_CONTEXT, link_add_data(s, l, data, bytes, n, option, value));
}

static CUresult link_add_file(struct shim *s, CUlinkState l, const char *path, unsigned n,
                              const int *option, void **value)
{
  CUresult r = CUDA_ERROR_INVALID_VALUE;
  char *image = l ? read_file(path, &r) : NULL;
  return image ? link_add(s, l, image, n, option, value) : r;
}

CUresult cuLinkAddFile_v2(CUlinkState l, int type, const char *path, unsigned n, int *option,
                          void **value)
{
  (void)type;
  DRIVER(NEED_CONTEXT, link_add_file(s, l, path, n, option, value));
}

/* One input is its own result; several are put together and linked when they are loaded. */
static CUresult join_inputs(struct shim *s, CUlinkState l, size_t *bytes)
{
  struct link_file *file = shim_alloc(l->n_inputs * sizeof *file);
  CUresult r = CUDA_SUCCESS;
  unsigned n = 0;
  l->jit.relocatable = l->n_inputs > 1;
  for (const struct link_input *in = l->first; in && r == CUDA_SUCCESS; in = in->next) {
    r = module_extract(s, in->image, &l->jit, &file[n].elf, &file[n].bytes);
    if (r == CUDA_SUCCESS) n++;
  }
  free(l->cubin);
  l->cubin = NULL;
  if (r == CUDA_SUCCESS && n == 1) {
    l->cubin = file[0].elf;
    *bytes = file[0].bytes;
    n = 0;
  } else if (r == CUDA_SUCCESS) {
    l->cubin = module_join(file, n, bytes);
  }
  while (n > 0) free(file[--n].elf);
  free(file);
  return r;
}

static CUresult link_complete(struct shim *s, CUlinkState l, void **cubin, size_t *bytes)
{
  size_t made = 0;
  if (!l || !l->first || !cubin) return CUDA_ERROR_INVALID_VALUE;
  CUresult r = join_inputs(s, l, &made);
  write_options(&l->jit, l->n_options, l->option, l->value);
  *cubin = l->cubin;
  if (bytes) *bytes = made;
  return r;
}

CUresult cuLinkComplete(CUlinkState l, void **cubin, size_t *bytes)
{
  DRIVER(NEED_CONTEXT, link_complete(s, l, cubin, bytes));
}

static CUresult link_destroy(CUlinkState l)
{
  if (!l) return CUDA_ERROR_INVALID_HANDLE;
  for (struct link_input *in = l->first, *next; in; in = next) {
    next = in->next;
    free(in->image);
    free(in);
  }
  free(l->cubin);
  free(l);
  return CUDA_SUCCESS;
}

CUresult cuLinkDestroy(CUlinkState l)
{
  DRIVER(NEED_NOTHING, link_destroy(l));
}
