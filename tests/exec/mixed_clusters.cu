// Generic accesses whose lanes go to global memory, to the CTA's own shared memory and to that of other CTAs of the cluster at
// once: loads and stores of 4 and 16 bytes, volatile ones, atomics with and without a result, of integers and FP32; also behind
// weak stores to the same words. Expected values come from a walk over all threads on the CPU.
#include "check.h"
#include <cooperative_groups.h>
#include <algorithm>
#include <cstring>
#include <vector>

namespace cg = cooperative_groups;
enum { CTAS = 4, LANES = 32, WORDS = 64, ATOMICS = 256, WIDE = 512, GLOBAL = 1024 };

struct Seen {
  int loaded, last, word;
  float sum;
  int wide;
};

// Where lane t's word of the CTA r lies: 0 in global memory, else in the shared memory of the CTA that many on.
__device__ int *place(cg::cluster_group &cluster, int *global, int *shared, int t, int way, int at)
{
  if (way == 0) return global;
  return cluster.map_shared_rank(shared, (cluster.block_rank() + way) % CTAS) + at;
}

__global__ void __cluster_dims__(CTAS, 1, 1) mixed(int *global, float *sums, Seen *seen)
{
  __shared__ int own[WORDS];
  __shared__ float own_sum[LANES];
  __shared__ int4 own_wide[LANES];
  cg::cluster_group cluster = cg::this_cluster();
  int r = cluster.block_rank(), t = threadIdx.x, way = t % CTAS;
  Seen s;
  own[t] = r * 100 + t, own[t + LANES] = 0, own_sum[t] = t;
  own_wide[t] = make_int4(r, t, r + t, r * t);
  global[r * LANES + t] += 5; // weak: the loads below see it
  cluster.sync();
  s.loaded = *place(cluster, global + r * LANES + t, own, t, way, t);
  cluster.sync();
  *place(cluster, global + r * LANES + t, own, t, way, t) = 7 * r + t;
  s.last = *(volatile int *)place(cluster, global + r * LANES + t, own, t, way, t); // nobody else writes it
  cluster.sync();
  int before = atomicAdd(place(cluster, global + ATOMICS + t % 8, own, t, way, LANES + t), 1);
  if (way != 0 && before < 0) s.last = -1;
  atomicMax(place(cluster, global + ATOMICS + 8, own, t, way, LANES + t), t - 16);
  atomicAdd(way % 2 ? sums + t % 4 : cluster.map_shared_rank(own_sum, (r + 1) % CTAS) + t % 16, 0.5f);
  cluster.sync();
  s.word = own[LANES + t], s.sum = own_sum[t];
  int4 v = *(way < 2 ? (int4 *)(global + WIDE) + t : cluster.map_shared_rank(own_wide, (r + 1) % CTAS) + t);
  s.wide = v.x + 10 * v.y + 100 * v.z + 1000 * v.w;
  seen[r * LANES + t] = s;
  cluster.sync();
}

struct Expected {
  std::vector<int> global;
  int shared[CTAS][WORDS] = {};
  float sums[4] = {}, own_sum[CTAS][LANES];
};

// A word that only this lane names in this phase.
static int *word(Expected &e, int r, int t, int global, int at)
{
  return t % CTAS == 0 ? &e.global[global] : &e.shared[(r + t % CTAS) % CTAS][at];
}

template <typename F> static void each(F f)
{
  for (int r = 0; r < CTAS; r++)
    for (int t = 0; t < LANES; t++) f(r, t);
}

static std::vector<Seen> walk(Expected &e)
{
  std::vector<Seen> seen(CTAS * LANES);
  each([&](int r, int t) { e.shared[r][t] = r * 100 + t, e.own_sum[r][t] = t, e.global[r * LANES + t] += 5; });
  each([&](int r, int t) { seen[r * LANES + t].loaded = *word(e, r, t, r * LANES + t, t); });
  each([&](int r, int t) { seen[r * LANES + t].last = *word(e, r, t, r * LANES + t, t) = 7 * r + t; });
  each([&](int r, int t) {
    int way = t % CTAS, *max = word(e, r, t, ATOMICS + 8, LANES + t);
    ++*word(e, r, t, ATOMICS + t % 8, LANES + t);
    (way % 2 ? e.sums[t % 4] : e.own_sum[(r + 1) % CTAS][t % 16]) += 0.5f;
    *max = std::max(*max, t - 16);
  });
  each([&](int r, int t) {
    Seen &s = seen[r * LANES + t];
    int to = (r + 1) % CTAS, *g = &e.global[WIDE + 4 * t];
    s.word = e.shared[r][LANES + t], s.sum = e.own_sum[r][t];
    s.wide = t % CTAS < 2 ? g[0] + 10 * g[1] + 100 * g[2] + 1000 * g[3] : to + 10 * t + 100 * (to + t) + 1000 * to * t;
  });
  return seen;
}

int main()
{
  Expected e;
  for (int i = 0; i < GLOBAL; i++) e.global.push_back(i >= ATOMICS && i < ATOMICS + 16 ? 0 : 3 * i);
  int *global;
  float *sums;
  Seen *device;
  std::vector<Seen> seen(CTAS * LANES);
  CUDA(cudaMalloc(&global, GLOBAL * sizeof *global));
  CUDA(cudaMalloc(&sums, sizeof e.sums));
  CUDA(cudaMalloc(&device, seen.size() * sizeof *device));
  CUDA(cudaMemcpy(global, e.global.data(), GLOBAL * sizeof *global, cudaMemcpyHostToDevice));
  CUDA(cudaMemset(sums, 0, sizeof e.sums));
  mixed<<<CTAS, LANES>>>(global, sums, device);
  CUDA(cudaDeviceSynchronize());
  std::vector<Seen> want = walk(e);
  std::vector<int> words(GLOBAL);
  float got[4];
  CUDA(cudaMemcpy(seen.data(), device, seen.size() * sizeof *device, cudaMemcpyDeviceToHost));
  CUDA(cudaMemcpy(words.data(), global, GLOBAL * sizeof *global, cudaMemcpyDeviceToHost));
  CUDA(cudaMemcpy(got, sums, sizeof got, cudaMemcpyDeviceToHost));
  each([&](int r, int t) {
    const Seen &s = seen[r * LANES + t], &w = want[r * LANES + t];
    CHECK(s.loaded == w.loaded && s.last == w.last && s.word == w.word && s.sum == w.sum && s.wide == w.wide);
  });
  CHECK(words == e.global);
  CHECK(!memcmp(got, e.sums, sizeof got));
  puts("mixed_clusters: all right");
  return 0;
}
