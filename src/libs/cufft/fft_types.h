/* cuFFT as its reference documents it: the numbers that programs pass, and what a plan is here. Own declarations; the
 * programs of tests/libs are compiled with a toolkit's headers where these are installed, and pass its numbers.
 */
#ifndef WS_CUFFT_TYPES_H
#define WS_CUFFT_TYPES_H

#include <stdbool.h>

#include "libs/cufft/fft_length.h"

#define PUBLIC __attribute__((visibility("default")))

typedef enum {
  FFT_SUCCESS = 0,
  FFT_INVALID_PLAN = 1,
  FFT_ALLOC_FAILED = 2,
  FFT_INVALID_TYPE = 3,
  FFT_INVALID_VALUE = 4,
  FFT_INTERNAL_ERROR = 5,
  FFT_EXEC_FAILED = 6,
  FFT_SETUP_FAILED = 7,
  FFT_INVALID_SIZE = 8,
  FFT_INVALID_DEVICE = 11,
  FFT_NO_WORKSPACE = 13,
  FFT_NOT_SUPPORTED = 16,
} fft_status;

/* cufftType */
enum { FFT_R2C = 0x2a, FFT_C2R = 0x2c, FFT_C2C = 0x29, FFT_D2Z = 0x6a, FFT_Z2D = 0x6c, FFT_Z2Z = 0x69 };
enum { FFT_FORWARD = -1, FFT_INVERSE = 1 };
enum { FFT_RANKS = 3, FFT_VERSION = 12000 };

/* cudaDataType */
enum {
  DATA_REAL_F32 = 0, DATA_REAL_F64 = 1, DATA_REAL_F16 = 2, DATA_COMPLEX_F32 = 4, DATA_COMPLEX_F64 = 5,
  DATA_COMPLEX_F16 = 6, DATA_REAL_BF16 = 14, DATA_COMPLEX_BF16 = 15,
};

/* One side of a transform as it was asked for. */
struct fft_layout {
  int type;  /* enum ws_type of a component */
  bool real;
  int64_t stride[FFT_RANKS], dist; /* in elements; of no meaning in a basic layout */
};

struct fft_plan {
  int device;
  driver_stream stream;
  bool made, own_room_wanted, basic; /* basic: both sides without gaps, as the reference describes it */
  int type; /* cufftType; 0: of 16-bit numbers, which have none */
  int rank;
  int64_t n[FFT_RANKS], batch;
  struct fft_layout in, out;
  struct fft_length length[FFT_RANKS]; /* how each dimension is transformed */
  size_t room_bytes;                   /* that a run needs */
  uint64_t own_room, room;             /* on the device: allocated here, in use */
};

/* The elements of the complex side along dimension `d`: n, or n / 2 + 1 where the other side is real. */
int64_t fft_extent(const struct fft_plan *p, int d);

/* Says on stderr that `function` is not there, for the reason given. Returns FFT_NOT_SUPPORTED. */
fft_status fft_refuse(const char *function, const char *why);

#endif
