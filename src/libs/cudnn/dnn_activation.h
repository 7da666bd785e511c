/* What an activation descriptor says. */
#ifndef WS_DNN_ACTIVATION_H
#define WS_DNN_ACTIVATION_H

/* cudnnActivationMode_t */
enum { ACTIVATION_SIGMOID, ACTIVATION_RELU, ACTIVATION_TANH, ACTIVATION_CLIPPED, ACTIVATION_ELU, ACTIVATION_IDENTITY,
       ACTIVATION_SWISH, ACTIVATIONS };

struct dnn_activation {
  int mode, nan;
  double coefficient, swish_beta;
};

#endif
