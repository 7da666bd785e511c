#include "libs/cudnn/dnn_rnn.h"

#include <stdlib.h>
#include <string.h>

#include "libs/cudnn/dnn_tensor.h"

int dnn_rnn_gates(const struct dnn_rnn *r) { return r->mode == WS_RNN_LSTM ? 4 : r->mode == WS_RNN_GRU ? 3 : 1; }

static int64_t matrices_of(const struct dnn_rnn *r, int64_t input)
{
  return (input + r->hidden) * r->hidden * dnn_rnn_gates(r);
}

static int biases_of(const struct dnn_rnn *r)
{
  return r->bias_mode == RNN_NO_BIAS ? 0 : r->bias_mode == RNN_BIAS_BOTH ? 2 : 1;
}

/* All matrices, layer by layer, then all biases. */
struct dnn_rnn_place dnn_rnn_place(const struct dnn_rnn *r, int i)
{
  const int64_t wide = (int64_t)r->hidden * dnn_rnn_gates(r), inner = (int64_t)r->hidden * r->directions;
  const int layer = i / r->directions, first = i < r->directions ? i : r->directions;
  struct dnn_rnn_place p = {.input = (int32_t)(layer ? inner : r->input), .bias_w = -1, .bias_r = -1};
  p.w = first * matrices_of(r, r->input) + (i - first) * matrices_of(r, inner);
  p.r = p.w + wide * p.input;
  int64_t at = r->directions * matrices_of(r, r->input) + (r->layers - 1) * r->directions * matrices_of(r, inner);
  at += i * biases_of(r) * wide;
  if (r->bias_mode == RNN_BIAS_INPUT || r->bias_mode == RNN_BIAS_BOTH) p.bias_w = at;
  if (r->bias_mode == RNN_BIAS_RECURRENT) p.bias_r = at;
  if (r->bias_mode == RNN_BIAS_BOTH) p.bias_r = at + wide;
  return p;
}

int64_t dnn_rnn_weights(const struct dnn_rnn *r)
{
  enum { MOST = 1 << 20 };
  if (r->hidden > MOST || r->input > MOST || r->layers > MOST / 4) return -1;
  const __int128 wide = (__int128)r->hidden * dnn_rnn_gates(r), inner = r->hidden * r->directions;
  const __int128 all = r->directions * wide * (r->input + r->hidden) +
                       (__int128)(r->layers - 1) * r->directions * wide * (inner + r->hidden) +
                       (__int128)r->layers * r->directions * biases_of(r) * wide;
  const __int128 widest = wide * (inner > r->input ? inner : r->input);
  return all < INT64_MAX / 64 && widest <= INT32_MAX ? (int64_t)all : -1;
}

PUBLIC dnn_status cudnnCreateRNNDescriptor(struct dnn_rnn **out)
{
  if (!out) return DNN_BAD_PARAM_NULL;
  *out = calloc(1, sizeof **out);
  return *out ? DNN_SUCCESS : DNN_ALLOC_FAILED;
}

PUBLIC dnn_status cudnnDestroyRNNDescriptor(struct dnn_rnn *r)
{
  free(r);
  return DNN_SUCCESS;
}

PUBLIC dnn_status cudnnSetRNNDescriptor_v8(struct dnn_rnn *r, int algo, int mode, int bias_mode, int direction,
                                           int input_mode, int type, int math, int math_type, int32_t input,
                                           int32_t hidden, int32_t projection, int32_t layers,
                                           const struct dnn_dropout *dropout, uint32_t flags)
{
  static const char name[] = "cudnnSetRNNDescriptor_v8";
  enum { ALGOS = 4 };
  if (!r) return DNN_BAD_PARAM_NULL;
  if (algo < 0 || algo >= ALGOS || mode < 0 || mode > WS_RNN_GRU || bias_mode < 0 || bias_mode >= RNN_BIAS_MODES ||
      direction < 0 || direction > 1 || input_mode < 0 || input_mode > 1 || input < 1 || hidden < 1 || layers < 1 ||
      projection < 0 || projection > hidden)
    return DNN_BAD_PARAM;
  if (dnn_element(type) < 0) return dnn_refuse(name, "recurrent layers of this type");
  if (input_mode != 0) return dnn_refuse(name, "recurrent layers without input weights");
  if (projection && projection != hidden) return dnn_refuse(name, "LSTM with a projection");
  *r = (struct dnn_rnn){algo, mode, bias_mode, direction + 1, input_mode, type, math, math_type,
                        input, hidden, projection, layers, dropout, flags, true};
  if (dnn_rnn_weights(r) >= 0) return DNN_SUCCESS;
  r->set = false;
  return dnn_refuse(name, "recurrent layers of this size");
}

PUBLIC dnn_status cudnnGetRNNDescriptor_v8(const struct dnn_rnn *r, int *algo, int *mode, int *bias_mode,
                                           int *direction, int *input_mode, int *type, int *math, int *math_type,
                                           int32_t *input, int32_t *hidden, int32_t *projection, int32_t *layers,
                                           const struct dnn_dropout **dropout, uint32_t *flags)
{
  if (!r || !r->set) return DNN_BAD_PARAM;
  int *const to[] = {algo, mode, bias_mode, input_mode, type, math, math_type, input, hidden, projection, layers};
  const int from[] = {r->algo, r->mode, r->bias_mode, r->input_mode, r->type, r->math, r->math_type,
                      r->input, r->hidden, r->projection, r->layers};
  for (unsigned i = 0; i < sizeof from / sizeof from[0]; i++)
    if (to[i]) *to[i] = from[i];
  if (direction) *direction = r->directions - 1;
  if (dropout) *dropout = r->dropout;
  if (flags) *flags = r->flags;
  return DNN_SUCCESS;
}

PUBLIC dnn_status cudnnRNNSetClip_v9(struct dnn_rnn *r, int mode, double low, double high)
{
  (void)low, (void)high;
  if (!r || mode < 0 || mode > 1) return DNN_BAD_PARAM;
  return mode == 0 ? DNN_SUCCESS : dnn_refuse("cudnnRNNSetClip_v9", "clipped cells");
}
PUBLIC dnn_status cudnnRNNSetClip_v8(struct dnn_rnn *r, int mode, int nan, double low, double high)
{
  (void)nan;
  return cudnnRNNSetClip_v9(r, mode, low, high);
}
PUBLIC dnn_status cudnnRNNGetClip_v9(const struct dnn_rnn *r, int *mode, double *low, double *high)
{
  if (!r) return DNN_BAD_PARAM;
  if (mode) *mode = 0;
  if (low) *low = 0;
  if (high) *high = 0;
  return DNN_SUCCESS;
}
PUBLIC dnn_status cudnnRNNGetClip_v8(const struct dnn_rnn *r, int *mode, int *nan, double *low, double *high)
{
  if (nan) *nan = 0;
  return cudnnRNNGetClip_v9(r, mode, low, high);
}

/* Nothing is compiled for a batch size. */
PUBLIC dnn_status cudnnBuildRNNDynamic(const struct dnn *h, const struct dnn_rnn *r, int batch)
{
  if (!dnn_handle_is(h)) return DNN_NOT_INITIALIZED;
  return r && r->set && batch > 0 ? DNN_SUCCESS : DNN_BAD_PARAM;
}

PUBLIC dnn_status cudnnGetRNNWeightSpaceSize(const struct dnn *h, const struct dnn_rnn *r, size_t *bytes)
{
  if (!dnn_handle_is(h)) return DNN_NOT_INITIALIZED;
  if (!r || !r->set || !bytes) return DNN_BAD_PARAM;
  *bytes = (size_t)dnn_rnn_weights(r) * dnn_bytes(r->type);
  return DNN_SUCCESS;
}

static dnn_status give_part(const struct dnn_rnn *r, const void *space, int64_t at, int rows, int columns,
                            struct dnn_tensor *d, void **out)
{
  const int size[3] = {1, rows, columns};
  if (out) *out = at >= 0 && space ? (char *)(uintptr_t)space + (size_t)at * dnn_bytes(r->type) : NULL;
  if (!d) return DNN_SUCCESS;
  if (at >= 0) return cudnnSetTensorNdDescriptorEx(d, DNN_NCHW, r->type, 3, size);
  *d = (struct dnn_tensor){.type = r->type};
  return DNN_SUCCESS;
}

/* Parts 0 .. gates - 1 are of the input, gates .. 2 * gates - 1 of the state. */
PUBLIC dnn_status cudnnGetRNNWeightParams(const struct dnn *h, const struct dnn_rnn *r, int32_t layer, size_t bytes,
                                          const void *space, int32_t part, struct dnn_tensor *matrix, void **matrix_at,
                                          struct dnn_tensor *bias, void **bias_at)
{
  if (!dnn_handle_is(h)) return DNN_NOT_INITIALIZED;
  if (!r || !r->set || layer < 0 || layer >= r->layers * r->directions) return DNN_BAD_PARAM;
  const int gates = dnn_rnn_gates(r);
  const bool recurrent = part >= gates;
  if (part < 0 || part >= 2 * gates) return DNN_BAD_PARAM;
  if (bytes < (size_t)dnn_rnn_weights(r) * dnn_bytes(r->type)) return DNN_BAD_PARAM_TOO_SMALL;
  const struct dnn_rnn_place p = dnn_rnn_place(r, layer);
  const int columns = recurrent ? r->hidden : p.input, gate = part % gates;
  const int64_t m = (recurrent ? p.r : p.w) + (int64_t)gate * r->hidden * columns;
  const int64_t b = recurrent ? p.bias_r : p.bias_w;
  const dnn_status s = give_part(r, space, m, r->hidden, columns, matrix, matrix_at);
  if (s != DNN_SUCCESS) return s;
  return give_part(r, space, b < 0 ? b : b + (int64_t)gate * r->hidden, r->hidden, 1, bias, bias_at);
}

PUBLIC dnn_status cudnnCreateRNNDataDescriptor(struct dnn_rnn_data **out)
{
  if (!out) return DNN_BAD_PARAM_NULL;
  *out = calloc(1, sizeof **out);
  return *out ? DNN_SUCCESS : DNN_ALLOC_FAILED;
}

PUBLIC dnn_status cudnnDestroyRNNDataDescriptor(struct dnn_rnn_data *d)
{
  if (d) free(d->lengths);
  free(d);
  return DNN_SUCCESS;
}

PUBLIC dnn_status cudnnSetRNNDataDescriptor(struct dnn_rnn_data *d, int type, int layout, int steps, int batch,
                                            int width, const int *lengths, const void *fill)
{
  (void)fill; /* of padding, which only batches have that are refused when they are run */
  if (!d || !lengths) return DNN_BAD_PARAM_NULL;
  if (layout < 0 || layout >= RNN_LAYOUTS || steps < 1 || batch < 1 || width < 1) return DNN_BAD_PARAM;
  if (dnn_element(type) < 0) return dnn_refuse("cudnnSetRNNDataDescriptor", "sequences of this type");
  for (int i = 0; i < batch; i++)
    if (lengths[i] < 0 || lengths[i] > steps) return DNN_BAD_PARAM;
  int *copy = malloc((size_t)batch * sizeof *copy);
  if (!copy) return DNN_ALLOC_FAILED;
  memcpy(copy, lengths, (size_t)batch * sizeof *copy);
  free(d->lengths);
  *d = (struct dnn_rnn_data){type, layout, steps, batch, width, copy};
  return DNN_SUCCESS;
}

PUBLIC dnn_status cudnnGetRNNDataDescriptor(const struct dnn_rnn_data *d, int *type, int *layout, int *steps,
                                            int *batch, int *width, int wanted, int *lengths, void *fill)
{
  (void)fill;
  if (!d || !d->lengths || (wanted > 0 && !lengths)) return DNN_BAD_PARAM;
  if (type) *type = d->type;
  if (layout) *layout = d->layout;
  if (steps) *steps = d->steps;
  if (batch) *batch = d->batch;
  if (width) *width = d->width;
  for (int i = 0; i < wanted && i < d->batch; i++) lengths[i] = d->lengths[i];
  return DNN_SUCCESS;
}
