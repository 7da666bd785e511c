/*
 * A switch of 16 different cases inside a loop.  This compiler makes a tree of
 * compare-and-branch of it (jump_table has the BRX form); lanes take up to 16
 * ways, meet behind the switch, and one way holds a loop of its own.
 */
extern "C" __global__ void interpreter(const unsigned *program, unsigned *out, unsigned steps)
{
    __shared__ unsigned scratch[64];
    unsigned t = threadIdx.x;
    unsigned a = t, b = 1;

    scratch[t] = t * 5;
    for (unsigned k = 0; k < steps; k++) {
        switch (program[(t + k) % 64] & 15) {
        case 0: a += b; break;
        case 1: a ^= b << 3; break;
        case 2: b = a * 7 + 1; break;
        case 3: scratch[t] = a; break;
        case 4: a = scratch[t] + b; break;
        case 5: b = __popc(a) + k; break;
        case 6: a = a / (b | 1); break;
        case 7: for (unsigned j = b & 7; j > 0; j--) a = a * 3 + j; break;
        case 8: a = __brev(a) ^ k; break;
        case 9: b -= scratch[t] >> 2; break;
        case 10: scratch[t] ^= a + b; break;
        case 11: a = a >> (b & 15); break;
        case 12: b = a > b ? a : b; break;
        case 13: a = __umulhi(a, b) + 13; break;
        case 14: b = ~b; break;
        case 15: a = a % (k + 3); b++; break;
        }
    }
    out[t] = a;
    out[64 + t] = b;
    out[128 + t] = scratch[t];
}
