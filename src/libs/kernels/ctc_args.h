/* What the kernel of the CTC loss takes (kernels/ctc.cu), seen by the host (C) and by the kernels (CUDA C++). */
#ifndef WS_CTC_ARGS_H
#define WS_CTC_ARGS_H

#include <stdint.h>

/* Labels of a sample at most, and states of the chain that they make with blanks between them. */
enum { WS_CTC_LABELS = 256, WS_CTC_STATES = 2 * WS_CTC_LABELS + 1 };

/* Symbol 0 is the blank. */
struct ws_ctc_args {
  const float *x;                                          /* activations before a softmax, or probabilities */
  float *gradients;                                        /* or 0 */
  float *costs;
  const int32_t *labels, *label_lengths, *input_lengths;   /* labels of all samples, one after the other */
  float *room;                                             /* of each sample times * (1 + 2 * most_labels + 1) */
  int64_t x_stride[3], gradient_stride[3];                 /* elements: time, sample, symbol */
  int32_t times, symbols, most_labels;
  int32_t softmax;                                         /* x are activations */
  int32_t keeps_gradients;                                 /* where no path has a sample's labels; else they are 0 */
};

#endif
