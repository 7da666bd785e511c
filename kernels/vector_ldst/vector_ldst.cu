/*
 * Loads and stores of every width, aligned vectors of every shape, in global, shared
 * and local memory; bytes and halfwords with both extensions.
 */
template <class T> static __device__ void copy(const void *in, void *out, int i)
{
    ((T *)out)[i] = ((const T *)in)[i];
}

extern "C" __global__ void vector_ldst(const char *in, char *out, long long *extended)
{
    __shared__ __align__(16) char s[64 * 16];
    int t = threadIdx.x; /* 64 threads */
    int n = 64 * 16;

    copy<char>(in, out, t);
    copy<char2>(in + 64, out + 64, t);
    copy<char4>(in + n, out + n, t);
    copy<short2>(in + 2 * n, out + 2 * n, t);
    copy<short4>(in + 3 * n, out + 3 * n, t);
    copy<uint2>(in + 4 * n, out + 4 * n, t);
    copy<uint4>(in + 5 * n, out + 5 * n, t);
    copy<double>(in + 6 * n, out + 6 * n, t);
    copy<double2>(in + 7 * n, out + 7 * n, t);
    copy<float3>(in + 8 * n, out + 8 * n, t); /* three words */
    copy<uchar3>(in + 9 * n, out + 9 * n, t); /* three bytes */

    *(uint4 *)&s[16 * t] = *(const uint4 *)&in[10 * n + 16 * t];
    __syncthreads();
    *(uint2 *)&out[10 * n + 8 * t] = *(const uint2 *)&s[8 * (63 - t)];
    long long x = *(const signed char *)&s[16 * t + 1], y = *(const unsigned char *)&s[16 * t + 2];
    long long z = *(const short *)&s[16 * t + 4], w = *(const unsigned short *)&s[16 * t + 6];
    extended[t] = x + (y << 16) + (z << 32) - w;
    __syncthreads();
    ((unsigned char *)s)[t] = (unsigned char)(t * 3); /* 8- and 16-bit stores beside each other */
    ((unsigned short *)s)[64 + t] = (unsigned short)(t * 1000);
    __syncthreads();
    *(unsigned *)&out[11 * n + 4 * t] = ((unsigned *)s)[t % 48];
    short4 v = make_short4(0, 0, 0, 0);
    short *pv = &v.x;
    pv[t % 4] = (short)t; /* local memory */
    *(short4 *)&out[12 * n + 8 * t] = v;
}
