/* Recurrent layers are run: the input's products with all steps at once, then a launch per step. */
#include <string.h>

#include "libs/cudnn/dnn_rnn.h"

enum { ALIGN = 256, PRODUCT_ROOM = 1 << 20, ROWS_PER_CTA = 8, UNITS_PER_CTA = 32 };

/* A batch of sequences, walked step by step. */
struct batch {
  const struct dnn_rnn_data *data;
  int64_t rows;    /* of all steps */
  int64_t between; /* rows from a sequence to the next at one step */
};

/* A run on a handle: parts of the reserve (or, for inference, of the workspace), and the caller's weights. */
struct run {
  struct dnn *h;
  const struct dnn_rnn *r;
  struct batch b;
  struct rnn_room {
    size_t layer, gate, cell, cell_before, before, dgate, dgate_r; /* bytes from the reserve on; of a layer's parts */
    size_t output, mask, output_bytes;                             /* of layer l: output + l * output_bytes */
    size_t reserve;
    size_t transposed, carry, dinput, product, workspace;          /* bytes from the workspace on */
  } room;
  char *reserve, *workspace;
  const char *weights;
  const char *function;
};

static size_t up(size_t bytes) { return (bytes + ALIGN - 1) / ALIGN * ALIGN; }

/* Bytes of a number of the type that is computed with. */
static size_t wide(const struct dnn_rnn *r) { return r->type == DNN_DOUBLE ? 8 : 4; }

static bool dropping(const struct run *x) { return x->r->dropout && x->r->dropout->rate > 0 && x->r->dropout->states; }

static dnn_status take_batch(struct run *x, const struct dnn_rnn_data *d)
{
  if (!d || !d->lengths) return DNN_BAD_PARAM;
  x->b.data = d;
  x->b.rows = 0;
  x->b.between = d->layout == RNN_BATCH_MAJOR ? d->steps : 1;
  for (int i = 0; i < d->batch; i++) {
    x->b.rows += d->lengths[i];
    if (d->layout != RNN_PACKED && d->lengths[i] != d->steps)
      return dnn_refuse(x->function, "unpacked sequences of different lengths");
    if (i && d->lengths[i] > d->lengths[i - 1]) return DNN_BAD_PARAM;
  }
  if (d->lengths[0] != d->steps || d->lengths[d->batch - 1] < 1) return DNN_BAD_PARAM;
  const int64_t widest = (int64_t)x->r->hidden * (dnn_rnn_gates(x->r) > 2 ? dnn_rnn_gates(x->r) : 2);
  if (x->b.rows > INT32_MAX / 2 / widest || x->b.rows > INT32_MAX / 2 / x->r->input)
    return dnn_refuse(x->function, "batches of this size");
  return DNN_SUCCESS;
}

/* Sequences that have a step `t`; none before the first and after the last. */
static int active(const struct batch *b, int t)
{
  int n = 0;
  if (t < 0 || t >= b->data->steps) return 0;
  if (b->data->layout != RNN_PACKED) return b->data->batch;
  while (n < b->data->batch && b->data->lengths[n] > t) n++;
  return n;
}

/* The row of the first sequence at step `t`. */
static int64_t row_of(const struct batch *b, int t)
{
  int64_t row = 0;
  if (b->data->layout == RNN_BATCH_MAJOR) return t;
  if (b->data->layout == RNN_SEQ_MAJOR) return (int64_t)t * b->data->batch;
  for (int i = 0; i < b->data->batch; i++) row += b->data->lengths[i] < t ? b->data->lengths[i] : t;
  return row;
}

static void lay_out(struct run *x)
{
  struct rnn_room *m = &x->room;
  const struct dnn_rnn *r = x->r;
  const size_t cells = (size_t)(x->b.rows * r->hidden), all = cells * (size_t)dnn_rnn_gates(r);
  const size_t c = wide(r), t = dnn_bytes(r->type);
  m->gate = 0;
  m->cell = up(all * c);
  m->cell_before = m->cell + up(cells * c);
  m->before = m->cell_before + (r->mode == WS_RNN_LSTM ? up(cells * c) : 0);
  m->dgate = m->before + up(cells * t);
  m->dgate_r = m->dgate + (r->mode == WS_RNN_GRU ? up(all * t) : 0);
  m->layer = m->dgate_r + up(all * t);
  m->output = m->layer * (size_t)(r->layers * r->directions);
  m->output_bytes = up(cells * (size_t)r->directions * t);
  m->mask = m->output + m->output_bytes * (size_t)(r->layers - 1);
  m->reserve = m->mask + (dropping(x) ? up(cells * (size_t)r->directions) * (size_t)(r->layers - 1) : 0);
  m->transposed = 0;
  m->carry = up((size_t)r->hidden * (size_t)r->hidden * (size_t)dnn_rnn_gates(r) * t);
  m->dinput = m->carry + up((size_t)x->b.data->batch * (size_t)r->hidden * c);
  m->product = m->dinput + 2 * m->output_bytes;
  m->workspace = m->product + PRODUCT_ROOM;
}

static dnn_status open_run(struct run *x, const struct dnn_rnn_data *data)
{
  if (!dnn_handle_is(x->h)) return DNN_NOT_INITIALIZED;
  if (!x->r || !x->r->set) return DNN_BAD_PARAM;
  const dnn_status s = take_batch(x, data);
  if (s != DNN_SUCCESS) return s;
  if (data->type != x->r->type) return dnn_refuse(x->function, "sequences of another type than the weights");
  lay_out(x);
  return DNN_SUCCESS;
}

PUBLIC dnn_status cudnnGetRNNTempSpaceSizes(struct dnn *h, const struct dnn_rnn *r, int mode,
                                            const struct dnn_rnn_data *data, size_t *workspace, size_t *reserve)
{
  struct run x = {.h = h, .r = r, .function = "cudnnGetRNNTempSpaceSizes"};
  const dnn_status s = open_run(&x, data);
  if (s != DNN_SUCCESS) return s;
  if (mode < 0 || mode > 1) return DNN_BAD_PARAM;
  if (workspace) *workspace = x.room.workspace + (mode == 0 ? x.room.reserve : 0);
  if (reserve) *reserve = mode == 0 ? 0 : x.room.reserve;
  return DNN_SUCCESS;
}

/* The kernel of the weights' type; they are in this order. */
static enum lib_kernel typed(const struct run *x, enum lib_kernel f32)
{
  enum { PER_TYPE = KERNEL_rnn_forward_b16 - KERNEL_rnn_forward_f32 };
  const int i = x->r->type == DNN_FLOAT ? 0 : x->r->type == DNN_DOUBLE ? 2 : 1;
  return (enum lib_kernel)((int)f32 + i * PER_TYPE);
}

static bool launch_step(const struct run *x, enum lib_kernel f32, const struct ws_rnn_args *a)
{
  const unsigned rows = (unsigned)(a->rows - a->first_row);
  const struct launch_shape shape = {((unsigned)a->hidden + UNITS_PER_CTA - 1) / UNITS_PER_CTA,
                                     (rows + ROWS_PER_CTA - 1) / ROWS_PER_CTA, 1, 128};
  return rows == 0 || kernel_set_launch(&x->h->blas->kernels, typed(x, f32), shape, x->h->stream, a);
}

static bool launch_matrix(const struct run *x, enum lib_kernel f32, const struct ws_rnn_matrix_args *a, unsigned y)
{
  const struct launch_shape shape = {((unsigned)a->columns + 31) / 32, y, 1, 256};
  return kernel_set_launch(&x->h->blas->kernels, typed(x, f32), shape, x->h->stream, a);
}

/* D = op(A) op(B) + beta D of column-major matrices; D of the given type. */
struct product {
  int op_a, op_b;
  int64_t m, n, k;
  const void *a, *b;
  void *d;
  int64_t lda, ldb, ldd;
  int d_type; /* cudaDataType */
  double beta;
};

static dnn_status multiply(const struct run *x, const struct product *p)
{
  const bool twice = x->r->type == DNN_DOUBLE;
  const int type = dnn_blas_type(x->r->type);
  const double one = 1;
  const float one_f = 1, beta_f = (float)p->beta;
  struct blas_product b = {.op_a = p->op_a, .op_b = p->op_b, .m = p->m, .n = p->n, .k = p->k, .batch = 1};
  b.a = (struct blas_operand){p->a, p->lda, 0, type}, b.b = (struct blas_operand){p->b, p->ldb, 0, type};
  b.d = (struct blas_operand){p->d, p->ldd, 0, p->d_type};
  b.c = b.d;
  b.alpha = twice ? (const void *)&one : &one_f, b.beta = twice ? (const void *)&p->beta : &beta_f;
  b.scale = twice ? DATA_R_64F : DATA_R_32F, b.compute = twice ? COMPUTE_64F : COMPUTE_32F;
  b.room = (uint64_t)(uintptr_t)(x->workspace + x->room.product), b.room_bytes = PRODUCT_ROOM;
  return blas_multiply(x->h->blas, &b, x->h->stream, x->function) == BLAS_SUCCESS ? DNN_SUCCESS : DNN_EXECUTION_FAILED;
}

/* One layer and direction. */
struct layer_part {
  int index, direction;
  struct dnn_rnn_place place;
  char *at;           /* its parts of the reserve */
  const void *input;  /* of its layer, [row][place.input] */
  int64_t y_row;      /* elements of a row of what the layer puts out */
  size_t y_first;     /* bytes of a row before this direction's */
};

static struct layer_part part_of(const struct run *x, int layer, int direction, const void *input)
{
  struct layer_part p = {.index = layer * x->r->directions + direction, .direction = direction, .input = input};
  p.place = dnn_rnn_place(x->r, p.index);
  p.at = x->reserve + x->room.layer * (size_t)p.index;
  p.y_row = (int64_t)x->r->hidden * x->r->directions;
  p.y_first = (size_t)direction * (size_t)x->r->hidden * dnn_bytes(x->r->type);
  return p;
}

static const void *weight_at(const struct run *x, int64_t at)
{
  return at < 0 ? NULL : x->weights + (size_t)at * dnn_bytes(x->r->type);
}

static char *output_of(const struct run *x, int layer)
{
  return x->reserve + x->room.output + x->room.output_bytes * (size_t)layer;
}

/* What is the same at every step. */
static struct ws_rnn_args every_step(const struct run *x)
{
  const struct dnn_rnn *r = x->r;
  struct ws_rnn_args a = {.mode = r->mode, .type = dnn_element(r->type), .hidden = r->hidden};
  a.gates = dnn_rnn_gates(r);
  a.gate_row = x->b.between * r->hidden * a.gates;
  a.cell_row = x->b.between * r->hidden;
  return a;
}

/* Where a step's rows are in the parts of the reserve. */
static void at_step(const struct run *x, const struct layer_part *p, int t, struct ws_rnn_args *a)
{
  const size_t cell = (size_t)(row_of(&x->b, t) * x->r->hidden), c = wide(x->r), e = dnn_bytes(x->r->type);
  a->rows = active(&x->b, t);
  a->gate = p->at + x->room.gate + cell * (size_t)a->gates * c;
  a->cell = p->at + x->room.cell + cell * c;
  a->cell_before = p->at + x->room.cell_before + cell * c;
  a->before = p->at + x->room.before + cell * e;
}

/* The states that the sequences of a layer and direction begin with, or end with. */
static void *state_at(const struct run *x, const struct layer_part *p, const void *states)
{
  const size_t bytes = (size_t)x->b.data->batch * (size_t)x->r->hidden * dnn_bytes(x->r->type);
  return states ? (char *)(uintptr_t)states + bytes * (size_t)p->index : NULL;
}

struct states {
  const void *h, *c;
  void *to_h, *to_c;
};

static dnn_status forward_part(const struct run *x, const struct layer_part *p, char *y, const struct states *s)
{
  const struct dnn_rnn *r = x->r;
  struct ws_rnn_args a = every_step(x);
  const int steps = x->b.data->steps, by = p->direction ? -1 : 1;
  const int64_t all = (int64_t)r->hidden * a.gates;
  const size_t e = dnn_bytes(r->type);
  const struct product in = {.op_a = BLAS_OP_T, .op_b = BLAS_OP_N, .m = all, .n = x->b.rows, .k = p->place.input,
                             .a = weight_at(x, p->place.w), .lda = p->place.input, .b = p->input,
                             .ldb = p->place.input, .d = p->at + x->room.gate, .ldd = all,
                             .d_type = r->type == DNN_DOUBLE ? DATA_R_64F : DATA_R_32F};
  const struct ws_rnn_matrix_args turn = {weight_at(x, p->place.r), x->workspace + x->room.transposed, a.type,
                                          (int32_t)all, r->hidden, r->hidden, 0};
  const dnn_status status = multiply(x, &in);
  if (status != DNN_SUCCESS) return status;
  if (!launch_matrix(x, KERNEL_rnn_transpose_f32, &turn, ((unsigned)all + 31) / 32)) return DNN_EXECUTION_FAILED;
  a.weights = turn.to;
  a.bias_w = weight_at(x, p->place.bias_w), a.bias_r = weight_at(x, p->place.bias_r);
  a.start = state_at(x, p, s->h), a.start_cell = state_at(x, p, s->c);
  a.end = state_at(x, p, s->to_h), a.end_cell = state_at(x, p, s->to_c);
  a.y_row = a.chain_row = x->b.between * p->y_row;
  a.chain_cell_row = a.cell_row;
  for (int i = 0; i < steps; i++) {
    const int t = p->direction ? steps - 1 - i : i, from = t - by, to = t + by;
    at_step(x, p, t, &a);
    a.chained = active(&x->b, from) < a.rows ? active(&x->b, from) : a.rows;
    a.last_row = active(&x->b, to) < a.rows ? active(&x->b, to) : a.rows;
    a.y = y + (size_t)(row_of(&x->b, t) * p->y_row) * e + p->y_first;
    if (a.chained) {
      a.chain = y + (size_t)(row_of(&x->b, from) * p->y_row) * e + p->y_first;
      a.chain_cell = p->at + x->room.cell + (size_t)(row_of(&x->b, from) * r->hidden) * wide(r);
    }
    if (!launch_step(x, KERNEL_rnn_forward_f32, &a)) return DNN_EXECUTION_FAILED;
  }
  return DNN_SUCCESS;
}

static dnn_status drop_output(const struct run *x, int layer, char *from, char *to, bool draw)
{
  const struct dnn_rnn *r = x->r;
  const int64_t n = x->b.rows * r->hidden * r->directions;
  char *mask = x->reserve + x->room.mask + up((size_t)n) * (size_t)layer;
  return dnn_dropout_apply(x->h, r->dropout, r->type, n, from, to, mask, draw);
}

PUBLIC dnn_status cudnnRNNForward(struct dnn *h, const struct dnn_rnn *r, int mode, const int32_t *device_lengths,
                                  const struct dnn_rnn_data *xd, const void *input, const struct dnn_rnn_data *yd,
                                  void *y, const struct dnn_tensor *hd, const void *hx, void *hy,
                                  const struct dnn_tensor *cd, const void *cx, void *cy, size_t weight_bytes,
                                  const void *weights, size_t workspace_bytes, void *workspace, size_t reserve_bytes,
                                  void *reserve)
{
  struct run x = {.h = h, .r = r, .weights = weights, .workspace = workspace, .function = "cudnnRNNForward"};
  const bool training = mode == 1;
  dnn_status s = open_run(&x, xd);
  (void)device_lengths, (void)hd, (void)cd;
  if (s != DNN_SUCCESS) return s;
  if (!yd || !input || !y || !weights || !workspace || (training && !reserve)) return DNN_BAD_PARAM_NULL;
  if (xd->width != r->input || yd->width != r->hidden * r->directions || yd->layout != xd->layout)
    return DNN_BAD_PARAM_SHAPE;
  if (weight_bytes < (size_t)dnn_rnn_weights(r) * dnn_bytes(r->type) ||
      workspace_bytes < x.room.workspace + (training ? 0 : x.room.reserve) ||
      (training && reserve_bytes < x.room.reserve))
    return DNN_BAD_PARAM_TOO_SMALL;
  x.reserve = training ? (char *)reserve : x.workspace + x.room.workspace;
  const struct states states = {hx, cx, hy, cy};
  for (int l = 0; l < r->layers && s == DNN_SUCCESS; l++) {
    const void *from = l ? output_of(&x, l - 1) : input;
    char *to = l + 1 < r->layers ? output_of(&x, l) : (char *)y;
    for (int d = 0; d < r->directions && s == DNN_SUCCESS; d++) {
      const struct layer_part p = part_of(&x, l, d, from);
      s = forward_part(&x, &p, to, &states);
    }
    if (s == DNN_SUCCESS && l + 1 < r->layers && training && dropping(&x)) s = drop_output(&x, l, to, to, true);
  }
  return s;
}

struct gradients {
  const void *dhy, *dcy;
  void *dhx, *dcx;
};

/* The states that sequences begin with: of those from `first` on, which begin at the step that was walked last. */
static bool begin(const struct run *x, const struct layer_part *p, int first, const struct ws_rnn_args *step,
                  const struct gradients *g)
{
  struct ws_rnn_args a = *step;
  if (!g->dhx && !g->dcx) return true;
  a.first_row = first;
  a.chained = a.rows;
  a.chain = a.dgate_r;
  a.dstart = state_at(x, p, g->dhx), a.dstart_cell = state_at(x, p, g->dcx);
  return launch_step(x, KERNEL_rnn_backward_f32, &a);
}

static dnn_status backward_part(const struct run *x, const struct layer_part *p, const char *dy,
                                const struct gradients *g)
{
  const struct dnn_rnn *r = x->r;
  struct ws_rnn_args a = every_step(x);
  const int steps = x->b.data->steps, by = p->direction ? -1 : 1;
  const int64_t all = (int64_t)r->hidden * a.gates;
  const size_t e = dnn_bytes(r->type);
  a.weights = weight_at(x, p->place.r);
  a.start = state_at(x, p, g->dhy), a.start_cell = state_at(x, p, g->dcy);
  a.carry = x->workspace + x->room.carry;
  a.chain_cell = a.carry, a.chain_cell_row = r->hidden;
  a.dgate_row = a.chain_row = x->b.between * all;
  a.y_row = x->b.between * p->y_row;
  for (int i = 0; i < steps; i++) {
    const int t = p->direction ? i : steps - 1 - i, after = t + by;
    const size_t row = (size_t)row_of(&x->b, t);
    at_step(x, p, t, &a);
    a.chained = active(&x->b, after) < a.rows ? active(&x->b, after) : a.rows;
    a.dy = dy + row * (size_t)p->y_row * e + p->y_first;
    a.dgate = p->at + x->room.dgate + row * (size_t)all * e;
    a.dgate_r = p->at + x->room.dgate_r + row * (size_t)all * e;
    if (a.chained) a.chain = p->at + x->room.dgate_r + (size_t)(row_of(&x->b, after) * all) * e;
    if (!launch_step(x, KERNEL_rnn_backward_f32, &a)) return DNN_EXECUTION_FAILED;
    const int older = active(&x->b, t - by) < a.rows ? active(&x->b, t - by) : a.rows;
    if (older < a.rows && !begin(x, p, older, &a, g)) return DNN_EXECUTION_FAILED;
  }
  return DNN_SUCCESS;
}

/* The gradient of a layer's input, of which each direction has a part. */
static dnn_status backward_input(const struct run *x, const struct layer_part *p, void *dx)
{
  const int64_t all = (int64_t)x->r->hidden * dnn_rnn_gates(x->r);
  const struct product in = {.op_a = BLAS_OP_N, .op_b = BLAS_OP_N, .m = p->place.input, .n = x->b.rows, .k = all,
                             .a = weight_at(x, p->place.w), .lda = p->place.input, .b = p->at + x->room.dgate,
                             .ldb = all, .d = dx, .ldd = p->place.input, .d_type = dnn_blas_type(x->r->type),
                             .beta = p->direction ? 1 : 0};
  return multiply(x, &in);
}

PUBLIC dnn_status cudnnRNNBackwardData_v8(struct dnn *h, const struct dnn_rnn *r, const int32_t *device_lengths,
                                          const struct dnn_rnn_data *yd, const void *y, const void *dy,
                                          const struct dnn_rnn_data *xd, void *dx, const struct dnn_tensor *hd,
                                          const void *hx, const void *dhy, void *dhx, const struct dnn_tensor *cd,
                                          const void *cx, const void *dcy, void *dcx, size_t weight_bytes,
                                          const void *weights, size_t workspace_bytes, void *workspace,
                                          size_t reserve_bytes, void *reserve)
{
  struct run x = {.h = h, .r = r, .weights = weights, .workspace = workspace, .reserve = reserve,
                  .function = "cudnnRNNBackwardData_v8"};
  dnn_status s = open_run(&x, xd);
  (void)device_lengths, (void)y, (void)hd, (void)cd, (void)hx, (void)cx;
  if (s != DNN_SUCCESS) return s;
  if (!yd || !dy || !dx || !weights || !workspace || !reserve) return DNN_BAD_PARAM_NULL;
  if (weight_bytes < (size_t)dnn_rnn_weights(r) * dnn_bytes(r->type) || workspace_bytes < x.room.workspace ||
      reserve_bytes < x.room.reserve)
    return DNN_BAD_PARAM_TOO_SMALL;
  const struct gradients g = {dhy, dcy, dhx, r->mode == WS_RNN_LSTM ? dcx : NULL};
  for (int l = r->layers - 1; l >= 0 && s == DNN_SUCCESS; l--) {
    char *const between = x.workspace + x.room.dinput;
    const void *from = l + 1 < r->layers ? between + x.room.output_bytes * (size_t)(l & 1) : dy;
    void *to = l ? between + x.room.output_bytes * (size_t)((l - 1) & 1) : dx;
    for (int d = 0; d < r->directions && s == DNN_SUCCESS; d++) {
      const struct layer_part p = part_of(&x, l, d, NULL);
      s = backward_part(&x, &p, from, &g);
      if (s == DNN_SUCCESS) s = backward_input(&x, &p, to);
    }
    if (s == DNN_SUCCESS && l && dropping(&x)) s = drop_output(&x, l - 1, to, to, false);
  }
  return s;
}

/* Gradients of one layer and direction's weights from those of its gates, which the data's gradients left behind. */
static dnn_status backward_weights(const struct run *x, const struct layer_part *p, char *dw, double beta)
{
  const struct dnn_rnn *r = x->r;
  const int64_t all = (int64_t)r->hidden * dnn_rnn_gates(r), rows = x->b.rows;
  const size_t e = dnn_bytes(r->type);
  const int type = dnn_blas_type(r->type);
  const char *dgate = p->at + x->room.dgate, *dgate_r = p->at + x->room.dgate_r;
  const struct product w = {.op_a = BLAS_OP_N, .op_b = BLAS_OP_T, .m = p->place.input, .n = all, .k = rows,
                            .a = p->input, .lda = p->place.input, .b = dgate, .ldb = all,
                            .d = dw + (size_t)p->place.w * e, .ldd = p->place.input, .d_type = type, .beta = beta};
  const struct product u = {.op_a = BLAS_OP_N, .op_b = BLAS_OP_T, .m = r->hidden, .n = all, .k = rows,
                            .a = p->at + x->room.before, .lda = r->hidden, .b = dgate_r, .ldb = all,
                            .d = dw + (size_t)p->place.r * e, .ldd = r->hidden, .d_type = type, .beta = beta};
  dnn_status s = multiply(x, &w);
  if (s == DNN_SUCCESS) s = multiply(x, &u);
  const int64_t bias[2] = {p->place.bias_w, p->place.bias_r};
  for (int i = 0; i < 2 && s == DNN_SUCCESS; i++) {
    const struct ws_rnn_matrix_args sums = {i ? dgate_r : dgate, dw + (size_t)(bias[i] < 0 ? 0 : bias[i]) * e,
                                            dnn_element(r->type), (int32_t)rows, (int32_t)all, all, beta};
    if (bias[i] >= 0 && !launch_matrix(x, KERNEL_rnn_sums_f32, &sums, 1)) s = DNN_EXECUTION_FAILED;
  }
  return s;
}

PUBLIC dnn_status cudnnRNNBackwardWeights_v8(struct dnn *h, const struct dnn_rnn *r, int add,
                                             const int32_t *device_lengths, const struct dnn_rnn_data *xd,
                                             const void *input, const struct dnn_tensor *hd, const void *hx,
                                             const struct dnn_rnn_data *yd, const void *y, size_t weight_bytes,
                                             void *dweights, size_t workspace_bytes, void *workspace,
                                             size_t reserve_bytes, void *reserve)
{
  struct run x = {.h = h, .r = r, .workspace = workspace, .reserve = reserve,
                  .function = "cudnnRNNBackwardWeights_v8"};
  dnn_status s = open_run(&x, xd);
  (void)device_lengths, (void)hd, (void)hx, (void)yd, (void)y;
  if (s != DNN_SUCCESS) return s;
  if (!input || !dweights || !workspace || !reserve) return DNN_BAD_PARAM_NULL;
  if (add < 0 || add > 1) return DNN_BAD_PARAM;
  if (weight_bytes < (size_t)dnn_rnn_weights(r) * dnn_bytes(r->type) || workspace_bytes < x.room.workspace ||
      reserve_bytes < x.room.reserve)
    return DNN_BAD_PARAM_TOO_SMALL;
  for (int l = 0; l < r->layers; l++)
    for (int d = 0; d < r->directions && s == DNN_SUCCESS; d++) {
      const struct layer_part p = part_of(&x, l, d, l ? output_of(&x, l - 1) : input);
      s = backward_weights(&x, &p, dweights, add == 0 ? 1 : 0);
    }
  return s;
}
