/*
 * CRC-32 three ways over 64 bytes per thread: bit by bit with predicates, by a table
 * in constant memory at divergent indices, and by a nibble table in shared memory.
 */
__constant__ unsigned table[256];

extern "C" __global__ void crc32(const unsigned char *in, unsigned *out, int length)
{
    __shared__ unsigned nibble[16];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    unsigned bitwise = ~0u, bytewise = ~0u, quick = ~0u;

    if (threadIdx.x < 16)
        nibble[threadIdx.x] = table[threadIdx.x * 16]; /* of the byte's upper half */
    __syncthreads();
    for (int j = 0; j < length; j++) {
        unsigned byte = in[i * length + j];
        if (j < 8) {
            bitwise ^= byte;
            for (int k = 0; k < 8; k++)
                bitwise = bitwise & 1 ? bitwise >> 1 ^ 0xedb88320 : bitwise >> 1;
        }
        bytewise = bytewise >> 8 ^ table[(bytewise ^ byte) & 255];
        quick ^= byte;
        quick = quick >> 4 ^ table[(quick & 15) << 4];
        quick = quick >> 4 ^ nibble[quick & 15];
    }
    out[i] = ~bitwise;
    out[n + i] = ~bytewise;
    out[2 * n + i] = ~quick;
}
