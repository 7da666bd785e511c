/* Registration of the program's code: what nvcc's host code calls before main and at exit. Source of
 * the signatures: crt/host_runtime.h of CUDA 12 and 13, which every program made by nvcc compiles. */
#include <stdlib.h>
#include <string.h>

#include "cuda/runtime/runtime.h"
#include "cuda/runtime/symbol_index.h"

/* What the program's constructors registered. */
struct registered {
  struct rt_binary *binaries;
  struct symbol_index by_host, by_handle; /* of all their functions, unless they are stale */
  bool stale;                             /* a binary has gone */
};

static struct registered *registered(struct shim *);
static struct rt_symbol *find_function(struct shim *, const void *host);

/* The primary context goes away: modules are loaded again when needed, handles of kernels stay valid. */
static void forget_modules(struct shim *s, struct board *on)
{
  for (struct rt_binary *b = registered(s)->binaries; b; b = b->next) {
    b->module[on->number] = NULL;
    for (struct rt_symbol *y = b->functions; y; y = y->next)
      if (y->function[on->number]) module_take_function(y->function[on->number]);
  }
}

static const struct shim_part registered_part = { .reset = forget_modules };

static struct registered *registered(struct shim *s)
{
  return part_state(s, &registered_part, sizeof(struct registered));
}

static struct shim *locked(void)
{
  struct shim *s = shim_get();
  shim_lock(s);
  return s;
}

static const char *registered_name(struct shim *s, const void *host)
{
  const struct rt_symbol *y = find_function(s, host);
  return y ? y->name : NULL;
}

void **__cudaRegisterFatBinary(void *image)
{
  struct shim *s = locked();
  s->registered_name = registered_name;
  struct rt_binary *b = shim_alloc(sizeof *b);
  *b = (struct rt_binary){ .next = registered(s)->binaries, .image = image };
  registered(s)->binaries = b;
  pthread_mutex_unlock(&s->lock);
  return (void **)b;
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
  (void)handle; /* nothing is loaded before it is used */
}

static void free_symbols(struct rt_symbol *y)
{
  for (struct rt_symbol *next; y; y = next) {
    next = y->next;
    free(y);
  }
}

void __cudaUnregisterFatBinary(void **handle)
{
  struct shim *s = locked();
  struct rt_binary *b = (struct rt_binary *)handle;
  for (struct rt_binary **at = &registered(s)->binaries; *at; at = &(*at)->next) {
    if (*at != b) continue;
    *at = b->next;
    registered(s)->stale = true;
    free_symbols(b->functions);
    free_symbols(b->variables);
    free(b); /* a loaded module stays: the table at the end names its kernels */
    break;
  }
  pthread_mutex_unlock(&s->lock);
}

static struct rt_symbol *add(struct rt_symbol **list, void **handle, const void *host, const char *name)
{
  struct shim *s = locked();
  struct rt_symbol *y = shim_alloc(sizeof *y);
  *y = (struct rt_symbol){ .next = *list, .binary = (struct rt_binary *)handle, .host = host,
                           .name = name };
  *list = y;
  pthread_mutex_unlock(&s->lock);
  return y;
}

void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                            int thread_limit, void *tid, void *bid, dim3 *block, dim3 *grid, int *w)
{
  (void)device, (void)thread_limit, (void)tid, (void)bid, (void)block, (void)grid, (void)w;
  struct rt_symbol *y = add(&((struct rt_binary *)handle)->functions, handle, host, name);
  struct shim *s = locked();
  if (host) symbol_index_put(&registered(s)->by_host, host, y);
  pthread_mutex_unlock(&s->lock);
}

void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext, size_t size,
                       int constant, int global)
{
  (void)device, (void)ext, (void)size, (void)constant, (void)global;
  add(&((struct rt_binary *)handle)->variables, handle, host, name);
}

void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int ext,
                              size_t size, int constant, int global)
{
  (void)device, (void)ext, (void)size, (void)constant, (void)global;
  add(&((struct rt_binary *)handle)->variables, handle, host, name)->managed = host;
}

/* Looking up ------------------------------------------------------------------------------------- */

/* A managed variable has one address, here and on GPUs. */
static void point_managed(struct shim *s, struct rt_binary *b, struct loaded_module *m)
{
  for (struct rt_symbol *y = b->variables; y; y = y->next) {
    CUdeviceptr addr;
    if (y->managed && module_get_variable(s, m, y->name, &addr, NULL) == CUDA_SUCCESS)
      *y->managed = (void *)(uintptr_t)addr;
  }
}

static CUresult load(struct shim *s, struct rt_binary *b, struct board *on)
{
  const unsigned i = on->number;
  if (b->module[i] || b->broken[i] != CUDA_SUCCESS) return b->broken[i];
  const struct loaded_module *first = NULL;
  for (unsigned k = 0; !first && k < BOARDS_MAX; k++) first = b->module[k];
  b->broken[i] = module_open_beside(s, on, first, b->managed_at, b->image, IMAGE_UNKNOWN, &b->module[i]);
  if (b->broken[i] != CUDA_SUCCESS) return b->broken[i];
  point_managed(s, b, b->module[i]);
  if (b->module[i]->managed) b->managed_at = b->module[i]->managed->addr;
  return b->broken[i];
}

/* A program knows a managed variable by its address, too: that is what it has of it. */
static struct rt_symbol *find(struct rt_symbol *list, const void *host)
{
  while (list && list->host != host && !(host && list->managed && *list->managed == host)) list = list->next;
  return list;
}

char __cudaInitModule(void **handle)
{
  struct shim *s = locked();
  struct rt_binary *b = (struct rt_binary *)handle;
  struct board *const on = shim_up(s) == CUDA_SUCCESS ? board_current(s) : NULL;
  bool ok = on && load(s, b, on) == CUDA_SUCCESS;
  pthread_mutex_unlock(&s->lock);
  return ok;
}

static void index_symbol(struct registered *g, struct rt_symbol *y)
{
  if (y->host && !symbol_index_find(&g->by_host, y->host)) symbol_index_put(&g->by_host, y->host, y);
  for (unsigned i = 0; i < BOARDS_MAX; i++)
    if (y->function[i]) symbol_index_put(&g->by_handle, y->function[i], y);
}

/* With up-to-date indexes. The lists have what was registered last first, and that is what counts. */
static const struct registered *indexed(struct shim *s)
{
  struct registered *g = registered(s);
  if (!g->stale) return g;
  symbol_index_clear(&g->by_host);
  symbol_index_clear(&g->by_handle);
  for (const struct rt_binary *b = g->binaries; b; b = b->next)
    for (struct rt_symbol *y = b->functions; y; y = y->next) index_symbol(g, y);
  g->stale = false;
  return g;
}

static struct rt_symbol *find_function(struct shim *s, const void *host)
{
  return symbol_index_find(&indexed(s)->by_host, host);
}

/* The symbol whose handle this is. */
static struct rt_symbol *find_handle(struct shim *s, const void *handle)
{
  return symbol_index_find(&indexed(s)->by_handle, handle);
}

static void index_handle(struct shim *s, struct rt_symbol *y, const struct function *handle)
{
  if (handle) symbol_index_put(&registered(s)->by_handle, handle, y);
}

/* After a reset the module is loaded again, and the handle stands for what is in it now. */
static CUresult resolve(struct shim *s, struct rt_symbol *y, struct board *on, struct function **out)
{
  struct function **f = &y->function[on->number];
  CUresult r = load(s, y->binary, on);
  if (r != CUDA_SUCCESS) return r;
  struct loaded_module *m = y->binary->module[on->number];
  if (!*f) r = module_get_function(s, m, y->name, f), index_handle(s, y, *f);
  else if (!(*f)->module) r = module_give_function(m, y->name, *f);
  *out = *f;
  return r == CUDA_ERROR_NOT_FOUND ? cudaErrorInvalidDeviceFunction : r;
}

CUresult rt_function(struct shim *s, const void *host, struct function **out)
{
  return rt_function_on(s, host, board_current(s), out);
}

CUresult rt_function_on(struct shim *s, const void *host, struct board *on, struct function **out)
{
  struct function *f = (struct function *)(uintptr_t)host;
  struct rt_symbol *y = find_function(s, host);
  const bool loaded = !y && module_is_function(s, f);
  if (loaded && f->module->board == on) return *out = f, CUDA_SUCCESS;
  if (!y) y = find_handle(s, host);
  if (y) return resolve(s, y, on, out);
  return loaded ? function_on(s, f, on, out) : cudaErrorInvalidDeviceFunction;
}

const void *rt_host_function(struct shim *s, const void *func)
{
  const struct rt_symbol *y = find_function(s, func);
  if (!y) y = find_handle(s, func);
  return y ? y->host : func;
}

CUresult rt_variable(struct shim *s, const void *host, CUdeviceptr *addr, size_t *bytes)
{
  for (struct rt_binary *b = registered(s)->binaries; b; b = b->next) {
    struct rt_symbol *y = find(b->variables, host);
    if (!y) continue;
    struct board *const on = board_current(s);
    CUresult r = load(s, b, on);
    if (r == CUDA_SUCCESS) r = module_get_variable(s, b->module[on->number], y->name, addr, bytes);
    return r == CUDA_ERROR_NOT_FOUND ? cudaErrorInvalidSymbol : r;
  }
  return cudaErrorInvalidSymbol;
}
