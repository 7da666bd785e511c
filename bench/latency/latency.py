#!/usr/bin/env python3
"""Writes PTX: kernels for the operations of data/curves/instructions.csv, two clock reads around a few of them.

  latency.py sm_70 > latency.ptx

What an operation depends on, and how many there are where it is more than one instruction, is as in
NMSU-PEARL/GPUs-ISA-Latencies (commit 3954b54f), since cycles divided by operations only mean something for the same
sequence. Like theirs, the kernels begin with registers that nobody has written (zero here)."""
import sys

INT = ("add.s32 %a, 5, %z;", "add.s32 %b, %a, 2;")
WORDS = ("mov.u32 %a, 50;", "mov.u32 %b, 60;")
FP32 = ("add.f32 %f, 0f40A00000, %fz;", "add.f32 %g, %f, 0f40000000;")  # 5, 2
FP32_SET = ("mov.f32 %f, 0f42480000;", "mov.f32 %g, 0f42700000;")  # 50, 60
FP64 = ("add.f64 %d, %dz, %dy;", "add.f64 %e, %d, 0d4024000000000000;")  # 10
FP64_SET = ("add.f64 %d, 0d4014000000000000, %dz;", "add.f64 %e, %d, 0d4000000000000000;")  # 5, 2

# Single instructions: a chain, each step from the one before it.
CHAINS = {
    "Add": "add.u32 %r{d}, %r{s}, %a;", "Mul": "mul.lo.u32 %r{d}, %r{s}, %a;", "And": "and.b32 %r{d}, %r{s}, %y{d};",
    "MAddc": "addc.u32 %r{d}, %r{s}, %y{d};", "Sad": "sad.u32 %r{d}, %r{s}, %a, %b;",
    "FAdd": "add.f32 %f{d}, %f{s}, %f;", "FMul": "mul.rn.f32 %f{d}, %f{s}, %f;",
    "FFMa": "fma.rn.f32 %f{d}, %f{s}, %f, %g;",
    "DFAdd": "add.rn.f64 %d{d}, %d{s}, %d;", "DFMul": "mul.rn.f64 %d{d}, %d{s}, %d;",
    "DFFMA": "fma.rn.f64 %d{d}, %d{s}, %d, %e;", "HFAdd": "add.f16 %h{d}, %h{s}, %h;",
    "HFMul": "mul.rn.f16 %h{d}, %h{s}, %h;", "HFFMa": "fma.rn.f16 %h{d}, %h{s}, %h, %i;",
}

# name: what comes before the clock is read, the timed operations, the results that are stored
KERNELS = {
    "Ovhd": ((), (), ()),
    "Nop": ((), ("bar.warp.sync -1;",) * 4, ()),
    "MovSpec": ((), ("mov.u32 %r1, %tid.x;", "bar.warp.sync 1;", "mov.u32 %r2, %tid.y;"), ("r1", "r2")),
    "Cvt": (("cvt.rn.f32.s32 %f, %z;", "add.f32 %g, 0f40A00000, %f;", "add.f32 %f2, 0f40000000, %g;",
             "add.f32 %f3, 0f40800000, %f2;"),
            ("cvt.rzi.s32.f32 %r1, %g;", "cvt.rzi.s32.f32 %r2, %f2;", "cvt.rzi.s32.f32 %r3, %f3;"), ("r1", "r2", "r3")),
    "Div": (WORDS, ("div.s32 %r1, 2, %b;", "div.s32 %r2, 6, %a;"), ("r1", "r2")),
    "DivU": (WORDS, ("div.u32 %r1, 2, %b;", "div.u32 %r2, 6, %a;"), ("r1", "r2")),
    "Rem": (WORDS, ("rem.s32 %r1, 2, %b;", "rem.s32 %r2, 6, %a;"), ("r1", "r2")),
    "RemU": (WORDS, ("rem.u32 %r1, 2, %b;", "rem.u32 %r2, 6, %a;"), ("r1", "r2")),
    "Mul24Lo": (INT, ("mul24.lo.u32 %r1, 6, %b;", "mul24.lo.u32 %r2, %a, 7;", "mul24.lo.u32 %r3, 5, %t0;"),
                ("r1", "r2", "r3")),
    "Mul24Hi": (INT, ("mul24.hi.u32 %r1, 6, %b;", "mul24.hi.u32 %r2, %a, 7;"), ("r1", "r2")),
    "Popc": (INT, ("popc.b32 %r1, %b;", "popc.b32 %r2, %a;", "popc.b32 %r3, %t0;"), ("r1", "r2", "r3")),
    "Clz": (("mov.u32 %c, %tid.x;", "add.s32 %a, 5, %c;", "add.s32 %b, %a, 2;"),
            ("clz.b32 %r1, %b;", "clz.b32 %r2, %t0;", "clz.b32 %r3, %c;", "clz.b32 %r4, %a;"), ("r1", "r2")),
    "Bfind": (INT, ("bfind.u32 %r1, %b;", "bfind.u32 %r2, %a;", "bfind.u32 %r3, %t0;"), ("r1", "r2", "r3")),
    "Brev": (INT, ("brev.b32 %r1, %b;", "brev.b32 %r2, %a;", "brev.b32 %r3, %t0;", "brev.b32 %r4, %r1;"),
             ("r1", "r2")),
    "Bfe": (WORDS, ("bfe.u32 %r1, 2, %b, %t0;", "bfe.u32 %r2, 6, %a, %t0;", "bfe.u32 %r3, 6, %r1, %t0;",
                    "bfe.u32 %r4, 6, %r2, %t0;"), ("r1", "r2", "r3", "r4")),
    "Cnot": (INT, ("cnot.b32 %r1, %b;", "cnot.b32 %r2, %a;"), ("r1", "r2")),
    "FDiv": (FP32_SET, ("div.rn.f32 %f1, 0f40000000, %g;", "div.rn.f32 %f2, 0f40C00000, %f;"), ("f1", "f2")),
    "DFDiv": (FP64, ("div.rn.f64 %d1, %e, %dy;", "div.rn.f64 %d2, %d1, %dy;"), ("d2",)),
    "Rcp": (FP32, ("rcp.rn.f32 %f1, %g;", "rcp.rn.f32 %f2, %f;", "rcp.rn.f32 %f3, %fy;"), ("f1", "f2", "f3")),
    "FastRcp": (FP32, ("rcp.approx.f32 %f1, %g;", "rcp.approx.f32 %f2, %f;", "rcp.approx.f32 %f3, %fy;"),
                ("f1", "f2", "f3")),
    "DRcp": (FP64_SET, ("rcp.rn.f64 %d1, %e;", "rcp.rn.f64 %d2, %d;"), ("d1", "d2")),
    "Sqrt": (FP32, ("sqrt.rn.f32 %f1, %g;", "sqrt.rn.f32 %f2, %f;", "sqrt.rn.f32 %f3, %fy;"), ("f1", "f2", "f3")),
    "DSqrt": (FP64_SET, ("sqrt.rn.f64 %d1, %e;", "sqrt.rn.f64 %d2, %d;"), ("d1", "d2")),
    "FastSqrt": (FP32, ("sqrt.approx.f32 %f1, %g;", "sqrt.approx.f32 %f2, %f;", "sqrt.approx.f32 %f3, %fy;"),
                 ("f1", "f2", "f3")),
    "Rsqrt": (FP32, ("rsqrt.approx.f32 %f1, %g;", "rsqrt.approx.f32 %f2, %f;", "rsqrt.approx.f32 %f3, %fy;"),
              ("f1", "f2", "f3")),
    "FastDRsqrt": (FP64_SET, ("rsqrt.approx.ftz.f64 %d1, %e;", "rsqrt.approx.ftz.f64 %d2, %d;",
                              "rsqrt.approx.ftz.f64 %d3, %d2;", "rsqrt.approx.ftz.f64 %d4, %d3;"), ("d1", "d4")),
    "Sin": (FP32, ("sin.approx.f32 %f1, %g;",), ("f1",)),
    "Ex2": (FP32, ("ex2.approx.f32 %f1, %g;", "ex2.approx.f32 %f2, %f;", "ex2.approx.f32 %f3, %f2;"), ("f1", "f3")),
}

REGISTERS = """    .reg .b32 %out32, %t<3>, %a, %b, %c, %z, %r<65>, %y<65>;
    .reg .f32 %f, %g, %fy, %fz, %f<65>;
    .reg .f64 %d, %e, %dy, %dz, %d<65>;
    .reg .b16 %h, %i, %h<65>;
    .reg .b64 %out;
    .reg .pred %p;"""
TO_WORD = {"f": "cvt.rzi.s32.f32 %r{n}, %f{n};", "d": "cvt.rzi.s32.f64 %r{n}, %d{n};",
           "h": "mov.b32 %r{n}, {{%h{n}, %h{n}}};"}


def kernel(name, before, timed, results):
    """Text of one kernel: out[0] is what the clock reads differ by, out[2] and later ones the results."""
    lines = ["ld.param.u64 %out, [out];", "cvta.to.global.u64 %out, %out;", *before]
    lines += ["mov.u32 %t0, %clock;", *timed, "mov.u32 %t1, %clock;"]
    lines += ["sub.s32 %out32, %t1, %t0;", "add.u32 %t2, 5, %t0;"]
    lines += ["st.global.u32 [%out], %out32;", "st.global.u32 [%out + 4], %t2;"]
    for at, result in enumerate(results):
        kind, n = result[0], result[1:]
        lines += [TO_WORD[kind].format(n=n)] if kind in TO_WORD else []
        lines.append(f"st.global.u32 [%out + {8 + 4 * at}], %r{n};")
    body = "\n".join("    " + line for line in lines + ["ret;"])
    return f".visible .entry {name}(.param .u64 out)\n{{\n{REGISTERS}\n{body}\n}}\n"


def chain(name, step, length):
    """`length` dependent steps between the clock reads."""
    kind = step.split("{d}")[0][-1]
    timed = [step.format(d=n + 1, s=n) for n in range(length)]
    return kernel(f"{name}_{length}", (*INT, *FP32, *FP64), timed, (f"{kind}{length}",))


print(f".version 6.4\n.target {sys.argv[1]}\n.address_size 64\n")
for NAME, (BEFORE, TIMED, RESULTS) in KERNELS.items():
    print(kernel(NAME, BEFORE, TIMED, RESULTS))
for NAME, STEP in CHAINS.items():
    print(chain(NAME, STEP, 32), chain(NAME, STEP, 64), sep="\n")
