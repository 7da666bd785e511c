/* Shared by rdc_main.cu and rdc_part.cu. */
#pragma once

typedef int (*function)(int);

extern __device__ int counter;
extern __device__ int offset[3];
extern __constant__ int scale[4];
extern __device__ function table[2];
extern __device__ int twice(int x);
extern __device__ int small(int x);
extern __device__ int reversed(int x);

inline __device__ __noinline__ int both(int x) { return 5 * x + 9; }
