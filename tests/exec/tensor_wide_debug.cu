// tensor_wide as code of -G, which reaches its shared memory and its tensor map through generic addresses.
#include "tensor_wide.cu"
