// Nodes of a graph that follow each other: their launches are prepared while the node before runs. A chain of a = 0.25 b on 4,096 doubles takes 1.34 us
// a node on an A100 (RRZE-HPC/gpu-benches, gpu-small-kernels, a100_80_graph.txt: 49 GB/s), and 2.73 us a launch in a stream.
#include "check.h"

__global__ void scale(double *__restrict__ a, const double *__restrict__ b, int n)
{
  const int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n) a[i] = b[i] * 0.25;
}

enum { N = 4096, THREADS = 256, NODES = 20 };

static void chain(double *a, double *b, cudaStream_t s)
{
  for (int i = 0; i < NODES; i += 2) {
    scale<<<N / THREADS + 1, THREADS, 0, s>>>(a, b, N);
    scale<<<N / THREADS + 1, THREADS, 0, s>>>(b, a, N);
  }
}

int main()
{
  double *a, *b, back[N];
  cudaStream_t s;
  cudaGraph_t g;
  cudaGraphExec_t e;
  cudaEvent_t from, to;
  float graph, stream;
  for (int i = 0; i < N; i++) back[i] = double(i) * (1ull << 60);
  CUDA(cudaMalloc(&a, sizeof back));
  CUDA(cudaMalloc(&b, sizeof back));
  CUDA(cudaMemcpy(b, back, sizeof back, cudaMemcpyHostToDevice));
  CUDA(cudaStreamCreate(&s));
  CUDA(cudaEventCreate(&from));
  CUDA(cudaEventCreate(&to));
  CUDA(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  chain(a, b, s);
  CUDA(cudaStreamEndCapture(s, &g));
  CUDA(cudaGraphInstantiate(&e, g, 0));
  for (int k = 0; k < 2; k++) { // the second time with its code there
    CUDA(cudaEventRecord(from, s));
    CUDA(cudaGraphLaunch(e, s));
    CUDA(cudaEventRecord(to, s));
    CUDA(cudaStreamSynchronize(s));
  }
  CUDA(cudaEventElapsedTime(&graph, from, to));
  CUDA(cudaEventRecord(from, s));
  chain(a, b, s);
  CUDA(cudaEventRecord(to, s));
  CUDA(cudaStreamSynchronize(s));
  CUDA(cudaEventElapsedTime(&stream, from, to));
  CUDA(cudaMemcpy(back, b, sizeof back, cudaMemcpyDeviceToHost));
  for (int i = 0; i < N; i++) CHECK(back[i] == double(i) / (1ull << 60)); // 3 * 20 quarters
  graph *= 1000.0f / NODES;
  stream *= 1000.0f / NODES;
  printf("%.2f us a node of a graph, %.2f us a launch\n", graph, stream);
  CHECK(graph > 1.34f * 0.85f && graph < 1.34f * 1.15f);
  CHECK(stream > 2.73f * 0.85f && stream < 2.73f * 1.15f);
}
