// Convolutions: tiles of 64 rows by 64 columns, and by 16 where there are few columns; the sum of split terms; and a
// thread per output for few rows (a group per channel).
#include "conv.cuh"

typedef unsigned short half16; // half precision or bfloat16: p.type says

CONV_KERNEL(warpstep_conv_f32_64x64, float, float, false, 64, 64, 16, 4, 4)
CONV_KERNEL(warpstep_conv_f32_64x16, float, float, false, 64, 16, 16, 4, 4)
CONV_KERNEL(warpstep_conv_f32_strided_64x64, float, float, true, 64, 64, 16, 4, 4)
CONV_KERNEL(warpstep_conv_f32_strided_64x16, float, float, true, 64, 16, 16, 4, 4)
CONV_KERNEL(warpstep_conv_b16_64x64, half16, float, false, 64, 64, 16, 4, 4)
CONV_KERNEL(warpstep_conv_b16_64x16, half16, float, false, 64, 16, 16, 4, 4)
CONV_KERNEL(warpstep_conv_b16_strided_64x64, half16, float, true, 64, 64, 16, 4, 4)
CONV_KERNEL(warpstep_conv_b16_strided_64x16, half16, float, true, 64, 16, 16, 4, 4)

template <typename T, typename C> __device__ void end_split(const ws_conv_args &p)
{
  const int64_t cells = (int64_t)p.rows * p.column.count, i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= cells) return;
  const C *part = (const C *)p.partial + (int64_t)blockIdx.z * p.splits * cells + i;
  C sum = 0;
  for (int s = 0; s < p.splits; s++) sum += part[s * cells];
  const int row = (int)(i / p.column.count);
  const place c = place_of(p.column, (unsigned)(i % p.column.count));
  end_sum<T, C>(p, (int64_t)blockIdx.z * p.group_out + (int64_t)row * p.out_row + c.other, blockIdx.z * p.rows + row,
                sum);
}
extern "C" __global__ void warpstep_conv_reduce_f32(const __grid_constant__ ws_conv_args p)
{
  end_split<float, float>(p);
}
extern "C" __global__ void warpstep_conv_reduce_b16(const __grid_constant__ ws_conv_args p)
{
  end_split<half16, float>(p);
}

template <typename T, typename C, bool STRIDED> __device__ void direct(const ws_conv_args &p)
{
  const int64_t cells = (int64_t)p.rows * p.column.count, i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= cells) return;
  const T *lhs = (const T *)p.lhs + (int64_t)blockIdx.z * p.group_lhs;
  const T *source = (const T *)p.source + (int64_t)blockIdx.z * p.group_source;
  const int row = (int)(i / p.column.count);
  place c = place_of(p.column, (unsigned)(i % p.column.count));
  const int to = c.other;
  c.source += p.origin_source;
  for (int d = 0; d < 3; d++) c.at[d] += p.origin[d];
  C sum = 0;
  for (unsigned k = 0; k < p.term.count; k++) {
    const place t = place_of(p.term, k);
    const int at = element_of<STRIDED>(p, c, make_int4(t.source, t.at[0], t.at[1], t.at[2]));
    if (at >= 0) sum += (C)memory<T>::load(source, at, p.type) * (C)memory<T>::load(lhs, t.other + row * p.lhs_row, p.type);
  }
  end_sum<T, C>(p, (int64_t)blockIdx.z * p.group_out + (int64_t)row * p.out_row + to, blockIdx.z * p.rows + row, sum);
}
#define DIRECT_KERNEL(name, T, C)                                       \
  extern "C" __global__ void name(const __grid_constant__ ws_conv_args p) \
  {                                                                     \
    if (p.strided) direct<T, C, true>(p);                               \
    else direct<T, C, false>(p);                                        \
  }
DIRECT_KERNEL(warpstep_conv_direct_f32, float, float)
DIRECT_KERNEL(warpstep_conv_direct_b16, half16, float)
DIRECT_KERNEL(warpstep_conv_direct_f64, double, double)
