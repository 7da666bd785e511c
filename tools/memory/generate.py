#!/usr/bin/env python3
"""Random kernels about memory, which check themselves: loads, stores and atomics of every width through generic pointers whose lanes lie in
shared, local and global memory in any mixture, under divergent branches and in loops of different lengths, beside asynchronous copies, reads of
what other threads have written and reductions on common words.

Every thread has a slot of 64 bytes in each of the three memories and four registers. A kernel is a list of phases with __syncthreads() between;
in a phase a thread touches its own slots alone, or reads those of others, or adds to common words by operations whose order does not matter. So
the same functions, run on the host thread by thread, give the expected value of every byte.

    tools/memory/generate.py --seed 1 --count 16 --arch 75,80,86,90,100,120 --opt=-O3 DIR      writes, compiles and runs one program
      --runner 'CMD {gpu}'   how it is run, once for each --runner; default: build/warpstep exec --gpu {gpu}, with --functional and without
"""
import argparse
import os
import random
import subprocess
import sys

GPU = {"75": "rtx-2080ti", "80": "a100", "86": "rtx-3070", "87": "jetson-orin", "89": "rtx-4090", "90": "h100", "100": "b200", "120": "rtx-5070ti"}
TYPES = {"uint8_t": 1, "int8_t": 1, "uint16_t": 2, "int16_t": 2, "uint32_t": 4, "uint64_t": 8, "uint2": 8, "uint4": 16, "float": 4}
ATOMICS = ["add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"]
COMMUTATIVE = ["add", "min", "max", "and", "or", "xor"]
SLOT = 64

HEAD = r'''// Written by tools/memory/generate.py; the CPU runs the same functions thread by thread.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_pipeline.h>

enum { SLOT = 64, THREADS = 80, CTAS = 2, COMMON = 16, REGISTERS = 4 };
#define HD __host__ __device__
#ifdef __CUDA_ARCH__
#define ON_GPU 1
#else
#define ON_GPU 0
#endif

struct thread_state {
  uint32_t x[REGISTERS];
  unsigned t;                 // in its CTA
  unsigned char *w[3];        // own slots: shared, local, global
  unsigned char *all[2];      // slots of all threads of the CTA: shared, global
  uint32_t *common[2];        // shared, global
};

template <class T> HD T load(const unsigned char *p)
{
#if ON_GPU
  return *(const T *)p;
#else
  T v;
  memcpy(&v, p, sizeof v);
  return v;
#endif
}
template <class T> HD void store(unsigned char *p, T v)
{
#if ON_GPU
  *(T *)p = v;
#else
  memcpy(p, &v, sizeof v);
#endif
}
template <class T> HD T load_volatile(const unsigned char *p)
{
#if ON_GPU
  return *(const volatile T *)p;
#else
  return load<T>(p);
#endif
}
template <class T> HD void store_volatile(unsigned char *p, T v)
{
#if ON_GPU
  *(volatile T *)p = v;
#else
  store<T>(p, v);
#endif
}
template <class T> __noinline__ HD T load_called(const unsigned char *p) { return load<T>(p); }
template <class T> __noinline__ HD void store_called(unsigned char *p, T v) { store<T>(p, v); }

template <class T> HD T made_of(uint32_t a, uint32_t b);
template <> HD uint8_t made_of(uint32_t a, uint32_t) { return (uint8_t)a; }
template <> HD int8_t made_of(uint32_t a, uint32_t) { return (int8_t)a; }
template <> HD uint16_t made_of(uint32_t a, uint32_t) { return (uint16_t)a; }
template <> HD int16_t made_of(uint32_t a, uint32_t) { return (int16_t)a; }
template <> HD uint32_t made_of(uint32_t a, uint32_t b) { return a ^ b >> 7; }
template <> HD uint64_t made_of(uint32_t a, uint32_t b) { return (uint64_t)a << 32 | b; }
template <> HD uint2 made_of(uint32_t a, uint32_t b) { return make_uint2(a, b); }
template <> HD uint4 made_of(uint32_t a, uint32_t b) { return make_uint4(a, b, a + b, a ^ b); }
template <> HD float made_of(uint32_t a, uint32_t) { return (float)(a & 0xffff); }

HD static uint32_t word_of(uint8_t v) { return v; }
HD static uint32_t word_of(int8_t v) { return (uint32_t)v; }
HD static uint32_t word_of(uint16_t v) { return v; }
HD static uint32_t word_of(int16_t v) { return (uint32_t)v; }
HD static uint32_t word_of(uint32_t v) { return v; }
HD static uint32_t word_of(uint64_t v) { return (uint32_t)v ^ (uint32_t)(v >> 32); }
HD static uint32_t word_of(uint2 v) { return v.x + 3 * v.y; }
HD static uint32_t word_of(uint4 v) { return v.x + 3 * v.y + 5 * v.z + 7 * v.w; }
HD static uint32_t word_of(float v) { return v == v && v > 0 && v < 1e6f ? (uint32_t)v : 7; }

#define ATOMIC(name, gpu, cpu)                                          \
  template <class T> HD T atomic_##name(unsigned char *p, T v, T other) \
  {                                                                     \
    (void)other;                                                        \
    T old;                                                              \
    if (ON_GPU) {                                                       \
      gpu;                                                              \
    } else {                                                            \
      old = load<T>(p);                                                 \
      store<T>(p, cpu);                                                 \
    }                                                                   \
    return old;                                                         \
  }
#if ON_GPU
#define GPU_ATOMIC(call) old = (T)call
#else
#define GPU_ATOMIC(call) old = v
#endif
template <class T> struct counter { typedef unsigned of; };
template <> struct counter<uint64_t> { typedef unsigned long long of; };
#define AT ((typename counter<T>::of *)p)
#define OF(v) ((typename counter<T>::of)(v))
ATOMIC(add, GPU_ATOMIC(atomicAdd(AT, OF(v))), (T)(old + v))
ATOMIC(min, GPU_ATOMIC(atomicMin(AT, OF(v))), old < v ? old : v)
ATOMIC(max, GPU_ATOMIC(atomicMax(AT, OF(v))), old > v ? old : v)
ATOMIC(and, GPU_ATOMIC(atomicAnd(AT, OF(v))), old & v)
ATOMIC(or, GPU_ATOMIC(atomicOr(AT, OF(v))), old | v)
ATOMIC(xor, GPU_ATOMIC(atomicXor(AT, OF(v))), old ^ v)
ATOMIC(exch, GPU_ATOMIC(atomicExch(AT, OF(v))), v)
ATOMIC(cas, GPU_ATOMIC(atomicCAS(AT, OF(other), OF(v))), old == other ? v : old)
ATOMIC(inc, GPU_ATOMIC(atomicInc((unsigned *)p, (unsigned)v)), old >= v ? 0 : old + 1)
ATOMIC(dec, GPU_ATOMIC(atomicDec((unsigned *)p, (unsigned)v)), old == 0 || old > v ? v : old - 1)

// A plain copy where there is no asynchronous one.
template <int BYTES> HD void copy_async(unsigned char *shared, const unsigned char *global)
{
#if ON_GPU && __CUDA_ARCH__ >= 800
  __pipeline_memcpy_async(shared, global, BYTES);
  __pipeline_commit();
  __pipeline_wait_prior(0);
#else
  for (int i = 0; i < BYTES; i++) shared[i] = global[i];
#endif
}

// What `out` holds of a thread: registers, then its slots; behind the threads of a CTA its common words.
enum { WORDS = REGISTERS + 3 * SLOT / 4, CTA_WORDS = THREADS * WORDS + COMMON };

HD static void begin(thread_state &s, unsigned cta, unsigned seed)
{
  for (unsigned i = 0; i < REGISTERS; i++) s.x[i] = (s.t + 1) * 2654435761u + (i + cta * 7 + seed) * 40503u;
  for (unsigned w = 0; w < 3; w++)
    for (unsigned i = 0; i < SLOT; i++) s.w[w][i] = (unsigned char)(s.t * 31 + w * 77 + i * 5 + seed);
}

HD static void end(const thread_state &s, uint32_t *out)
{
  out += s.t * WORDS;
  for (unsigned i = 0; i < REGISTERS; i++) *out++ = s.x[i];
  for (unsigned w = 0; w < 3; w++)
    for (unsigned i = 0; i < SLOT; i += 4)
      *out++ = s.w[w][i] | s.w[w][i + 1] << 8 | s.w[w][i + 2] << 16 | (uint32_t)s.w[w][i + 3] << 24;
}
'''

TAIL = r'''
typedef void phase_list(thread_state &, unsigned);
struct test {
  void (*kernel)(unsigned char *, uint32_t *, uint32_t *, unsigned);
  phase_list *phase;
  unsigned phases;
};

static void on_cpu(const struct test *k, uint32_t *out, uint32_t *global_common, unsigned seed)
{
  static unsigned char shared[THREADS * SLOT], local[THREADS][SLOT], global[THREADS * SLOT];
  static thread_state s[THREADS];
  for (unsigned cta = 0; cta < CTAS; cta++) {
    uint32_t common[COMMON] = {0};
    for (unsigned t = 0; t < THREADS; t++) {
      s[t].t = t;
      s[t].w[0] = shared + t * SLOT, s[t].w[1] = local[t], s[t].w[2] = global + t * SLOT;
      s[t].all[0] = shared, s[t].all[1] = global;
      s[t].common[0] = common, s[t].common[1] = global_common;
      begin(s[t], cta, seed);
    }
    for (unsigned p = 0; p < k->phases; p++)
      for (unsigned t = 0; t < THREADS; t++) k->phase(s[t], p);
    for (unsigned t = 0; t < THREADS; t++) end(s[t], out + cta * CTA_WORDS);
    memcpy(out + cta * CTA_WORDS + THREADS * WORDS, common, sizeof common);
  }
}

static unsigned differ(const struct test *k, unsigned number, unsigned seed)
{
  enum { BYTES = (CTAS * CTA_WORDS + COMMON) * 4 };
  static uint32_t want[BYTES / 4], got[BYTES / 4];
  unsigned char *memory;
  uint32_t *out;
  memset(want, 0, BYTES);
  on_cpu(k, want, want + CTAS * CTA_WORDS, seed);
  if (cudaMalloc(&memory, CTAS * THREADS * SLOT) || cudaMalloc(&out, BYTES) || cudaMemset(out, 0, BYTES)) exit(3);
  k->kernel<<<CTAS, THREADS>>>(memory, out, out + CTAS * CTA_WORDS, seed);
  cudaError_t status = cudaMemcpy(got, out, BYTES, cudaMemcpyDeviceToHost);
  if (status) {
    printf("kernel %u, seed %u: %s\n", number, seed, cudaGetErrorString(status));
    exit(2);
  }
  unsigned bad = 0, first = 0;
  for (unsigned i = BYTES / 4; i-- > 0;)
    if (want[i] != got[i]) bad++, first = i;
  if (bad)
    printf("kernel %u, seed %u: %u words differ, first %u (CTA %u, thread %u, word %u): %08x, not %08x\n", number, seed, bad, first,
           first / CTA_WORDS, first % CTA_WORDS / WORDS, first % CTA_WORDS % WORDS, got[first], want[first]);
  cudaFree(memory), cudaFree(out);
  return bad != 0;
}

int main(int argc, char **argv)
{
  unsigned bad = 0, only = argc > 1 ? atoi(argv[1]) : ~0u, n = sizeof tests / sizeof *tests;
  for (unsigned k = 0; k < n; k++)
    for (unsigned seed = 1; seed <= 2; seed++)
      if (only == ~0u || only == k) bad += differ(&tests[k], k, seed);
  printf("%u of %u runs differ\n", bad, 2 * n);
  return bad != 0;
}
'''


class Kernel:
    """Statements of one kernel; `r` draws."""

    def __init__(self, r, size):
        self.r, self.size = r, size

    def reg(self):
        return f"s.x[{self.r.randrange(4)}]"

    def value(self):
        r = self.r
        return r.choice([f"{self.reg()} * {r.randrange(1, 1 << 20) | 1}u + {self.reg()}", f"{self.reg()} ^ {self.reg()} >> {r.randrange(1, 31)}",
                         f"s.t * {r.randrange(1, 999)}u + {self.reg()}"])

    def condition(self):
        r = self.r
        return r.choice([f"{self.reg()} >> {r.randrange(32)} & 1", f"s.t & {r.choice([1, 2, 4, 8, 16, 5, 12])}", f"s.t % {r.randrange(3, 9)} == {r.randrange(3)}",
                         f"s.t < {r.randrange(1, 79)}u", f"{self.reg()} < {r.randrange(1 << 32)}u"])

    def pointer(self, windows):
        """Own slot of one of the windows; which one differs from lane to lane."""
        if len(windows) == 1:
            return f"s.w[{windows[0]}]"
        if len(windows) == 2:
            return f"(({self.condition()}) ? s.w[{windows[0]}] : s.w[{windows[1]}])"
        return f"(({self.condition()}) ? s.w[{windows[0]}] : ({self.condition()}) ? s.w[{windows[1]}] : s.w[{windows[2]}])"

    def place(self, windows, size):
        at = self.r.choice([f"{self.r.randrange(SLOT // size) * size}", f"({self.reg()} & {SLOT // size - 1}) * {size}"])
        return f"{self.pointer(windows)} + {at}"

    def windows(self, of=(0, 1, 2)):
        return self.r.sample(of, self.r.randrange(1, len(of) + 1))

    def simple(self, pad):
        r = self.r
        kind = r.choice(["load"] * 4 + ["store"] * 4 + ["atomic"] * 3 + ["copy", "async", "mix"])
        if kind in ("load", "store"):
            t = r.choice(list(TYPES))
            how = r.choice(["", "", "_called"] + (["_volatile"] if t in ("uint32_t", "uint64_t", "uint8_t", "uint16_t") else []))
            p = self.place(self.windows(), TYPES[t])
            if kind == "store":
                return f"{pad}store{how}<{t}>({p}, made_of<{t}>({self.value()}, {self.value()}));\n"
            return f"{pad}{self.reg()} {r.choice(['^=', '+='])} word_of(load{how}<{t}>({p}));\n"
        if kind == "atomic":
            op = r.choice(ATOMICS)
            t = "uint32_t" if op in ("inc", "dec") else r.choice(["uint32_t", "uint32_t", "uint64_t"])
            # Next to what is there: else exchanges hardly ever happen and counters hardly ever wrap.
            near = f"load<{t}>(p) + ({t}){r.choice([-1, 0, 0, 1])}"
            value = near if op in ("inc", "dec") and r.random() < 0.7 else f"({t})({self.value()})"
            other = near if op == "cas" and r.random() < 0.7 else f"({t})({self.value()})"
            call = f"atomic_{op}<{t}>(p, {value}, {other})"
            line = f"{call};" if r.random() < 0.3 else f"{self.reg()} ^= word_of({call});"
            return f"{pad}{{\n{pad}  unsigned char *p = {self.place(self.windows((0, 2)), TYPES[t])};\n{pad}  {line}\n{pad}}}\n"
        if kind == "copy":
            n = r.randrange(1, 17)
            a, b = (f"{self.pointer(self.windows())} + {r.randrange(SLOT - n)}" for _ in "ab")
            return (f"{pad}{{\n{pad}  unsigned char *to = {a}, *from = {b};\n{pad}  for (int i = 0; i < {n}; i++) to[i] = from[i];\n{pad}}}\n")
        if kind == "async":
            n = r.choice([4, 8, 16])
            return f"{pad}copy_async<{n}>(s.w[0] + {r.randrange(SLOT // n) * n}, s.w[2] + {r.randrange(SLOT // n) * n});\n"
        return f"{pad}{self.reg()} = {self.value()};\n"

    def block(self, n, pad, depth):
        text = ""
        for _ in range(n):
            how = self.r.random()
            if depth and how < 0.18:
                text += f"{pad}if ({self.condition()}) {{\n{self.block(self.r.randrange(1, 4), pad + '  ', depth - 1)}{pad}}}"
                if self.r.random() < 0.5:
                    text += f" else {{\n{self.block(self.r.randrange(1, 4), pad + '  ', depth - 1)}{pad}}}"
                text += "\n"
            elif depth and how < 0.26:
                text += (f"{pad}for (unsigned i{depth} = 0; i{depth} <= ({self.reg()} & {self.r.choice([1, 3])}); i{depth}++) {{\n"
                         f"{self.block(self.r.randrange(1, 3), pad + '  ', depth - 1)}{pad}}}\n")
            else:
                text += self.simple(pad)
        return text

    def exchange(self, pad):
        """Reads slots of other threads."""
        text = ""
        for _ in range(self.r.randrange(1, 4)):
            t = self.r.choice(list(TYPES))
            other = f"(s.t + {self.r.randrange(1, 80)}) % THREADS" if self.r.random() < 0.5 else f"({self.reg()} % THREADS)"
            which = self.r.choice(["s.all[0]", "s.all[1]", f"s.all[{self.reg()} >> {self.r.randrange(30)} & 1]"])
            offset = self.r.randrange(SLOT // TYPES[t]) * TYPES[t]
            text += f"{pad}s.x[{self.r.randrange(4)}] ^= word_of(load<{t}>({which} + {other} * SLOT + {offset}));\n"
        return text

    def common(self, pad):
        """Adds to common words. One operation for each word: they commute with themselves alone."""
        text = ""
        for _ in range(self.r.randrange(1, 4)):
            k = self.r.randrange(len(COMMUTATIVE))
            words = [w for w in range(16) if w % len(COMMUTATIVE) == k]
            index = f"{words[0]} + ({self.reg()} & 1) * {len(COMMUTATIVE)}"
            which = self.r.choice(["0", "1", f"{self.reg()} >> {self.r.randrange(30)} & 1"])
            line = f"atomic_{COMMUTATIVE[k]}<uint32_t>((unsigned char *)(s.common[{which}] + {index}), {self.value()}, 0);\n"
            text += f"{pad}if ({self.condition()}) {line}" if self.r.random() < 0.5 else pad + line
        return text

    def source(self, k):
        bodies = []
        for _ in range(self.r.randrange(3, 7)):
            kind = self.r.choice(["own"] * 4 + ["exchange", "common"])
            bodies.append(self.block(self.r.randrange(3, self.size), "  ", 2) if kind == "own" else self.exchange("  ") if kind == "exchange" else self.common("  "))
        text = "".join(f"HD static void k{k}_phase{i}(thread_state &s)\n{{\n{b}}}\n" for i, b in enumerate(bodies))
        n = len(bodies)
        text += f"static void k{k}_phases(thread_state &s, unsigned p)\n{{\n" + "".join(f"  if (p == {i}) k{k}_phase{i}(s);\n" for i in range(n)) + "}\n"
        text += (f"__global__ void k{k}(unsigned char *memory, uint32_t *out, uint32_t *global_common, unsigned seed)\n{{\n"
                 "  __shared__ __align__(16) unsigned char shared[THREADS * SLOT];\n  __shared__ uint32_t common[COMMON];\n"
                 "  __align__(16) unsigned char local[SLOT];\n  thread_state s;\n  unsigned char *global = memory + blockIdx.x * THREADS * SLOT;\n"
                 "  s.t = threadIdx.x;\n  s.w[0] = shared + s.t * SLOT, s.w[1] = local, s.w[2] = global + s.t * SLOT;\n"
                 "  s.all[0] = shared, s.all[1] = global, s.common[0] = common, s.common[1] = global_common;\n"
                 "  if (s.t < COMMON) common[s.t] = 0;\n  begin(s, blockIdx.x, seed);\n")
        text += "".join(f"  __syncthreads();\n  k{k}_phase{i}(s);\n" for i in range(n))
        return text + ("  __syncthreads();\n  end(s, out + blockIdx.x * CTA_WORDS);\n"
                       "  if (s.t < COMMON) out[blockIdx.x * CTA_WORDS + THREADS * WORDS + s.t] = common[s.t];\n}\n"), n


def write(path, seed, count, size):
    texts, rows = [], []
    for k in range(count):
        text, phases = Kernel(random.Random(seed * 100003 + k), size).source(k)
        texts.append(text)
        rows.append(f"  {{k{k}, k{k}_phases, {phases}}},\n")
    # TAIL begins with the type of the table, which stands in front of main.
    head, tail = TAIL.split("\nstatic void on_cpu", 1)
    with open(path, "w", encoding="utf-8") as f:
        f.write(HEAD + "\n" + "\n".join(texts) + head + "\nstatic const struct test tests[] = {\n" + "".join(rows) + "};\n\nstatic void on_cpu" + tail)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--count", type=int, default=16, help="kernels")
    p.add_argument("--size", type=int, default=9, help="statements of a phase, at most")
    p.add_argument("--arch", default="86")
    p.add_argument("--opt", default="-O3", help="options of nvcc")
    p.add_argument("--source", action="store_true", help="only writes the program")
    p.add_argument("--runner", action="append", help="{gpu}: the preset of the target")
    p.add_argument("dir")
    a = p.parse_args()
    os.makedirs(a.dir, exist_ok=True)
    base = os.path.join(a.dir, f"memory_{a.seed}")
    write(base + ".cu", a.seed, a.count, a.size)
    if a.source:
        return 0
    archs = a.arch.split(",")
    codes = [x for s in archs for x in ("-gencode", f"arch=compute_{s},code=sm_{s}")]
    subprocess.run([os.environ.get("NVCC", "nvcc"), "-std=c++17", "-cudart", "shared", *a.opt.split(), *codes, "-o", base, base + ".cu"], check=True)
    bad = 0
    for s in archs:
        for runner in a.runner or ["build/warpstep exec --gpu {gpu} --functional --quiet", "build/warpstep exec --gpu {gpu} --quiet"]:
            r = subprocess.run(runner.format(gpu=GPU[s]).split() + [base], capture_output=True, text=True, errors="replace")
            if r.returncode:
                bad += 1
                print(f"sm_{s} {a.opt} seed {a.seed} [{runner}]: status {r.returncode}\n{r.stdout[-800:]}{r.stderr[-800:]}")
    print(f"seed {a.seed} {a.opt}: {a.count} kernels, {len(archs)} targets, {bad} runs failed")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
