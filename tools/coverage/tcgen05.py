#!/usr/bin/env python3
"""Tensor memory's instructions (tcgen05): every form of PTX that ptxas takes, decoded, printed and assembled again.

tcgen05.py [--bin WARPSTEP] [--ptxas PROGRAM] [--nvdisasm PROGRAM] [--keep DIR] [TARGET...]

Writes one small kernel for each form (operation, number of CTAs, kind, shape, modifiers), compiles them for each
target (default: sm_100a sm_103a sm_110a sm_100f sm_103f sm_110f), leaves out those that ptxas refuses, and asks
`warpstep isa --check` whether all words decode and come back the same through their text; with nvdisasm also whether
they are printed alike. One line for each target. Status 1: some word does not.
"""
import argparse
import itertools
import pathlib
import re
import subprocess
import sys
import tempfile

TARGETS = ["sm_100a", "sm_103a", "sm_110a", "sm_100f", "sm_103f", "sm_110f"]
KINDS = ["f16", "tf32", "f8f6f4", "i8"]
SCALED = {"mxf8f6f4": ["", ".scale_vec::1X", ".block32"], "mxf4": ["", ".scale_vec::2X", ".block32"],
          "mxf4nvf4": [".scale_vec::2X", ".scale_vec::4X", ".block16", ".block32"]}
USES = ["fill", "use", "lastuse", "discard"]
REGISTERS = {"32x32b": 1, "16x64b": 1, "16x32bx2": 1, "16x128b": 2, "16x256b": 4}
COPIES = ["128x256b", "4x256b", "128x128b", "64x128b.warpx2::02_13", "64x128b.warpx2::01_23", "32x128b.warpx4"]
UNPACK = ["", ".b8x16.b6x16_p32", ".b8x16.b4x16_p64"]

PARAMS = {"u32": ["ta", "tb", "id", "sa", "sb", "sp", "bar", "n", "on", "ctas"] + [f"m{i}" for i in range(8)],
          "u64": ["ad", "bd", "gp", "zc"]}


def numbered(first, n):
    return "{" + ",".join(f"%r{first + i}" for i in range(n)) + "}"


def masks(ctas):
    return "{" + ",".join(f"%m{i}" for i in range(4 * ctas)) + "}"


def management():
    for g in (1, 2):
        group = f"cta_group::{g}"
        for count in ("%n", "64"):
            yield f"tcgen05.alloc.{group}.sync.aligned.shared::cta.b32 [%bar], {count};"
            yield f"tcgen05.dealloc.{group}.sync.aligned.b32 %ta, {count};"
        yield f"tcgen05.relinquish_alloc_permit.{group}.sync.aligned;"
        yield f"@%one tcgen05.shift.{group}.down [%ta];"
        for where, many in itertools.product((".shared::cluster", ""), (False, True)):
            tail = ".multicast::cluster.b64 [%s], %%half;" if many else ".b64 [%s];"
            yield f"@%one tcgen05.commit.{group}.mbarrier::arrive::one{where}" + tail % ("%bar" if where else "%gp")
        for shape, unpack in itertools.product(COPIES, UNPACK):
            yield f"@%one tcgen05.cp.{group}.{shape}{unpack} [%ta], %ad;"
    for what in ("fence::before_thread_sync", "fence::after_thread_sync", "wait::ld.sync.aligned",
                 "wait::st.sync.aligned"):
        yield f"tcgen05.{what};"


def moves():
    for shape, each in REGISTERS.items():
        offset = ", 16" if shape == "16x32bx2" else ""
        for n in (1 << i for i in range(8)):
            if n * each > 128:
                break
            regs = numbered(100, n * each)
            load = "".join(f"ld.global.u32 %r{100 + i},[%gp+{4 * i}];" for i in range(n * each))
            store = "".join(f"st.global.u32 [%gp+{4 * i}],%r{100 + i};" for i in range(n * each))
            for pack in (False, True):
                p, u = (".pack::16b", ".unpack::16b") if pack else ("", "")
                yield (f"tcgen05.ld.sync.aligned.{shape}.x{n}{p}.b32 {regs}, [%ta]{offset};"
                       f"tcgen05.wait::ld.sync.aligned;{store}")
                yield (f"{load}tcgen05.st.sync.aligned.{shape}.x{n}{u}.b32 [%ta]{offset}, {regs};"
                       "tcgen05.wait::st.sync.aligned;")
            ops = [f"{op}{mod}.f32" for op in ("min", "max") for mod in ("", ".abs", ".NaN", ".abs.NaN")]
            ops += [f"{op}.{t}" for op in ("min", "max") for t in ("u32", "s32")]
            for op in ops if shape in ("32x32b", "16x32bx2") and n > 1 else ():
                yield (f"tcgen05.ld.red.sync.aligned.{shape}.x{n}.{op} {regs}, %r99, [%ta]{offset};"
                       f"tcgen05.wait::ld.sync.aligned;st.global.u32 [%gp+1024],%r99;{store}")
    for base in ("0x100020", "0x7f00020", "0xfff00000"):
        yield (f"add.u32 %r1,%ta,{base};tcgen05.ld.sync.aligned.32x32b.x1.b32 {{%r100}}, [%r1];"
               "tcgen05.wait::ld.sync.aligned;st.global.u32 [%gp],%r100;")
        yield (f"add.u32 %r1,%ta,{base};ld.global.u32 %r100,[%gp];"
               "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r1], {%r100};tcgen05.wait::st.sync.aligned;")


def products():
    for sp, g, a in itertools.product(("", ".sp"), (1, 2), ("%ad", "[%tb]")):
        meta = ", [%sp]" if sp else ""
        for kind in KINDS:
            def form(mods="", tail=""):
                return (f"@%one tcgen05.mma{sp}.cta_group::{g}.kind::{kind}{mods} [%ta], {a}, %bd{meta}, %id{tail};")
            yield form(tail=", %pe")
            yield form(tail=f", {masks(g)}, %pe")
            for use in USES:
                yield form(f".collector::a::{use}", ", %pe")
            if a[0] == "[":
                yield form(".ashift", ", %pe")
            if kind in ("f16", "tf32"):
                for scale in (1, 15):
                    yield form(tail=f", %pe, {scale}")
                yield form(tail=f", {masks(g)}, %pe, 3")
        for kind, vectors in SCALED.items():
            for vector, use in itertools.product(vectors, [""] + USES):
                hint = f".collector::a::{use}" if use else ""
                yield (f"@%one tcgen05.mma{sp}.cta_group::{g}.kind::{kind}.block_scale{vector}{hint} "
                       f"[%ta], {a}, %bd{meta}, %id, [%sa], [%sb], %pe;")
        for kind in KINDS if g == 1 else ():
            ws = f"@%one tcgen05.mma.ws{sp}.cta_group::1.kind::{kind}"
            yield f"{ws} [%ta], {a}, %bd{meta}, %id, %pe;"
            yield f"{ws} [%ta], {a}, %bd{meta}, %id, %pe, %zc;"
            for buffer, use in itertools.product(range(4), USES):
                yield f"{ws}.collector::b{buffer}::{use} [%ta], {a}, %bd{meta}, %id, %pe;"
    for on in (0, 1):
        yield f"@%one tcgen05.mma.cta_group::1.kind::f16 [%ta], %ad, %bd, %id, {on};"
    yield ("mov.u32 %r1,%tid.x; setp.eq.u32 %p1,%r1,0; "
           "@%p1 tcgen05.mma.cta_group::1.kind::f16 [%ta], %ad, %bd, %id, %pe;")


def kernel(i, body):
    listed = [f".param .{t} p_{n}" for t, names in PARAMS.items() for n in names]
    loads = "".join(f"ld.param.{t} %{n},[p_{n}];" for t, names in PARAMS.items() for n in names)
    return (f".visible .entry k{i}({','.join(listed)}) {{ .reg .b32 %r<300>, {','.join('%' + n for n in PARAMS['u32'])};"
            f".reg .b64 {','.join('%' + n for n in PARAMS['u64'])}; .reg .b16 %half; .reg .pred %p<4>, %pe, %one;"
            f"{loads} setp.ne.u32 %pe,%on,0; cvt.u16.u32 %half,%ctas; elect.sync _|%one, 0xffffffff; {body} ret; }}\n")


def compile_forms(forms, target, ptxas, cubin):
    """Compiles what ptxas takes; returns how many forms that are."""
    taken = list(range(len(forms)))
    for _ in range(4):
        head = f".version 9.0\n.target {target}\n.address_size 64\n"
        source = cubin.with_suffix(".ptx")
        source.write_text(head + "".join(kernel(i, forms[i]) for i in taken))
        run = subprocess.run([ptxas, "-arch", target, str(source), "-o", str(cubin)], capture_output=True, text=True)
        if run.returncode == 0:
            return len(taken)
        bad = {taken[int(line) - 4] for line in re.findall(r"line (\d+); (?:error|fatal)", run.stderr)}
        if not bad:
            sys.exit(run.stderr[:2000])
        taken = [i for i in taken if i not in bad]
    sys.exit(f"{target}: ptxas goes on refusing")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--bin", default="build/warpstep")
    parser.add_argument("--ptxas", default="ptxas")
    parser.add_argument("--nvdisasm", help="compare with what it prints, too")
    parser.add_argument("--keep", help="folder for PTX and cubins")
    parser.add_argument("targets", nargs="*", default=TARGETS)
    args = parser.parse_args()
    forms = list(dict.fromkeys(itertools.chain(management(), moves(), products())))
    status = 0
    with tempfile.TemporaryDirectory() as scratch:
        where = pathlib.Path(args.keep or scratch)
        for target in args.targets:
            cubin = where / f"tcgen05.{target}.cubin"
            n = compile_forms(forms, target, args.ptxas, cubin)
            check = subprocess.run([args.bin, "isa", "--check", str(cubin)], capture_output=True, text=True).stdout
            shares = re.search(r"([\d.]+) % decoded +([\d.]+) % identical through text +([\d.]+) % executable", check)
            line = f"{target}: {n} of {len(forms)} forms compile; decoded {shares[1]} %, assembled again {shares[2]} %"
            line += f", executable {shares[3]} %"
            good = shares[1] == shares[2] == "100.0000"
            if args.nvdisasm:
                compare = pathlib.Path(__file__).parents[2] / "tests" / "differential" / "compare.py"
                told = subprocess.run([sys.executable, str(compare), "--bin", args.bin, "--nvdisasm", args.nvdisasm,
                                       str(cubin)], capture_output=True, text=True).stdout
                alike = re.search(r"([\d.]+) % printed alike", told)[1]
                line += f", printed alike {alike} %"
                good = good and alike == "100.0000"
            print(line, flush=True)
            status |= not good
    return status


if __name__ == "__main__":
    sys.exit(main())
