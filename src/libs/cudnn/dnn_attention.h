/* Attention found in the steps of a graph by what flows where, whoever wrote it down: as one operation, as a product,
 * operations of elements, softmax and a product, or as the many operations of its gradients. It is run by fused
 * kernels (kernels/attention.cu) in the place of the steps. Covered: FP16 and BF16, up to 128 columns of q and v, one
 * scale, one bias, one slope for each head, masks that compare rows, columns and lengths of sequences, dropout. Sums
 * that a gradient is made of are not put out, also where the graph gives them memory of the program's.
 */
#ifndef WS_DNN_ATTENTION_H
#define WS_DNN_ATTENTION_H

#include "libs/cudnn/dnn_step.h"

struct dnn_attention;

/* NULL: the steps are something else, or the thread's device has no kernel for them. */
struct dnn_attention *dnn_attention_find(const struct dnn_steps *s);
void dnn_attention_free(struct dnn_attention *a);
/* Bytes of workspace. */
int64_t dnn_attention_room(const struct dnn_attention *a);
dnn_status dnn_attention_run(struct dnn *h, const struct dnn_attention *a, const struct dnn_backend *variant,
                             char *room);

#endif
