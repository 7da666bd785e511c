/* Tables of a transform, computed on the host in binary64 and put on the device. */
#ifndef WS_FFT_TABLES_H
#define WS_FFT_TABLES_H

#include "libs/cufft/fft_length.h"

/* exp(-2 pi i k `each` / order) for k < count, of the given type (WS_F32 or WS_F64); 0: no memory. */
uint64_t fft_table_roots(int64_t order, int64_t each, int64_t count, int type);
/* Chirps and filter of a length with a convolution. False: no memory. */
bool fft_table_chirps(struct fft_length *l, int type);

#endif
