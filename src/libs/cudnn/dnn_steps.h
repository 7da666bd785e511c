/* Graphs that are run one operation after the other: products, operations of elements, sums, softmax, random bits,
 * masks, and attention, which is made of these. What lies between operations is in the workspace, of the type that the
 * graph says.
 */
#ifndef WS_DNN_STEPS_H
#define WS_DNN_STEPS_H

#include "libs/cudnn/dnn_backend.h"

struct dnn_steps;

/* NULL: an operation of the graph has no kernel, or there is no memory. */
struct dnn_steps *dnn_steps_read(const struct dnn_backend *graph);
void dnn_steps_free(struct dnn_steps *s);
/* Bytes of workspace. */
int64_t dnn_steps_room(const struct dnn_steps *s);
dnn_status dnn_steps_run(struct dnn *h, const struct dnn_steps *s, const struct dnn_backend *variant);

#endif
