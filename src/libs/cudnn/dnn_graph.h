/* Graphs of operations: which of them have kernels, and their plans. There are convolutions and their gradients, a
 * convolution with what may follow it (another tensor added, a bias per channel added, ReLU), and graphs without a
 * convolution, which are run step by step (dnn_steps.h).
 */
#ifndef WS_DNN_GRAPH_H
#define WS_DNN_GRAPH_H

#include "libs/cudnn/dnn_backend.h"

/* Checks what a descriptor needs and makes the attributes that come from the library. */
PUBLIC dnn_status cudnnBackendFinalize(struct dnn_backend *d);

#endif
