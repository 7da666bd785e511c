/*
 * SIMD-in-a-word intrinsics on four bytes and two halfwords: wrapping and saturated
 * sums, differences, averages, absolute differences, maxima, comparisons, sums of
 * absolute differences.
 */
extern "C" __global__ void simd_video(const unsigned *a, const unsigned *b, unsigned *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    unsigned x = a[i], y = b[i], *o = out + i;
    const unsigned r[] = {
        __vadd4(x, y), __vsub4(x, y), __vaddus4(x, y), __vaddss4(x, y), __vsubus4(x, y),
        __vsubss4(x, y), __vabsdiffu4(x, y), __vabsdiffs4(x, y), __vavgu4(x, y), __vhaddu4(x, y),
        __vmaxu4(x, y), __vmins4(x, y), __vcmpgtu4(x, y), __vcmples4(x, y), __vseteq4(x, y),
        __vneg4(x), __vabs4(x), __vabsss4(x), __vsadu4(x, y), __vsads4(x, y),
        __vadd2(x, y), __vsub2(x, y), __vaddus2(x, y), __vaddss2(x, y), __vsubss2(x, y),
        __vabsdiffu2(x, y), __vmaxs2(x, y), __vminu2(x, y), __vcmpltu2(x, y), __vcmpges2(x, y),
        __vsetne2(x, y), __vavgs2(x, y), __vneg2(x), __vsadu2(x, y), __usad(x, y, 5),
        __sad((int)x, (int)y, 5),
    };

#pragma unroll
    for (int k = 0; k < sizeof r / sizeof r[0]; k++)
        o[k * n] = r[k];
}
