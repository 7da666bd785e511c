
typedef unsigned u32;
#define FULLM 0xffffffffu
struct Env { u32 *acc; volatile u32 *ctr; u32 *lk; u32 *sacc; volatile u32 *sctr; u32 *slk; u32 *shw; };
__device__ __forceinline__ u32 red_add(u32 m, u32 x) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(m, x);
#else
  u32 s = 0; for (u32 b = m; b; b &= b - 1) s += __shfl_sync(m, x, __ffs(b) - 1); return s;
#endif
}
__device__ __forceinline__ u32 red_max(u32 m, u32 x) {
#if __CUDA_ARCH__ >= 800
  return __reduce_max_sync(m, x);
#else
  u32 s = 0; for (u32 b = m; b; b &= b - 1) s = max(s, __shfl_sync(m, x, __ffs(b) - 1)); return s;
#endif
}
__device__ __forceinline__ u32 red_xor(u32 m, u32 x) {
#if __CUDA_ARCH__ >= 800
  return __reduce_xor_sync(m, x);
#else
  u32 s = 0; for (u32 b = m; b; b &= b - 1) s ^= __shfl_sync(m, x, __ffs(b) - 1); return s;
#endif
}
__device__ __forceinline__ u32 red_and(u32 m, u32 x) {
#if __CUDA_ARCH__ >= 800
  return __reduce_and_sync(m, x);
#else
  u32 s = ~0u; for (u32 b = m; b; b &= b - 1) s &= __shfl_sync(m, x, __ffs(b) - 1); return s;
#endif
}
__device__ __noinline__ u32 xchg_call(u32 *sh, u32 n, u32 x, u32 k) {
  u32 t = threadIdx.x; sh[t] = x; __syncthreads(); x = sh[(t + k) % n]; __syncthreads(); return x;
}
__device__ __noinline__ u32 k46_f0(const Env &env, u32 p0, u32 p1, u32 d, u32 m);
__device__ __noinline__ u32 k46_f0(const Env &env, u32 p0, u32 p1, u32 d, u32 m) {
  const u32 tid = threadIdx.x, lane = tid & 31, uni = 5433u; u32 p2 = p0 ^ p1, la[8]; for (int i = 0; i < 8; i++) la[i] = p0 + i;
    for (u32 iL1 = ((p1 >> (8u & 31u)) & 1u); iL1; iL1 >>= 1) { {
      { u32 s3 = ((p0 % (41675298u | 1u)) % (7u | 1u)); switch (s3) {
      case 0: {
        atomicMax(&env.acc[8 + (tid & 3u)], p1);
      } break;
      case 1: {
        p1 = (max(p0, max(p2, tid)) / ((u32)__popc(lane) | 1u));
      } break;
      case 2: {
        atomicMax(&env.sacc[8 + (tid & 3u)], p2);
      } break;
      case 3: {
        p0 = ((u32)__ffs(max(lane, p1)) | p1);
      } break;
      case 4: {
        { u32 t = atomicAdd(&env.acc[24], 1u); atomicAdd(&env.acc[22], t * 3u + 1u); }
      } // falls through
      case 5: {
        { u32 g2 = __activemask(), x = __umulhi(tid, p1), t = __popc(g2); if (lane == (u32)__ffs(g2) - 1) atomicAdd(&env.acc[7], t); }
      } break;
      default:; } }
      p0 = (((2654435769u << (uni & 31u)) << ((0u-p0) & 31u)) ^ (tid + (tid >> (p2 & 31u))));
      atomicMax(&env.acc[8 + (tid & 3u)], (u32)__popc(p0));
    } CL1:;
    }
    BL1:;
    atomicAdd(&env.acc[0 + (tid & 3u)], (p2 ^ lane));
    if (((d * (p0 & 255u)) > 0u)) {
      p0 ^= k46_f0(env, p1, (p1 & p0), (d - 1u), 0);
    }
    { u32 s11 = ((p2 + uni) % (7u | 1u)); switch (s11) {
    case 0: {
      { u32 s5 = (7u % (3u | 1u)); switch (s5) {
      case 0: {
        atomicAdd(&env.acc[0 + (tid & 3u)], p2);
      } // falls through
      case 1: {
        p2 = max(((p2 ^ lane) + p1), (p0 + (0u-p2)));
      } break;
      case 2: {
        atomicMax(&env.sacc[8 + (tid & 3u)], (p0 + p2));
      } break;
      default:; } }
    } // falls through
    case 1: {
      if ((lane < 24u)) {
        { u32 ed6 = (p2 - p0);
        while (true) { if (atomicCAS(&env.slk[0], 0u, 1u) == 0u) { __threadfence(); env.sctr[0] = env.sctr[0] + ed6; __threadfence(); atomicExch(&env.slk[0], 0u); break; } } }
      } else {
        { u32 g7 = __activemask(), x = (p2 ^ 2u), t = __popc(g7); if (lane == (u32)__ffs(g7) - 1) atomicAdd(&env.acc[7], t); }
      }
    } // falls through
    case 2: {
      { u32 g8 = __activemask(), x = (p2 + 7u), t = red_add(g8, x); if (lane == (u32)__ffs(g8) - 1) atomicAdd(&env.acc[7], t); }
    } // falls through
    case 3: {
      p0 = (((p0 + p2) % (max(p0, tid) | 1u)) ^ p2);
    } break;
    case 4: {
      p0 = p0;
    } break;
    case 5: {
      { u32 g9 = __activemask(), x = (lane - lane), t = __popc(g9); if (lane == (u32)__ffs(g9) - 1) atomicAdd(&env.sacc[7], t); }
    } break;
    case 6: {
      if ((((p0 >> (0u & 31u)) & 7u) == 5u)) {
        for (u32 iL10 = 0, nL10 = (((lane * p0) >> (3u & 31u)) & 1u); iL10 < nL10; iL10++) { {
          { u32 t = atomicAdd(&env.acc[24], 1u); atomicAdd(&env.acc[22], t * 3u + 1u); }
          atomicOr(&env.sacc[16 + (tid & 3u)], p1);
        } CL10:;
        }
        BL10:;
      }
    } break;
    default:; } }
    { u32 s18 = ((p2 ^ p2) % (3u | 1u)); switch (s18) {
    case 0: {
      { u32 t = atomicAdd(&env.sacc[24], 1u); atomicAdd(&env.sacc[22], t * 3u + 1u); }
    } break;
    case 1: {
      atomicAdd(&env.sacc[0 + (tid & 3u)], (p2 % (p0 | 1u)));
    } break;
    case 2: {
      if (((p1 + p2) == p1)) {
        if (((uni & 3u) < 1u)) {
          { u32 g12 = __activemask(), x = p1, t = red_add(g12, x); if (lane == (u32)__ffs(g12) - 1) atomicAdd(&env.sacc[7], t); }
        } else {
          p1 = (p0 / (p0 | 1u));
          p2 = (p0 * ((p1 ^ 13u) / (31u | 1u)));
        }
        { u32 s16 = (max(p2, p0) % (9u | 1u)); switch (s16) {
        case 0: {
          atomicXor(&env.acc[12 + (tid & 3u)], (3u >> (7u & 31u)));
        } break;
        case 1: {
          { u32 t = atomicAdd(&env.sacc[24], 1u); atomicAdd(&env.sacc[22], t * 3u + 1u); }
        } break;
        case 2: {
          { u32 g13 = __activemask(), x = (u32)__ffs(p0), t = red_add(g13, x); if (lane == (u32)__ffs(g13) - 1) atomicAdd(&env.acc[7], t); }
        } break;
        case 3: {
          atomicOr(&env.sacc[16 + (tid & 3u)], __umulhi(p1, p1));
        } // falls through
        case 4: {
          if ((tid < 19u)) {
            atomicXor(&env.acc[12 + (tid & 3u)], (((lane & 3u) != 0u) ? p0 : p1));
            p1 = (2u ^ max(1283762741u, (p2 + tid)));
          } else {
            atomicMax(&env.sacc[8 + (tid & 3u)], (p1 + p2));
          }
        } // falls through
        case 5: {
          atomicMax(&env.sacc[8 + (tid & 3u)], 7u);
        } break;
        case 6: {
          atomicXor(&env.sacc[12 + (tid & 3u)], (p1 ^ lane));
        } // falls through
        case 7: {
          { u32 s15 = (((lane >= 31u) ? p2 : p1) % (7u | 1u)); switch (s15) {
          case 0: {
            { u32 t = atomicAdd(&env.acc[24], 1u); atomicAdd(&env.acc[22], t * 3u + 1u); }
          } break;
          case 1: {
            atomicMax(&env.sacc[8 + (tid & 3u)], (p1 * tid));
          } break;
          case 2: {
            { u32 t = atomicAdd(&env.sacc[24], 1u); atomicAdd(&env.sacc[22], t * 3u + 1u); }
          } break;
          case 3: {
            p0 = tid;
          } // falls through
          case 4: {
            p0 = ((((lane ^ p2) < p1) ? (tid >> (p2 & 31u)) : (tid + lane)) ^ ((0u-p0) & (u32)__ffs(lane)));
          } break;
          case 5: {
            { u32 ed14 = (uni * p2);
            while (atomicCAS(&env.lk[0], 0u, 1u) != 0u) ; __threadfence(); env.ctr[0] = env.ctr[0] + ed14; __threadfence(); atomicExch(&env.lk[0], 0u); }
          } break;
          case 6: {
            { u32 t = atomicAdd(&env.acc[24], 1u); atomicAdd(&env.acc[22], t * 3u + 1u); }
          } // falls through
          default:; } }
        } break;
        case 8: {
          p1 = ((lane >= 17u) ? p1 : p1);
        } break;
        default:; } }
        { u32 s17 = ((p0 * 7u) % (3u | 1u)); switch (s17) {
        case 0: {
          atomicAdd(&env.sacc[0 + (tid & 3u)], p1);
        } break;
        case 1: {
          p0 = p1;
        } break;
        default:; } }
      }
    } break;
    default:; } }
    if ((d > 0u)) {
      p0 ^= k46_f0(env, __umulhi(lane, p0), (p0 + p1), (d - 1u), 0);
    }
    atomicMax(&env.sacc[8 + (tid & 3u)], (p2 | 2u));
    p0 = lane;
  return min(p1, p1);
}
extern "C" __global__ void k46(const u32 *in, u32 *out, u32 *acc, u32 *lk, u32 uni) {
  __shared__ u32 sh[96], shw[96], sacc[32], sctr[2], slk[2]; __shared__ volatile u32 flags[12];
  const u32 tid = threadIdx.x, lane = tid & 31, gt = blockIdx.x * 72u + tid;
  sh[tid] = 0; shw[tid] = 0; if (tid < 32) sacc[tid] = 0; if (tid < 2) sctr[tid] = slk[tid] = 0; if (tid < 12) flags[tid] = 0;
  const Env env = { acc, acc + 20, lk, sacc, sctr, slk, shw };
  u32 v0 = in[gt * 6 + 0], v1 = in[gt * 6 + 1], v2 = in[gt * 6 + 2], v3 = in[gt * 6 + 3], v4 = in[gt * 6 + 4], v5 = in[gt * 6 + 5];
  u32 la[8]; for (int i = 0; i < 8; i++) la[i] = v0 + i; __syncthreads();
#define OUT() do { out[gt * 6 + 0] = v0 + la[v1 & 7]; out[gt * 6 + 1] = v1; out[gt * 6 + 2] = v2; out[gt * 6 + 3] = v3; out[gt * 6 + 4] = v4; out[gt * 6 + 5] = v5; } while (0)
    v1 += (u32)__syncthreads_and((((v5 >> (18u & 31u)) & 15u) < 14u)) ? 9u : 4u;
    v2 += __any_sync(FULLM, (lane != 31u)) ? 77u : 5u;
    { u32 s34 = ((v3 + 2697652539u) % (9u | 1u)); switch (s34) {
    case 0: {
    } // falls through
    case 1: {
      v3 = __umulhi(tid, max((3u * v4), (tid + v4)));
    } break;
    case 2: {
    } // falls through
    case 3: {
      for (u32 iL20 = ((__brev(uni) >> (20u & 31u)) & 3u); iL20; iL20 >>= 1) { {
        atomicOr(&env.acc[16 + (tid & 3u)], v3);
        { u32 iL21 = ((1u >> (3u & 31u)) & 3u); do { {
          atomicXor(&env.sacc[12 + (tid & 3u)], (31u + v4));
        } CL21:;
        } while (iL21-- != 0); }
        BL21:;
      } CL20:;
      }
      BL20:;
      for (u32 iL22 = 0, nL22 = (((v2 ^ v1) >> (3u & 31u)) & 1u); iL22 < nL22; iL22++) { {
        v5 = ((v5 - 1396274176u) & ((v2 + 85u) ^ (v0 * lane)));
      } CL22:;
      }
      BL22:;
    } break;
    case 4: {
    } break;
    case 5: {
      atomicMax(&env.sacc[8 + (tid & 3u)], (v1 * lane));
      { u32 ed23 = ((((v5 >> (27u & 31u)) & 1u) < 1u) ? v5 : lane);
      while (true) { if (atomicCAS(&env.lk[1], 0u, 1u) == 0u) { __threadfence(); env.ctr[1] = env.ctr[1] + ed23; __threadfence(); atomicExch(&env.lk[1], 0u); break; } } }
    } // falls through
    case 6: {
      v2 = (((u32)__ffs(v3) + __umulhi(v0, v1)) * lane);
    } break;
    case 7: {
      if (((lane & 4u) != 0u)) {
        atomicXor(&env.acc[12 + (tid & 3u)], (v0 & v5));
      }
    } break;
    case 8: {
      { u32 s33 = (v0 % (7u | 1u)); switch (s33) {
      case 0: {
      } break;
      case 1: {
        { u32 s27 = (((tid < 27u) ? lane : v4) % (7u | 1u)); switch (s27) {
        case 0: {
        } break;
        case 1: {
          atomicOr(&env.sacc[16 + (tid & 3u)], (v4 ^ v4));
        } break;
        case 2: {
          for (u32 iL24 = ((v3 >> (20u & 31u)) & 7u); iL24; iL24 >>= 1) { {
            { u32 ed25 = __brev(lane);
            while (true) { if (atomicCAS(&env.lk[0], 0u, 1u) == 0u) { __threadfence(); env.ctr[0] = env.ctr[0] + ed25; __threadfence(); atomicExch(&env.lk[0], 0u); break; } } }
          } CL24:;
          }
          BL24:;
        } break;
        case 3: {
          atomicAdd(&env.acc[0 + (tid & 3u)], (v5 + 3u));
        } // falls through
        case 4: {
          if ((lane >= 17u)) {
          } else {
            atomicOr(&env.sacc[16 + (tid & 3u)], (2269920643u ^ lane));
            atomicOr(&env.sacc[16 + (tid & 3u)], (v1 / (v5 | 1u)));
          }
        } break;
        case 5: {
          { u32 g26 = __activemask(), x = 1u, t = __popc(g26); if (lane == (u32)__ffs(g26) - 1) atomicAdd(&env.sacc[7], t); }
        } break;
        case 6: {
        } // falls through
        default:; } }
      } break;
      case 2: {
        v0 = v3;
      } break;
      case 3: {
        v2 = (((lane & 8u) != 0u) ? v3 : v2);
      } break;
      case 4: {
        { u32 s32 = (v4 % (3u | 1u)); switch (s32) {
        case 0: {
          atomicMax(&env.acc[8 + (tid & 3u)], (v3 - lane));
        } // falls through
        case 1: {
          { u32 s31 = (min(v1, v3) % (9u | 1u)); switch (s31) {
          case 0: {
            for (u32 iL28 = 0, nL28 = (((lane * v1) >> (8u & 31u)) & 7u); iL28 < nL28; iL28++) { {
            } CL28:;
            }
            BL28:;
          } break;
          case 1: {
          } break;
          case 2: {
          } break;
          case 3: {
          } break;
          case 4: {
            v1 = (v2 ^ ((((v5 >> (8u & 31u)) & 7u) < 1u) ? (u32)__ffs(v3) : (v4 * uni)));
          } // falls through
          case 5: {
            { u32 s30 = ((v4 + v5) % (3u | 1u)); switch (s30) {
            case 0: {
              v0 = v5;
            } break;
            case 1: {
              { u32 ed29 = (2506195799u + lane);
              while (atomicCAS(&env.slk[1], 0u, 1u) != 0u) ; __threadfence(); env.sctr[1] = env.sctr[1] + ed29; __threadfence(); atomicExch(&env.slk[1], 0u); }
            } break;
            case 2: {
            } // falls through
            default:; } }
          } // falls through
          case 6: {
          } break;
          case 7: {
            atomicMax(&env.acc[8 + (tid & 3u)], v0);
          } // falls through
          default:; } }
        } break;
        case 2: {
        } // falls through
        default:; } }
      } // falls through
      case 5: {
        { u32 t = atomicAdd(&env.acc[24], 1u); atomicAdd(&env.acc[22], t * 3u + 1u); }
      } break;
      case 6: {
        if ((((v1 * 2u) + v3) < 1073741824u)) {
          OUT(); return;
        }
      } break;
      default:; } }
    } break;
    default:; } }
  OUT(); __syncthreads();
  { int n = __syncthreads_count(1); (void)n; __shared__ u32 first; if (__syncthreads_or(1)) { if (tid == 0) first = 0; }
    __syncthreads(); u32 once = atomicAdd(&slk[0], 1u); if (once == 0) { for (int i = 0; i < 20; i++) { if (i < 8) atomicAdd(&acc[i], sacc[i]);
    else if (i < 12) atomicMax(&acc[i], sacc[i]); else if (i < 16) atomicXor(&acc[i], sacc[i]); else atomicOr(&acc[i], sacc[i]); }
    atomicAdd(&acc[26], sctr[0]); atomicAdd(&acc[27], sctr[1]); atomicAdd(&acc[28], sacc[22]); atomicAdd(&acc[29], sacc[24]); } }
#undef OUT
}
