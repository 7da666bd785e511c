/* Names and texts of error codes (errors.def). */
#ifndef WS_CUDA_ERRORS_H
#define WS_CUDA_ERRORS_H

#include "cuda/core/api.h"

/* NULL: no such code. */
const char *error_driver_name(int code);
const char *error_runtime_name(int code);
const char *error_text(int code);

#endif
