/*
 * A jump table: brx.idx in inline PTX, because the compiler turns switches into
 * trees of branches.  Emits BRX with a table of targets in a constant bank; the
 * eight targets are taken by different lanes of a warp.
 */
extern "C" __global__ void jump_table(const unsigned *in, unsigned *out, unsigned rounds)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = in[i];

#pragma unroll 1
    for (unsigned k = 0; k < rounds; k++) {
        unsigned way = (v ^ k) & 7;
        asm volatile("{\n\t"
                     ".reg .u32 t;\n\t"
                     "ways: .branchtargets W0, W1, W2, W3, W4, W5, W6, W7;\n\t"
                     "brx.idx %1, ways;\n"
                     "W0: add.u32 %0, %0, 12345; bra DONE;\n"
                     "W1: xor.b32 %0, %0, 0x5a5a5a5a; bra DONE;\n"
                     "W2: mul.lo.u32 %0, %0, 2654435761; bra DONE;\n"
                     "W3: brev.b32 %0, %0; bra DONE;\n"
                     "W4: not.b32 %0, %0; bra DONE;\n"
                     "W5: shr.u32 t, %0, 5; sub.u32 %0, %0, t; bra DONE;\n"
                     "W6: popc.b32 t, %0; add.u32 %0, %0, t; bra DONE;\n"
                     "W7: shl.b32 t, %0, 3; xor.b32 %0, %0, t; add.u32 %0, %0, 1;\n"
                     "DONE:\n\t"
                     "}"
                     : "+r"(v)
                     : "r"(way));
    }
    out[i] = v;
}
