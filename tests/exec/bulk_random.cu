// Bulk copies drawn at random against the CPU: multicasts into the CTAs of a mask, whose mbarriers are told, and reductions of every
// type and operation into global memory and into shared memory of another CTA, by the tables of the PTX ISA (cp.reduce.async.bulk).
// Arguments: seed, launches.
#include "check.h"
#include "cluster_copies.h"
#include "reductions.h"

enum { MOST = 4096, COPIES = 4, SMEM = COPIES * MOST, GUARD = 0xa5 };

struct Spread {
  unsigned issuer[COPIES], mask[COPIES], bytes[COPIES], from[COPIES], at[COPIES];
};

extern __shared__ __align__(128) unsigned char smem[];

__global__ void spread(const __grid_constant__ Spread s, const unsigned char *in, unsigned char *seen)
{
  __shared__ uint64_t barrier[COPIES];
  const unsigned rank = rank_of();
  for (int i = threadIdx.x; i < SMEM; i += blockDim.x) smem[i] = GUARD;
  if (threadIdx.x == 0)
    for (int k = 0; k < COPIES; k++) expect(&barrier[k], s.mask[k] >> rank & 1 ? s.bytes[k] : 0);
  all_ready();
  for (int k = 0; k < COPIES; k++)
    if (threadIdx.x == 0 && s.issuer[k] == rank)
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;" ::"r"(
                       shared_of(smem + s.at[k])), "l"(in + s.from[k]), "r"(s.bytes[k]), "r"(shared_of(&barrier[k])),
                   "h"((unsigned short)s.mask[k]) : "memory");
  for (int k = 0; k < COPIES; k++)
    if (s.mask[k] >> rank & 1) wait(&barrier[k]);
  cluster_sync();
  for (int i = threadIdx.x; i < SMEM; i += blockDim.x) seen[blockIdx.x * SMEM + i] = smem[i];
}

#define GLOBAL(kind, op, name)                                                                                        \
  if (t == kind && o == op)                                                                                           \
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." name " [%0], [%1], %2;" ::"l"(to), "r"(from), "r"(bytes) : "memory")
#define CLUSTER(kind, op, name)                                                                                       \
  if (t == kind && o == op)                                                                                           \
  asm volatile("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes." name " [%0], [%1], %2, [%3];" ::"r"(to), \
               "r"(from), "r"(bytes), "r"(bar) : "memory")

// `times` reductions of the same values at once.
__global__ void to_global(Kind t, Op o, unsigned char *to, const unsigned char *values, unsigned bytes, int times)
{
  const unsigned from = shared_of(smem);
  for (unsigned i = threadIdx.x; i < bytes; i += blockDim.x) smem[i] = values[i];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x) return;
  for (int i = 0; i < times; i++) {
    GLOBAL(U32, ADD, "add.u32"); GLOBAL(S32, ADD, "add.s32"); GLOBAL(U64, ADD, "add.u64"); GLOBAL(F32, ADD, "add.f32");
    GLOBAL(F64, ADD, "add.f64"); GLOBAL(F16, ADD, "add.noftz.f16"); GLOBAL(BF16, ADD, "add.noftz.bf16");
    GLOBAL(U32, MIN, "min.u32"); GLOBAL(S32, MIN, "min.s32"); GLOBAL(U64, MIN, "min.u64"); GLOBAL(S64, MIN, "min.s64");
    GLOBAL(F16, MIN, "min.f16"); GLOBAL(BF16, MIN, "min.bf16");
    GLOBAL(U32, MAX, "max.u32"); GLOBAL(S32, MAX, "max.s32"); GLOBAL(U64, MAX, "max.u64"); GLOBAL(S64, MAX, "max.s64");
    GLOBAL(F16, MAX, "max.f16"); GLOBAL(BF16, MAX, "max.bf16");
    GLOBAL(U32, INC, "inc.u32"); GLOBAL(U32, DEC, "dec.u32");
    GLOBAL(U32, AND, "and.b32"); GLOBAL(U32, OR, "or.b32"); GLOBAL(U32, XOR, "xor.b32");
    GLOBAL(U64, AND, "and.b64"); GLOBAL(U64, OR, "or.b64"); GLOBAL(U64, XOR, "xor.b64");
  }
  asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
}

// CTA 0 reduces its values into shared memory of CTA 1.
__global__ void __cluster_dims__(2) to_cluster(Kind t, Op o, unsigned char *memory, const unsigned char *values, unsigned bytes)
{
  __shared__ uint64_t barrier;
  const unsigned rank = rank_of();
  for (unsigned i = threadIdx.x; i < bytes; i += blockDim.x) smem[i] = rank ? memory[i] : values[i];
  if (threadIdx.x == 0) expect(&barrier, rank ? bytes : 0);
  all_ready();
  if (rank == 0 && threadIdx.x == 0) {
    const unsigned from = shared_of(smem), to = in_cta(from, 1), bar = in_cta(shared_of(&barrier), 1);
    CLUSTER(U32, ADD, "add.u32"); CLUSTER(S32, ADD, "add.s32"); CLUSTER(U64, ADD, "add.u64");
    CLUSTER(U32, MIN, "min.u32"); CLUSTER(S32, MIN, "min.s32"); CLUSTER(U32, MAX, "max.u32"); CLUSTER(S32, MAX, "max.s32");
    CLUSTER(U32, INC, "inc.u32"); CLUSTER(U32, DEC, "dec.u32");
    CLUSTER(U32, AND, "and.b32"); CLUSTER(U32, OR, "or.b32"); CLUSTER(U32, XOR, "xor.b32");
  }
  if (rank == 1) {
    wait(&barrier);
    for (unsigned i = threadIdx.x; i < bytes; i += blockDim.x) memory[i] = smem[i];
  }
  cluster_sync();
}

static std::vector<unsigned char> noise(size_t n)
{
  std::vector<unsigned char> v(n);
  for (auto &x : v) x = draw(256);
  return v;
}

static unsigned char *upload(const std::vector<unsigned char> &v)
{
  unsigned char *p;
  CUDA(cudaMalloc(&p, v.size()));
  CUDA(cudaMemcpy(p, v.data(), v.size(), cudaMemcpyHostToDevice));
  return p;
}

static void test_spread(unsigned ctas)
{
  Spread s;
  const auto in = noise(3 * MOST);
  for (unsigned k = 0; k < COPIES; k++) {
    s.issuer[k] = draw(ctas), s.mask[k] = 1 + draw((1 << ctas) - 1), s.bytes[k] = 16 * (1 + draw(MOST / 16));
    s.from[k] = 16 * draw(2 * MOST / 16), s.at[k] = k * MOST + 16 * draw((MOST - s.bytes[k]) / 16 + 1);
  }
  unsigned char *source = upload(in), *seen;
  std::vector<unsigned char> have(ctas * SMEM);
  CUDA(cudaMalloc(&seen, have.size()));
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = ctas, attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  config.gridDim = ctas, config.blockDim = 96, config.dynamicSmemBytes = SMEM, config.attrs = &attribute, config.numAttrs = 1;
  CUDA(cudaLaunchKernelEx(&config, spread, s, (const unsigned char *)source, seen));
  CUDA(cudaMemcpy(have.data(), seen, have.size(), cudaMemcpyDeviceToHost));
  for (unsigned cta = 0; cta < ctas; cta++)
    for (unsigned i = 0; i < SMEM; i++) {
      const unsigned k = i / MOST, at = i - s.at[k];
      const unsigned want = s.mask[k] >> cta & 1 && i >= s.at[k] && at < s.bytes[k] ? in[s.from[k] + at] : GUARD;
      if (have[cta * SMEM + i] == want) continue;
      printf("CTA %u of %u, copy %u of %u bytes, mask %#x: byte %d is %#x, not %#x\n", cta, ctas, k, s.bytes[k], s.mask[k], (int)at,
             have[cta * SMEM + i], want);
      exit(1);
    }
  CUDA(cudaFree(source));
  CUDA(cudaFree(seen));
}

// PTX ISA, cp.reduce.async.bulk: what shared memory has.
static bool near(Kind t, Op o)
{
  return t == U32 || (t == S32 && o <= MAX) || (t == U64 && o == ADD);
}

static void test_reduction(Kind t, Op o, bool cluster)
{
  const unsigned bytes = 16 * (1 + draw(MOST / 16));
  const int times = cluster ? 1 : 1 + draw(2);
  auto values = noise(bytes), memory = noise(bytes), after = memory;
  draw_values(t, memory, values);
  unsigned char *source = upload(values), *to = upload(memory);
  if (cluster) to_cluster<<<2, 64, MOST>>>(t, o, to, source, bytes);
  else to_global<<<1, 64, MOST>>>(t, o, to, source, bytes, times);
  CUDA(cudaMemcpy(after.data(), to, bytes, cudaMemcpyDeviceToHost));
  for (unsigned i = 0; i < bytes; i += size_of(t)) {
    uint64_t a = 0, b = 0, have = 0;
    memcpy(&a, &memory[i], size_of(t)), memcpy(&b, &values[i], size_of(t)), memcpy(&have, &after[i], size_of(t));
    uint64_t want = a;
    for (int k = 0; k < times; k++) want = combine(t, o, want, b);
    if (same(t, o, have, want)) continue;
    printf("type %d operation %d %s, %d times: %#llx and %#llx give %#llx, not %#llx\n", t, o, cluster ? "near" : "global", times,
           (unsigned long long)a, (unsigned long long)b, (unsigned long long)have, (unsigned long long)want);
    exit(1);
  }
  CUDA(cudaFree(source));
  CUDA(cudaFree(to));
}

int main(int argc, char **argv)
{
  const unsigned sizes[] = {1, 2, 4, 8, 3, 7, 16};
  const int launches = argc > 2 ? atoi(argv[2]) : 1;
  int reductions = 0;
  state = argc > 1 ? strtoull(argv[1], nullptr, 0) : 1;
  CUDA(cudaFuncSetAttribute(spread, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  for (int i = 0; i < launches; i++) {
    for (unsigned n : sizes) test_spread(n);
    for (int t = U32; t < F32_FTZ; t++)
      for (int o = ADD; o < NONE; o++)
        if (possible((Kind)t, (Op)o) && (o < AND || t == U32 || t == U64)) { // .b32, .b64
          test_reduction((Kind)t, (Op)o, false), reductions++;
          if (near((Kind)t, (Op)o)) test_reduction((Kind)t, (Op)o, true), reductions++;
        }
  }
  printf("%d multicasts, %d reductions right\n", 7 * launches * COPIES, reductions);
}
