#include "libs/cudnn/dnn_attention.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libs/kernels/attention_args.h"

enum { MOST_FACTORS = 6, MOST_FILLS = 8 };

/* Numbers that are multiplied. */
struct factors {
  struct step_operand of[MOST_FACTORS];
  int n;
};

/* row * `row` + column * `column` + base + the sum of sign * operand */
struct affine {
  int row, column;
  int64_t base;
  struct step_operand of[WS_LIMIT_TERMS];
  int sign[WS_LIMIT_TERMS], terms;
};

struct bound {
  enum ws_attention_limit limit;
  struct affine value;
};

struct dnn_attention {
  bool backward;
  struct step_operand q, k, v, o, stats, bias, slope, seed, offset;
  struct step_operand d_o, d_q, d_k, d_v, sums;
  struct factors scale, weight_scale, slope_scale, sums_scale;
  struct bound bound[WS_LIMITS];
  int bounds;
  struct step_operand fill[MOST_FILLS]; /* what masks put in the place of scores */
  int fills;
  float keep;
};

/* A search: the steps, and which of them are part of what was found. */
struct search {
  const struct dnn_steps *s;
  struct dnn_attention *a;
  bool used[MOST_STEPS];
  const struct step *bits; /* that decide which weights stay */
};

static bool is_scalar(const struct step_operand *o)
{
  return o->where == WHERE_VALUE || o->where == WHERE_CONSTANT;
}

/* The step that puts a tensor out; NULL: none, or not in the given role. Marked as part of what is found. */
static const struct step *maker(struct search *f, const struct step_operand *o, enum lib_kernel kernel, int mode)
{
  for (int i = 0; i < f->s->steps; i++) {
    const struct step *t = &f->s->step[i];
    if (!dnn_step_same_place(&t->operand[WS_Y], o)) continue;
    const bool elements = kernel == KERNEL_graph_elements;
    if (t->kernel != kernel || ((elements || kernel == KERNEL_graph_reduce) && t->args.mode != mode)) return NULL;
    if (elements && (t->args.alpha != 1 || t->args.beta != 1)) return NULL;
    f->used[i] = true;
    return t;
  }
  return NULL;
}

static const struct step *elements(struct search *f, const struct step_operand *o, int mode)
{
  return maker(f, o, KERNEL_graph_elements, mode);
}

/* A step that reads a tensor as x. */
static const struct step *reader(struct search *f, const struct step_operand *o, enum lib_kernel kernel, int mode)
{
  for (int i = 0; i < f->s->steps; i++) {
    const struct step *t = &f->s->step[i];
    if (t->kernel != kernel || t->args.mode != mode || !dnn_step_same_place(&t->operand[WS_X], o)) continue;
    f->used[i] = true;
    return t;
  }
  return NULL;
}

/* o = rest * a number, once or several times: `o` becomes the rest. False: too many. */
static bool take_factors(struct search *f, struct step_operand *o, struct factors *to)
{
  for (const struct step *t = elements(f, o, WS_MUL); t; t = elements(f, o, WS_MUL)) {
    const struct step_operand *x = &t->operand[WS_X], *b = &t->operand[WS_B];
    if (is_scalar(x) == is_scalar(b)) return true;
    if (to->n == MOST_FACTORS) return false;
    to->of[to->n++] = is_scalar(x) ? *x : *b;
    *o = is_scalar(x) ? *b : *x;
  }
  return true;
}

static const struct step *random_bits(struct search *f, const struct step_operand *o)
{
  return o->where == WHERE_ROOM ? maker(f, o, KERNEL_graph_random, 0) : NULL;
}

/* o = rest * random bits: the same ones wherever they are met. */
static bool take_bits(struct search *f, struct step_operand *o)
{
  const struct step *t = elements(f, o, WS_MUL);
  if (!t) return false;
  const struct step_operand x = t->operand[WS_X], b = t->operand[WS_B];
  const struct step *bits = random_bits(f, &b);
  *o = bits ? x : b;
  if (!bits) bits = random_bits(f, &x);
  if (!bits || (f->bits && f->bits != bits)) return false;
  f->bits = bits;
  return true;
}

static bool add_term(struct affine *e, const struct step_operand *o, int sign)
{
  if (o->where == WHERE_CONSTANT) {
    if (!(fabsf(o->t.value) < 1 << 30) || o->t.value != floorf(o->t.value)) return false;
    e->base += sign * (int64_t)o->t.value;
    return true;
  }
  if (o->where == WHERE_GIVEN && o->t.type != WS_I32) return false;
  if (e->terms == WS_LIMIT_TERMS) return false;
  e->of[e->terms] = *o;
  e->sign[e->terms++] = sign;
  return true;
}

/* Adds sign * o: made of indices, numbers and lengths by sums and differences. */
static bool read_affine(struct search *f, const struct step_operand *o, int sign, struct affine *e, int depth)
{
  const struct step *t;
  if (depth > 8 || abs(e->row) > 4 || abs(e->column) > 4) return false;
  if (o->where != WHERE_ROOM) return add_term(e, o, sign);
  if ((t = elements(f, o, WS_INDEX))) {
    if (t->args.axis == ROWS) e->row += sign;
    else if (t->args.axis == COLUMNS) e->column += sign;
    return t->args.axis == ROWS || t->args.axis == COLUMNS;
  }
  const bool plus = (t = elements(f, o, WS_ADD));
  if (!t) t = elements(f, o, WS_SUB);
  return t && read_affine(f, &t->operand[WS_X], sign, e, depth + 1) &&
         read_affine(f, &t->operand[WS_B], plus ? sign : -sign, e, depth + 1);
}

/* Keeps what is at least 0. */
static bool add_bound(struct dnn_attention *a, struct affine *e)
{
  if (a->bounds == WS_LIMITS) return false;
  struct bound *b = &a->bound[a->bounds++];
  if (e->row == -1 && e->column == 0) b->limit = WS_ROWS_BELOW;
  else if (e->row == 0 && e->column == -1) b->limit = WS_COLUMNS_BELOW;
  else if (e->row == 1 && e->column == -1) b->limit = WS_AT_MOST;
  else if (e->row == -1 && e->column == 1) b->limit = WS_AT_LEAST;
  else return false;
  if (b->limit == WS_ROWS_BELOW || b->limit == WS_COLUMNS_BELOW) e->base++;
  if (b->limit == WS_AT_LEAST) {
    e->base = -e->base;
    for (int i = 0; i < e->terms; i++) e->sign[i] = -e->sign[i];
  }
  b->value = *e;
  return true;
}

/* What a mask keeps: comparisons, all of them. */
static bool read_mask(struct search *f, const struct step_operand *o, int depth)
{
  static const int modes[] = {WS_GREATER, WS_NOT_LESS, WS_LESS, WS_NOT_GREATER};
  const struct step *t = elements(f, o, WS_AND);
  if (depth > 8) return false;
  if (t) return read_mask(f, &t->operand[WS_X], depth + 1) && read_mask(f, &t->operand[WS_B], depth + 1);
  for (int i = 0; i < 4; i++) {
    if (!(t = elements(f, o, modes[i]))) continue;
    struct affine e = {0};
    const int sign = modes[i] == WS_GREATER || modes[i] == WS_NOT_LESS ? 1 : -1;
    if (modes[i] == WS_GREATER || modes[i] == WS_LESS) e.base = -1;
    return read_affine(f, &t->operand[WS_X], sign, &e, 0) && read_affine(f, &t->operand[WS_B], -sign, &e, 0) &&
           add_bound(f->a, &e);
  }
  return false;
}

/* (column - row) times a number of each head. */
static bool read_slope(struct search *f, const struct step_operand *o)
{
  const struct step *t = elements(f, o, WS_MUL);
  struct affine e = {0};
  if (!t || f->a->slope.where) return false;
  const struct step_operand *slope = &t->operand[WS_B];
  for (int i = 0; i < WS_GRAPH_DIMS; i++)
    if (i != HEAD && slope->t.size[i] != 1) return false;
  f->a->slope = *slope;
  return slope->where == WHERE_GIVEN && slope->t.type == WS_F32 && read_affine(f, &t->operand[WS_X], 1, &e, 0) &&
         e.row == -1 && e.column == 1 && e.base == 0 && e.terms == 0;
}

/* o = rest + bias */
static bool take_bias(struct search *f, struct step_operand *o)
{
  const struct step *t = elements(f, o, WS_ADD);
  if (!t) return false;
  *o = t->operand[WS_X];
  if (t->operand[WS_B].where == WHERE_ROOM) return read_slope(f, &t->operand[WS_B]);
  if (f->a->bias.where || t->operand[WS_B].where != WHERE_GIVEN || t->operand[WS_B].t.type == WS_I32) return false;
  f->a->bias = t->operand[WS_B];
  return true;
}

static bool take_mask(struct search *f, struct step_operand *o)
{
  const struct step *t = elements(f, o, WS_SELECT);
  if (!t || f->a->fills == MOST_FILLS || !is_scalar(&t->operand[WS_B])) return false;
  *o = t->operand[WS_X];
  f->a->fill[f->a->fills++] = t->operand[WS_B];
  return read_mask(f, &t->operand[WS_T], 0);
}

/* o = rest - the logarithms of the rows' sums, of gradients. */
static bool take_stats(struct search *f, struct step_operand *o)
{
  const struct step *t = elements(f, o, WS_SUB);
  if (!t || !f->a->backward || f->a->stats.where || t->operand[WS_B].where != WHERE_GIVEN) return false;
  *o = t->operand[WS_X];
  f->a->stats = t->operand[WS_B];
  return true;
}

/* From scores back to the product of q and k. */
static bool read_scores(struct search *f, struct step_operand o)
{
  while (take_mask(f, &o) || take_stats(f, &o) || take_bias(f, &o)) {}
  if (!take_factors(f, &o, &f->a->scale)) return false;
  const struct step *t = maker(f, &o, KERNEL_graph_product, 0);
  if (!t) return false;
  f->a->q = t->operand[WS_X], f->a->k = t->operand[WS_B];
  return true;
}

/* Rows and columns change places. */
static void turn(struct step_operand *o)
{
  const int64_t size = o->t.size[ROWS], stride = o->t.stride[ROWS];
  o->t.size[ROWS] = o->t.size[COLUMNS], o->t.stride[ROWS] = o->t.stride[COLUMNS];
  o->t.size[COLUMNS] = size, o->t.stride[COLUMNS] = stride;
}

/* Softmax as the operations that older front ends make of it: y = exp(x - max) / sum, and max + log(sum). */
static bool read_softmax_parts(struct search *f, const struct step_operand *y, struct step_operand *x)
{
  const struct step *div = elements(f, y, WS_DIV);
  const struct step *exps = div ? elements(f, &div->operand[WS_X], WS_EXP) : NULL;
  const struct step *sum = div ? maker(f, &div->operand[WS_B], KERNEL_graph_reduce, WS_SUM_OF) : NULL;
  const struct step *sub = exps ? elements(f, &exps->operand[WS_X], WS_SUB) : NULL;
  const struct step *most = sub ? maker(f, &sub->operand[WS_B], KERNEL_graph_reduce, WS_MOST_OF) : NULL;
  if (!sum || !most || !dnn_step_same_place(&sum->operand[WS_X], &exps->operand[WS_Y]) ||
      !dnn_step_same_place(&most->operand[WS_X], &sub->operand[WS_X]))
    return false;
  *x = sub->operand[WS_X];
  const struct step *log = reader(f, &sum->operand[WS_Y], KERNEL_graph_elements, WS_LOG);
  if (!log) return true;
  for (int i = 0; i < f->s->steps; i++) {
    const struct step *add = &f->s->step[i];
    if (add->kernel != KERNEL_graph_elements || add->args.mode != WS_ADD || add->args.alpha != 1 || add->args.beta != 1)
      continue;
    const bool left = dnn_step_same_place(&add->operand[WS_X], &log->operand[WS_Y]);
    const struct step_operand *other = &add->operand[left ? WS_B : WS_X];
    if ((!left && !dnn_step_same_place(&add->operand[WS_B], &log->operand[WS_Y])) ||
        !dnn_step_same_place(other, &most->operand[WS_Y]))
      continue;
    f->used[i] = true;
    f->a->stats = add->operand[WS_Y];
  }
  return true;
}

static bool read_softmax(struct search *f, const struct step_operand *weights, struct step_operand *scores)
{
  const struct step *t = maker(f, weights, KERNEL_graph_softmax, 0);
  if (!t) return read_softmax_parts(f, weights, scores);
  *scores = t->operand[WS_X];
  f->a->stats = t->operand[WS_STATS];
  return true;
}

/* The bits' seed and which part of them is 1. */
static void keep_bits(struct search *f)
{
  f->a->keep = 1;
  if (!f->bits) return;
  f->a->seed = f->bits->operand[WS_X], f->a->offset = f->bits->operand[WS_B];
  f->a->keep = f->bits->args.probability;
}

static bool find_forward(struct search *f)
{
  struct step_operand scores;
  for (int i = 0; i < f->s->steps; i++) {
    const struct step *t = &f->s->step[i];
    if (t->kernel != KERNEL_graph_product || t->operand[WS_Y].where != WHERE_GIVEN) continue;
    struct step_operand weights = t->operand[WS_X];
    f->used[i] = true;
    f->a->v = t->operand[WS_B], f->a->o = t->operand[WS_Y];
    if (!take_factors(f, &weights, &f->a->weight_scale)) return false;
    if (take_bits(f, &weights) && !take_factors(f, &weights, &f->a->weight_scale)) return false;
    if (!read_softmax(f, &weights, &scores) || !read_scores(f, scores)) return false;
    turn(&f->a->k);
    keep_bits(f);
    return true;
  }
  return false;
}

/* Where a result goes: itself, through a sum over heads that share a matrix, or through a copy. */
static struct step_operand result_of(struct search *f, const struct step *product)
{
  const struct step_operand *y = &product->operand[WS_Y];
  const struct step *t = reader(f, y, KERNEL_graph_reduce, WS_SUM_OF);
  if (!t) t = reader(f, y, KERNEL_graph_elements, WS_IDENTITY);
  return t ? t->operand[WS_Y] : *y;
}

/* sums = scale * (the sum of o d_o along a row) */
static bool read_sums(struct search *f, struct step_operand o)
{
  f->a->sums = o;
  f->a->sums_scale = (struct factors){0};
  if (!take_factors(f, &o, &f->a->sums_scale)) return false;
  const struct step *sum = maker(f, &o, KERNEL_graph_reduce, WS_SUM_OF);
  const struct step *t = sum ? elements(f, &sum->operand[WS_X], WS_MUL) : NULL;
  if (!t) return false;
  f->a->d_o = t->operand[WS_X], f->a->o = t->operand[WS_B];
  return true;
}

/* The gradients of scores: weights * (products of d_o and v [* bits] - sums) * numbers. */
static bool read_slopes(struct search *f, struct step_operand o, const struct step_operand *weights)
{
  struct factors scale = {0};
  struct search more = *f; /* what is found counts only when it is all there */
  struct dnn_attention found = *f->a;
  more.a = &found;
  if (!take_factors(&more, &o, &scale)) return false;
  const struct step *t = elements(&more, &o, WS_MUL);
  if (!t || !dnn_step_same_place(&t->operand[WS_B], weights)) return false;
  t = elements(&more, &t->operand[WS_X], WS_SUB);
  if (!t || !read_sums(&more, t->operand[WS_B])) return false;
  o = t->operand[WS_X];
  if (!maker(&more, &o, KERNEL_graph_product, 0) && !take_bits(&more, &o)) return false;
  t = maker(&more, &o, KERNEL_graph_product, 0);
  if (!t || !dnn_step_same_place(&t->operand[WS_X], &found.d_o)) return false;
  found.v = t->operand[WS_B];
  found.slope_scale = scale;
  more.a = f->a;
  *f->a = found;
  *f = more;
  return true;
}

static bool is_weights(struct search *f, struct step_operand o, const struct step_operand *weights)
{
  struct factors scale = {0};
  struct search more = *f;
  if (!take_factors(&more, &o, &scale)) return false;
  if (!dnn_step_same_place(&o, weights) && (!take_bits(&more, &o) || !take_factors(&more, &o, &scale))) return false;
  if (!dnn_step_same_place(&o, weights)) return false;
  f->a->weight_scale = scale;
  *f = more;
  return true;
}

/* One product of the gradients: of turned weights and d_o, of turned gradients of scores and q, of these and k. */
static bool read_gradient(struct search *f, const struct step *t, const struct step_operand *weights)
{
  struct dnn_attention *a = f->a;
  const struct step *turned = elements(f, &t->operand[WS_X], WS_IDENTITY);
  if (!turned) {
    const struct step *k = elements(f, &t->operand[WS_B], WS_IDENTITY);
    if (!read_slopes(f, t->operand[WS_X], weights)) return false;
    a->d_q = result_of(f, t);
    return dnn_step_same_place(k ? &k->operand[WS_X] : &t->operand[WS_B], &a->k);
  }
  if (is_weights(f, turned->operand[WS_X], weights)) {
    a->d_v = result_of(f, t);
    a->d_o = t->operand[WS_B];
    return true;
  }
  if (!read_slopes(f, turned->operand[WS_X], weights)) return false;
  a->d_k = result_of(f, t);
  return dnn_step_same_place(&t->operand[WS_B], &a->q);
}

static bool find_backward(struct search *f)
{
  const struct step *exps = NULL;
  f->a->backward = true;
  for (int i = 0; i < f->s->steps && !exps; i++)
    if (f->s->step[i].kernel == KERNEL_graph_elements && f->s->step[i].args.mode == WS_EXP) exps = &f->s->step[i];
  if (!exps || !elements(f, &exps->operand[WS_Y], WS_EXP) || !read_scores(f, exps->operand[WS_X])) return false;
  for (int i = 0; i < f->s->steps; i++) {
    const struct step *t = &f->s->step[i];
    if (t->kernel != KERNEL_graph_product || f->used[i]) continue;
    struct search more = *f;
    /* The product of d_o and v is met on the way from the others. */
    if (!read_gradient(&more, t, &exps->operand[WS_Y])) continue;
    *f = more;
    f->used[i] = true;
  }
  turn(&f->a->k), turn(&f->a->v);
  keep_bits(f);
  return f->a->d_q.where && f->a->d_k.where && f->a->d_v.where && f->a->stats.where;
}

static bool is_gradient(const struct dnn_attention *a, const struct step_operand *o)
{
  return dnn_step_same_place(o, &a->d_q) || dnn_step_same_place(o, &a->d_k) || dnn_step_same_place(o, &a->d_v);
}

/* Whether the program gets what a step puts out: a result, or the sums that a result is made of. */
static bool is_put_out(struct search *f, const struct step *t)
{
  const struct step_operand *y = &t->operand[WS_Y];
  const struct dnn_attention *a = f->a;
  if (y->where != WHERE_GIVEN) return true;
  if (!a->backward) return dnn_step_same_place(y, &a->o) || dnn_step_same_place(y, &a->stats);
  if (dnn_step_same_place(y, &a->sums) || is_gradient(a, y)) return true;
  if (t->kernel != KERNEL_graph_product) return false;
  const struct step_operand result = result_of(f, t);
  return is_gradient(a, &result);
}

/* Whether nothing else is in the graph. */
static bool is_all(struct search *f)
{
  for (int i = 0; i < f->s->steps; i++)
    if (!f->used[i] || !is_put_out(f, &f->s->step[i])) return false;
  return true;
}

/* A matrix of 16-bit numbers for each batch and head, as the kernels take it. */
static bool is_side(const struct step_operand *o, const struct step_operand *q, int64_t rows, int64_t columns)
{
  const struct ws_graph_tensor *t = &o->t;
  return o->where == WHERE_GIVEN && t->type == q->t.type && t->size[0] == 1 && t->size[BATCH] == q->t.size[BATCH] &&
         q->t.size[HEAD] % t->size[HEAD] == 0 && t->size[ROWS] == rows && t->size[COLUMNS] == columns &&
         (columns == 1 || t->stride[COLUMNS] == 1);
}

/* A number for each row; in the workspace, too. */
static bool is_column(const struct step_operand *o, const struct step_operand *q)
{
  const struct ws_graph_tensor *t = &o->t;
  return (o->where == WHERE_GIVEN || o->where == WHERE_ROOM) && t->type == WS_F32 && t->size[0] == 1 &&
         t->size[BATCH] == q->t.size[BATCH] && t->size[HEAD] == q->t.size[HEAD] && t->size[ROWS] == q->t.size[ROWS] &&
         t->size[COLUMNS] == 1;
}

static bool fits_scores(const struct step_operand *o, const struct step_operand *q, int64_t columns)
{
  const int64_t whole[WS_GRAPH_DIMS] = {1, q->t.size[BATCH], q->t.size[HEAD], q->t.size[ROWS], columns};
  for (int i = 0; i < WS_GRAPH_DIMS; i++)
    if (o->t.size[i] != 1 && o->t.size[i] != whole[i]) return false;
  return true;
}

static bool shapes_agree(const struct dnn_attention *a)
{
  const int64_t rows = a->q.t.size[ROWS], wide = a->q.t.size[COLUMNS], columns = a->k.t.size[ROWS];
  const int64_t wide_v = a->v.t.size[COLUMNS], far = 1 << 24, heads = a->q.t.size[BATCH] * a->q.t.size[HEAD];
  if ((a->q.t.type != WS_F16 && a->q.t.type != WS_BF16) || wide > 128 || wide_v > 128) return false;
  if (rows > far || columns > far || heads > far || heads * ((rows > columns ? rows : columns) / 64 + 1) >= 1 << 30)
    return false;
  if (!is_side(&a->q, &a->q, rows, wide) || !is_side(&a->k, &a->q, columns, wide) ||
      !is_side(&a->v, &a->q, columns, wide_v) || !is_side(&a->o, &a->q, rows, wide_v) ||
      a->o.t.size[HEAD] != a->q.t.size[HEAD])
    return false;
  if (a->stats.where && !is_column(&a->stats, &a->q)) return false;
  if (a->stats.where == WHERE_ROOM || a->o.skip) return false;
  if (a->bias.where && !fits_scores(&a->bias, &a->q, columns)) return false;
  if (a->slope.where && !fits_scores(&a->slope, &a->q, columns)) return false;
  for (int i = 0; i < a->bounds; i++)
    for (int j = 0; j < a->bound[i].value.terms; j++) {
      const struct ws_graph_tensor *t = &a->bound[i].value.of[j].t;
      if (t->size[BATCH] != 1 && t->size[BATCH] != a->q.t.size[BATCH]) return false;
    }
  if (!a->backward) return true;
  return is_side(&a->d_o, &a->q, rows, wide_v) && a->d_o.t.size[HEAD] == a->q.t.size[HEAD] &&
         is_side(&a->d_q, &a->q, rows, wide) && a->d_q.t.size[HEAD] == a->q.t.size[HEAD] &&
         is_side(&a->d_k, &a->q, columns, wide) && is_side(&a->d_v, &a->q, columns, wide_v) &&
         a->k.t.size[HEAD] == a->v.t.size[HEAD] && a->d_k.t.size[HEAD] == a->k.t.size[HEAD] &&
         a->d_v.t.size[HEAD] == a->k.t.size[HEAD] && is_column(&a->sums, &a->q);
}

/* BF16 on tensor cores begins with compute capability 8.0. */
static bool device_has(int type)
{
  int device, major;
  if (type == WS_F16) return true;
  return cudaFree(NULL) == DRIVER_OK && cuCtxGetDevice(&device) == DRIVER_OK &&
         cuDeviceGetAttribute(&major, DRIVER_ATTR_MAJOR, device) == DRIVER_OK && major >= 8;
}

struct dnn_attention *dnn_attention_find(const struct dnn_steps *s)
{
  struct dnn_attention *a = malloc(sizeof *a);
  if (!a) return NULL;
  for (int backward = 0; backward < 2; backward++) {
    struct search f = {.s = s, .a = a};
    *a = (struct dnn_attention){0};
    if ((backward ? find_backward(&f) : find_forward(&f)) && is_all(&f) && shapes_agree(a) && device_has(a->q.t.type))
      return a;
  }
  free(a);
  return NULL;
}

void dnn_attention_free(struct dnn_attention *a) { free(a); }

static int64_t sums_bytes(const struct dnn_attention *a)
{
  return a->q.t.size[BATCH] * a->q.t.size[HEAD] * a->q.t.size[ROWS] * (int64_t)sizeof(float);
}

int64_t dnn_attention_room(const struct dnn_attention *a)
{
  return a->backward && a->sums.where == WHERE_ROOM ? sums_bytes(a) : 0;
}

/* Where an operand's elements are; NULL: there is none, or the program gave no pointer, which `*given` says. */
static char *place(const struct step_operand *o, const struct dnn_backend *variant, bool *given)
{
  if (o->where != WHERE_GIVEN) return NULL;
  char *at = dnn_backend_pointer(variant, o->number);
  if (!at) *given = false;
  return at;
}

static bool aligned(const struct ws_attention_side *s)
{
  return (uintptr_t)s->at % 16 == 0 && s->batch % 8 == 0 && s->head % 8 == 0 && s->row % 8 == 0;
}

static struct ws_attention_side side(const struct step_operand *o, const struct dnn_backend *variant, bool *given)
{
  const struct ws_graph_tensor *t = &o->t;
  struct ws_attention_side s = {
    .at = place(o, variant, given), .batch = t->stride[BATCH], .head = t->stride[HEAD], .row = t->stride[ROWS]};
  s.heads = (int32_t)t->size[HEAD], s.columns = (int32_t)t->size[COLUMNS], s.type = t->type;
  s.vector = aligned(&s);
  if (o->where != WHERE_GIVEN || o->begins < 0) return s;
  s.begins = dnn_backend_pointer(variant, o->begins);
  s.begins_step = o->begins_step, s.begins_wide = o->begins_wide, s.begins_unit = o->begins_unit;
  if (!s.begins) *given = false;
  return s;
}

static double scalar(const struct step_operand *o, const struct dnn_backend *variant, bool *given)
{
  if (o->where == WHERE_CONSTANT) return o->t.value;
  const void *at = dnn_backend_pointer(variant, o->number);
  if (!at) *given = false;
  return at ? dnn_step_number(at, o->t.type) : 0;
}

static float multiplied(const struct factors *f, const struct dnn_backend *variant, bool *given)
{
  double product = 1;
  for (int i = 0; i < f->n; i++) product *= scalar(&f->of[i], variant, given);
  return (float)product;
}

static bool set_bound(const struct bound *b, const struct dnn_backend *variant, struct ws_attention_bound *to,
                      bool *given)
{
  int n = 0;
  *to = (struct ws_attention_bound){.base = b->value.base, .limit = b->limit};
  for (int i = 0; i < b->value.terms; i++) {
    const struct step_operand *o = &b->value.of[i];
    if (o->where == WHERE_GIVEN) {
      const char *at = place(o, variant, given);
      to->at[n] = (const int32_t *)(const void *)(at ? at + o->skip * 4 : NULL);
      to->step[n] = o->t.size[BATCH] == 1 ? 0 : o->t.stride[BATCH];
      to->sign[n++] = b->value.sign[i];
      continue;
    }
    const double value = scalar(o, variant, given);
    if (!(fabs(value) < 1 << 30) || value != floor(value)) return false;
    to->base += b->value.sign[i] * (int64_t)value;
  }
  return true;
}

static void set_bias(const struct dnn_attention *a, const struct dnn_backend *variant, struct ws_attention_args *p,
                     bool *given)
{
  p->bias = place(&a->bias, variant, given);
  p->bias_type = a->bias.t.type;
  for (int i = 0; i < 4; i++) p->bias_stride[i] = a->bias.t.size[BATCH + i] == 1 ? 0 : a->bias.t.stride[BATCH + i];
  p->slope = (const float *)(const void *)place(&a->slope, variant, given);
  p->slope_step = a->slope.t.size[HEAD] == 1 ? 0 : a->slope.t.stride[HEAD];
  p->seed = (const uint64_t *)(const void *)place(&a->seed, variant, given);
  p->offset = (const uint64_t *)(const void *)place(&a->offset, variant, given);
  p->keep = a->keep;
}

/* The kernels know masks that leave nothing of a score. */
static bool fills_are_masks(const struct dnn_attention *a, const struct dnn_backend *variant, bool *given)
{
  for (int i = 0; i < a->fills; i++)
    if (!(scalar(&a->fill[i], variant, given) < -1e9)) return false;
  return true;
}

static dnn_status set_args(const struct dnn_attention *a, const struct dnn_backend *variant, char *room,
                           struct ws_attention_args *p)
{
  bool given = true, known = true;
  *p = (struct ws_attention_args){.bounds = a->bounds};
  p->q = side(&a->q, variant, &given), p->k = side(&a->k, variant, &given), p->v = side(&a->v, variant, &given);
  p->o = side(&a->o, variant, &given), p->stats = side(&a->stats, variant, &given);
  p->d_o = side(&a->d_o, variant, &given), p->d_q = side(&a->d_q, variant, &given);
  p->d_k = side(&a->d_k, variant, &given), p->d_v = side(&a->d_v, variant, &given);
  p->sums = side(&a->sums, variant, &given);
  if (a->sums.where == WHERE_ROOM) {
    p->sums.at = room;
    p->sums.row = 1, p->sums.head = a->q.t.size[ROWS], p->sums.batch = a->q.t.size[HEAD] * p->sums.head;
    given = given && room;
  }
  set_bias(a, variant, p, &given);
  p->scale = multiplied(&a->scale, variant, &given);
  p->weight_scale = multiplied(&a->weight_scale, variant, &given);
  p->slope_scale = multiplied(&a->slope_scale, variant, &given);
  p->sums_scale = multiplied(&a->sums_scale, variant, &given);
  for (int i = 0; i < a->bounds; i++) known = set_bound(&a->bound[i], variant, &p->bound[i], &given) && known;
  known = fills_are_masks(a, variant, &given) && known;
  p->batches = (int32_t)a->q.t.size[BATCH], p->heads = (int32_t)a->q.t.size[HEAD];
  p->rows = (int32_t)a->q.t.size[ROWS], p->columns = (int32_t)a->k.t.size[ROWS];
  if (!given) return DNN_BAD_PARAM_NULL;
  return known ? DNN_SUCCESS : dnn_refuse("cudnnBackendExecute", "a mask with this number");
}

enum { BLOCK = 64, PART = 32, THREADS = 128, EXTRAS = BLOCK * (PART + 8) * 4 + BLOCK * BLOCK / PART * 4 };

/* The kernel of a width, for the type and the columns of a matrix. */
#define KERNEL_OF(name, a) \
  ((a)->q.t.type == WS_F16 ? (wide(a) ? KERNEL_attention_##name##f16_128 : KERNEL_attention_##name##f16_64) \
                           : (wide(a) ? KERNEL_attention_##name##bf16_128 : KERNEL_attention_##name##bf16_64))
static bool wide(const struct dnn_attention *a) { return a->q.t.size[COLUMNS] > 64 || a->v.t.size[COLUMNS] > 64; }

/* A CTA for each 64 rows of each matrix, with `rows` rows of tiles in shared memory. */
static bool launch(struct dnn *h, enum lib_kernel k, const struct dnn_attention *a, int64_t matrices, int64_t rows,
                   unsigned tile_rows, const struct ws_attention_args *p)
{
  const unsigned ctas = (unsigned)(matrices * ((rows + BLOCK - 1) / BLOCK));
  const bool plain = !p->bias && !p->slope && !p->seed;
  const unsigned shared = tile_rows * (wide(a) ? 128 : 64) * 2 + (plain ? 0 : EXTRAS);
  const struct launch_shape shape = {ctas, 1, 1, THREADS};
  return kernel_set_launch_shared(&h->blas->kernels, k, shape, shared, h->stream, p);
}

dnn_status dnn_attention_run(struct dnn *h, const struct dnn_attention *a, const struct dnn_backend *variant,
                             char *room)
{
  enum { MOST_CTAS = 4096, FORWARD_ROWS = 3 * BLOCK, BACKWARD_ROWS = 2 * BLOCK + 2 * PART };
  struct ws_attention_args p;
  const dnn_status s = set_args(a, variant, room, &p);
  if (s != DNN_SUCCESS) return s;
  const int64_t matrices = (int64_t)p.batches * p.heads;
  if (!a->backward)
    return launch(h, KERNEL_OF(, a), a, matrices, p.rows, FORWARD_ROWS, &p) ? DNN_SUCCESS : DNN_EXECUTION_FAILED;
  const int64_t warps = (matrices * p.rows + 7) / 8;
  const struct launch_shape sums = {(unsigned)(warps < MOST_CTAS ? warps : MOST_CTAS), 1, 1, 256};
  return kernel_set_launch(&h->blas->kernels, KERNEL_attention_sums, sums, h->stream, &p) &&
             launch(h, KERNEL_OF(d_q_, a), a, matrices, p.rows, BACKWARD_ROWS, &p) &&
             launch(h, KERNEL_OF(d_kv_, a), a, (int64_t)p.batches * p.k.heads, p.columns, BACKWARD_ROWS, &p)
           ? DNN_SUCCESS
           : DNN_EXECUTION_FAILED;
}
