/* A convolution, or one of its gradients: y = x * w, dx from dy and w, dw from dy and x. Everything that convolves in
 * libcudnn ends here. Up to three dimensions of space, any strides, groups by the sizes: x has as many times the
 * channels that w has.
 */
#ifndef WS_DNN_CONV_H
#define WS_DNN_CONV_H

#include "libs/cudnn/dnn_types.h"
#include "libs/kernels/conv_args.h"

enum dnn_conv_kind { DNN_CONV_FORWARD, DNN_CONV_DATA, DNN_CONV_FILTER };

struct dnn_conv {
  enum dnn_conv_kind kind;
  struct dnn_tensor x, w, y;  /* of two dimensions and those of space */
  int64_t before[3], after[3], stride[3], dilation[3]; /* of each dimension of space: padding on both sides */
  bool flipped;               /* CUDNN_CONVOLUTION: the filter's elements in reverse order */
  double alpha, beta;         /* result = alpha * sum + beta * what was there */
  double add_alpha;           /* forward: + add_alpha * add, laid out as y */
  bool adds, biased, relu;    /* forward: add, bias per channel, max(0) */
};

struct dnn_conv_data {
  const void *x, *w, *y; /* the result's is written */
  const void *add, *bias;
  void *workspace;       /* dnn_conv_workspace() bytes */
};

/* A kernel that is ready to be launched, but for its pointers. */
struct dnn_conv_plan {
  struct ws_conv_args args;
  int groups, kernel, tile_rows, tile_columns, threads, reducer; /* tile_rows 0: a thread per output */
  size_t workspace;
};

/* DNN_BAD_PARAM for sizes that do not fit each other; DNN_NOT_SUPPORTED, with a line that names `function`, for types
 * and sizes without a kernel. `sms`: of the device, decides how the work is split. */
dnn_status dnn_conv_prepare(const struct dnn_conv *c, int sms, struct dnn_conv_plan *out, const char *function);
dnn_status dnn_conv_run(struct dnn *h, const struct dnn_conv_plan *p, enum dnn_conv_kind kind,
                        const struct dnn_conv_data *data);

/* What a dimension of space becomes; 0 or less: nothing is left of it. */
int64_t dnn_conv_length(int64_t x, int64_t w, int64_t padding, int64_t stride, int64_t dilation);

#endif
