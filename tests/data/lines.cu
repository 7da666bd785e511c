/* Code with line tables, of which one function is inlined in another: tests/unit/test_line_table.c. lines.sh compiles it. */
__device__ __forceinline__ float square(float x) { return x * x; }
__device__ __forceinline__ float outer(float x)
{
  float y = square(x) + 1.0f;
  return y * square(y);
}
extern "C" __global__ void first(const float *in, float *out)
{
  int i = threadIdx.x;
  out[i] = outer(in[i]);
}
extern "C" __global__ void second(const float *in, float *out)
{
  int i = threadIdx.x;
  out[i] = outer(in[i]) * 2;
  out[i + 1] = square(in[i + 5]);
}
