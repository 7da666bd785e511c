/*
 * tcgen05.ld and tcgen05.st (sm_100a): each shape with four registers, whole and packed, stored and dumped lane by lane,
 * then loaded from a known background; allocations beside each other. Four warps, one for each quarter of the lanes.
 */
#include "../common/tcgen05.cuh"

enum { COLUMNS = 32, LANES = 128, SHAPES = 5 };

__device__ unsigned value(int shape, unsigned r)
{
    return (shape + 1) * 0x01000193u ^ (threadIdx.x * 4 + r) * 0x9e3779b1u;
}

__device__ void background(unsigned at)
{
    unsigned r[COLUMNS];
    for (int c = 0; c < COLUMNS; c++)
        r[c] = threadIdx.x << 16 | 0x8000 | c;
    tmem_store32(at, r);
}

#define STORE(SHAPE, TAIL)                                                                                         \
    asm volatile("tcgen05.st.sync.aligned." SHAPE ".b32 [%0]" TAIL ", {%1, %2, %3, %4};" ::"r"(at), "r"(v[0]),        \
                 "r"(v[1]), "r"(v[2]), "r"(v[3])                                                                    \
                 : "memory")
#define LOAD(SHAPE, TAIL)                                                                                          \
    asm volatile("tcgen05.ld.sync.aligned." SHAPE ".b32 {%0, %1, %2, %3}, [%4]" TAIL ";"                              \
                 : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])                                                   \
                 : "r"(at))

template <int SHAPE, bool PACKED> __device__ void store(unsigned at, const unsigned *v)
{
    if (SHAPE == 0 && !PACKED) STORE("32x32b.x4", "");
    if (SHAPE == 1 && !PACKED) STORE("16x64b.x4", "");
    if (SHAPE == 2 && !PACKED) STORE("16x128b.x2", "");
    if (SHAPE == 3 && !PACKED) STORE("16x256b.x1", "");
    if (SHAPE == 4 && !PACKED) STORE("16x32bx2.x4", ", 16");
    if (SHAPE == 0 && PACKED) STORE("32x32b.x4.unpack::16b", "");
    if (SHAPE == 1 && PACKED) STORE("16x64b.x4.unpack::16b", "");
    if (SHAPE == 2 && PACKED) STORE("16x128b.x2.unpack::16b", "");
    if (SHAPE == 3 && PACKED) STORE("16x256b.x1.unpack::16b", "");
    if (SHAPE == 4 && PACKED) STORE("16x32bx2.x4.unpack::16b", ", 16");
    wait_stores();
}

template <int SHAPE, bool PACKED> __device__ void load(unsigned at, unsigned *v)
{
    if (SHAPE == 0 && !PACKED) LOAD("32x32b.x4", "");
    if (SHAPE == 1 && !PACKED) LOAD("16x64b.x4", "");
    if (SHAPE == 2 && !PACKED) LOAD("16x128b.x2", "");
    if (SHAPE == 3 && !PACKED) LOAD("16x256b.x1", "");
    if (SHAPE == 4 && !PACKED) LOAD("16x32bx2.x4", ", 16");
    if (SHAPE == 0 && PACKED) LOAD("32x32b.x4.pack::16b", "");
    if (SHAPE == 1 && PACKED) LOAD("16x64b.x4.pack::16b", "");
    if (SHAPE == 2 && PACKED) LOAD("16x128b.x2.pack::16b", "");
    if (SHAPE == 3 && PACKED) LOAD("16x256b.x1.pack::16b", "");
    if (SHAPE == 4 && PACKED) LOAD("16x32bx2.x4.pack::16b", ", 16");
    wait_loads();
}

/* Packed ones, and of 16 lanes, at the quarter's upper half. */
template <int SHAPE, bool PACKED> __device__ void both(unsigned at, unsigned *dump, unsigned *loaded)
{
    unsigned place = at + (PACKED && SHAPE ? 16u << 16 : 0), v[4], r[COLUMNS];
    for (int i = 0; i < 4; i++)
        v[i] = value(SHAPE + PACKED * SHAPES, i);
    background(at);
    store<SHAPE, PACKED>(place, v);
    tmem_load32(at, r);
    for (int c = 0; c < COLUMNS; c++)
        dump[threadIdx.x * COLUMNS + c] = r[c];
    background(at);
    load<SHAPE, PACKED>(place, v);
    for (int i = 0; i < 4; i++)
        loaded[threadIdx.x * 4 + i] = v[i];
}

template <int SHAPE> __device__ void shape(unsigned at, unsigned *out)
{
    unsigned *dump = out + SHAPE * LANES * COLUMNS, *loaded = out + 2 * SHAPES * LANES * COLUMNS + SHAPE * LANES * 4;
    both<SHAPE, false>(at, dump, loaded);
    both<SHAPE, true>(at, dump + SHAPES * LANES * COLUMNS, loaded + SHAPES * LANES * 4);
}

extern "C" __global__ void tmem_move(unsigned *out)
{
    __shared__ unsigned where[3];
    if (threadIdx.x < 32) {
        tmem_allocate(&where[0], 32);
        tmem_allocate(&where[1], 128);
        tmem_allocate(&where[2], 64);
    }
    tmem_barrier();
    unsigned at = own_lanes(where[2]);
    shape<0>(at, out);
    shape<1>(at, out);
    shape<2>(at, out);
    shape<3>(at, out);
    shape<4>(at, out);
    if (threadIdx.x == 0) {
        unsigned a = where[0], b = where[1], c = where[2];
        out[2 * SHAPES * LANES * (COLUMNS + 4)] = a % 32 == 0 && b % 128 == 0 && c % 64 == 0 && a / 128 != b / 128 &&
                                                  c / 128 != b / 128 && a / 64 != c / 64;
    }
    tmem_barrier();
    if (threadIdx.x < 32) {
        tmem_free(where[2], 64);
        tmem_free(where[1], 128);
        tmem_free(where[0], 32);
    }
}
