/* Planted defects. Each CASE is a device function that has the defect when BAD, and is right otherwise; it becomes two kernels, NAME_bad and
 * NAME_ok, for blocks of 64 or more threads. x holds 64 words 0, 1, 2 …, y 64 words 0, odd 61 words. The comment above a case says what
 * must be found, as run.py reads it:
 *
 *   // NAME | grid, block | tool | text of the report [| more options of warpstep run]
 *
 * The line that the report must name ends in "// HERE"; a race may name it as either party.
 */
#include <stdint.h>

typedef uint32_t u32;
typedef uint8_t u8;

#define CASE(name)                                                                             \
  extern "C" __global__ void name##_bad(u32 *x, u32 *y, u32 *odd) { name<true>(x, y, odd); }   \
  extern "C" __global__ void name##_ok(u32 *x, u32 *y, u32 *odd) { name<false>(x, y, odd); }
#define BODY(name) template <bool BAD> __device__ __forceinline__ void name(u32 *x, u32 *y, u32 *odd)

__device__ __forceinline__ void async_copy(u32 *shared, const u32 *global)
{
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((u32)__cvta_generic_to_shared(shared)), "l"(global));
}
#define ASYNC_COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define ASYNC_WAIT(n) asm volatile("cp.async.wait_group " #n ";" ::: "memory")

/* ---- memcheck: global memory ------------------------------------------------------------------------ */

// global_write_end | 1 64 | memcheck | Invalid __global__ write of size 4
BODY(global_write_end)
{
  u32 t = threadIdx.x;
  x[BAD ? t + 1 : t] = t; // HERE
}
CASE(global_write_end)

// global_read_end | 1 64 | memcheck | Invalid __global__ read of size 4
BODY(global_read_end)
{
  u32 t = threadIdx.x;
  y[t] = x[BAD ? t + 1 : t]; // HERE
}
CASE(global_read_end)

// global_write_before | 1 64 | memcheck | Invalid __global__ write of size 4
BODY(global_write_before)
{
  int t = (int)threadIdx.x;
  y[BAD ? t - 1 : t] = x[t]; // HERE
}
CASE(global_write_before)

// global_read_before | 1 64 | memcheck | Invalid __global__ read of size 4
BODY(global_read_before)
{
  int t = (int)threadIdx.x;
  y[t] = x[BAD ? t - 40 : t]; // HERE
}
CASE(global_read_before)

// global_atomic | 1 64 | memcheck | Invalid __global__ atomic of size 4
BODY(global_atomic)
{
  y[threadIdx.x] = atomicAdd(&x[threadIdx.x + (BAD ? 8 : 0)], 1); // HERE
}
CASE(global_atomic)

// global_reduction | 1 64 | memcheck | Invalid __global__ atomic of size 4
BODY(global_reduction)
{
  atomicAdd(&x[threadIdx.x + (BAD ? 1 : 0)], 1); // HERE
}
CASE(global_reduction)

// global_wide | 1 64 | memcheck | Invalid __global__ read of size 16
BODY(global_wide)
{
  u32 t = threadIdx.x;
  if (t >= (BAD ? 16 : 15)) return;
  uint4 v = ((uint4 *)odd)[t]; // HERE
  y[t] = v.x + v.y + v.z + v.w;
}
CASE(global_wide)

// global_byte | 1 64 | memcheck | Invalid __global__ read of size 1
BODY(global_byte)
{
  y[threadIdx.x] = ((u8 *)odd)[threadIdx.x + (BAD ? 181 : 180)]; // HERE
}
CASE(global_byte)

// global_double | 1 64 | memcheck | Invalid __global__ write of size 8
BODY(global_double)
{
  if (threadIdx.x < (BAD ? 33 : 32)) ((double *)x)[threadIdx.x] = 1; // HERE
}
CASE(global_double)

// global_one_lane | 1 64 | memcheck | by thread (37,0,0) in block (0,0,0)
BODY(global_one_lane)
{
  u32 t = threadIdx.x;
  x[BAD && t == 37 ? 4000 : t] = t; // HERE
}
CASE(global_one_lane)

// null_pointer | 1 64 | memcheck | Invalid __global__ write of size 4
BODY(null_pointer)
{
  u32 *p = BAD && y[0] == 0 ? nullptr : x;
  if (threadIdx.x == 5) p[threadIdx.x] = 1; // HERE
}
CASE(null_pointer)

// wild_pointer | 1 64 | memcheck | Invalid __global__ read of size 4
BODY(wild_pointer)
{
  u32 *p = BAD ? (u32 *)((uintptr_t)x + 0x123456789000) : x;
  if (threadIdx.x == 0) y[0] = p[1]; // HERE
}
CASE(wild_pointer)

// neighbour | 1 64 | memcheck | bytes after the nearest allocation
BODY(neighbour)
{
  u32 t = threadIdx.x;
  x[BAD ? t + 1000 : t] = 1; // HERE
}
CASE(neighbour)

// misaligned_write | 1 64 | memcheck | is misaligned
BODY(misaligned_write)
{
  if (threadIdx.x == 3) *(u32 *)((uintptr_t)x + (BAD ? 5 : 4)) = 1; // HERE
}
CASE(misaligned_write)

// misaligned_wide | 1 64 | memcheck | is misaligned
BODY(misaligned_wide)
{
  if (threadIdx.x != 3) return;
  uint4 v = *(uint4 *)(x + (BAD ? 2 : 4)); // HERE
  y[0] = v.x + v.y + v.z + v.w;
}
CASE(misaligned_wide)

// misaligned_atomic | 1 64 | memcheck | is misaligned
BODY(misaligned_atomic)
{
  if (threadIdx.x == 3) atomicAdd((unsigned long long *)(x + (BAD ? 1 : 2)), 1ull); // HERE
}
CASE(misaligned_atomic)

// async_source | 1 64 | memcheck | Invalid __global__ read of size 4
BODY(async_source)
{
  __shared__ u32 s[64];
  async_copy(&s[threadIdx.x], &x[threadIdx.x + (BAD ? 2 : 0)]); // HERE: asm
  ASYNC_COMMIT();
  ASYNC_WAIT(0);
  __syncthreads();
  y[threadIdx.x] = s[63 - threadIdx.x];
}
CASE(async_source)

/* ---- memcheck: shared and local memory -------------------------------------------------------------- */

// shared_write | 1 64 | memcheck | Invalid __shared__ write of size 4
BODY(shared_write)
{
  __shared__ u32 s[64];
  s[threadIdx.x + (BAD ? x[1] : 0)] = 1; // HERE
  __syncthreads();
  y[threadIdx.x] = s[63 - (threadIdx.x & 31)];
}
CASE(shared_write)

// shared_read | 1 64 | memcheck | Invalid __shared__ read of size 4
BODY(shared_read)
{
  __shared__ u32 s[64];
  s[threadIdx.x] = 1;
  __syncthreads();
  y[threadIdx.x] = s[threadIdx.x + (BAD ? x[3] : 0)]; // HERE
}
CASE(shared_read)

// shared_atomic | 1 64 | memcheck | Invalid __shared__ atomic of size 4
BODY(shared_atomic)
{
  __shared__ u32 s[64];
  s[threadIdx.x] = 0;
  __syncthreads();
  y[threadIdx.x] = atomicAdd(&s[threadIdx.x + (BAD ? x[1] : 0)], 1); // HERE
}
CASE(shared_atomic)

// shared_dynamic | 1 64 | memcheck | Invalid __shared__ write of size 4 | --shmem 252
BODY(shared_dynamic)
{
  extern __shared__ u32 given[];
  if (threadIdx.x < (BAD ? 64 : 63)) given[threadIdx.x] = x[threadIdx.x]; // HERE
  __syncthreads();
  y[threadIdx.x] = given[0];
}
CASE(shared_dynamic)

// shared_misaligned | 1 64 | memcheck | is misaligned
BODY(shared_misaligned)
{
  __shared__ u32 s[64];
  s[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) y[0] = *(u32 *)((u8 *)s + (BAD ? x[2] : x[4])); // HERE
}
CASE(shared_misaligned)

// async_target | 1 64 | memcheck | Invalid __shared__ write of size 4
BODY(async_target)
{
  __shared__ u32 s[64];
  async_copy(&s[threadIdx.x + (BAD ? x[2] : 0)], &x[threadIdx.x]); // HERE: asm
  ASYNC_COMMIT();
  ASYNC_WAIT(0);
  __syncthreads();
  if (!BAD) y[threadIdx.x] = s[threadIdx.x];
}
CASE(async_target)

// local_write | 1 64 | memcheck | Invalid __local__ write of size 4
BODY(local_write)
{
  u32 a[16];
  for (u32 i = 0; i < 16; i++) a[(i + x[0]) & 15] = i;
  a[BAD ? x[40] * 1000 : x[4]] = 7; // HERE
  y[threadIdx.x] = a[x[5]];
}
CASE(local_write)

// local_read | 1 64 | memcheck | Invalid __local__ read of size 4
BODY(local_read)
{
  u32 a[16];
  for (u32 i = 0; i < 16; i++) a[(i + x[0]) & 15] = i;
  y[threadIdx.x] = a[BAD ? x[40] * 1000 : x[4]]; // HERE
}
CASE(local_read)

/* ---- racecheck: shared memory ----------------------------------------------------------------------- */

// shared_waw | 1 64 | racecheck | and Write access
BODY(shared_waw)
{
  __shared__ u32 s[64];
  s[BAD ? threadIdx.x & 31 : threadIdx.x] = threadIdx.x; // HERE
  __syncthreads();
  y[threadIdx.x] = s[threadIdx.x & 31];
}
CASE(shared_waw)

// shared_raw | 1 64 | racecheck | and Write access
BODY(shared_raw)
{
  __shared__ u32 s[64];
  s[threadIdx.x] = threadIdx.x;
  if (!BAD) __syncthreads();
  y[threadIdx.x] = s[63 - threadIdx.x]; // HERE
}
CASE(shared_raw)

// shared_war | 1 64 | racecheck | and Read access
BODY(shared_war)
{
  __shared__ u32 s[64];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  u32 v = s[63 - threadIdx.x];
  if (!BAD) __syncthreads();
  s[threadIdx.x] = v + 1; // HERE
  __syncthreads();
  y[threadIdx.x] = s[threadIdx.x];
}
CASE(shared_war)

// shared_bytes | 1 64 | racecheck | Race reported
BODY(shared_bytes)
{
  __shared__ u8 s[64];
  u32 t = threadIdx.x, at = (t & 31) * 2 + (t >> 5); /* the warps write every other byte */
  s[BAD ? at & ~1u : at] = (u8)t; // HERE
  __syncthreads();
  y[t] = BAD ? s[t & ~1u] : s[t];
}
CASE(shared_bytes)

// loop_barrier | 1 64 | racecheck | Race reported
BODY(loop_barrier)
{
  __shared__ u32 s[64];
  u32 sum = 0;
#pragma unroll 1
  for (u32 i = 0; i < 4; i++) {
    s[threadIdx.x] = i + threadIdx.x; // HERE
    __syncthreads();
    sum += s[63 - threadIdx.x];
    if (!BAD) __syncthreads();
  }
  y[threadIdx.x] = sum;
}
CASE(loop_barrier)

// warp_barrier | 1 64 | racecheck | and Write access
BODY(warp_barrier)
{
  __shared__ u32 s[64];
  s[threadIdx.x] = threadIdx.x;
  if (BAD) __syncwarp();
  else __syncthreads();
  y[threadIdx.x] = s[63 - threadIdx.x]; // HERE
}
CASE(warp_barrier)

// some_warps | 1 96 | racecheck | and Write access
BODY(some_warps)
{
  __shared__ u32 s[96];
  s[threadIdx.x] = threadIdx.x;
  if (BAD) {
    if (threadIdx.x < 64) asm volatile("bar.sync 1, 64;" ::: "memory");
  } else {
    asm volatile("bar.sync 1, 96;" ::: "memory");
  }
  if (threadIdx.x < 32) y[threadIdx.x] = s[threadIdx.x + 64]; // HERE
}
CASE(some_warps)

// only_arrives | 1 64 | racecheck | and Write access
BODY(only_arrives)
{
  __shared__ u32 s[64];
  s[threadIdx.x] = threadIdx.x;
  if (threadIdx.x >= 32) {
    if (BAD) asm volatile("bar.arrive 2, 64;" ::: "memory");
    else asm volatile("bar.sync 2, 64;" ::: "memory");
    y[threadIdx.x] = s[threadIdx.x - 32]; // HERE
  } else {
    asm volatile("bar.sync 2, 64;" ::: "memory");
  }
}
CASE(only_arrives)

// two_barriers | 1 64 | racecheck | and Write access
BODY(two_barriers)
{
  __shared__ u32 s[64];
  u32 warp = threadIdx.x / 32;
  s[threadIdx.x] = threadIdx.x;
  if (BAD) {
    if (warp) asm volatile("bar.sync 1, 32;" ::: "memory");
    else asm volatile("bar.sync 2, 32;" ::: "memory");
  } else {
    asm volatile("bar.sync 1, 64;" ::: "memory");
  }
  y[threadIdx.x] = s[63 - threadIdx.x]; // HERE
}
CASE(two_barriers)

// async_no_wait | 1 64 | racecheck | The asynchronous copy was not waited for
BODY(async_no_wait)
{
  __shared__ u32 s[64];
  async_copy(&s[threadIdx.x], &x[threadIdx.x]);
  ASYNC_COMMIT();
  if (!BAD) ASYNC_WAIT(0);
  __syncthreads();
  y[threadIdx.x] = s[63 - threadIdx.x]; // HERE
}
CASE(async_no_wait)

// async_no_barrier | 1 64 | racecheck | The asynchronous copy was not waited for
BODY(async_no_barrier)
{
  __shared__ u32 s[64];
  async_copy(&s[threadIdx.x], &x[threadIdx.x]);
  ASYNC_COMMIT();
  ASYNC_WAIT(0);
  if (!BAD) __syncthreads();
  y[threadIdx.x] = s[63 - threadIdx.x]; // HERE
}
CASE(async_no_barrier)

// async_late_wait | 1 64 | racecheck | The asynchronous copy was not waited for
BODY(async_late_wait)
{
  __shared__ u32 s[64];
  async_copy(&s[threadIdx.x], &x[threadIdx.x]);
  ASYNC_COMMIT();
  if (BAD) __syncthreads();
  ASYNC_WAIT(0);
  if (!BAD) __syncthreads();
  y[threadIdx.x] = s[63 - threadIdx.x]; // HERE
}
CASE(async_late_wait)

// async_groups | 1 64 | racecheck | The asynchronous copy was not waited for
BODY(async_groups)
{
  __shared__ u32 s[128];
  async_copy(&s[threadIdx.x], &x[threadIdx.x]);
  ASYNC_COMMIT();
  async_copy(&s[64 + threadIdx.x], &x[threadIdx.x]);
  ASYNC_COMMIT();
  ASYNC_WAIT(1);
  __syncthreads();
  u32 first = s[63 - threadIdx.x];
  if (!BAD) {
    ASYNC_WAIT(0);
    __syncthreads();
  }
  y[threadIdx.x] = first + s[127 - threadIdx.x]; // HERE
}
CASE(async_groups)

// async_overwritten | 1 64 | racecheck | The asynchronous copy was not waited for
BODY(async_overwritten)
{
  __shared__ u32 s[64];
  async_copy(&s[threadIdx.x], &x[threadIdx.x]);
  ASYNC_COMMIT();
  if (!BAD) ASYNC_WAIT(0);
  s[threadIdx.x] = 5; // HERE
  ASYNC_WAIT(0);
  __syncthreads();
  y[threadIdx.x] = s[63 - threadIdx.x];
}
CASE(async_overwritten)

/* ---- racecheck: global memory, in a block ------------------------------------------------------------ */

// global_raw | 1 64 | racecheck | and Write access
BODY(global_raw)
{
  x[threadIdx.x] = threadIdx.x + 1;
  if (!BAD) __syncthreads();
  y[threadIdx.x] = x[63 - threadIdx.x]; // HERE
}
CASE(global_raw)

// global_waw | 1 64 | racecheck | and Write access
BODY(global_waw)
{
  x[BAD ? threadIdx.x & 31 : threadIdx.x] = threadIdx.x + 7; // HERE
}
CASE(global_waw)

// global_war | 1 64 | racecheck | and Read access
BODY(global_war)
{
  u32 v = x[63 - threadIdx.x];
  if (!BAD) __syncthreads();
  x[threadIdx.x] = v + 100; // HERE
}
CASE(global_war)

// global_bytes | 1 64 | racecheck | Race reported
BODY(global_bytes)
{
  u32 t = threadIdx.x, at = (t & 31) * 2 + (t >> 5);
  ((u8 *)x)[BAD ? at & ~1u : at] = (u8)(t + 9); // HERE
}
CASE(global_bytes)

/* ---- racecheck: global memory, between blocks -------------------------------------------------------- */

// global_vectors | 1 64 | racecheck | and Write access
BODY(global_vectors)
{
  u32 t = threadIdx.x, at = t * 5 % 16; // vectors that do not lie in the order of their threads
  if (BAD ? t < 16 || t >= 48 : t < 16) ((uint4 *)y)[at] = make_uint4(t, t + 1, t + 2, t + 3); // HERE
}
CASE(global_vectors)

// global_widths | 1 64 | racecheck | and Write access
BODY(global_widths)
{
  u32 t = threadIdx.x;
  if (t < 32) ((u8 *)y)[4 * t + 1] = (u8)(t + 1); // bytes, with which words are then compared
  else y[BAD ? t - 32 : t] = t; // HERE
}
CASE(global_widths)

// global_scattered | 1 64 | racecheck | and Read access
BODY(global_scattered)
{
  u32 t = threadIdx.x, v = 0;
  if (t < 32) v = x[x[t] * 7 % 31] + x[x[t] * 11 % 31]; // several readers of each word, in no order
  if (BAD) __syncwarp();
  else __syncthreads();
  if (t >= 32) x[t - 32] = 2 * t + 1; // HERE
  y[t] = v;
}
CASE(global_scattered)

// blocks_waw | 2 64 | racecheck | and Write access
BODY(blocks_waw)
{
  u32 t = threadIdx.x & 31, i = BAD ? t : t + 32 * blockIdx.x;
  if (threadIdx.x < 32) x[i] = 50 + blockIdx.x; // HERE
}
CASE(blocks_waw)

// blocks_raw | 2 64 | racecheck | Race reported
BODY(blocks_raw)
{
  u32 t = threadIdx.x;
  if (blockIdx.x == 0) x[t] = t + 3; // HERE
  else y[t] = BAD ? x[t] : odd[t & 31];
}
CASE(blocks_raw)

// blocks_war | 2 64 | racecheck | and Read access
BODY(blocks_war)
{
  u32 t = threadIdx.x;
  if (blockIdx.x == 0) y[t] = x[t];
  else if (BAD) x[t] = t + 3; // HERE
}
CASE(blocks_war)

/* Block 0 writes, block 1 waits for the flag y[63]. */
template <int FENCE> __device__ __forceinline__ void message(u32 *x, u32 *y)
{
  volatile u32 *flag = &y[63];
  if (blockIdx.x == 0) {
    x[threadIdx.x] = threadIdx.x + 1; // HERE: message
    if (FENCE == 1) __threadfence_block();
    if (FENCE == 2) __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) *flag = 1;
  } else {
    if (threadIdx.x == 0)
      while (!*flag)
        ;
    __syncthreads();
    if (threadIdx.x < 63) y[threadIdx.x] = x[threadIdx.x];
  }
}

// flag_no_fence | 2 64 | racecheck | Race reported
BODY(flag_no_fence)
{
  message<BAD ? 0 : 2>(x, y); // HERE: of message
}
CASE(flag_no_fence)

// flag_block_fence | 2 64 | racecheck | Race reported
BODY(flag_block_fence)
{
  message<BAD ? 1 : 2>(x, y); // HERE: of message
}
CASE(flag_block_fence)

// flag_one_fence | 2 64 | racecheck | Race reported
BODY(flag_one_fence)
{
  volatile u32 *flag = &y[63];
  if (blockIdx.x == 0) {
    x[threadIdx.x] = threadIdx.x + 1; // HERE
    if (BAD && threadIdx.x < 32) __threadfence(); /* of its own stores only */
    __syncthreads();
    if (!BAD && threadIdx.x == 0) __threadfence(); /* of all that the barrier has gathered */
    if (threadIdx.x == 0) *flag = 1;
  } else {
    if (threadIdx.x == 0)
      while (!*flag)
        ;
    __syncthreads();
    if (threadIdx.x < 63) y[threadIdx.x] = x[threadIdx.x];
  }
}
CASE(flag_one_fence)

// last_block | 4 64 | racecheck | Race reported
BODY(last_block)
{
  __shared__ bool last;
  if (threadIdx.x == 0) {
    x[blockIdx.x] = 70 + blockIdx.x; // HERE
    if (!BAD) __threadfence();
    last = atomicAdd(&y[0], 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) y[1] = x[0] + x[1] + x[2] + x[3];
}
CASE(last_block)

// lock_reader | 2 64 | racecheck | Race reported
BODY(lock_reader)
{
  if (threadIdx.x) return;
  bool locks = !BAD || blockIdx.x == 0;
  if (locks)
    while (atomicCAS(&y[0], 0, 1))
      ;
  x[5] += 1; // HERE
  __threadfence();
  if (locks) atomicExch(&y[0], 0);
}
CASE(lock_reader)

// lock_no_fence | 2 64 | racecheck | Race reported
BODY(lock_no_fence)
{
  if (threadIdx.x) return;
  while (atomicCAS(&y[0], 0, 1))
    ;
  x[5] += 1; // HERE
  if (!BAD) __threadfence();
  atomicExch(&y[0], 0);
}
CASE(lock_no_fence)

// block_atomic | 2 64 | racecheck | reaches threads of its own block only
BODY(block_atomic)
{
  if (BAD) atomicAdd_block(&x[0], 1); // HERE
  else atomicAdd(&x[0], 1);
}
CASE(block_atomic)

/* All blocks meet at y[0]. */
template <bool FENCE> __device__ __forceinline__ void grid_barrier(u32 *y)
{
  __syncthreads();
  if (threadIdx.x == 0) {
    if (FENCE) __threadfence();
    atomicAdd(&y[0], 1);
    while (*(volatile u32 *)&y[0] < gridDim.x)
      ;
  }
  __syncthreads();
}

// grid_barrier_fence | 2 64 | racecheck | Race reported
BODY(grid_barrier_fence)
{
  u32 t = threadIdx.x;
  if (t < 32) x[blockIdx.x * 32 + t] = t + 5; // HERE
  grid_barrier<!BAD>(y);
  if (t < 31) y[1 + blockIdx.x * 31 + t] = x[(1 - blockIdx.x) * 32 + t];
}
CASE(grid_barrier_fence)

/* An atomic that all do orders nothing for who does not wait for the others. */
// shared_counted | 1 64 | racecheck | Race reported
BODY(shared_counted)
{
  __shared__ u32 s[64], n;
  u32 t = threadIdx.x;
  if (!t) n = 0;
  __syncthreads();
  s[t] = x[t]; // HERE
  atomicAdd(&n, 1);
  if (!BAD) __syncthreads();
  y[t] = s[63 - t]; // HERE
}
CASE(shared_counted)

/* An mbarrier of 64 threads, of whose phase they ask by its parity: the compiler reads one half of it. */
#define MBARRIER(bar)                                                                                                      \
  u32 bar##_at = (u32)__cvta_generic_to_shared(&bar);                                                                      \
  if (!threadIdx.x) asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(bar##_at) : "memory");                         \
  __syncthreads()
#define MBARRIER_ARRIVE(bar) asm volatile("{ .reg .b64 t; mbarrier.arrive.shared.b64 t, [%0]; }" ::"r"(bar##_at) : "memory")
#define MBARRIER_WAIT(bar)                                                                                                 \
  for (u32 done = 0; !done;)                                                                                               \
  asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"                  \
               : "=r"(done) : "r"(bar##_at) : "memory")

// mbarrier_parity | 1 64 | racecheck | Race reported
BODY(mbarrier_parity)
{
  __shared__ uint64_t bar;
  __shared__ u32 s[64];
  u32 t = threadIdx.x;
  MBARRIER(bar);
  s[t] = x[t]; // HERE
  MBARRIER_ARRIVE(bar);
  if (!BAD) MBARRIER_WAIT(bar);
  y[t] = s[63 - t]; // HERE
}
CASE(mbarrier_parity)

/* The copy arrives when it is done; where the thread arrives itself, that says nothing of its copy. */
// mbarrier_copy | 1 64 | racecheck | Race reported
BODY(mbarrier_copy)
{
  __shared__ uint64_t bar;
  __shared__ u32 s[64];
  u32 t = threadIdx.x;
  MBARRIER(bar);
  async_copy(&s[t], &x[t]);
  if (BAD) MBARRIER_ARRIVE(bar);
  else asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(bar_at) : "memory");
  MBARRIER_WAIT(bar);
  y[t] = s[63 - t]; // HERE
}
CASE(mbarrier_copy)

/* ---- initcheck --------------------------------------------------------------------------------------- */

// shared_uninit | 1 64 | initcheck | Uninitialized __shared__ memory read of size 4
BODY(shared_uninit)
{
  __shared__ u32 s[64];
  if (!BAD || threadIdx.x < 40) s[threadIdx.x] = 1;
  __syncthreads();
  y[threadIdx.x] = s[threadIdx.x]; // HERE
}
CASE(shared_uninit)

// shared_uninit_byte | 1 64 | initcheck | Uninitialized __shared__ memory read of size 4
BODY(shared_uninit_byte)
{
  __shared__ u32 s[64];
  u8 *b = (u8 *)s;
  for (u32 i = 0; i < (BAD ? 3 : 4); i++) b[4 * threadIdx.x + i] = (u8)i;
  __syncthreads();
  y[threadIdx.x] = s[threadIdx.x]; // HERE
}
CASE(shared_uninit_byte)

// shared_uninit_atomic | 1 64 | initcheck | Uninitialized __shared__ memory read of size 4
BODY(shared_uninit_atomic)
{
  __shared__ u32 s[4];
  if (!BAD && threadIdx.x < 4) s[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&s[threadIdx.x & 3], 1); // HERE
  __syncthreads();
  if (threadIdx.x < 4) y[threadIdx.x] = s[threadIdx.x];
}
CASE(shared_uninit_atomic)

// shared_uninit_wide | 1 64 | initcheck | Uninitialized __shared__ memory read of size 16
BODY(shared_uninit_wide)
{
  __shared__ uint4 s[64];
  u32 *w = (u32 *)s;
  for (u32 i = 0; i < 4; i++)
    if (!BAD || i != 2) w[4 * threadIdx.x + i] = i;
  __syncthreads();
  uint4 v = s[63 - threadIdx.x]; // HERE
  y[threadIdx.x] = v.x + v.y + v.z + v.w;
}
CASE(shared_uninit_wide)

// shared_uninit_dynamic | 1 64 | initcheck | Uninitialized __shared__ memory read of size 4 | --shmem 512
BODY(shared_uninit_dynamic)
{
  extern __shared__ u32 room[];
  room[threadIdx.x] = x[threadIdx.x];
  if (!BAD) room[threadIdx.x + 64] = 0;
  __syncthreads();
  y[threadIdx.x] = room[127 - threadIdx.x]; // HERE
}
CASE(shared_uninit_dynamic)

/* One element too far is read, as merges do, and dropped where all is well. */
// shared_ahead | 1 64 | initcheck | Uninitialized __shared__ memory read of size 4
BODY(shared_ahead)
{
  __shared__ u32 s[65];
  u32 t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  u32 next = ((volatile u32 *)s)[t + 1]; // HERE
  if (BAD || t < 63) y[t] = next + 1;
}
CASE(shared_ahead)

/* Through another place in shared memory: the last reader is named. */
// shared_through | 1 64 | initcheck | Uninitialized __shared__ memory read of size 4
BODY(shared_through)
{
  __shared__ u32 s[64], sums[64];
  u32 t = threadIdx.x;
  if (!BAD || t < 40) s[t] = x[t];
  sums[t] = 0;
  __syncthreads();
  sums[t] = s[63 - t] + t;
  __syncthreads();
  y[t] = sums[63 - t]; // HERE
}
CASE(shared_through)

/* Twice as wide, so that what is unset is a part; and written again. */
// shared_again | 1 64 | initcheck | Uninitialized __shared__ memory read of size 8
BODY(shared_again)
{
  __shared__ uint2 s[64];
  u32 t = threadIdx.x;
  ((u32 *)s)[2 * t] = t;
  __syncthreads();
  s[t].x = s[63 - t].y;
  __syncthreads();
  if (!BAD) s[t] = make_uint2(t, t);
  __syncthreads();
  uint2 v = s[63 - t]; // HERE
  y[t] = v.x + v.y;
}
CASE(shared_again)

// shared_added | 1 64 | initcheck | Uninitialized __shared__ memory read of size 4
BODY(shared_added)
{
  __shared__ u32 s[64], sum;
  u32 t = threadIdx.x;
  if (!t) sum = 0;
  if (!BAD || t < 40) s[t] = x[t];
  __syncthreads();
  u32 v = s[63 - t]; // HERE
  asm volatile("red.shared.add.u32 [%0], %1;" ::"r"((u32)__cvta_generic_to_shared(&sum)), "r"(v) : "memory");
  __syncthreads();
  y[t] = sum;
}
CASE(shared_added)

// shared_shuffled | 1 64 | initcheck | Uninitialized __shared__ memory read of size 4
BODY(shared_shuffled)
{
  __shared__ u32 s[64];
  u32 t = threadIdx.x;
  if (!BAD || t < 40) s[t] = x[t];
  __syncthreads();
  u32 v = s[63 - t]; // HERE
  y[t] = __shfl_xor_sync(0xffffffff, v, 1);
}
CASE(shared_shuffled)

// local_uninit | 1 64 | initcheck | Uninitialized __local__ memory read of size 4
BODY(local_uninit)
{
  u32 a[16];
  for (u32 i = 0; i < (BAD ? 8 : 16); i++) a[(i + x[0]) & 15] = i;
  y[threadIdx.x] = a[x[12]]; // HERE
}
CASE(local_uninit)

/* Fills in a variable for some threads, as a function that may fail does. */
__device__ __noinline__ bool fill(u32 *v, const u32 *x, u32 t)
{
  if (t >= 40) return false;
  *v = x[t] + 1;
  return true;
}

/* The compiler loads the variable of all threads, and then chooses. */
// local_chosen | 1 64 | initcheck | Uninitialized __local__ memory read of size 4
BODY(local_chosen)
{
  u32 t = threadIdx.x, v;
  const bool filled = fill(&v, x, t);
  y[t] = BAD || filled ? v : 7; // HERE
}
CASE(local_chosen)

// local_copied | 1 64 | initcheck | Uninitialized __local__ memory read of size 4
BODY(local_copied)
{
  u32 t = threadIdx.x, v[2], w[16];
  (void)fill(v, x, BAD ? t : t % 32);
  for (u32 i = 0; i < 16; i++) w[(i + x[0]) & 15] = v[0];
  y[t] = w[x[t] & 15]; // HERE
}
CASE(local_copied)

/* A register that PTX names and never writes: what is left of an uninitialised variable where the compiler does not see it. */
#define UNSET(v) asm volatile("" : "=r"(v))

// register_store | 1 64 | initcheck | goes to global memory
BODY(register_store)
{
  u32 v, t = threadIdx.x;
  UNSET(v);
  if (!BAD || t < 40) v = x[t];
  y[t] = v; // HERE
}
CASE(register_store)

// register_index | 1 64 | initcheck | by thread (7,0,0) in block
BODY(register_index)
{
  u32 at, t = threadIdx.x;
  UNSET(at);
  if (!BAD || t != 7) at = t;
  y[t] = x[at + 0]; // HERE
}
CASE(register_index)

// register_shared_index | 1 64 | initcheck | as an address
BODY(register_shared_index)
{
  __shared__ u32 s[64];
  u32 at, t = threadIdx.x;
  s[t] = t;
  __syncthreads();
  UNSET(at);
  if (!BAD || t % 2) at = t;
  y[t] = s[at]; // HERE
}
CASE(register_shared_index)

// register_branch | 1 64 | initcheck | decides
BODY(register_branch)
{
  u32 n, t = threadIdx.x;
  UNSET(n);
  if (!BAD || t > 50) n = x[t];
  if (n > 9) // HERE
    for (u32 i = 0; i < x[5]; i++) y[t] += i;
}
CASE(register_branch)

// register_float | 1 64 | initcheck | goes to global memory
BODY(register_float)
{
  float f;
  u32 t = threadIdx.x;
  asm volatile("" : "=f"(f));
  if (!BAD || t < 8) f = (float)x[t];
  ((float *)y)[t] = f * 2.5f + 1.0f; // HERE
}
CASE(register_float)

/* ---- synccheck --------------------------------------------------------------------------------------- */

// divergent_if | 1 64 | synccheck | Divergent thread(s) in block
BODY(divergent_if)
{
  if (!BAD || threadIdx.x < 16) {
    x[threadIdx.x] = 1;
    __syncthreads(); // HERE
  }
  y[threadIdx.x] = 2;
}
CASE(divergent_if)

// divergent_loop | 1 64 | synccheck | Divergent thread(s) in block
BODY(divergent_loop)
{
  u32 n = BAD ? 4 + (threadIdx.x & 1) : 4;
#pragma unroll 1
  for (u32 i = 0; i < n; i++) {
    x[threadIdx.x] = i;
    __syncthreads(); // HERE
  }
}
CASE(divergent_loop)

// divergent_half_warp | 1 96 | synccheck | Divergent thread(s) in block
BODY(divergent_half_warp)
{
  u32 t = threadIdx.x;
  __syncthreads();
  if (!BAD || t < 80) {
    atomicAdd(&x[t & 63], 1);
    __syncthreads(); // HERE
  }
}
CASE(divergent_half_warp)

// syncwarp_mask | 1 64 | synccheck | The thread is not in the mask that it gives
BODY(syncwarp_mask)
{
  u32 lane = threadIdx.x & 31;
  x[threadIdx.x] = lane;
  if (lane < 16) __syncwarp(BAD ? 0x7fff : 0xffff); // HERE
  y[threadIdx.x] = x[threadIdx.x];
}
CASE(syncwarp_mask)

// shuffle_mask | 1 64 | synccheck | The thread is not in the mask that it gives
BODY(shuffle_mask)
{
  u32 lane = threadIdx.x & 31, v = x[threadIdx.x];
  if (lane < 8) v = __shfl_xor_sync(BAD ? 0x0f : 0xff, v, 1); // HERE
  y[threadIdx.x] = v;
}
CASE(shuffle_mask)

// barrier_counts | 1 64 | synccheck | Threads name different numbers of threads
BODY(barrier_counts)
{
  u32 n = BAD && threadIdx.x >= 32 ? x[32] : x[63] + 1;
  asm volatile("bar.sync 3, %0;" ::"r"(n) : "memory"); // HERE
}
CASE(barrier_counts)

// barrier_starves | 1 64 | synccheck | Threads wait for others that never come
BODY(barrier_starves)
{
  u32 n = BAD ? x[48] * 2 : x[63] + 1;
  asm volatile("bar.sync 3, %0;" ::"r"(n) : "memory"); // HERE
}
CASE(barrier_starves)

/* ---- writes of what is there ------------------------------------------------------------------------- */

// same_value | 2 64 | racecheck | Race reported
BODY(same_value)
{
  u32 t = threadIdx.x;
  if (blockIdx.x == 0) x[t] = BAD ? t + 1 : t; // HERE
  else y[t] = x[t];
}
CASE(same_value)

// same_vectors | 2 64 | racecheck | Race reported
BODY(same_vectors)
{
  u32 t = threadIdx.x;
  if (blockIdx.x == 1) y[t] = x[t];
  else if (t < 32) ((uint2 *)x)[t] = make_uint2(2 * t, 2 * t + 1 + BAD); // HERE
}
CASE(same_vectors)

/* Nobody has written there yet: zeros over the simulator's zeros are a race all the same. The right one writes again what is there. */
// zeros_unwritten | 1 64 | racecheck | Race reported
BODY(zeros_unwritten)
{
  __shared__ u32 s[64];
  u32 t = threadIdx.x;
  s[t] = y[t]; // HERE
  if (!BAD) {
    __syncthreads();
    s[t] = y[t];
  }
  x[t] = s[63 - t];
}
CASE(zeros_unwritten)

// zero_rows_unwritten | 1 64 | racecheck | Race reported
BODY(zero_rows_unwritten)
{
  __shared__ u8 s[256];
  u32 t = threadIdx.x;
  s[4 * t + 1] = (u8)y[t]; // HERE
  if (!BAD) {
    __syncthreads();
    s[4 * t + 1] = (u8)y[t];
  }
  x[t] = s[4 * (63 - t) + 1];
}
CASE(zero_rows_unwritten)
