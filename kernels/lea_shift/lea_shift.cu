/*
 * Address arithmetic and shifts as the compiler fuses them: LEA, LEA.HI, LEA.HI.X,
 * IMAD.SHL, SHF left and right, constant and variable, signed division by powers of
 * two.
 */
typedef unsigned long long u64;

struct odd {
    unsigned w[3];
};

extern "C" __global__ void lea_shift(const int *in, const struct odd *base, u64 *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    int a = in[i];
    unsigned b = (unsigned)in[i + n];
    long long l = (long long)a << 20 | b >> 12;
    u64 *o = out + i;

    o[0] = (u64)(&base[a] - base);
    o[n] = (u64)((const char *)&base[a].w[2] - (const char *)base);
    o[2 * n] = (u64)((long long)a * 8 + l);
    o[3 * n] = (u64)(l + ((long long)a << 5));
    o[4 * n] = (u64)(a / 8) ^ (u64)(a % 16) << 32;
    o[5 * n] = (u64)(l / 4096);
    o[6 * n] = (u64)(l % 1024);
    o[7 * n] = (u64)a + (b >> 27);
    o[8 * n] = (b << 3) + (unsigned)a;
    o[9 * n] = ((unsigned)a >> 29) + b;
    o[10 * n] = (u64)l << (b & 63);
    o[11 * n] = (u64)l >> (b & 63);
    o[12 * n] = (u64)(l >> 35);
    o[13 * n] = (u64)(int)((unsigned)a * 9u) + (u64)(b * 17u); /* wraps: int must not */
    o[14 * n] = ((u64)b * 4 + (u64)(unsigned)a) >> 1;
    o[15 * n] = (u64)(a / 7) ^ (u64)(b / 1000u) << 32;
}
