/* libcublasLt's choice between ways to do a product: preferences, and what an algorithm can do and is set to. There is
 * one way here, so all of it is kept and told and changes nothing but the workspace. Numbers, sizes and defaults of
 * attributes are those of the reference.
 */
#include <stdlib.h>
#include <string.h>

#include "libs/cublas/blas_lt.h"

_Static_assert(sizeof(struct lt_preference) <= 64 && sizeof(struct lt_algo) == 64, "programs hold them themselves");

blas_status lt_set(struct lt_place p, const void *value, size_t bytes)
{
  if (!value || !p.at || bytes != p.bytes) return BLAS_INVALID_VALUE;
  memcpy(p.at, value, bytes);
  return BLAS_SUCCESS;
}

blas_status lt_get(struct lt_place p, void *value, size_t bytes, size_t *written)
{
  if (!p.at || (bytes && !value) || (!bytes && !written)) return BLAS_INVALID_VALUE;
  if (written) *written = p.bytes;
  if (!bytes) return BLAS_SUCCESS;
  if (bytes < p.bytes) return BLAS_INVALID_VALUE;
  memcpy(value, p.at, p.bytes);
  return BLAS_SUCCESS;
}

PUBLIC blas_status cublasLtMatmulPreferenceInit_internal(struct lt_preference *p, size_t bytes)
{
  enum { ALL_REDUCTIONS = 7, ALIGNED = 256 };
  if (!p || bytes < sizeof *p) return BLAS_INVALID_VALUE;
  *p = (struct lt_preference){.reductions = ALL_REDUCTIONS, .implementations = UINT64_MAX,
                              .align = {ALIGNED, ALIGNED, ALIGNED, ALIGNED}};
  return BLAS_SUCCESS;
}

PUBLIC blas_status cublasLtMatmulPreferenceCreate(struct lt_preference **out)
{
  if (!out) return BLAS_INVALID_VALUE;
  *out = calloc(1, sizeof **out);
  if (!*out) return BLAS_ALLOC_FAILED;
  return cublasLtMatmulPreferenceInit_internal(*out, sizeof **out);
}

PUBLIC blas_status cublasLtMatmulPreferenceDestroy(struct lt_preference *p)
{
  free(p);
  return BLAS_SUCCESS;
}

static struct lt_place of_preference(struct lt_preference *p, int what)
{
  switch (what) {
  case 0: return PLACE(p->search);
  case 1: return PLACE(p->workspace);
  case 2: return PLACE(p->older[0]);
  case 3: return PLACE(p->reductions);
  case 4: return PLACE(p->older[1]);
  case 5: return PLACE(p->align[0]);
  case 6: return PLACE(p->align[1]);
  case 7: return PLACE(p->align[2]);
  case 8: return PLACE(p->align[3]);
  case 9: return PLACE(p->waves);
  case 10: return PLACE(p->older[2]);
  case 11: return PLACE(p->older[3]);
  case 12: return PLACE(p->implementations);
  default: return (struct lt_place){NULL, 0};
  }
}

PUBLIC blas_status cublasLtMatmulPreferenceSetAttribute(struct lt_preference *p, int what, const void *value,
                                                        size_t bytes)
{
  return p ? lt_set(of_preference(p, what), value, bytes) : BLAS_INVALID_VALUE;
}

PUBLIC blas_status cublasLtMatmulPreferenceGetAttribute(struct lt_preference *p, int what, void *value, size_t bytes,
                                                        size_t *written)
{
  return p ? lt_get(of_preference(p, what), value, bytes, written) : BLAS_INVALID_VALUE;
}

struct lt_algo lt_only_algo(void)
{
  return (struct lt_algo){.split = 1};
}

PUBLIC blas_status cublasLtMatmulAlgoInit(struct blas *h, int compute, int scale, int a, int b, int c, int d, int id,
                                          struct lt_algo *algo)
{
  (void)compute, (void)scale, (void)a, (void)b, (void)c, (void)d;
  if (!blas_handle_is(h)) return BLAS_NOT_INITIALIZED;
  if (!algo || id != 0) return BLAS_INVALID_VALUE;
  *algo = lt_only_algo();
  return BLAS_SUCCESS;
}

PUBLIC blas_status cublasLtMatmulAlgoGetIds(struct blas *h, int compute, int scale, int a, int b, int c, int d,
                                            int wanted, int ids[], int *n)
{
  (void)compute, (void)scale, (void)a, (void)b, (void)c, (void)d;
  if (!blas_handle_is(h)) return BLAS_NOT_INITIALIZED;
  if (wanted < 1 || !ids || !n) return BLAS_INVALID_VALUE;
  ids[0] = 0;
  *n = 1;
  return BLAS_SUCCESS;
}

static struct lt_place of_algo(struct lt_algo *a, int what)
{
  switch (what) {
  case 0: return PLACE(a->id);
  case 1: return PLACE(a->tile);
  case 2: return PLACE(a->split);
  case 3: return PLACE(a->reduction);
  case 4: return PLACE(a->swizzle);
  case 5: return PLACE(a->custom);
  case 6: return PLACE(a->stages);
  case 7: return PLACE(a->inner);
  case 8: return PLACE(a->cluster);
  default: return (struct lt_place){NULL, 0};
  }
}

PUBLIC blas_status cublasLtMatmulAlgoConfigSetAttribute(struct lt_algo *algo, int what, const void *value, size_t bytes)
{
  enum { ID };
  return algo && what != ID ? lt_set(of_algo(algo, what), value, bytes) : BLAS_INVALID_VALUE;
}

PUBLIC blas_status cublasLtMatmulAlgoConfigGetAttribute(struct lt_algo *algo, int what, void *value, size_t bytes,
                                                        size_t *written)
{
  return algo ? lt_get(of_algo(algo, what), value, bytes, written) : BLAS_INVALID_VALUE;
}

/* What the only algorithm can do, one row for each attribute (CUBLASLT_ALGO_CAP_...): tiles, stages and splits are not
 * to be chosen, of the lists of their kinds there is the one of no kind. Operands need their elements' alignment. */
enum { OF_4_BYTES = 4, OF_8_BYTES = 8, POINTERS_HOST_DEVICE = 3 };

static const struct capability {
  int what;
  uint32_t bytes, value;
} capabilities[] = {
    {0, OF_4_BYTES, 0},           /* splits of k */
    {1, OF_4_BYTES, 0},           /* reductions of them */
    {2, OF_4_BYTES, 0},           /* swizzling of CTAs */
    {3, OF_4_BYTES, 1},           /* batches by strides */
    {4, OF_4_BYTES, 1},           /* D that is not C */
    {5, OF_4_BYTES, 0},           /* a part that is filled */
    {6, OF_4_BYTES, 0},           /* tiles */
    {7, OF_4_BYTES, 0},           /* the largest custom option */
    {10, OF_4_BYTES, 0},          /* orders of its own */
    {11, OF_4_BYTES, POINTERS_HOST_DEVICE},
    {12, OF_4_BYTES, EPI_ALL},
    {13, OF_4_BYTES, 0},          /* stages */
    {14, OF_4_BYTES, 0},          /* negative leading dimensions */
    {15, OF_8_BYTES, 0},          /* flags of the implementation: none is told */
    {16, OF_4_BYTES, 1}, {17, OF_4_BYTES, 1}, {18, OF_4_BYTES, 1}, {19, OF_4_BYTES, 1}, /* least alignments */
    {21, OF_4_BYTES, 1},          /* batches by pointers */
    {22, OF_4_BYTES, 0},          /* emulation */
};

PUBLIC blas_status cublasLtMatmulAlgoCapGetAttribute(const struct lt_algo *algo, int what, void *value, size_t bytes,
                                                     size_t *written)
{
  for (size_t i = 0; algo && i < sizeof capabilities / sizeof capabilities[0]; i++) {
    const struct capability *c = &capabilities[i];
    uint64_t told = c->value;
    if (c->what == what) return lt_get((struct lt_place){&told, c->bytes}, value, bytes, written);
  }
  return BLAS_INVALID_VALUE;
}

/* Nothing is found by search, so that nothing is remembered: the capacity is 0 whatever is asked for. */
PUBLIC blas_status cublasLtHeuristicsCacheGetCapacity(size_t *capacity)
{
  if (!capacity) return BLAS_INVALID_VALUE;
  *capacity = 0;
  return BLAS_SUCCESS;
}

PUBLIC blas_status cublasLtHeuristicsCacheSetCapacity(size_t capacity)
{
  (void)capacity;
  return BLAS_SUCCESS;
}

/* Which instructions of the CPU the choice may use: none is used, and none was forbidden before. */
PUBLIC unsigned cublasLtDisableCpuInstructionsSetMask(unsigned mask)
{
  (void)mask;
  return 0;
}

/* A logger that has nothing to say: what is refused is told on standard error by name. */
PUBLIC blas_status cublasLtLoggerSetCallback(const void *callback) { return (void)callback, BLAS_SUCCESS; }
PUBLIC blas_status cublasLtLoggerSetFile(const void *file) { return (void)file, BLAS_SUCCESS; }
PUBLIC blas_status cublasLtLoggerOpenFile(const char *name) { return name ? BLAS_SUCCESS : BLAS_INVALID_VALUE; }
PUBLIC blas_status cublasLtLoggerSetLevel(int level) { return (void)level, BLAS_SUCCESS; }
PUBLIC blas_status cublasLtLoggerSetMask(int mask) { return (void)mask, BLAS_SUCCESS; }
PUBLIC blas_status cublasLtLoggerForceDisable(void) { return BLAS_SUCCESS; }
