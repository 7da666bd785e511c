// Collectives of NCCL on the GPUs of one process, each element held against sums computed here: for nccl.sh.
//
//   nccl_collectives GPUS COLLECTIVE BYTES [REPEATS [queued]]
//                                      COLLECTIVE: all_reduce all_gather reduce_scatter broadcast alltoall
//                                      queued: calls are not waited for one by one, as in nccl-tests
//
// BYTES are of a GPU's larger buffer, rounded up to a multiple of floats for each GPU. Values are whole numbers, so that sums do not
// depend on their order.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <cuda_runtime.h>
#include <nccl.h>

#define OK(call)                                                                                          \
  do {                                                                                                    \
    const int e_ = (int)(call);                                                                           \
    if (e_) {                                                                                             \
      printf("line %d: %s: %d %s\n", __LINE__, #call, e_, ncclGetLastError(nullptr));                     \
      exit(1);                                                                                            \
    }                                                                                                     \
  } while (0)

struct work {
  std::string what;
  int n;
  size_t part, all; // floats of each GPU's part; of all parts
};

static float value(int gpu, size_t i) { return (float)((i * 7 + (size_t)gpu * 31) % 61); }

static float expected(const work &w, int gpu, size_t i)
{
  float sum = 0;
  if (w.what == "all_gather") return value((int)(i / w.part), i % w.part);
  if (w.what == "alltoall") return value((int)(i / w.part), (size_t)gpu * w.part + i % w.part);
  if (w.what == "broadcast") return value(0, i);
  for (int r = 0; r < w.n; r++) sum += value(r, w.what == "reduce_scatter" ? (size_t)gpu * w.part + i : i);
  return sum;
}

static void give(const work &w, int gpu, const float *in, float *out, ncclComm_t comm, cudaStream_t s)
{
  if (w.what == "all_reduce") OK(ncclAllReduce(in, out, w.all, ncclFloat, ncclSum, comm, s));
  else if (w.what == "all_gather") OK(ncclAllGather(in, out, w.part, ncclFloat, comm, s));
  else if (w.what == "reduce_scatter") OK(ncclReduceScatter(in, out, w.part, ncclFloat, ncclSum, comm, s));
  else if (w.what == "broadcast") OK(ncclBroadcast(in, out, w.all, ncclFloat, 0, comm, s));
  else if (w.what != "alltoall") OK(-1);
  for (int r = 0; w.what == "alltoall" && r < w.n; r++) {
    OK(ncclSend(in + (size_t)r * w.part, w.part, ncclFloat, r, comm, s));
    OK(ncclRecv(out + (size_t)r * w.part, w.part, ncclFloat, r, comm, s));
  }
}

static void wait(const std::vector<cudaStream_t> &s)
{
  for (size_t g = 0; g < s.size(); g++) {
    OK(cudaSetDevice((int)g));
    OK(cudaStreamSynchronize(s[g]));
  }
}

int main(int argc, char **argv)
{
  if (argc < 4) return 2;
  work w = { argv[2], atoi(argv[1]), 0, 0 };
  const int repeats = argc > 4 ? atoi(argv[4]) : 1;
  const bool queued = argc > 5 && !strcmp(argv[5], "queued");
  const size_t unit = sizeof(float) * (size_t)w.n;
  w.part = (strtoull(argv[3], nullptr, 0) + unit - 1) / unit;
  w.all = w.part * (size_t)w.n;
  std::vector<ncclComm_t> comm(w.n);
  std::vector<cudaStream_t> s(w.n);
  std::vector<float *> in(w.n), out(w.n);
  std::vector<float> h(w.all);
  OK(ncclCommInitAll(comm.data(), w.n, nullptr));
  for (int g = 0; g < w.n; g++) {
    OK(cudaSetDevice(g));
    OK(cudaStreamCreateWithFlags(&s[g], cudaStreamNonBlocking));
    OK(cudaMalloc(&in[g], w.all * sizeof(float)));
    OK(cudaMalloc(&out[g], w.all * sizeof(float)));
    for (size_t i = 0; i < w.all; i++) h[i] = value(g, i);
    OK(cudaMemcpy(in[g], h.data(), w.all * sizeof(float), cudaMemcpyHostToDevice));
    OK(cudaMemset(out[g], 0xff, w.all * sizeof(float)));
    OK(cudaDeviceSynchronize());
  }
  for (int k = 0; k < repeats; k++) {
    OK(ncclGroupStart());
    for (int g = 0; g < w.n; g++) give(w, g, in[g], out[g], comm[g], s[g]);
    OK(ncclGroupEnd());
    if (!queued) wait(s);
  }
  wait(s);
  size_t wrong = 0;
  const size_t results = w.what == "reduce_scatter" ? w.part : w.all;
  for (int g = 0; g < w.n; g++) {
    OK(cudaMemcpy(h.data(), out[g], results * sizeof(float), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < results; i++) wrong += h[i] != expected(w, g, i);
  }
  printf("%s, %d GPUs, %zu bytes: %zu wrong\n", w.what.c_str(), w.n, w.all * sizeof(float), wrong);
  for (int g = 0; g < w.n; g++) OK(ncclCommDestroy(comm[g]));
  return wrong != 0;
}
