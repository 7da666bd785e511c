/*
 * Conversions of 8- and 16-bit integers from and to every floating-point type, with
 * saturation, and roundings of f16 and f32 to integral values.
 */
#include <cuda_fp16.h>

#define CVT(op, c, r, d, x) asm("cvt." op " %0, %1;" : c(r) : d(x))

extern "C" __global__ void conv_narrow(const float *in, int *out, float *fout)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    float x = in[i], f;
    double d = x;
    unsigned short h = __half_as_ushort(__float2half(x));
    short s;
    int r;

    CVT("rni.s16.f32", "=h", s, "f", x);
    out[i] = s;
    CVT("rzi.u16.f32", "=h", s, "f", x);
    out[n + i] = (unsigned short)s;
    asm("{ .reg .b16 t; cvt.rzi.s8.f32 %0, %1; }" : "=r"(r) : "f"(x));
    out[2 * n + i] = (signed char)r;
    asm("cvt.rmi.u8.f32 %0, %1;" : "=r"(r) : "f"(x));
    out[3 * n + i] = (unsigned char)r;
    CVT("rpi.s16.f64", "=h", s, "d", d);
    out[4 * n + i] = s;
    CVT("rni.s16.f16", "=h", s, "h", h);
    out[5 * n + i] = s;
    CVT("rni.s32.f16", "=r", r, "h", h);
    out[6 * n + i] = r;
    r = (int)fminf(fmaxf(x, -1e9f), 1e9f);
    int clamped;
    CVT("sat.s8.s32", "=r", clamped, "r", r);
    out[7 * n + i] = (signed char)clamped;
    CVT("sat.u16.s32", "=h", s, "r", r);
    out[8 * n + i] = (unsigned short)s;
    fout[i] = (float)(signed char)r;
    fout[n + i] = (float)(unsigned char)(r >> 8);
    fout[2 * n + i] = (float)(short)r;
    fout[3 * n + i] = (float)((double)(unsigned char)r + (double)(short)(r >> 3));
    CVT("rni.sat.f32.f32", "=f", f, "f", x);
    fout[4 * n + i] = f;
    CVT("rpi.f32.f32", "=f", f, "f", x);
    fout[5 * n + i] = f;
    unsigned short g;
    CVT("rmi.f16.f16", "=h", g, "h", h);
    fout[6 * n + i] = __half2float(__ushort_as_half(g));
    CVT("rn.f16.s16", "=h", g, "h", (short)r);
    fout[7 * n + i] = __half2float(__ushort_as_half(g));
    CVT("rz.sat.f16.f32", "=h", g, "f", x);
    fout[8 * n + i] = __half2float(__ushort_as_half(g));
}
