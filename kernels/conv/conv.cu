/*
 * Conversions between integer and floating-point types in every rounding mode:
 * F2I, I2F, F2F, FRND, the packed half forms, and truncation and extension of
 * integers.  Operands include ties, NaN, infinities, subnormals and values out
 * of the destination's range, which PTX clamps.
 */
#include <cuda_bf16.h>
#include <cuda_fp16.h>

typedef long long i64;
typedef unsigned long long u64;

extern "C" __global__ void conv(const float *fin, const double *din, const i64 *iin,
                                const __half *hin, const __nv_bfloat16 *bin, unsigned *o32,
                                u64 *o64, float *of, double *od, __half *oh, __nv_bfloat16 *ob,
                                unsigned n)
{
    unsigned i = threadIdx.x;
    float f = fin[i];
    double d = din[i];
    i64 l = iin[i];
    int s = (int)l;
    __half h = hin[i];
    __nv_bfloat16 b = bin[i];

    unsigned *u = o32 + i;
    u[0 * n] = (unsigned)__float2int_rn(f);
    u[1 * n] = (unsigned)__float2int_rz(f);
    u[2 * n] = (unsigned)__float2int_ru(f);
    u[3 * n] = (unsigned)__float2int_rd(f);
    u[4 * n] = __float2uint_rn(f);
    u[5 * n] = __float2uint_rz(f);
    u[6 * n] = __float2uint_ru(f);
    u[7 * n] = __float2uint_rd(f);
    u[8 * n] = (unsigned)__double2int_rn(d);
    u[9 * n] = (unsigned)__double2int_rz(d);
    u[10 * n] = (unsigned)__double2int_ru(d);
    u[11 * n] = (unsigned)__double2int_rd(d);
    u[12 * n] = __double2uint_rn(d);
    u[13 * n] = __double2uint_rz(d);
    u[14 * n] = __double2uint_ru(d);
    u[15 * n] = __double2uint_rd(d);
    u[16 * n] = (unsigned)__half2int_rn(h);
    u[17 * n] = (unsigned)__half2int_rd(h);
    u[18 * n] = __half2uint_rz(h);
    /* integer to integer: truncate, then extend by the type's sign */
    u[19 * n] = (unsigned)(int)(signed char)l;
    u[20 * n] = (unsigned)(unsigned char)l;
    u[21 * n] = (unsigned)(int)(short)l;
    u[22 * n] = (unsigned)(unsigned short)l;

    u64 *w = o64 + i;
    w[0 * n] = (u64)__float2ll_rn(f);
    w[1 * n] = (u64)__float2ll_rz(f);
    w[2 * n] = (u64)__float2ll_ru(f);
    w[3 * n] = (u64)__float2ll_rd(f);
    w[4 * n] = __float2ull_rn(f);
    w[5 * n] = __float2ull_rz(f);
    w[6 * n] = __float2ull_ru(f);
    w[7 * n] = __float2ull_rd(f);
    w[8 * n] = (u64)__double2ll_rn(d);
    w[9 * n] = (u64)__double2ll_rz(d);
    w[10 * n] = (u64)__double2ll_ru(d);
    w[11 * n] = (u64)__double2ll_rd(d);
    w[12 * n] = __double2ull_rn(d);
    w[13 * n] = __double2ull_rz(d);
    w[14 * n] = __double2ull_ru(d);
    w[15 * n] = __double2ull_rd(d);
    w[16 * n] = (u64)(i64)s;
    w[17 * n] = (u64)(unsigned)s;

    float *p = of + i;
    p[0 * n] = __double2float_rn(d);
    p[1 * n] = __double2float_rz(d);
    p[2 * n] = __double2float_ru(d);
    p[3 * n] = __double2float_rd(d);
    p[4 * n] = __ll2float_rn(l);
    p[5 * n] = __ll2float_rz(l);
    p[6 * n] = __ll2float_ru(l);
    p[7 * n] = __ll2float_rd(l);
    p[8 * n] = __ull2float_rn((u64)l);
    p[9 * n] = __ull2float_rz((u64)l);
    p[10 * n] = __ull2float_ru((u64)l);
    p[11 * n] = __ull2float_rd((u64)l);
    p[12 * n] = __int2float_rn(s);
    p[13 * n] = __int2float_rz(s);
    p[14 * n] = __int2float_ru(s);
    p[15 * n] = __int2float_rd(s);
    p[16 * n] = __uint2float_rn((unsigned)s);
    p[17 * n] = __uint2float_rz((unsigned)s);
    p[18 * n] = (float)(signed char)l;
    p[19 * n] = (float)(unsigned short)l;
    p[20 * n] = rintf(f);
    p[21 * n] = floorf(f);
    p[22 * n] = ceilf(f);
    p[23 * n] = truncf(f);
    p[24 * n] = __half2float(h);
    p[25 * n] = __bfloat162float(b);

    double *q = od + i;
    q[0 * n] = __ll2double_rn(l);
    q[1 * n] = __ll2double_rz(l);
    q[2 * n] = __ll2double_ru(l);
    q[3 * n] = __ll2double_rd(l);
    q[4 * n] = __ull2double_rn((u64)l);
    q[5 * n] = __ull2double_rz((u64)l);
    q[6 * n] = __int2double_rn(s);
    q[7 * n] = __uint2double_rn((unsigned)s);
    q[8 * n] = (double)f;
    q[9 * n] = rint(d);
    q[10 * n] = floor(d);
    q[11 * n] = ceil(d);
    q[12 * n] = trunc(d);

    __half *r = oh + i;
    r[0 * n] = __float2half_rn(f);
    r[1 * n] = __float2half_rz(f);
    r[2 * n] = __float2half_ru(f);
    r[3 * n] = __float2half_rd(f);
    r[4 * n] = __double2half(d);
    r[5 * n] = __int2half_rn(s);
    r[6 * n] = __uint2half_rn((unsigned)s);
    r[7 * n] = __short2half_rn((short)l);

    ob[0 * n + i] = __float2bfloat16_rn(f);
    ob[1 * n + i] = __float2bfloat16_rz(f);
}
