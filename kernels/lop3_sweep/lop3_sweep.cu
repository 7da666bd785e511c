/*
 * All 256 truth tables of LOP3 on three registers, and some as two-operand logic with
 * immediates.
 */
template <int First, int Count> struct sweep {
    static __device__ void run(unsigned a, unsigned b, unsigned c, unsigned *o)
    {
        sweep<First, Count / 2>::run(a, b, c, o);
        sweep<First + Count / 2, Count - Count / 2>::run(a, b, c, o);
    }
};

template <int Table> struct sweep<Table, 1> {
    static __device__ void run(unsigned a, unsigned b, unsigned c, unsigned *o)
    {
        unsigned r;
        asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(a), "r"(b), "r"(c), "n"(Table));
        o[Table * 32] = r;
    }
};

extern "C" __global__ void lop3_sweep(const unsigned *in, unsigned *out)
{
    unsigned t = threadIdx.x, a = in[t], b = in[32 + t], c = in[64 + t];

    sweep<0, 256>::run(a, b, c, out + t);
    out[8192 + t] = (a & 0x0ff0f00f) | (b ^ 0x12345678);
    out[8224 + t] = ~(a | 0x80000001) ^ c;
}
