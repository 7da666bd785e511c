/* CTC loss: minus the logarithm of the probability of each sample's labels and its gradient (kernels/ctc.cu). Labels
 * and lengths are the host's (cudnnCTCLoss) or the device's (cudnnCTCLoss_v8). Both algorithms that can be asked for
 * are one. */
#include <stdlib.h>

#include "libs/cudnn/dnn_types.h"
#include "libs/kernels/ctc_args.h"

/* What a loss's input is, and what happens to gradients of labels that no path has: numbers of
 * cudnnLossNormalizationMode_t and cudnnCTCGradMode_t (as of cudnnNanPropagation_t before). */
enum { CTC_PROBABILITIES, CTC_ACTIVATIONS, CTC_INPUTS };
enum { CTC_ZERO, CTC_SKIP, CTC_MODES };

struct dnn_ctc {
  int type, input, gradients, most_labels;
};

PUBLIC dnn_status cudnnCreateCTCLossDescriptor(struct dnn_ctc **out)
{
  if (!out) return DNN_BAD_PARAM_NULL;
  *out = calloc(1, sizeof **out);
  return *out ? DNN_SUCCESS : DNN_ALLOC_FAILED;
}

PUBLIC dnn_status cudnnDestroyCTCLossDescriptor(struct dnn_ctc *d)
{
  free(d);
  return DNN_SUCCESS;
}

PUBLIC dnn_status cudnnSetCTCLossDescriptor_v9(struct dnn_ctc *d, int type, int input, int gradients, int most_labels)
{
  if (!d) return DNN_BAD_PARAM_NULL;
  if ((unsigned)input >= CTC_INPUTS || (unsigned)gradients >= CTC_MODES || most_labels < 0) return DNN_BAD_PARAM;
  if (type != DNN_FLOAT) return dnn_refuse("cudnnSetCTCLossDescriptor", "CTC loss but in FP32");
  if (most_labels > WS_CTC_LABELS) return dnn_refuse("cudnnSetCTCLossDescriptor", "more than 256 labels of a sample");
  *d = (struct dnn_ctc){type, input, gradients, most_labels};
  return DNN_SUCCESS;
}

PUBLIC dnn_status cudnnSetCTCLossDescriptor_v8(struct dnn_ctc *d, int type, int input, int gradients, int most_labels)
{
  return cudnnSetCTCLossDescriptor_v9(d, type, input, gradients, most_labels);
}
PUBLIC dnn_status cudnnSetCTCLossDescriptorEx(struct dnn_ctc *d, int type, int input, int gradients)
{
  return cudnnSetCTCLossDescriptor_v9(d, type, input, gradients, WS_CTC_LABELS);
}
PUBLIC dnn_status cudnnSetCTCLossDescriptor(struct dnn_ctc *d, int type)
{
  return cudnnSetCTCLossDescriptor_v9(d, type, CTC_PROBABILITIES, CTC_ZERO, WS_CTC_LABELS);
}

PUBLIC dnn_status cudnnGetCTCLossDescriptor_v9(const struct dnn_ctc *d, int *type, int *input, int *gradients,
                                               int *most_labels)
{
  if (!d || !type || !input || !gradients || !most_labels) return DNN_BAD_PARAM_NULL;
  *type = d->type, *input = d->input, *gradients = d->gradients, *most_labels = d->most_labels;
  return DNN_SUCCESS;
}
PUBLIC dnn_status cudnnGetCTCLossDescriptor_v8(const struct dnn_ctc *d, int *type, int *input, int *gradients,
                                               int *most_labels)
{
  return cudnnGetCTCLossDescriptor_v9(d, type, input, gradients, most_labels);
}
PUBLIC dnn_status cudnnGetCTCLossDescriptorEx(const struct dnn_ctc *d, int *type, int *input, int *gradients)
{
  int most_labels;
  return cudnnGetCTCLossDescriptor_v9(d, type, input, gradients, &most_labels);
}
PUBLIC dnn_status cudnnGetCTCLossDescriptor(const struct dnn_ctc *d, int *type)
{
  int input, gradients;
  return cudnnGetCTCLossDescriptorEx(d, type, &input, &gradients);
}

/* A call's sizes, and how many bytes of the workspace it needs for what the kernel writes and for a copy of the host's
 * labels and lengths behind that. */
struct ctc_sizes {
  int times, samples, symbols, most_labels;
  int64_t labels; /* on the host, of all samples */
  size_t room_bytes, bytes;
};

/* times x samples x symbols, of FP32. */
static bool is_loss_tensor(const struct dnn_tensor *t)
{
  bool right = t->dims >= 3 && dnn_reach(t) > 0;
  const int64_t n = right ? dnn_elements(t) : -1;
  for (int i = 3; i < t->dims; i++) right = right && t->size[i] == 1;
  return right && n > 0 && n <= INT32_MAX;
}

static dnn_status sizes_of(struct ctc_sizes *s, const struct dnn *h, const struct dnn_ctc *d,
                           const struct dnn_tensor *x, const struct dnn_tensor *gradients, int algorithm)
{
  if (!dnn_handle_is(h)) return DNN_NOT_INITIALIZED;
  if (!d || !x) return DNN_BAD_PARAM_NULL;
  if ((unsigned)algorithm > 1) return DNN_BAD_PARAM;
  if (x->type != DNN_FLOAT || (gradients && gradients->type != DNN_FLOAT))
    return dnn_refuse("cudnnCTCLoss", "CTC loss but in FP32");
  if (!is_loss_tensor(x) || (gradients && !is_loss_tensor(gradients))) return DNN_BAD_PARAM;
  for (int i = 0; gradients && i < 3; i++)
    if (gradients->size[i] != x->size[i]) return DNN_BAD_PARAM_SHAPE;
  *s = (struct ctc_sizes){.times = (int)x->size[0], .samples = (int)x->size[1], .symbols = (int)x->size[2],
                          .most_labels = d->most_labels};
  return DNN_SUCCESS;
}

static void add_up(struct ctc_sizes *s)
{
  const size_t each = 2 + 2 * (size_t)s->most_labels; /* a logarithm, and a number for each state */
  s->room_bytes = (size_t)s->times * (size_t)s->samples * each * sizeof(float);
  s->bytes = s->room_bytes + ((size_t)s->labels + 2 * (size_t)s->samples) * sizeof(int32_t);
}

/* What the host's labels are. */
static dnn_status look_at(struct ctc_sizes *s, const int *labels, const int *label_lengths, const int *input_lengths)
{
  if (!labels || !label_lengths || !input_lengths) return DNN_BAD_PARAM_NULL;
  const int most = s->most_labels;
  s->most_labels = 0;
  for (int i = 0; i < s->samples; i++) {
    const int n = label_lengths[i];
    if (n < 0 || input_lengths[i] < 0 || input_lengths[i] > s->times) return DNN_BAD_PARAM;
    if (n > most) return n > WS_CTC_LABELS ? dnn_refuse("cudnnCTCLoss", "so many labels") : DNN_BAD_PARAM;
    for (int j = 0; j < n; j++, s->labels++)
      if (labels[s->labels] < 1 || labels[s->labels] >= s->symbols) return DNN_BAD_PARAM;
    if (n > s->most_labels) s->most_labels = n;
  }
  return DNN_SUCCESS;
}

PUBLIC dnn_status cudnnGetCTCLossWorkspaceSize(const struct dnn *h, const struct dnn_tensor *x,
                                               const struct dnn_tensor *gradients, const int *labels,
                                               const int *label_lengths, const int *input_lengths, int algorithm,
                                               const struct dnn_ctc *d, size_t *bytes)
{
  struct ctc_sizes s;
  if (!bytes) return DNN_BAD_PARAM_NULL;
  dnn_status status = sizes_of(&s, h, d, x, gradients, algorithm);
  if (status == DNN_SUCCESS) status = look_at(&s, labels, label_lengths, input_lengths);
  if (status != DNN_SUCCESS) return status;
  add_up(&s);
  *bytes = s.bytes;
  return DNN_SUCCESS;
}

PUBLIC dnn_status cudnnGetCTCLossWorkspaceSize_v8(const struct dnn *h, int algorithm, const struct dnn_ctc *d,
                                                  const struct dnn_tensor *x, const struct dnn_tensor *gradients,
                                                  size_t *bytes)
{
  struct ctc_sizes s;
  if (!bytes) return DNN_BAD_PARAM_NULL;
  const dnn_status status = sizes_of(&s, h, d, x, gradients, algorithm);
  if (status != DNN_SUCCESS) return status;
  add_up(&s);
  *bytes = s.room_bytes;
  return DNN_SUCCESS;
}

/* Where a call's numbers lie on the device. */
struct ctc_call {
  const void *x;
  void *costs, *gradients, *workspace;
  const int32_t *labels, *label_lengths, *input_lengths;
};

static dnn_status run(struct dnn *h, const struct dnn_ctc *d, const struct ctc_sizes *s, const struct dnn_tensor *x,
                      const struct dnn_tensor *gradients, const struct ctc_call *c)
{
  struct ws_ctc_args a = {.x = c->x, .gradients = c->gradients, .costs = c->costs, .labels = c->labels,
                          .label_lengths = c->label_lengths, .input_lengths = c->input_lengths, .room = c->workspace,
                          .times = s->times, .symbols = s->symbols, .most_labels = s->most_labels,
                          .softmax = d->input == CTC_ACTIVATIONS, .keeps_gradients = d->gradients == CTC_SKIP};
  for (int i = 0; i < 3; i++) {
    a.x_stride[i] = x->stride[i];
    if (gradients) a.gradient_stride[i] = gradients->stride[i];
  }
  const struct launch_shape shape = {(unsigned)s->samples, 1, 1, 256};
  return kernel_set_launch(&h->blas->kernels, KERNEL_ctc, shape, h->stream, &a) ? DNN_SUCCESS : DNN_EXECUTION_FAILED;
}

/* n numbers of the host's to *at, which moves on; where they are now. */
static const int32_t *bring(struct dnn *h, uint64_t *at, const int *from, int64_t n)
{
  const uint64_t to = *at;
  *at += (uint64_t)n * sizeof *from;
  if (n && cuMemcpyHtoDAsync_v2(to, from, (size_t)n * sizeof *from, h->stream) != DRIVER_OK) return NULL;
  return (const int32_t *)(uintptr_t)to;
}

PUBLIC dnn_status cudnnCTCLoss(struct dnn *h, const struct dnn_tensor *xd, const void *x, const int *labels,
                               const int *label_lengths, const int *input_lengths, void *costs,
                               const struct dnn_tensor *gradients_d, void *gradients, int algorithm,
                               const struct dnn_ctc *d, void *workspace, size_t bytes)
{
  struct ctc_sizes s;
  dnn_status status = sizes_of(&s, h, d, xd, gradients ? gradients_d : NULL, algorithm);
  if (status == DNN_SUCCESS) status = look_at(&s, labels, label_lengths, input_lengths);
  if (status != DNN_SUCCESS) return status;
  if (!x || !costs || !workspace || (gradients && !gradients_d)) return DNN_BAD_PARAM_NULL;
  add_up(&s);
  if (bytes < s.bytes) return DNN_BAD_PARAM_TOO_SMALL;
  uint64_t at = (uint64_t)(uintptr_t)workspace + s.room_bytes;
  struct ctc_call c = {.x = x, .costs = costs, .gradients = gradients, .workspace = workspace};
  c.label_lengths = bring(h, &at, label_lengths, s.samples);
  c.input_lengths = bring(h, &at, input_lengths, s.samples);
  c.labels = bring(h, &at, labels, s.labels);
  if (!c.label_lengths || !c.input_lengths || !c.labels) return DNN_EXECUTION_FAILED;
  return run(h, d, &s, xd, gradients_d, &c);
}

PUBLIC dnn_status cudnnCTCLoss_v8(struct dnn *h, int algorithm, const struct dnn_ctc *d, const struct dnn_tensor *xd,
                                  const void *x, const int *labels, const int *label_lengths, const int *input_lengths,
                                  void *costs, const struct dnn_tensor *gradients_d, void *gradients, size_t bytes,
                                  void *workspace)
{
  struct ctc_sizes s;
  const dnn_status status = sizes_of(&s, h, d, xd, gradients ? gradients_d : NULL, algorithm);
  if (status != DNN_SUCCESS) return status;
  if (!x || !labels || !label_lengths || !input_lengths || !costs || !workspace || (gradients && !gradients_d))
    return DNN_BAD_PARAM_NULL;
  add_up(&s);
  if (bytes < s.room_bytes) return DNN_BAD_PARAM_TOO_SMALL;
  const struct ctc_call c = {x, costs, gradients, workspace, labels, label_lengths, input_lengths};
  return run(h, d, &s, xd, gradients_d, &c);
}
