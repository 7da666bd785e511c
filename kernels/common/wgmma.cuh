/* Matrices of warpgroup products in shared memory, and the words that describe them (PTX ISA, wgmma). */
#ifndef WGMMA_CUH
#define WGMMA_CUH

enum swizzle { SWIZZLE_NONE, SWIZZLE_128, SWIZZLE_64, SWIZZLE_32 };

/* Bytes of a row of the swizzle atom. */
__host__ __device__ constexpr unsigned atom_bytes(swizzle s)
{
    return s == SWIZZLE_128 ? 128 : s == SWIZZLE_64 ? 64 : s == SWIZZLE_32 ? 32 : 16;
}

/* Where 16-byte piece `piece` of row `row` lies: atoms of eight rows, one behind the other by rows, then by pieces.
 * Without swizzle an atom is eight rows of 16 bytes. */
__device__ inline unsigned place(swizzle s, unsigned row, unsigned piece, unsigned rows)
{
    unsigned wide = atom_bytes(s) / 16, atom = piece / wide * (rows / 8) + row / 8, in = piece % wide;
    in ^= s == SWIZZLE_128 ? row % 8 : s == SWIZZLE_64 ? row / 2 % 4 : s == SWIZZLE_32 ? row / 4 % 2 : 0;
    return atom * 8 * wide * 16 + row % 8 * wide * 16 + in * 16;
}

__device__ inline unsigned long long matrix(const void *p, unsigned leading, unsigned stride, swizzle s)
{
    unsigned a = (unsigned)__cvta_generic_to_shared(p);
    return (unsigned long long)(a >> 4 & 0x3fff) | (unsigned long long)(leading >> 4) << 16 |
           (unsigned long long)(stride >> 4) << 32 | (unsigned long long)s << 62;
}

__device__ inline void group_fence()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ inline void group_commit()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

template <int N> __device__ inline void group_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}

/* What threads wrote to shared memory is there for the products. */
__device__ inline void shared_written()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
}

#define LIST4 "%0, %1, %2, %3"
#define LIST12 LIST4 ", %4, %5, %6, %7, %8, %9, %10, %11"
#define LIST16 LIST12 ", %12, %13, %14, %15"
#define LIST32 LIST16 ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define LIST64                                                                                                     \
    LIST32 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, " \
           "%52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define REGS4(c, d, i) c(d[i]), c(d[i + 1]), c(d[i + 2]), c(d[i + 3])
#define REGS12(c, d) REGS4(c, d, 0), REGS4(c, d, 4), REGS4(c, d, 8)
#define REGS16(c, d, i) REGS4(c, d, i), REGS4(c, d, i + 4), REGS4(c, d, i + 8), REGS4(c, d, i + 12)
#define REGS32(c, d, i) REGS16(c, d, i), REGS16(c, d, i + 16)
#define REGS64(c, d) REGS32(c, d, 0), REGS32(c, d, 32)

#endif
