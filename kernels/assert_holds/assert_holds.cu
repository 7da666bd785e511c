/*
 * Device assertions that hold: the call of __assertfail stays on a path that is not
 * taken.
 */
#include <cassert>

extern "C" __global__ void assert_holds(const int *in, int *out, int limit)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i];

    assert(v >= 0 && v < limit);
    int root = (int)sqrtf((float)v);
    assert(root * root <= v);
    assert((root + 1) * (root + 1) > v);
    out[i] = root;
}
