/* Tensor descriptors as programs make them; other files of the library make and read them, too. */
#ifndef WS_CUDNN_TENSOR_H
#define WS_CUDNN_TENSOR_H

#include "libs/cudnn/dnn_types.h"

PUBLIC dnn_status cudnnSetTensorNdDescriptorEx(struct dnn_tensor *t, int format, int type, int dims, const int *size);
PUBLIC dnn_status cudnnSetTensorNdDescriptor(struct dnn_tensor *t, int type, int dims, const int *size,
                                             const int *stride);

#endif
