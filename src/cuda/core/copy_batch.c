#include "cuda/core/copy_batch.h"

#include "cuda/core/enqueue.h"
#include "cuda/core/shim.h"

/* CUmemcpySrcAccessOrder, CUmemcpyFlags */
enum { ORDER_STREAM = 1, ORDER_ANY = 3, PREFER_OVERLAP = 1 };

static bool is_attribute(int order, unsigned flags)
{
  return order >= ORDER_STREAM && order <= ORDER_ANY && flags <= PREFER_OVERLAP;
}

/* Every copy has its attributes: the first set begins with copy 0, the others later each. */
static bool is_batch(const struct copy_batch *b)
{
  if (!b->n || !b->dst || !b->src || !b->bytes) return false;
  if (!b->n_attributes || b->n_attributes > b->n || !b->attribute || !b->first || b->first[0]) return false;
  for (size_t i = 0; i < b->n_attributes; i++)
    if (!is_attribute(b->attribute[i].order, b->attribute[i].flags) || b->first[i] >= b->n ||
        (i && b->first[i] <= b->first[i - 1]))
      return false;
  return true;
}

/* NULL: none, or the legacy one, which batches must not use. */
static struct stream *stream_for_batch(struct shim *s, CUstream h)
{
  struct stream *st = stream_of(s, h);
  return st && st->order.legacy ? NULL : st;
}

static CUresult run(struct shim *s, struct copy *c, struct stream *st)
{
  return copy_direct(s, c, COPY_DEFAULT) ? enqueue_copy(s, c, st, false) : CUDA_ERROR_INVALID_VALUE;
}

CUresult copy_batch_run(struct shim *s, const struct copy_batch *b, size_t *bad, CUstream stream)
{
  struct stream *st = stream_for_batch(s, stream);
  CUresult r = CUDA_SUCCESS;
  if (bad) *bad = SIZE_MAX;
  if (!st || !is_batch(b)) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; r == CUDA_SUCCESS && i < b->n; i++) {
    struct copy c = copy_linear(b->dst[i], b->src[i], b->bytes[i]);
    r = run(s, &c, st);
    if (r != CUDA_SUCCESS && bad) *bad = i;
  }
  return r;
}

/* Bytes of an array's texels. 0: no such array. */
static unsigned texel_of(struct shim *s, const CUmemcpy3DOperand *o)
{
  const struct array *array = array_of(s, o->array.array);
  return array ? texel_bytes(&array->image) : 0;
}

/* Bytes of what extents and offsets count: texels of an array, else bytes. 0: no such array, or their texels differ. */
static unsigned unit_of(struct shim *s, const CUmemcpy3DOperand *a, const CUmemcpy3DOperand *b)
{
  const bool from = a->type == OPERAND_ARRAY, to = b->type == OPERAND_ARRAY;
  if (from && to && texel_of(s, a) != texel_of(s, b)) return 0;
  return from ? texel_of(s, a) : to ? texel_of(s, b) : 1;
}

static bool side_of(struct shim *s, const CUmemcpy3DOperand *o, unsigned unit, const struct copy *c,
                    struct copy_side *out)
{
  uint64_t pitch, slice, x;
  if (o->type == OPERAND_POINTER) {
    const uint64_t rows = o->pointer.layer ? o->pointer.layer : c->height;
    if (__builtin_mul_overflow(o->pointer.row, unit, &pitch)) return false;
    if (!pitch) pitch = c->width;
    if (pitch < c->width || rows < c->height) return false;
    if (__builtin_mul_overflow(pitch, rows, &slice)) return false;
    *out = (struct copy_side){ .addr = o->pointer.p, .pitch = pitch, .slice = slice };
    return true;
  }
  const struct array *a = o->type == OPERAND_ARRAY ? array_of(s, o->array.array) : NULL;
  const cudaPos *at = &o->array.offset;
  return a && !__builtin_mul_overflow(at->x, unit, &x) &&
         array_side(a, x, at->y, at->z, c->width, c->height, c->depth, out);
}

static CUresult run_3d(struct shim *s, const CUDA_MEMCPY3D_BATCH_OP *op, struct stream *st)
{
  unsigned unit = unit_of(s, &op->src, &op->dst);
  if (!unit || !is_attribute(op->order, op->flags)) return CUDA_ERROR_INVALID_VALUE;
  struct copy c = { .height = op->extent.height, .depth = op->extent.depth };
  if (__builtin_mul_overflow(op->extent.width, unit, &c.width)) return CUDA_ERROR_INVALID_VALUE;
  if (!c.width || !c.height || !c.depth || !side_of(s, &op->src, unit, &c, &c.src) ||
      !side_of(s, &op->dst, unit, &c, &c.dst))
    return CUDA_ERROR_INVALID_VALUE;
  return run(s, &c, st);
}

CUresult copy_batch_run_3d(struct shim *s, const CUDA_MEMCPY3D_BATCH_OP *op, size_t n, unsigned long long flags,
                           size_t *bad, CUstream stream)
{
  struct stream *st = stream_for_batch(s, stream);
  CUresult r = CUDA_SUCCESS;
  if (bad) *bad = SIZE_MAX;
  if (!st || !n || !op || flags) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; r == CUDA_SUCCESS && i < n; i++) {
    r = run_3d(s, &op[i], st);
    if (r != CUDA_SUCCESS && bad) *bad = i;
  }
  return r;
}
