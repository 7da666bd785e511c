/* The host interface of libcurand. */
#include <stdio.h>
#include <stdlib.h>

#include "libs/curand/rand_types.h"

#define MAGIC UINT64_C(0x7761727072616e64)
enum { MOST_LAMBDA = 1 << 26 };

static rand_status refuse(const char *function, const char *why)
{
  fprintf(stderr, "warpstep: %s: warpstep's own cuRAND does not have %s (docs/libraries.md)\n", function, why);
  return RAND_TYPE_ERROR;
}

static bool is_one(const struct generator *g)
{
  return g && g->magic == MAGIC;
}
static bool quasi(const struct generator *g)
{
  return g->kind == WS_SOBOL;
}

static rand_status set_kind(struct generator *g, int type)
{
  switch (type) {
  case RNG_DEFAULT: case RNG_XORWOW: g->kind = WS_XORWOW; return RAND_SUCCESS;
  case RNG_MRG32K3A: g->kind = WS_MRG32K3A; return RAND_SUCCESS;
  case RNG_MTGP32: case RNG_MT19937: g->kind = WS_MT19937; g->seed = 5489; return RAND_SUCCESS;
  case RNG_PHILOX: g->kind = WS_PHILOX; return RAND_SUCCESS;
  case RNG_QUASI_DEFAULT: case RNG_SOBOL32: case RNG_SOBOL64: case RNG_SCRAMBLED_SOBOL32: case RNG_SCRAMBLED_SOBOL64:
    g->kind = WS_SOBOL;
    g->sobol64 = type == RNG_SOBOL64 || type == RNG_SCRAMBLED_SOBOL64;
    g->scrambled = type == RNG_SCRAMBLED_SOBOL32 || type == RNG_SCRAMBLED_SOBOL64;
    return RAND_SUCCESS;
  default: return RAND_TYPE_ERROR;
  }
}

static rand_status create(struct generator **out, int type, bool host)
{
  if (!out) return RAND_TYPE_ERROR;
  struct generator *g = calloc(1, sizeof *g);
  *out = NULL;
  if (!g) return RAND_ALLOCATION_FAILED;
  rand_status s = set_kind(g, type);
  if (!s && !host && !kernel_set_open(&g->kernels)) s = RAND_INITIALIZATION_FAILED;
  if (!s && !host && g->kernels.capability < 75) s = RAND_ARCH_MISMATCH;
  if (s) {
    free(g);
    return s;
  }
  g->magic = MAGIC;
  g->host = host;
  g->dimensions = 1;
  *out = g;
  return RAND_SUCCESS;
}

PUBLIC rand_status curandCreateGenerator(struct generator **out, int type)
{
  return create(out, type, false);
}
PUBLIC rand_status curandCreateGeneratorHost(struct generator **out, int type)
{
  return create(out, type, true);
}

static void release(uint64_t *at)
{
  if (*at) cuMemFree_v2(*at);
  *at = 0;
}

PUBLIC rand_status curandDestroyGenerator(struct generator *g)
{
  if (!is_one(g)) return RAND_NOT_INITIALIZED;
  if (!g->host) {
    cuStreamSynchronize(g->stream);
    kernel_set_close(&g->kernels);
  }
  release(&g->device_state);
  release(&g->device_directions);
  release(&g->device_table);
  free(g->state);
  free(g->directions);
  free(g->table);
  g->magic = 0;
  free(g);
  return RAND_SUCCESS;
}

PUBLIC rand_status curandGetVersion(int *version)
{
  if (!version) return RAND_OUT_OF_RANGE;
  *version = RAND_VERSION;
  return RAND_SUCCESS;
}
PUBLIC rand_status curandGetProperty(int what, int *value)
{
  if (!value || what < 0 || what > 2) return RAND_OUT_OF_RANGE;
  *value = what == 0 ? RAND_VERSION / 1000 : what == 1 ? RAND_VERSION / 100 % 10 : 0;
  return RAND_SUCCESS;
}
PUBLIC rand_status curandSetStream(struct generator *g, driver_stream stream)
{
  if (!is_one(g)) return RAND_NOT_INITIALIZED;
  g->stream = stream;
  return RAND_SUCCESS;
}
PUBLIC rand_status curandSetPseudoRandomGeneratorSeed(struct generator *g, unsigned long long seed)
{
  if (!is_one(g)) return RAND_NOT_INITIALIZED;
  if (quasi(g)) return RAND_TYPE_ERROR;
  g->seed = seed;
  g->ready = false;
  return RAND_SUCCESS;
}
PUBLIC rand_status curandSetGeneratorOffset(struct generator *g, unsigned long long offset)
{
  if (!is_one(g)) return RAND_NOT_INITIALIZED;
  if (g->kind == WS_MT19937) return RAND_TYPE_ERROR; /* as documented */
  g->offset = offset;
  g->ready = false;
  return RAND_SUCCESS;
}
PUBLIC rand_status curandSetGeneratorOrdering(struct generator *g, int order)
{
  if (!is_one(g)) return RAND_NOT_INITIALIZED;
  if (quasi(g)) return order == ORDER_QUASI ? RAND_SUCCESS : RAND_OUT_OF_RANGE;
  return order >= ORDER_PSEUDO_FIRST && order <= ORDER_PSEUDO_LAST ? RAND_SUCCESS : RAND_OUT_OF_RANGE;
}
PUBLIC rand_status curandSetQuasiRandomGeneratorDimensions(struct generator *g, unsigned dimensions)
{
  if (!is_one(g)) return RAND_NOT_INITIALIZED;
  if (!quasi(g)) return RAND_TYPE_ERROR;
  if (dimensions < 1 || dimensions > 20000) return RAND_OUT_OF_RANGE;
  if (dimensions > RAND_MOST_DIMENSIONS) {
    refuse(__func__, "more than 160 dimensions");
    return RAND_OUT_OF_RANGE;
  }
  g->dimensions = dimensions;
  g->ready = false;
  return RAND_SUCCESS;
}

/* Copies to the device, into memory made for it. */
static bool upload(uint64_t *at, const void *from, size_t bytes)
{
  release(at);
  if (!bytes) return true;
  if (cuMemAlloc_v2(at, bytes) == DRIVER_OK) return cuMemcpyHtoD_v2(*at, from, bytes) == DRIVER_OK;
  *at = 0;
  return false;
}

static rand_status prepare(struct generator *g)
{
  if (!is_one(g)) return RAND_NOT_INITIALIZED;
  if (g->ready) return RAND_SUCCESS;
  if (!rand_seed(g) || (quasi(g) && !rand_directions(g))) return RAND_ALLOCATION_FAILED;
  if (!g->host) {
    if (!upload(&g->device_state, g->state, rand_state_words(g) * sizeof *g->state)) return RAND_ALLOCATION_FAILED;
    if (quasi(g) && !upload(&g->device_directions, g->directions,
                            g->dimensions * sizeof *g->directions * WS_SOBOL_WORDS))
      return RAND_ALLOCATION_FAILED;
  }
  g->ready = true;
  return RAND_SUCCESS;
}
PUBLIC rand_status curandGenerateSeeds(struct generator *g) { return prepare(g); }

static struct launch_shape lines(uint64_t n)
{
  enum { MOST_CTAS = 1024 };
  const uint64_t ctas = (n + 255) / 256;
  return (struct launch_shape){(unsigned)(ctas < MOST_CTAS ? ctas : MOST_CTAS), 1, 1, 256};
}

/* `count` words of a sequence, or of numbers of Sobol's, to `out`. */
static rand_status words(struct generator *g, void *out, uint64_t count, bool wide)
{
  struct ws_rand_args a = {.kind = g->kind, .seed = g->seed, .position = g->position, .count = count, .out = out,
                           .state = g->host ? g->state : (uint32_t *)(uintptr_t)g->device_state, .wide = wide};
  a.directions = g->host ? g->directions : (const uint64_t *)(uintptr_t)g->device_directions;
  a.points = quasi(g) ? count / g->dimensions : 0;
  g->position += quasi(g) ? a.points : count;
  if (g->host) {
    rand_host_words(&a);
    return RAND_SUCCESS;
  }
  struct launch_shape shape = lines(count);
  enum lib_kernel k = KERNEL_rand_sobol;
  if (g->kind == WS_PHILOX) k = KERNEL_rand_philox, shape = lines(count / 4 + 2);
  if (g->kind == WS_MT19937) k = KERNEL_rand_mt19937, shape = lines(1);
  if (g->kind == WS_XORWOW || g->kind == WS_MRG32K3A) k = KERNEL_rand_lanes, shape = lines(WS_RAND_LANES);
  return kernel_set_launch(&g->kernels, k, shape, g->stream, &a) ? RAND_SUCCESS : RAND_LAUNCH_FAILURE;
}

/* `count` numbers of the form in `n`. */
static rand_status generate(struct generator *g, void *out, size_t count, struct ws_rand_number_args n)
{
  const rand_status s = prepare(g);
  if (s) return s;
  if (!out && count) return RAND_OUT_OF_RANGE;
  if (quasi(g) ? count % g->dimensions : (n.form == WS_NORMAL || n.form == WS_LOG_NORMAL) && count % 2)
    return RAND_LENGTH_NOT_MULTIPLE;
  if (!count) return RAND_SUCCESS;
  const bool wide = n.wide;
  const rand_status w = words(g, out, quasi(g) || !wide ? count : 2 * (uint64_t)count, wide);
  if (w || n.form == WS_RAW) return w;
  n.count = count, n.out = out, n.quasi = quasi(g);
  n.scale = g->kind == WS_MRG32K3A ? 1.0 / 4294967088.0 : 0x1p-32; /* L'Ecuyer's, of 1 .. 4294967087 */
  n.shift = g->kind == WS_MRG32K3A ? 0 : 0.5;
  if (g->host) {
    rand_host_numbers(&n);
    return RAND_SUCCESS;
  }
  const struct launch_shape shape = lines(count);
  return kernel_set_launch(&g->kernels, KERNEL_rand_numbers, shape, g->stream, &n) ? RAND_SUCCESS
                                                                                   : RAND_LAUNCH_FAILURE;
}

PUBLIC rand_status curandGenerate(struct generator *g, unsigned *out, size_t n)
{
  if (is_one(g) && g->sobol64) return RAND_TYPE_ERROR; /* as documented: 64 bits are for it */
  return generate(g, out, n, (struct ws_rand_number_args){.form = WS_RAW});
}
PUBLIC rand_status curandGenerateLongLong(struct generator *g, unsigned long long *out, size_t n)
{
  if (is_one(g) && !g->sobol64) return RAND_TYPE_ERROR;
  return generate(g, out, n, (struct ws_rand_number_args){.form = WS_RAW, .wide = 1});
}
PUBLIC rand_status curandGenerateUniform(struct generator *g, float *out, size_t n)
{
  return generate(g, out, n, (struct ws_rand_number_args){.form = WS_UNIFORM});
}
PUBLIC rand_status curandGenerateUniformDouble(struct generator *g, double *out, size_t n)
{
  return generate(g, out, n, (struct ws_rand_number_args){.form = WS_UNIFORM, .wide = 1});
}

#define NORMAL(name, T, f, w)                                                                    \
  PUBLIC rand_status name(struct generator *g, T *out, size_t n, T mean, T deviation)            \
  {                                                                                              \
    const struct ws_rand_number_args a = {.form = f, .wide = w, .mean = mean, .deviation = deviation}; \
    return generate(g, out, n, a);                                                               \
  }
NORMAL(curandGenerateNormal, float, WS_NORMAL, 0)
NORMAL(curandGenerateNormalDouble, double, WS_NORMAL, 1)
NORMAL(curandGenerateLogNormal, float, WS_LOG_NORMAL, 0)
NORMAL(curandGenerateLogNormalDouble, double, WS_LOG_NORMAL, 1)

PUBLIC rand_status curandGeneratePoisson(struct generator *g, unsigned *out, size_t n, double lambda)
{
  if (!is_one(g)) return RAND_NOT_INITIALIZED;
  if (!(lambda > 0 && lambda <= MOST_LAMBDA)) return RAND_OUT_OF_RANGE;
  if (lambda != g->lambda) { /* a run may read the table that is there */
    if (!g->host) cuStreamSynchronize(g->stream);
    if (!rand_poisson_table(g, lambda)) return RAND_ALLOCATION_FAILED;
    if (!g->host && !upload(&g->device_table, g->table, g->entries * sizeof *g->table)) return RAND_ALLOCATION_FAILED;
  }
  struct ws_rand_number_args a = {.form = WS_POISSON, .least = g->least, .entries = g->entries};
  a.table = g->host ? g->table : (const double *)(uintptr_t)g->device_table;
  return generate(g, out, n, a);
}

#define REFUSE(name, what) \
  PUBLIC rand_status name(void) { return refuse(#name, what); }
REFUSE(curandCreatePoissonDistribution, "tables of distributions for kernels")
REFUSE(curandDestroyDistribution, "tables of distributions for kernels")
REFUSE(curandGeneratePoissonMethod, "this function")
REFUSE(curandGenerateBinomial, "this function")
REFUSE(curandGenerateBinomialMethod, "this function")
