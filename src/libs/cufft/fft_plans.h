/* The plans of a process, by their handles, which the interface made numbers. */
#ifndef WS_FFT_PLANS_H
#define WS_FFT_PLANS_H

#include "libs/cufft/fft_types.h"

/* A new plan of the calling thread's device. */
fft_status fft_plans_add(int *handle);
/* The plan of a handle; NULL: there is none. */
struct fft_plan *fft_plans_find(int handle);
/* Takes it away, without what it has on the device. */
void fft_plans_remove(int handle);
int fft_plans_sms(const struct fft_plan *p);
/* Launches a kernel on the device of a plan. */
bool fft_plans_launch(const struct fft_plan *p, enum lib_kernel k, struct launch_shape shape, const void *args);

#endif
