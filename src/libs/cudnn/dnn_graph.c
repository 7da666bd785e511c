#include "libs/cudnn/dnn_graph.h"

#include <stdlib.h>

#include "libs/cudnn/dnn_conv.h"
#include "libs/cudnn/dnn_steps.h"
#include "libs/cudnn/dnn_text.h"

struct dnn_graph_plan {
  struct dnn_steps *steps; /* NULL: a convolution */
  enum dnn_conv_kind kind;
  struct dnn_conv_plan conv;
  int64_t x, w, y, add, bias; /* unique numbers of tensors; -1: there is none */
  bool adds, biased;
};

static void plan_free(struct dnn_graph_plan *p)
{
  if (p) dnn_steps_free(p->steps);
  free(p);
}

/* What is described of one tensor: read from its attributes. */
static bool read_tensor(const struct dnn_backend *d, struct dnn_tensor *t)
{
  if (!d || d->kind != BACKEND_TENSOR) return false;
  t->type = (int)dnn_backend_integer(d, ATTR_TENSOR_TYPE, -1);
  t->dims = dnn_backend_integers(d, ATTR_TENSOR_SIZES, t->size, DNN_DIMS);
  return t->dims > 0 && dnn_backend_integers(d, ATTR_TENSOR_STRIDES, t->stride, DNN_DIMS) == t->dims &&
         dnn_backend_integer(d, ATTR_TENSOR_VECTOR, 1) == 1;
}

static int64_t number_of(const struct dnn_backend *tensor) { return dnn_backend_integer(tensor, ATTR_TENSOR_ID, -1); }

static bool is_virtual(const struct dnn_backend *t) { return dnn_backend_integer(t, ATTR_TENSOR_VIRTUAL, 0) != 0; }

/* The attributes of the three convolutions: alpha is the first, then beta, the convolution, and three tensors. */
struct conv_names {
  int first, w, x, y;
  enum dnn_conv_kind kind;
};

static bool names_of(int kind, struct conv_names *n)
{
  switch (kind) {
  case BACKEND_OP_FORWARD: *n = (struct conv_names){ATTR_FORWARD, 703, 704, 705, DNN_CONV_FORWARD}; return true;
  case BACKEND_OP_DATA: *n = (struct conv_names){ATTR_DATA, 709, 710, 711, DNN_CONV_DATA}; return true;
  case BACKEND_OP_FILTER: *n = (struct conv_names){ATTR_FILTER, 715, 716, 717, DNN_CONV_FILTER}; return true;
  default: return false;
  }
}

static bool read_space(const struct dnn_backend *d, struct dnn_conv *c)
{
  enum { CROSS_CORRELATION = 1 };
  const int n = c->x.dims - 2;
  c->flipped = dnn_backend_integer(d, ATTR_CONV_MODE, CROSS_CORRELATION) != CROSS_CORRELATION;
  return dnn_backend_integers(d, ATTR_CONV_DILATIONS, c->dilation, 3) == n &&
         dnn_backend_integers(d, ATTR_CONV_STRIDES, c->stride, 3) == n &&
         dnn_backend_integers(d, ATTR_CONV_PRE, c->before, 3) == n &&
         dnn_backend_integers(d, ATTR_CONV_POST, c->after, 3) == n;
}

static bool read_convolution(const struct dnn_backend *op, struct dnn_conv *c, struct dnn_graph_plan *p)
{
  struct conv_names n;
  if (!op || !names_of(op->kind, &n)) return false;
  const struct dnn_backend *x = dnn_backend_part(op, n.x, 0, BACKEND_TENSOR);
  const struct dnn_backend *w = dnn_backend_part(op, n.w, 0, BACKEND_TENSOR);
  const struct dnn_backend *y = dnn_backend_part(op, n.y, 0, BACKEND_TENSOR);
  const struct dnn_backend *space = dnn_backend_part(op, n.first + 2, 0, BACKEND_CONVOLUTION);
  *c = (struct dnn_conv){.kind = n.kind};
  *p = (struct dnn_graph_plan){.kind = n.kind, .add = -1, .bias = -1};
  if (!space || !read_tensor(x, &c->x) || !read_tensor(w, &c->w) || !read_tensor(y, &c->y)) return false;
  p->x = number_of(x), p->w = number_of(w), p->y = number_of(y);
  c->alpha = dnn_backend_real(op, n.first, 1);
  c->beta = dnn_backend_real(op, n.first + 1, 0);
  return c->x.dims >= 3 && c->x.dims <= 5 && read_space(space, c);
}

/* Whether a tensor is one element per channel. */
static bool per_channel(const struct dnn_tensor *t, int64_t channels)
{
  bool ok = t->dims >= 2 && t->size[1] == channels && (channels == 1 || t->stride[1] == 1);
  for (int i = 0; i < t->dims; i++) ok = ok && (i == 1 || t->size[i] == 1);
  return ok;
}

/* One operation on each element of what the convolution put out so far, tensor `*last`: + tensor, + bias or ReLU. */
static bool read_pointwise(const struct dnn_backend *op, struct dnn_conv *c, struct dnn_graph_plan *p, int64_t *last)
{
  enum { MODE_ADD = 0, MODE_RELU = 100 };
  const struct dnn_backend *what = dnn_backend_part(op, ATTR_PW_DESCRIPTOR, 0, BACKEND_POINTWISE);
  const struct dnn_backend *x = dnn_backend_part(op, ATTR_PW_X, 0, BACKEND_TENSOR);
  const struct dnn_backend *b = dnn_backend_part(op, ATTR_PW_B, 0, BACKEND_TENSOR);
  const struct dnn_backend *y = dnn_backend_part(op, ATTR_PW_Y, 0, BACKEND_TENSOR);
  struct dnn_tensor t = {0};
  if (!what || !x || !y || number_of(x) != *last || c->relu || dnn_backend_real(op, ATTR_PW_ALPHA1, 1) != 1)
    return false;
  *last = number_of(y);
  const int64_t mode = dnn_backend_integer(what, ATTR_POINTWISE_MODE, -1);
  if (mode == MODE_RELU) {
    c->relu = true;
    return dnn_backend_real(what, ATTR_RELU_LOWER, 0) == 0 && dnn_backend_real(what, ATTR_RELU_SLOPE, 0) == 0 &&
           !(dnn_backend_real(what, ATTR_RELU_UPPER, 3e38) < 3e38);
  }
  if (mode != MODE_ADD || !b || is_virtual(b) || !read_tensor(b, &t) || t.type != c->x.type) return false;
  const double scale = dnn_backend_real(op, ATTR_PW_ALPHA2, 1);
  if (!p->biased && scale == 1 && per_channel(&t, c->y.size[1])) {
    p->biased = c->biased = true;
    p->bias = number_of(b);
    return true;
  }
  if (p->adds || !dnn_alike(&t, &c->y)) return false;
  p->adds = c->adds = true;
  p->add = number_of(b);
  c->add_alpha = scale;
  return true;
}

/* The convolution and what follows it; the tensor that is put out at the end has the convolution's layout. */
static bool read_graph(const struct dnn_backend *graph, struct dnn_conv *c, struct dnn_graph_plan *p)
{
  const struct dnn_attribute *ops = dnn_backend_find(graph, ATTR_GRAPH_OPS);
  if (!ops || ops->count < 1 || !read_convolution(dnn_backend_part(graph, ATTR_GRAPH_OPS, 0, -1), c, p)) return false;
  if (ops->count == 1) return true;
  if (c->kind != DNN_CONV_FORWARD || c->beta != 0) return false;
  for (int64_t i = 1; i < ops->count; i++) {
    const struct dnn_backend *op = dnn_backend_part(graph, ATTR_GRAPH_OPS, i, BACKEND_OP_POINTWISE);
    if (!op || !read_pointwise(op, c, p, &p->y)) return false;
    const struct dnn_backend *y = dnn_backend_part(op, ATTR_PW_Y, 0, BACKEND_TENSOR);
    struct dnn_tensor t = {0};
    if (!read_tensor(y, &t) || !dnn_alike(&t, &c->y) || is_virtual(y) != (i + 1 < ops->count)) return false;
    c->y.type = t.type; /* what is virtual may be wider */
  }
  return true;
}

static int device_sms(void)
{
  int device, sms;
  if (cudaFree(NULL) != DRIVER_OK || cuCtxGetDevice(&device) != DRIVER_OK ||
      cuDeviceGetAttribute(&sms, DRIVER_ATTR_SMS, device) != DRIVER_OK)
    return 1;
  return sms;
}

static dnn_status plan_graph(const struct dnn_backend *graph, struct dnn_graph_plan *p)
{
  struct dnn_conv c;
  *p = (struct dnn_graph_plan){0};
  if (!graph || graph->kind != BACKEND_GRAPH) return DNN_BAD_PARAM;
  p->steps = dnn_steps_read(graph);
  if (p->steps) return DNN_SUCCESS;
  if (!read_graph(graph, &c, p)) {
    dnn_refuse("cudnnBackendFinalize", "an operation of this graph, or not after a convolution");
    return DNN_NOT_SUPPORTED_PATTERN;
  }
  return dnn_conv_prepare(&c, device_sms(), &p->conv, "cudnnBackendFinalize");
}

/* A finalized descriptor that has one attribute, another descriptor. The caller drops it. */
static struct dnn_backend *holder_of(int kind, int name, struct dnn_backend *part)
{
  struct dnn_backend *d;
  if (cudnnBackendCreateDescriptor(kind, &d) != DNN_SUCCESS) return NULL;
  if (dnn_backend_put(d, name, VALUE_DESCRIPTOR, 1, &part) != DNN_SUCCESS) {
    cudnnBackendDestroyDescriptor(d);
    return NULL;
  }
  return d;
}

/* Gives a descriptor, as attribute `name`, the configuration of the one engine there is. */
static dnn_status put_config(struct dnn_backend *d, int name, struct dnn_backend *graph)
{
  struct dnn_backend *engine = holder_of(BACKEND_ENGINE, ATTR_ENGINE_GRAPH, graph);
  struct dnn_backend *config = engine ? holder_of(BACKEND_ENGINECFG, ATTR_CONFIG_ENGINE, engine) : NULL;
  const int64_t index = 0;
  dnn_status s = config ? dnn_backend_put(engine, ATTR_ENGINE_INDEX, VALUE_INT64, 1, &index) : DNN_ALLOC_FAILED;
  if (s == DNN_SUCCESS) s = cudnnBackendFinalize(engine);
  if (s == DNN_SUCCESS) s = cudnnBackendFinalize(config);
  if (s == DNN_SUCCESS) s = dnn_backend_put(d, name, VALUE_DESCRIPTOR, 1, &config);
  cudnnBackendDestroyDescriptor(engine);
  cudnnBackendDestroyDescriptor(config);
  return s;
}

static dnn_status find_engines(struct dnn_backend *d)
{
  struct dnn_graph_plan p;
  struct dnn_backend *graph = dnn_backend_part(d, ATTR_HEUR_GRAPH, 0, BACKEND_GRAPH);
  const dnn_status s = plan_graph(graph, &p);
  if (s != DNN_SUCCESS) return s;
  dnn_steps_free(p.steps);
  return put_config(d, ATTR_HEUR_RESULTS, graph);
}

static struct dnn_backend *graph_of_plan(const struct dnn_backend *d)
{
  const struct dnn_backend *config = dnn_backend_part(d, ATTR_PLAN_CONFIG, 0, BACKEND_ENGINECFG);
  const struct dnn_backend *engine = dnn_backend_part(config, ATTR_CONFIG_ENGINE, 0, BACKEND_ENGINE);
  return dnn_backend_part(engine, ATTR_ENGINE_GRAPH, 0, BACKEND_GRAPH);
}

/* Gives a plan its text. */
static dnn_status describe(struct dnn_backend *plan)
{
  const struct dnn_backend *graph = graph_of_plan(plan);
  int64_t length = 0;
  char *text = graph ? dnn_text_of(graph, &length) : NULL;
  if (!text) return DNN_ALLOC_FAILED;
  const dnn_status s = dnn_backend_put(plan, ATTR_PLAN_JSON, VALUE_CHAR, length, text);
  free(text);
  return s;
}

/* A plan whose text the program has kept. */
static dnn_status read_described(struct dnn_backend *plan)
{
  const struct dnn_attribute *text = dnn_backend_find(plan, ATTR_PLAN_JSON);
  if (!text || text->type != VALUE_CHAR) return DNN_SUCCESS;
  struct dnn_backend *graph = dnn_text_read(text->values, text->count);
  if (!graph) return DNN_BAD_PARAM;
  const dnn_status s = put_config(plan, ATTR_PLAN_CONFIG, graph);
  cudnnBackendDestroyDescriptor(graph);
  return s;
}

static dnn_status make_plan(struct dnn_backend *d)
{
  dnn_status s = read_described(d);
  if (s != DNN_SUCCESS) return s;
  struct dnn_graph_plan *p = malloc(sizeof *p);
  if (!p) return DNN_ALLOC_FAILED;
  s = plan_graph(graph_of_plan(d), p);
  const int64_t bytes = s != DNN_SUCCESS ? 0 : p->steps ? dnn_steps_room(p->steps) : (int64_t)p->conv.workspace;
  if (s == DNN_SUCCESS) s = dnn_backend_put(d, ATTR_PLAN_WORKSPACE, VALUE_INT64, 1, &bytes);
  if (s != DNN_SUCCESS) {
    plan_free(p);
    return s;
  }
  plan_free(d->plan);
  d->plan = p, d->free_plan = plan_free, d->describe = describe;
  return DNN_SUCCESS;
}

static dnn_status check_engine(struct dnn_backend *d)
{
  const int32_t note = NOTE_CUDA_GRAPH;
  if (!dnn_backend_part(d, ATTR_ENGINE_GRAPH, 0, BACKEND_GRAPH)) return DNN_BAD_PARAM;
  if (dnn_backend_integer(d, ATTR_ENGINE_INDEX, -1) != 0) return DNN_NOT_SUPPORTED;
  return dnn_backend_put(d, ATTR_ENGINE_BEHAVIOR, VALUE_BEHAVIOR, 1, &note);
}

static dnn_status check_config(struct dnn_backend *d)
{
  const int64_t none = 0;
  const int32_t shared = 0;
  if (!dnn_backend_part(d, ATTR_CONFIG_ENGINE, 0, BACKEND_ENGINE)) return DNN_BAD_PARAM;
  dnn_backend_put(d, ATTR_CONFIG_SHARED, VALUE_INT32, 1, &shared);
  return dnn_backend_put(d, ATTR_CONFIG_WORKSPACE, VALUE_INT64, 1, &none);
}

static dnn_status finalize(struct dnn_backend *d)
{
  struct dnn_tensor t;
  const int64_t one = 1;
  switch (d->kind) {
  case BACKEND_TENSOR: return read_tensor(d, &t) ? DNN_SUCCESS : DNN_BAD_PARAM;
  case BACKEND_GRAPH:
    if (!dnn_backend_part(d, ATTR_GRAPH_OPS, 0, -1)) return DNN_BAD_PARAM;
    return dnn_backend_put(d, ATTR_GRAPH_COUNT, VALUE_INT64, 1, &one);
  case BACKEND_ENGINEHEUR: return find_engines(d);
  case BACKEND_ENGINE: return check_engine(d);
  case BACKEND_ENGINECFG: return check_config(d);
  case BACKEND_PLAN: return make_plan(d);
  default: return DNN_SUCCESS; /* read when a graph is planned */
  }
}

PUBLIC dnn_status cudnnBackendFinalize(struct dnn_backend *d)
{
  if (!dnn_backend_is(d)) return DNN_BAD_PARAM;
  const dnn_status s = finalize(d);
  if (s == DNN_SUCCESS) d->final = true;
  return s;
}

PUBLIC dnn_status cudnnBackendExecute(struct dnn *h, const struct dnn_backend *plan, const struct dnn_backend *variant)
{
  if (!dnn_handle_is(h)) return DNN_NOT_INITIALIZED;
  if (!plan || !variant || plan->kind != BACKEND_PLAN || variant->kind != BACKEND_VARIANT) return DNN_BAD_PARAM;
  if (!plan->final || !variant->final || !plan->plan) return DNN_BAD_PARAM_NOT_FINAL;
  const struct dnn_graph_plan *p = plan->plan;
  if (p->steps) return dnn_steps_run(h, p->steps, variant);
  const struct dnn_attribute *room = dnn_backend_find(variant, ATTR_VARIANT_WORKSPACE);
  struct dnn_conv_data data = {.x = dnn_backend_pointer(variant, p->x), .w = dnn_backend_pointer(variant, p->w)};
  data.y = dnn_backend_pointer(variant, p->y);
  data.add = p->adds ? dnn_backend_pointer(variant, p->add) : NULL;
  data.bias = p->biased ? dnn_backend_pointer(variant, p->bias) : NULL;
  data.workspace = room && room->type == VALUE_POINTER && room->count == 1 ? *(void **)room->values : NULL;
  if ((p->adds && !data.add) || (p->biased && !data.bias)) return DNN_BAD_PARAM_NULL;
  return dnn_conv_run(h, &p->conv, p->kind, &data);
}
