/* Recurrent layers: descriptors, where weights lie, how a batch of sequences is walked. */
#ifndef WS_DNN_RNN_H
#define WS_DNN_RNN_H

#include "libs/cudnn/dnn_dropout.h"
#include "libs/kernels/rnn_args.h"

struct dnn_rnn {
  int algo, mode, bias_mode, directions, input_mode, type, math, math_type; /* directions: 1 or 2 */
  int32_t input, hidden, projection, layers;
  const struct dnn_dropout *dropout; /* or NULL */
  uint32_t flags;
  bool set;
};

struct dnn_rnn_data {
  int type, layout, steps, batch, width;
  int *lengths; /* of each of the sequences */
};

/* cudnnRNNDataLayout_t, cudnnRNNBiasMode_t */
enum { RNN_SEQ_MAJOR, RNN_PACKED, RNN_BATCH_MAJOR, RNN_LAYOUTS };
enum { RNN_NO_BIAS, RNN_BIAS_INPUT, RNN_BIAS_BOTH, RNN_BIAS_RECURRENT, RNN_BIAS_MODES };

/* Where one layer and direction has its weights, in elements; -1: it has none. */
struct dnn_rnn_place {
  int64_t w, r, bias_w, bias_r;
  int32_t input;
};

int dnn_rnn_gates(const struct dnn_rnn *r);
/* Of pseudo layer `i` (layer * directions + direction). */
struct dnn_rnn_place dnn_rnn_place(const struct dnn_rnn *r, int i);
/* Elements of all weights; -1: too many. */
int64_t dnn_rnn_weights(const struct dnn_rnn *r);

#endif
