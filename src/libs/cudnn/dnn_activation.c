#include "libs/cudnn/dnn_activation.h"

#include <stdlib.h>

#include "libs/cudnn/dnn_types.h"

PUBLIC dnn_status cudnnCreateActivationDescriptor(struct dnn_activation **out)
{
  if (!out) return DNN_BAD_PARAM_NULL;
  *out = calloc(1, sizeof **out);
  if (!*out) return DNN_ALLOC_FAILED;
  (*out)->swish_beta = 1;
  return DNN_SUCCESS;
}

PUBLIC dnn_status cudnnDestroyActivationDescriptor(struct dnn_activation *a)
{
  free(a);
  return DNN_SUCCESS;
}

PUBLIC dnn_status cudnnSetActivationDescriptor(struct dnn_activation *a, int mode, int nan, double coefficient)
{
  if (!a || mode < 0 || mode >= ACTIVATIONS || nan < 0 || nan > 1) return DNN_BAD_PARAM;
  a->mode = mode, a->nan = nan, a->coefficient = coefficient;
  return DNN_SUCCESS;
}

PUBLIC dnn_status cudnnGetActivationDescriptor(const struct dnn_activation *a, int *mode, int *nan, double *coefficient)
{
  if (!a || !mode || !nan || !coefficient) return DNN_BAD_PARAM;
  *mode = a->mode, *nan = a->nan, *coefficient = a->coefficient;
  return DNN_SUCCESS;
}

PUBLIC dnn_status cudnnSetActivationDescriptorSwishBeta(struct dnn_activation *a, double beta)
{
  if (!a) return DNN_BAD_PARAM;
  a->swish_beta = beta;
  return DNN_SUCCESS;
}

PUBLIC dnn_status cudnnGetActivationDescriptorSwishBeta(const struct dnn_activation *a, double *beta)
{
  if (!a || !beta) return DNN_BAD_PARAM;
  *beta = a->swish_beta;
  return DNN_SUCCESS;
}
