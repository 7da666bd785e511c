/* Dropout: which elements stay is drawn from a seed and a count of calls that lie in the states, on the device. */
#ifndef WS_DNN_DROPOUT_H
#define WS_DNN_DROPOUT_H

#include "libs/cudnn/dnn_types.h"

struct dnn_dropout {
  float rate;
  void *states; /* or NULL: never drops */
  uint64_t seed;
};

/* to = from with elements dropped and the others scaled; `mask` (a byte per element) says which stay. `draw`: they are
 * drawn now, else they are those of the mask. */
dnn_status dnn_dropout_apply(struct dnn *h, const struct dnn_dropout *d, int type, int64_t n, const void *from,
                             void *to, void *mask, bool draw);

#endif
