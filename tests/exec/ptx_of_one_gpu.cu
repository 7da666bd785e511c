// PTX for one GPU alone (compute_90a) is assembled for that GPU, not for its plain target, in a fat binary and as text;
// other GPUs refuse it. Text for a later GPU and text that is wrong are refused with a line that says why. The results are the
// formula's.
#include <cstdio>
#include <cstring>
#include <cuda.h>

__global__ void squares(int *out)
{
  asm volatile("wgmma.fence.sync.aligned;"); // which PTX has for sm_90a alone
  out[threadIdx.x] = threadIdx.x * threadIdx.x;
}

static const char text[] =
  ".version 8.0\n.target %s\n.address_size 64\n"
  ".visible .entry text(.param .u64 out) { .reg .b64 %%a; .reg .b32 %%t; ld.param.u64 %%a, [out];\n"
  "%s\nmov.u32 %%t, 77; st.global.u32 [%%a], %%t; ret; }\n";

static CUresult run_text(const char *target, const char *body, int *memory)
{
  char ptx[1000];
  CUmodule module;
  CUfunction f;
  void *args[] = {&memory};
  snprintf(ptx, sizeof ptx, text, target, body);
  CUresult r = cuModuleLoadData(&module, ptx);
  if (r != CUDA_SUCCESS) return r;
  if (cuModuleGetFunction(&f, module, "text") || cuLaunchKernel(f, 1, 1, 1, 128, 1, 1, 0, 0, args, 0))
    return CUDA_ERROR_UNKNOWN;
  return cuCtxSynchronize();
}

int main()
{
  cudaDeviceProp p;
  int *memory, result[128] = {0}, bad = 0;
  cudaGetDeviceProperties(&p, 0);
  const bool own = p.major == 9;
  cudaMalloc(&memory, sizeof result);
  squares<<<1, 128>>>(memory);
  const cudaError_t launched = cudaGetLastError();
  cudaMemcpy(result, memory, sizeof result, cudaMemcpyDeviceToHost);
  if (launched != (own ? cudaSuccess : cudaErrorNoKernelImageForDevice)) bad = 1;
  for (int i = 0; own && i < 128; i++)
    if (result[i] != i * i) bad = 2;
  const CUresult r = run_text("sm_90a", "wgmma.fence.sync.aligned;", memory);
  cudaMemcpy(result, memory, sizeof result, cudaMemcpyDeviceToHost);
  if (r != (own ? CUDA_SUCCESS : CUDA_ERROR_INVALID_PTX) || (own && result[0] != 77)) bad = 3;
  cudaMemset(memory, 0, sizeof result);
  if (run_text("sm_80", "", memory) != CUDA_SUCCESS) bad = 4;
  cudaMemcpy(result, memory, sizeof result, cudaMemcpyDeviceToHost);
  if (result[0] != 77) bad = 5;
  if (run_text("sm_121", "", memory) != CUDA_ERROR_INVALID_PTX) bad = 6;
  if (run_text("sm_80", "no.such.instruction;", memory) != CUDA_ERROR_INVALID_PTX) bad = 7;
  printf("sm_%d%d: %s, text %d, %s %d\n", p.major, p.minor, cudaGetErrorName(launched), r, bad ? "wrong" : "right", bad);
  return bad;
}
