#include "libs/cudnn/dnn_steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libs/cublas/blas_types.h"
#include "libs/cudnn/dnn_attention.h"
#include "libs/cudnn/dnn_step.h"

static const int64_t MOST_ELEMENTS = INT64_C(1) << 36;

/* Attributes of operations, numbers of cudnnBackendAttributeName_t. */
enum {
  ATTR_PW_T = 758, ATTR_PW_AXIS = 9, ATTR_TENSOR_BY_VALUE = 908, ATTR_TENSOR_CONSTANT = 910, ATTR_TENSOR_RAGGED = 913,
  ATTR_TENSOR_RAGGED_UNIT = 914,
  ATTR_MATMUL_A = 1520, ATTR_MATMUL_B = 1521, ATTR_MATMUL_C = 1522, ATTR_MATMUL_M = 1525,
  ATTR_MATMUL_N = 1526, ATTR_MATMUL_K = 1527,
  ATTR_REDUCE_OPERATOR = 1600, ATTR_REDUCE_X = 1610, ATTR_REDUCE_Y = 1611, ATTR_REDUCE_DESCRIPTOR = 1612,
  ATTR_RESHAPE_X = 2200, ATTR_RESHAPE_Y = 2201, ATTR_TRANSPOSE_X = 3200, ATTR_TRANSPOSE_Y = 3201,
  ATTR_TRANSPOSE_ORDER = 3202,
  ATTR_RNG_KIND = 2300, ATTR_RNG_PROBABILITY = 2305, ATTR_RNG_Y = 2310, ATTR_RNG_SEED = 2311,
  ATTR_RNG_DESCRIPTOR = 2312, ATTR_RNG_OFFSET = 2313,
  ATTR_SDPA_Q = 2800, ATTR_SDPA_K = 2801, ATTR_SDPA_V = 2802, ATTR_SDPA_O = 2803, ATTR_SDPA_STATS = 2804,
  ATTR_SDPA_SCALE = 2805, ATTR_SDPA_BLOCK_MASK = 2806, ATTR_SDPA_PAGES_V = 2808,
  ATTR_SDPA_LENGTH_Q = 2809, ATTR_SDPA_LENGTH_KV = 2810, ATTR_SDPA_SUBGRAPH = 2811,
  ATTR_SDPA_SUB_INPUT = 2812, ATTR_SDPA_SUB_OUTPUT = 2813, ATTR_SDPA_SOFTMAX = 2814, ATTR_SDPA_DROPOUT = 2815,
  ATTR_SDPA_OFFSET = 2816, ATTR_SDPA_DUMP = 2817,
  ATTR_SDPA_DROPOUT_LAST = 2818, ATTR_SDPA_LENGTHS_Q = 2820, ATTR_SDPA_LENGTHS_KV = 2821, ATTR_SDPA_FP8 = 2822,
  ATTR_SDPA_LAST = 2829,
  ATTR_BAND_X = 3000, ATTR_BAND_LENGTH_KV = 3001, ATTR_BAND_LENGTH_Q = 3002, ATTR_BAND_LEFT = 3003,
  ATTR_BAND_RIGHT = 3004, ATTR_BAND_B = 3005, ATTR_BAND_Y = 3006, ATTR_BAND_COMPARISON = 3007,
  ATTR_BAND_LENGTHS = 3008, ATTR_BAND_LENGTHS_Q = 3009,
  ATTR_SOFTMAX_X = 3100, ATTR_SOFTMAX_Y = 3101, ATTR_SOFTMAX_STATS = 3102, ATTR_SOFTMAX_MAX = 3103,
  ATTR_SOFTMAX_SINK = 3105,
};
enum { TYPE_BOOLEAN = 11, TYPE_INT64 = 10, TYPE_INT32 = 4 };

static bool has(const struct dnn_backend *d, int first, int last)
{
  for (int name = first; name <= last; name++)
    if (dnn_backend_find(d, name)) return true;
  return false;
}

/* Numbers without a fraction are FP32 in the workspace: indices and what comparisons say. */
static int element_of(int type, bool in_room)
{
  if (in_room && (type == TYPE_BOOLEAN || type == TYPE_INT64 || type == TYPE_INT32)) return WS_F32;
  if (type == TYPE_INT32) return WS_I32;
  if (type == DNN_DOUBLE) return -1;
  return dnn_element(type);
}

static unsigned bytes_of(int element) { return element == WS_F16 || element == WS_BF16 ? 2 : 4; }

/* Sizes and strides, behind as many sizes of 1 as are missing. */
static bool read_shape(const struct dnn_backend *d, struct ws_graph_tensor *t)
{
  int64_t size[DNN_DIMS], stride[DNN_DIMS], elements = 1;
  const int n = dnn_backend_integers(d, ATTR_TENSOR_SIZES, size, DNN_DIMS);
  if (n < 1 || n > WS_GRAPH_DIMS || dnn_backend_integers(d, ATTR_TENSOR_STRIDES, stride, DNN_DIMS) != n) return false;
  for (int i = 0; i < WS_GRAPH_DIMS; i++) {
    const int from = i - (WS_GRAPH_DIMS - n);
    t->size[i] = from < 0 ? 1 : size[from];
    t->stride[i] = from < 0 ? 0 : stride[from];
    if (t->size[i] < 1 || t->stride[i] < 0 || t->size[i] > MOST_ELEMENTS / elements) return false;
    if (t->size[i] > 1 && t->stride[i] > MOST_ELEMENTS / t->size[i]) return false;
    elements *= t->size[i];
  }
  return true;
}

static int64_t reach(const struct ws_graph_tensor *t)
{
  int64_t last = 0;
  for (int i = 0; i < WS_GRAPH_DIMS; i++) last += (t->size[i] - 1) * t->stride[i];
  return last + 1;
}

/* The place of a tensor between operations; it gets one when it is first named. -1: there are too many. */
static int64_t place_of(struct dnn_steps *s, int64_t number, const struct ws_graph_tensor *t)
{
  for (int i = 0; i < s->rooms; i++)
    if (s->room[i].number == number) return s->room[i].at;
  if (s->rooms == MOST_ROOMS) return -1;
  const int64_t at = s->bytes, bytes = reach(t) * bytes_of(t->type);
  s->room[s->rooms++] = (struct room_place){number, at};
  s->bytes += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  return at;
}

static struct step_operand none(void)
{
  struct step_operand o = {.where = WHERE_NOWHERE, .begins = -1};
  for (int i = 0; i < WS_GRAPH_DIMS; i++) o.t.size[i] = 1;
  return o;
}

static struct step_operand constant(float value)
{
  struct step_operand o = none();
  o.where = WHERE_CONSTANT;
  o.t.value = value;
  return o;
}

/* Between operations elements lie in the order of their dimensions: strides that graphs give may overlap. */
static void lay_out(struct ws_graph_tensor *t)
{
  int64_t stride = 1;
  for (int i = WS_GRAPH_DIMS; i-- > 0; stride *= t->size[i]) t->stride[i] = stride;
}

/* Where the batches of a tensor begin, when another one says it. */
static void read_begins(struct dnn_steps *s, const struct dnn_backend *d, struct step_operand *o)
{
  struct ws_graph_tensor t;
  if (!dnn_backend_find(d, ATTR_TENSOR_RAGGED)) return;
  s->ragged = true;
  const struct dnn_backend *begins = dnn_backend_part(d, ATTR_TENSOR_RAGGED, 0, BACKEND_TENSOR);
  const int64_t type = begins ? dnn_backend_integer(begins, ATTR_TENSOR_TYPE, -1) : -1;
  if ((type != TYPE_INT32 && type != TYPE_INT64) || !read_shape(begins, &t) || t.size[BATCH] <= o->t.size[BATCH] ||
      dnn_backend_integer(begins, ATTR_TENSOR_VIRTUAL, 0)) {
    s->failed = true;
    return;
  }
  o->begins = dnn_backend_integer(begins, ATTR_TENSOR_ID, -1);
  o->begins_step = t.stride[BATCH];
  o->begins_unit = dnn_backend_integer(d, ATTR_TENSOR_RAGGED_UNIT, 1);
  o->begins_wide = type == TYPE_INT64;
}

static struct step_operand of_tensor(struct dnn_steps *s, const struct dnn_backend *d)
{
  struct step_operand o = none();
  if (!d || d->kind != BACKEND_TENSOR || !read_shape(d, &o.t)) {
    s->failed = true;
    return none();
  }
  read_begins(s, d, &o);
  const bool virtual = dnn_backend_integer(d, ATTR_TENSOR_VIRTUAL, 0) != 0;
  const int type = (int)dnn_backend_integer(d, ATTR_TENSOR_TYPE, -1);
  o.number = dnn_backend_integer(d, ATTR_TENSOR_ID, -1);
  o.t.type = element_of(type, virtual);
  if (dnn_backend_find(d, ATTR_TENSOR_CONSTANT)) return constant((float)dnn_backend_real(d, ATTR_TENSOR_CONSTANT, 0));
  o.where = virtual ? WHERE_ROOM : dnn_backend_integer(d, ATTR_TENSOR_BY_VALUE, 0) ? WHERE_VALUE : WHERE_GIVEN;
  if (o.where == WHERE_ROOM) {
    lay_out(&o.t);
    o.number = place_of(s, o.number, &o.t);
  }
  if (o.t.type < 0 || o.number < 0) s->failed = true;
  return o;
}
static struct step_operand part(struct dnn_steps *s, const struct dnn_backend *op, int name)
{
  return of_tensor(s, dnn_backend_part(op, name, 0, BACKEND_TENSOR));
}
static struct step_operand maybe(struct dnn_steps *s, const struct dnn_backend *op, int name)
{
  return dnn_backend_find(op, name) ? part(s, op, name) : none();
}

/* A tensor of our own in the workspace, contiguous. */
static struct step_operand own(struct dnn_steps *s, const struct ws_graph_tensor *sizes, int type)
{
  struct step_operand o = none();
  o.where = WHERE_ROOM;
  o.t = (struct ws_graph_tensor){.type = type};
  memcpy(o.t.size, sizes->size, sizeof o.t.size);
  lay_out(&o.t);
  o.number = place_of(s, -2 - s->rooms, &o.t);
  if (o.number < 0) s->failed = true;
  return o;
}

static struct step *add(struct dnn_steps *s, enum lib_kernel kernel)
{
  struct step *t = &s->step[s->steps];
  if (s->steps == MOST_STEPS) s->failed = true; /* what stands behind the last one is never run */
  else s->steps++;
  *t = (struct step){.kernel = kernel, .args = {.alpha = 1, .beta = 1}};
  for (int i = 0; i < WS_ROLES; i++) t->operand[i] = none();
  return t;
}

/* Whether sizes of `t` are those of `whole`, 1 or, in groups, a divisor, from dimension `first` to before `end`. */
enum fit { FIT_BROADCAST, FIT_GROUPS };
static bool fits(const struct step_operand *t, const struct step_operand *whole, int first, int end, enum fit fit)
{
  for (int i = first; i < end; i++) {
    const int64_t n = t->t.size[i], of = whole->t.size[i];
    if (n != of && n != 1 && (fit != FIT_GROUPS || of % n != 0)) return false;
  }
  return true;
}

static struct step *add_product(struct dnn_steps *s, struct step_operand a, struct step_operand b,
                                struct step_operand c)
{
  struct step *t = add(s, KERNEL_graph_product);
  t->operand[WS_X] = a, t->operand[WS_B] = b, t->operand[WS_Y] = c;
  if (a.t.size[COLUMNS] != b.t.size[ROWS] || a.t.size[ROWS] != c.t.size[ROWS] ||
      b.t.size[COLUMNS] != c.t.size[COLUMNS] || !fits(&a, &c, 0, ROWS, FIT_GROUPS) ||
      !fits(&b, &c, 0, ROWS, FIT_GROUPS))
    s->failed = true;
  return t;
}

static struct step *add_elements(struct dnn_steps *s, int mode, struct step_operand x, struct step_operand b,
                                 struct step_operand y)
{
  struct step *t = add(s, KERNEL_graph_elements);
  t->operand[WS_X] = x, t->operand[WS_B] = b, t->operand[WS_Y] = y;
  t->args.mode = mode;
  if (!fits(&x, &y, 0, WS_GRAPH_DIMS, FIT_BROADCAST) || !fits(&b, &y, 0, WS_GRAPH_DIMS, FIT_BROADCAST))
    s->failed = true;
  return t;
}

static void add_softmax(struct dnn_steps *s, struct step_operand x, struct step_operand y, struct step_operand stats)
{
  struct step *t = add(s, KERNEL_graph_softmax);
  t->operand[WS_X] = x, t->operand[WS_Y] = y, t->operand[WS_STATS] = stats;
  for (int i = 0; i < WS_GRAPH_DIMS; i++)
    if (y.t.size[i] != x.t.size[i] || (stats.where && stats.t.size[i] != (i == COLUMNS ? 1 : x.t.size[i])))
      s->failed = true;
}

static bool mode_is_known(int64_t mode)
{
  static const int16_t known[] = {
    WS_ADD, WS_MUL, WS_MIN, WS_MAX, WS_SQRT, WS_ADD_SQUARE, WS_DIV, WS_POW, WS_SUB, WS_ABS, WS_EXP, WS_LOG, WS_NEG,
    WS_RSQRT, WS_ERF, WS_IDENTITY, WS_RECIPROCAL, WS_RELU_FORWARD, WS_TANH_FORWARD, WS_SIGMOID_FORWARD, WS_EQUAL,
    WS_NOT_EQUAL, WS_GREATER, WS_NOT_LESS, WS_LESS, WS_NOT_GREATER, WS_AND, WS_OR, WS_NOT, WS_INDEX, WS_SELECT};
  for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++)
    if (known[i] == mode) return true;
  return false;
}

static bool plain_relu(const struct dnn_backend *what)
{
  return dnn_backend_real(what, ATTR_RELU_LOWER, 0) == 0 && dnn_backend_real(what, ATTR_RELU_SLOPE, 0) == 0 &&
         !(dnn_backend_real(what, ATTR_RELU_UPPER, 3e38) < 3e38);
}

static void read_pointwise(struct dnn_steps *s, const struct dnn_backend *op)
{
  const struct dnn_backend *what = dnn_backend_part(op, ATTR_PW_DESCRIPTOR, 0, BACKEND_POINTWISE);
  const int64_t mode = what ? dnn_backend_integer(what, ATTR_POINTWISE_MODE, -1) : -1;
  const struct step_operand x = part(s, op, ATTR_PW_X), b = maybe(s, op, ATTR_PW_B), y = part(s, op, ATTR_PW_Y);
  struct step *t = add_elements(s, (int)mode, x, b, y);
  if (!mode_is_known(mode) || (mode == WS_RELU_FORWARD && !plain_relu(what))) {
    s->failed = true;
    return;
  }
  t->operand[WS_T] = maybe(s, op, ATTR_PW_T);
  t->args.alpha = (float)dnn_backend_real(op, ATTR_PW_ALPHA1, 1);
  t->args.beta = (float)dnn_backend_real(op, ATTR_PW_ALPHA2, 1);
  if (mode == WS_SELECT && (!t->operand[WS_T].where || !fits(&t->operand[WS_T], &y, 0, WS_GRAPH_DIMS, FIT_BROADCAST)))
    s->failed = true;
  if (mode != WS_INDEX) return;
  int64_t size[DNN_DIMS];
  const struct dnn_backend *to = dnn_backend_part(op, ATTR_PW_Y, 0, BACKEND_TENSOR);
  const int n = to ? dnn_backend_integers(to, ATTR_TENSOR_SIZES, size, DNN_DIMS) : 0;
  const int64_t axis = dnn_backend_integer(what, ATTR_PW_AXIS, -1);
  if (axis < 0 || axis >= n) s->failed = true;
  else t->args.axis = (int)axis + WS_GRAPH_DIMS - n;
}

static void read_reduction(struct dnn_steps *s, const struct dnn_backend *op)
{
  const struct dnn_backend *what = dnn_backend_part(op, ATTR_REDUCE_DESCRIPTOR, 0, BACKEND_REDUCTION);
  const int64_t mode = what ? dnn_backend_integer(what, ATTR_REDUCE_OPERATOR, -1) : -1;
  struct step *t = add(s, KERNEL_graph_reduce);
  t->operand[WS_X] = part(s, op, ATTR_REDUCE_X), t->operand[WS_Y] = part(s, op, ATTR_REDUCE_Y);
  t->args.mode = (int)mode;
  if (mode < WS_SUM_OF || mode > WS_MEAN_OF ||
      !fits(&t->operand[WS_Y], &t->operand[WS_X], 0, WS_GRAPH_DIMS, FIT_GROUPS))
    s->failed = true;
}

/* A number of each batch on the device, a length; NOWHERE: the operation has none. */
static struct step_operand length(struct dnn_steps *s, const struct dnn_backend *op, int name)
{
  const struct step_operand o = maybe(s, op, name);
  int64_t others = 1;
  for (int i = 0; i < WS_GRAPH_DIMS; i++)
    if (i != BATCH) others *= o.t.size[i];
  if (o.where && (o.where == WHERE_ROOM || others != 1 || (o.where == WHERE_GIVEN && o.t.type != WS_I32)))
    s->failed = true;
  return o;
}

/* Rows and terms behind a batch's lengths are not there: zeros are put out, nothing is read. What is in columns behind
 * one is left open. */
static void read_product(struct dnn_steps *s, const struct dnn_backend *op)
{
  const struct step_operand a = part(s, op, ATTR_MATMUL_A), b = part(s, op, ATTR_MATMUL_B);
  struct step *t = add_product(s, a, b, part(s, op, ATTR_MATMUL_C));
  t->operand[WS_ROWS] = length(s, op, ATTR_MATMUL_M), t->operand[WS_T] = length(s, op, ATTR_MATMUL_K);
  length(s, op, ATTR_MATMUL_N);
}

/* 64 bits on the device. */
static struct step_operand word(struct dnn_steps *s, const struct dnn_backend *op, int name)
{
  const struct dnn_backend *d = dnn_backend_part(op, name, 0, BACKEND_TENSOR);
  struct step_operand o = none();
  if (!d || dnn_backend_integer(d, ATTR_TENSOR_TYPE, -1) != TYPE_INT64 ||
      dnn_backend_integer(d, ATTR_TENSOR_VIRTUAL, 0) || dnn_backend_integer(d, ATTR_TENSOR_BY_VALUE, 0)) {
    s->failed = true;
    return o;
  }
  o.where = WHERE_GIVEN;
  o.number = dnn_backend_integer(d, ATTR_TENSOR_ID, -1);
  return o;
}

static void add_random(struct dnn_steps *s, float probability, struct step_operand seed, struct step_operand offset,
                       struct step_operand y)
{
  struct step *t = add(s, KERNEL_graph_random);
  t->args.probability = probability;
  t->operand[WS_X] = seed, t->operand[WS_B] = offset, t->operand[WS_Y] = y;
}

static void read_random(struct dnn_steps *s, const struct dnn_backend *op)
{
  const struct dnn_backend *what = dnn_backend_part(op, ATTR_RNG_DESCRIPTOR, 0, BACKEND_RNG);
  if (!what || dnn_backend_integer(what, ATTR_RNG_KIND, 0) != 0) s->failed = true; /* Bernoulli's */
  const float probability = what ? (float)dnn_backend_real(what, ATTR_RNG_PROBABILITY, 0.5) : 0;
  const struct step_operand seed = word(s, op, ATTR_RNG_SEED), offset = word(s, op, ATTR_RNG_OFFSET);
  add_random(s, probability, seed, offset, part(s, op, ATTR_RNG_Y));
}

/* y = mode(x, b) in the workspace, as large as both. */
static struct step_operand joined(struct dnn_steps *s, int mode, struct step_operand x, struct step_operand b)
{
  struct ws_graph_tensor sizes = x.t;
  for (int i = 0; i < WS_GRAPH_DIMS; i++)
    if (sizes.size[i] == 1) sizes.size[i] = b.t.size[i];
  const struct step_operand y = own(s, &sizes, WS_F32);
  add_elements(s, mode, x, b, y);
  return y;
}

/* x mode b where there is a b. */
static struct step_operand shifted(struct dnn_steps *s, int mode, struct step_operand x, struct step_operand b)
{
  return b.where ? joined(s, mode, x, b) : x;
}

/* The numbers of rows or columns. */
static struct step_operand indices(struct dnn_steps *s, const struct step_operand *of, int axis)
{
  struct ws_graph_tensor sizes = none().t;
  sizes.size[axis] = of->t.size[axis];
  const struct step_operand y = own(s, &sizes, WS_F32);
  add_elements(s, WS_INDEX, none(), none(), y)->args.axis = axis;
  return y;
}

/* The length of each batch: given, or between two neighbours of a sum of lengths. */
static struct step_operand length_of(struct dnn_steps *s, const struct dnn_backend *op, int name, int sums)
{
  if (!dnn_backend_find(op, sums)) return length(s, op, name);
  struct step_operand from = length(s, op, sums), to;
  if (from.where != WHERE_GIVEN || from.t.size[BATCH] < 2) s->failed = true;
  else from.t.size[BATCH]--;
  to = from;
  to.skip = from.t.stride[BATCH];
  return joined(s, WS_SUB, to, from);
}

static void select_where(struct dnn_steps *s, struct step_operand keeps, struct step_operand x, struct step_operand b,
                         struct step_operand y)
{
  add_elements(s, WS_SELECT, x, b, y)->operand[WS_T] = keeps;
  if (!fits(&keeps, &y, 0, WS_GRAPH_DIMS, FIT_BROADCAST)) s->failed = true;
}

/* x on one side of a diagonal, b on the other: where row + shift is at least the column, or column + left is above the
 * row, diagonals of the lengths of sequences where these are given. */
static void read_band(struct dnn_steps *s, const struct dnn_backend *op)
{
  const struct step_operand x = part(s, op, ATTR_BAND_X), b = part(s, op, ATTR_BAND_B), y = part(s, op, ATTR_BAND_Y);
  const struct step_operand kv = length_of(s, op, ATTR_BAND_LENGTH_KV, ATTR_BAND_LENGTHS);
  const struct step_operand q = length_of(s, op, ATTR_BAND_LENGTH_Q, ATTR_BAND_LENGTHS_Q);
  const struct step_operand left = maybe(s, op, ATTR_BAND_LEFT), right = maybe(s, op, ATTR_BAND_RIGHT);
  const struct step_operand row = indices(s, &y, ROWS), column = indices(s, &y, COLUMNS);
  const int64_t mode = dnn_backend_integer(op, ATTR_BAND_COMPARISON, -1);
  struct step_operand keeps;
  if (mode < WS_GREATER || mode > WS_NOT_GREATER || (left.where && right.where)) s->failed = true;
  if (left.where) {
    const struct step_operand place = shifted(s, WS_SUB, joined(s, WS_ADD, column, left), kv);
    keeps = joined(s, (int)mode, shifted(s, WS_ADD, place, q), row);
  } else {
    const struct step_operand place = shifted(s, WS_SUB, shifted(s, WS_ADD, row, kv), q);
    keeps = joined(s, (int)mode, shifted(s, WS_ADD, place, right), column);
  }
  select_where(s, keeps, x, b, y);
}

/* -inf outside of sequences of the lengths given. */
static struct step_operand cut(struct dnn_steps *s, struct step_operand x, struct step_operand q,
                               struct step_operand kv)
{
  struct step_operand keeps = none();
  if (q.where) keeps = joined(s, WS_LESS, indices(s, &x, ROWS), q);
  if (kv.where) {
    const struct step_operand in = joined(s, WS_LESS, indices(s, &x, COLUMNS), kv);
    keeps = q.where ? joined(s, WS_AND, keeps, in) : in;
  }
  if (!keeps.where) return x;
  const struct step_operand y = own(s, &x.t, WS_F32);
  select_where(s, keeps, x, constant(-INFINITY), y);
  return y;
}

static void read_operation(struct dnn_steps *s, const struct dnn_backend *op);

/* Between the scores and softmax: what is masked or added. */
static struct step_operand read_subgraph(struct dnn_steps *s, const struct dnn_backend *op, struct step_operand scores)
{
  const struct dnn_attribute *sub = dnn_backend_find(op, ATTR_SDPA_SUBGRAPH);
  if (!sub) return scores;
  if (s->rooms == MOST_ROOMS) {
    s->failed = true;
    return scores;
  }
  s->room[s->rooms++] = (struct room_place){dnn_backend_integer(op, ATTR_SDPA_SUB_INPUT, -1), scores.number};
  for (int64_t i = 0; i < sub->count; i++) {
    const struct dnn_backend *d = dnn_backend_part(op, ATTR_SDPA_SUBGRAPH, i, -1);
    const struct dnn_attribute *inner = d && d->kind == BACKEND_GRAPH ? dnn_backend_find(d, ATTR_GRAPH_OPS) : NULL;
    if (!inner) read_operation(s, d);
    for (int64_t j = 0; inner && j < inner->count; j++)
      read_operation(s, dnn_backend_part(d, ATTR_GRAPH_OPS, j, -1));
  }
  scores.number = place_of(s, dnn_backend_integer(op, ATTR_SDPA_SUB_OUTPUT, -1), &scores.t);
  return scores;
}

/* Some weights become 0, the others larger. */
static struct step_operand drop_weights(struct dnn_steps *s, const struct dnn_backend *op, struct step_operand weights)
{
  const double probability = dnn_backend_real(op, ATTR_SDPA_DROPOUT_LAST, 0);
  if (!has(op, ATTR_SDPA_DROPOUT, ATTR_SDPA_DROPOUT_LAST) || probability == 0) return weights;
  const bool dump = dnn_backend_find(op, ATTR_SDPA_DUMP);
  const struct step_operand bits = dump ? part(s, op, ATTR_SDPA_DUMP) : own(s, &weights.t, WS_F32);
  add_random(s, (float)(1 - probability), word(s, op, ATTR_SDPA_DROPOUT), word(s, op, ATTR_SDPA_OFFSET), bits);
  return joined(s, WS_MUL, joined(s, WS_MUL, weights, bits), constant((float)(1 / (1 - probability))));
}

/* O = softmax(Q K^T scale) V. Of K and V there may be fewer heads: neighbours share one. */
static void read_attention(struct dnn_steps *s, const struct dnn_backend *op)
{
  if (has(op, ATTR_SDPA_BLOCK_MASK, ATTR_SDPA_PAGES_V) || has(op, ATTR_SDPA_FP8, ATTR_SDPA_LAST)) s->failed = true;
  const struct step_operand q = part(s, op, ATTR_SDPA_Q), v = part(s, op, ATTR_SDPA_V), o = part(s, op, ATTR_SDPA_O);
  const struct step_operand scale = dnn_backend_find(op, ATTR_SDPA_SCALE) ? part(s, op, ATTR_SDPA_SCALE) : constant(1);
  const struct step_operand length_q = length_of(s, op, ATTR_SDPA_LENGTH_Q, ATTR_SDPA_LENGTHS_Q);
  const struct step_operand length_kv = length_of(s, op, ATTR_SDPA_LENGTH_KV, ATTR_SDPA_LENGTHS_KV);
  struct step_operand k = part(s, op, ATTR_SDPA_K);
  struct ws_graph_tensor sizes = q.t;
  sizes.size[COLUMNS] = k.t.size[ROWS];
  const struct step_operand products = own(s, &sizes, WS_F32), weights = own(s, &sizes, WS_F32);
  const struct step_operand scores = own(s, &sizes, WS_F32);
  const int64_t size = k.t.size[ROWS], stride = k.t.stride[ROWS];
  k.t.size[ROWS] = k.t.size[COLUMNS], k.t.stride[ROWS] = k.t.stride[COLUMNS];
  k.t.size[COLUMNS] = size, k.t.stride[COLUMNS] = stride;
  add_product(s, q, k, products);
  add_elements(s, WS_MUL, products, scale, scores);
  const struct step_operand masked = cut(s, read_subgraph(s, op, scores), length_q, length_kv);
  const struct dnn_backend *softmax = dnn_backend_part(op, ATTR_SDPA_SOFTMAX, 0, BACKEND_OP_SOFTMAX);
  if (dnn_backend_find(op, ATTR_SDPA_SOFTMAX) && (!softmax || has(softmax, ATTR_SOFTMAX_MAX, ATTR_SOFTMAX_SINK)))
    s->failed = true;
  if (softmax) add_softmax(s, masked, weights, maybe(s, softmax, ATTR_SOFTMAX_STATS));
  else add_softmax(s, masked, weights, maybe(s, op, ATTR_SDPA_STATS));
  struct step *last = add_product(s, drop_weights(s, op, weights), v, o);
  last->operand[WS_ROWS] = length_q, last->operand[WS_T] = length_kv;
}

/* Dimensions of more than one element in the order of their strides, the largest first. Returns how many. */
static int by_stride(const struct ws_graph_tensor *t, int *order)
{
  int n = 0;
  for (int i = 0; i < WS_GRAPH_DIMS; i++) {
    if (t->size[i] == 1) continue;
    int at = n++;
    for (; at > 0 && t->stride[order[at - 1]] < t->stride[i]; at--) order[at] = order[at - 1];
    order[at] = i;
  }
  return n;
}

/* The same elements in the same order of memory under other dimensions: only those whose dimensions change places. */
static void read_reshape(struct dnn_steps *s, const struct dnn_backend *op)
{
  const struct step_operand x = part(s, op, ATTR_RESHAPE_X), y = part(s, op, ATTR_RESHAPE_Y);
  struct ws_graph_tensor from, to;
  int in_x[WS_GRAPH_DIMS], in_y[WS_GRAPH_DIMS];
  if (s->failed || !read_shape(dnn_backend_part(op, ATTR_RESHAPE_X, 0, BACKEND_TENSOR), &from) ||
      !read_shape(dnn_backend_part(op, ATTR_RESHAPE_Y, 0, BACKEND_TENSOR), &to)) {
    s->failed = true;
    return;
  }
  struct step_operand turned = x;
  const int n = by_stride(&from, in_x);
  if (by_stride(&to, in_y) != n) s->failed = true;
  for (int i = 0; i < WS_GRAPH_DIMS; i++) turned.t.size[i] = 1, turned.t.stride[i] = 0;
  for (int i = 0; i < n && !s->failed; i++) {
    if (from.size[in_x[i]] != to.size[in_y[i]]) s->failed = true;
    turned.t.size[in_y[i]] = x.t.size[in_x[i]], turned.t.stride[in_y[i]] = x.t.stride[in_x[i]];
  }
  add_elements(s, WS_IDENTITY, turned, none(), y);
}

/* The same elements in the order of other dimensions. */
static void read_transpose(struct dnn_steps *s, const struct dnn_backend *op)
{
  struct step_operand x = part(s, op, ATTR_TRANSPOSE_X), turned = x;
  const struct step_operand y = part(s, op, ATTR_TRANSPOSE_Y);
  int64_t order[DNN_DIMS];
  const int n = dnn_backend_integers(op, ATTR_TRANSPOSE_ORDER, order, DNN_DIMS), before = WS_GRAPH_DIMS - n;
  if (n < 1 || n > WS_GRAPH_DIMS) s->failed = true;
  for (int i = 0; i < n && !s->failed; i++) {
    const int64_t from = before + order[i];
    if (order[i] < 0 || order[i] >= n) s->failed = true;
    else turned.t.size[before + i] = x.t.size[from], turned.t.stride[before + i] = x.t.stride[from];
  }
  add_elements(s, WS_IDENTITY, turned, none(), y);
}

static void read_operation(struct dnn_steps *s, const struct dnn_backend *op)
{
  if (!op || s->failed) {
    s->failed = true;
    return;
  }
  switch (op->kind) {
  case BACKEND_OP_POINTWISE: read_pointwise(s, op); break;
  case BACKEND_OP_REDUCTION: read_reduction(s, op); break;
  case BACKEND_OP_MATMUL:
    read_product(s, op);
    break;
  case BACKEND_OP_SOFTMAX:
    if (has(op, ATTR_SOFTMAX_MAX, ATTR_SOFTMAX_SINK)) s->failed = true;
    add_softmax(s, part(s, op, ATTR_SOFTMAX_X), part(s, op, ATTR_SOFTMAX_Y), maybe(s, op, ATTR_SOFTMAX_STATS));
    break;
  case BACKEND_OP_RESHAPE: read_reshape(s, op); break;
  case BACKEND_OP_RNG: read_random(s, op); break;
  case BACKEND_OP_BAND: read_band(s, op); break;
  case BACKEND_OP_TRANSPOSE: read_transpose(s, op); break;
  case BACKEND_OP_SDPA: read_attention(s, op); break;
  default: s->failed = true;
  }
}

bool dnn_step_same_place(const struct step_operand *a, const struct step_operand *b)
{
  return a->where == b->where && a->number == b->number && (a->where == WHERE_ROOM || a->where == WHERE_GIVEN);
}

/* Whether `reader` takes what `writer` puts out. */
static bool needs(const struct step *reader, const struct step *writer)
{
  static const int out[] = {WS_Y, WS_STATS};
  static const int in[] = {WS_X, WS_B, WS_T, WS_ROWS};
  for (int i = 0; i < 4; i++)
    for (int o = 0; o < 2; o++)
      if (dnn_step_same_place(&reader->operand[in[i]], &writer->operand[out[o]])) return true;
  return false;
}

static bool is_ready(const struct dnn_steps *s, int i, int first)
{
  for (int j = first; j < s->steps; j++)
    if (j != i && needs(&s->step[i], &s->step[j])) return false;
  return true;
}

/* Graphs name operations in any order: each is moved behind those whose results it takes. Otherwise the order stays. */
static void sort(struct dnn_steps *s)
{
  for (int first = 0; first < s->steps && !s->failed; first++) {
    int i = first;
    while (i < s->steps && !is_ready(s, i, first)) i++;
    if (i == s->steps) {
      s->failed = true; /* a circle */
      return;
    }
    const struct step next = s->step[i];
    memmove(&s->step[first + 1], &s->step[first], (size_t)(i - first) * sizeof next);
    s->step[first] = next;
  }
}

struct dnn_steps *dnn_steps_read(const struct dnn_backend *graph)
{
  const struct dnn_attribute *ops = dnn_backend_find(graph, ATTR_GRAPH_OPS);
  struct dnn_steps *s = ops ? calloc(1, sizeof *s) : NULL;
  if (!s) return NULL;
  for (int64_t i = 0; i < ops->count && !s->failed; i++)
    read_operation(s, dnn_backend_part(graph, ATTR_GRAPH_OPS, i, -1));
  sort(s);
  if (!s->failed) s->attention = dnn_attention_find(s);
  if (!s->failed && s->steps && (s->attention || !s->ragged)) return s;
  dnn_steps_free(s);
  return NULL;
}

void dnn_steps_free(struct dnn_steps *s)
{
  if (s) dnn_attention_free(s->attention);
  free(s);
}

int64_t dnn_steps_room(const struct dnn_steps *s)
{
  return s->attention ? dnn_attention_room(s->attention) : s->bytes;
}

float dnn_step_number(const void *p, int type)
{
  uint16_t half;
  float f;
  memcpy(&half, p, sizeof half);
  if (type == WS_F16) return (float)blas_half(half);
  const uint32_t bits = (uint32_t)half << 16;
  memcpy(&f, type == WS_BF16 ? (const void *)&bits : p, sizeof f);
  return type == WS_I32 ? (float)*(const int32_t *)p : f;
}

/* Finds the operand's elements. False: the program gave no pointer. */
static bool find(const struct step_operand *o, const struct dnn_backend *variant, char *room, struct ws_graph_tensor *t)
{
  *t = o->t;
  if (o->where == WHERE_NOWHERE || o->where == WHERE_CONSTANT) return true;
  void *at = o->where == WHERE_ROOM ? room : dnn_backend_pointer(variant, o->number);
  if (!at) return false;
  if (o->where == WHERE_VALUE) t->value = dnn_step_number(at, o->t.type);
  else if (o->where == WHERE_ROOM) t->at = room + o->number;
  else t->at = (char *)at + o->skip * (int64_t)bytes_of(o->t.type);
  return true;
}

static struct launch_shape shape_of(const struct step *t)
{
  enum { MOST_CTAS = 4096 };
  const struct ws_graph_tensor *y = &t->operand[WS_Y].t;
  int64_t n = 1;
  for (int i = 0; i < ROWS; i++) n *= y->size[i];
  if (t->kernel == KERNEL_graph_product) n *= (y->size[ROWS] + 31) / 32 * ((y->size[COLUMNS] + 31) / 32);
  else if (t->kernel == KERNEL_graph_softmax) n = (n * y->size[ROWS] + 7) / 8;
  else if (t->kernel == KERNEL_graph_reduce) n = (n * y->size[ROWS] * y->size[COLUMNS] + 7) / 8;
  else n = (n * y->size[ROWS] * y->size[COLUMNS] + 255) / 256;
  return (struct launch_shape){(unsigned)(n < MOST_CTAS ? n : MOST_CTAS), 1, 1, 256};
}

dnn_status dnn_steps_run(struct dnn *h, const struct dnn_steps *s, const struct dnn_backend *variant)
{
  const struct dnn_attribute *given = dnn_backend_find(variant, ATTR_VARIANT_WORKSPACE);
  char *room = given && given->type == VALUE_POINTER && given->count == 1 ? *(char **)given->values : NULL;
  if (s->attention) return dnn_attention_run(h, s->attention, variant, room);
  for (int i = 0; i < s->steps; i++) {
    const struct step *t = &s->step[i];
    struct ws_graph_args a = t->args;
    for (int r = 0; r < WS_ROLES; r++)
      if (!find(&t->operand[r], variant, room, &a.tensor[r])) return DNN_BAD_PARAM_NULL;
    if (!kernel_set_launch(&h->blas->kernels, t->kernel, shape_of(t), h->stream, &a)) return DNN_EXECUTION_FAILED;
  }
  return DNN_SUCCESS;
}
