#!/usr/bin/env python3
"""Sessions of `warpstep debug`, console, gdb and DAP. What registers and memory must hold comes from formulas of debugged.cu; that going back is exact is
held against the same positions reached forwards.

debugged.sm_86.cubin.xz and debugged_g (with -G) are made by nvcc from debugged.cu; nvcc is needed only for the program with host code.

  tests/debug/run.sh [NAME...]      BIN: the program, NVCC: the compiler
"""
import base64
import fcntl
import lzma
import os
import pathlib
import pty
import random
import re
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time

from dap import Client

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BIN = str(ROOT / os.environ.get("BIN", "build/warpstep"))
SOURCE = (HERE / "debugged.cu").read_text().splitlines()
LINE = {m.group(1): i for i, l in enumerate(SOURCE, 1) if (m := re.search(r"// MARK (\w+)", l))}
WORK = ["--kernel", "work", "--grid", "2", "--block", "64", "--gpu", "rtx-3070", "--buf", "out:i32:128", "--arg", "out", "--arg", "i32:128"]
DIR = pathlib.Path()  # of this run: set in main


class Failed(Exception):
    pass


class Skipped(Exception):
    pass


def need(condition, why, output=""):
    if not condition:
        raise Failed(why + ("\n# " + output.replace("\n", "\n# ") if output else ""))


def a(i):
    return i * i + 3


def result(i):
    return a(i) + a(i + 1) if i % 2 == 0 else a(i) - (2 * a(i - 1) + 1)


def cubin(name):
    path = DIR / f"{name}.cubin"
    if not path.exists():
        path.write_bytes(lzma.decompress((HERE / f"{name}.sm_86.cubin.xz").read_bytes()))
    return str(path)


def session(commands, *args, status=0, stdin=None, path=None):
    """What a batch of commands prints."""
    script = DIR / "commands.txt"
    script.write_text("\n".join(commands) + "\n")
    r = subprocess.run([BIN, "debug", "-x", str(script), "--batch", *args], capture_output=True, text=True, timeout=120, cwd=DIR, input=stdin,
                       env={**os.environ, "PATH": f"{path}:{os.environ['PATH']}"} if path else None)
    out = r.stdout + r.stderr
    need(r.returncode == status, f"exit status {r.returncode}, not {status}", out)
    return r.stdout


def work(commands, name="debugged", status=0):
    return session(commands, cubin(name), *WORK, status=status)


def numbers(out, label):
    """The values that 'x' printed for this address and those behind it."""
    lines = [l for l in out.splitlines() if l.startswith(label)]
    return [int(v) for l in lines for v in l.split(":")[1].split()]


# --- the corpus --------------------------------------------------------------------------------------------


def test_corpus():
    """Kernels of the corpus, in the debugger's order of execution, give their CPU reference's results: a third of those for sm_86, and all with clusters."""
    names = sorted(p.parent.name for p in (ROOT / "kernels").glob("*/*.sm_86.cubin"))[::3]
    clusters = sorted(p.name for p in (ROOT / "kernels").glob("cluster_*"))
    need(len(names) > 40 and len(clusters) > 3, "too few kernels")
    for name in names + clusters:
        out = session(["continue"], launch(name), *(["--gpu", "h100"] if name in clusters else []))
        need(re.search(r"the launch has ended, position \d+\n", out) and " results match\n" in out, name, out[-300:])


# --- values ------------------------------------------------------------------------------------------------


def values(name):
    """Shared memory behind the barrier, registers of one lane, special values."""
    for cta, thread in ((0, 0), (0, 37), (1, 5), (1, 62)):
        i = 64 * cta + thread
        mark = "even" if i % 2 == 0 else "odd"
        out = work([f"break debugged.cu:{LINE[mark]} cta {cta},0,0 thread {thread}", "continue", "print tid.x", "print blockIdx.x",
                    "print lane", "print warp", f"print s32 shared[{4 * thread}]", "delete", "x 64 s32 shared[0]"], name)
        got = [l.split(" ")[0] for l in out.splitlines() if re.fullmatch(r"-?\d+( = 0x[0-9a-f]+)?", l)]
        need(got == [str(v) for v in (thread, cta, thread % 32, thread // 32, a(i))], f"{got} of thread {i}", out)
        need(sum((numbers(out, f"shared[{at:#x}]") for at in range(0, 256, 16)), []) == [a(64 * cta + t) for t in range(64)],
             "shared memory", out)


def test_values():
    values("debugged")


def test_values_G():
    values("debugged_g")


def test_stored_register():
    """The register that the store instruction names holds the result, for every lane of a warp, in any case."""
    listing = work(["disassemble work 60"])
    pc, register = re.search(r"(0x[0-9a-f]+) <work\S+  STG\.E \[R\d+\.64\], (R\d+)", listing).groups()
    out = work([f"break *{pc} cta 1,0,0 warp 1", "continue", "info warps", "print lane"] +
               [f"print s32({register}[{lane}])" for lane in range(32)] + ["delete"])
    mask = int(re.search(r"lanes (\w+), position \d+\n.*\n=> \w+ <work\S+  STG", out).group(1), 16)
    got = [int(l.split(" ")[0]) for l in out.splitlines() if re.fullmatch(r"-?\d+( = 0x[0-9a-f]+)?", l)][1:]
    wrong = [lane for lane in range(32) if mask >> lane & 1 and got[lane] != result(96 + lane)]
    need(mask and not wrong, f"lanes {wrong}", out)


def test_condition_over_lanes():
    """Of all threads, exactly those for which it holds stop, and the focus is the first of a warp."""
    listing = work(["disassemble work 60"])
    pc = re.search(r"(0x[0-9a-f]+) <work\S+  STG\.E", listing).group(1)
    out = work([f"break *{pc} if tid.x % 32 >= 30 && ctaid.x == 1"] + ["continue"] * 6)
    stops = re.findall(r"CTA \(1,0,0\) warp (\d) lane (\d+) thread \((\d+),0,0\), lanes \w+, position", out)
    need(sorted({(int(w), int(l)) for w, l, _ in stops}) in ([(0, 30), (1, 30)], [(0, 30), (0, 31), (1, 30), (1, 31)]), str(stops), out)
    need("CTA (0,0,0) warp 0 lane 30" not in out, "another CTA stopped", out)


def test_every_warp_stops_once():
    """A breakpoint at a kernel's entry: as many hits as warps."""
    out = session(["break vecadd", "ignore 1 100000", "continue", "info breakpoints"], launch("vecadd"))
    need("1  breakpoint vecadd, 511 hits" in out, "64 CTAs of 8 warps each, but for the one whose turn it was", out[-300:])


# --- lines, calls ------------------------------------------------------------------------------------------


def test_lines_and_calls():
    out = work([f"break {LINE['twice']} thread 5", "break debugged.cu:%d" % LINE["twice"], "continue", "backtrace", "finish", "backtrace",
                "reverse-step", "delete", f"tbreak debugged.cu:{LINE['part']}", "reverse-continue", "next", "next"], "debugged_g")
    need(re.search(rf"#0  0x\w+ in twice at debugged.cu:{LINE['twice']}\n#1  0x\w+ in work at debugged.cu:{LINE['odd']}\n", out), "callers", out)
    need(re.search(rf"\n#0  0x\w+ in work at debugged.cu:{LINE['odd']}\n", out), "behind the return", out)
    need(f"  debugged.cu:{LINE['part'] + 1}  " in out, "the line behind", out)


def test_frames():
    """Of the kernel, from within a function that it called: its line, parameters, arrays and registers as they were when it called."""
    out = work([f"break debugged.cu:{LINE['twice']} if x == {a(68)} && ctaid.x == 1", "continue", "up", "print n", "print part[4]", "print i",
                "list", "info locals", "up", "down", "down", "print x", "frame 1", "frame 7", "stepi", "frame", "print x"], "debugged_g", status=2)
    got = [int(l.split(" ")[0]) for l in out.splitlines() if re.fullmatch(r"-?\d+( = 0x[0-9a-f]+)?", l)]
    need(got == [128, a(68), 69, a(68), a(68)], f"{got}", out)
    need(out.count(f"#1  ") == 2 and out.count("#0  ") == 2, "up, frame 1; down, behind a step", out)
    need(re.search(rf"^=> {LINE['odd']}  ", out, re.M), "the caller's line", out)
    part = ", ".join(str(a(64 + k)) for k in range(64))
    need("\nn = 128\n" in out and "\ni = 69\n" in out and f"\npart = {{{part}}}\n" in out, "info locals of the caller", out)


def test_inlined_frames():
    """A line of an inlined function, with -lineinfo alone: the frame is there, with its caller."""
    out = session(["break debugged.cu:%d every" % LINE["add"], "info breakpoints"], cubin("debugged"), "--kernel", "count", "--grid", "1", "--block",
                  "32", "--gpu", "rtx-3070", "--buf", "out:i32:1", "--arg", "out", "--arg", "i32:4")
    need(re.search(r"breakpoint debugged.cu:\d+, 0 hits, ([2-9]|\d\d+) addresses", out), "several addresses", out)


def test_recursion():
    out = session([f"break debugged.cu:{LINE['bottom']} thread 6 if lane == 6", "continue", "continue", "continue", "backtrace", "info lanes"],
                  cubin("debugged_g"), "--kernel", "deep", "--grid", "1", "--block", "32", "--gpu", "rtx-3070", "--buf", "out:i32:32", "--arg", "out")
    frames = re.findall(r"#\d+  0x\w+ in (\w+)", out)
    need(frames == ["factorial", "factorial", "factorial", "deep"], str(frames), out)


# --- variables ---------------------------------------------------------------------------------------------


def test_variables():
    """Parameters, locals in registers and on the stack, arrays in shared and local memory, by their names in the source."""
    out = work([f"break debugged.cu:{LINE['part']} cta 1,0,0 thread 5", "continue", "print i", "print value", "print n", "next", "print part[tid.x]",
                "info locals", "delete", f"break debugged.cu:{LINE['twice']} if x == {a(70)}", "continue", "print x", "print tid.x", "finish",
                "print i"], "debugged_g")
    got = [int(l.split(" ")[0]) for l in out.splitlines() if re.fullmatch(r"-?\d+( = 0x[0-9a-f]+)?", l)]
    need(got == [69, a(69), 128, a(69), a(70), 7, 71], f"{got}", out)
    need("\ni = 69\n" in out and f"\npart = {{" in out, "info locals", out)
    count = (cubin("debugged_g"), "--kernel", "count", "--grid", "1", "--block", "32", "--gpu", "rtx-3070", "--buf", "out:i32:1", "--arg", "out",
             "--arg", "i32:4")
    there = [f"break debugged.cu:{LINE['add']} thread 3", "continue", "delete"]
    out = session(there + [f"print s32 local[mine + 4 * {k}]" for k in range(16)] + [f"print mine[{k}]" for k in range(16)] +
                  ["print mine[n + 1] - 20 >> 1", "print n"], *count)
    got = [int(l.split(" ")[0]) for l in out.splitlines() if re.fullmatch(r"-?\d+( = 0x[0-9a-f]+)?", l)]
    need(got == [3 * k for k in range(16)] * 2 + [-3, 4], f"{got}", out)  # mine[5] is 15; -5 >> 1 is -3 in C
    out = session(there + ["print mine[16]", "print mine[-1]", "print n[0]"], *count, status=2)
    need(out.count("the array has 16 elements") == 2 and "it is no array or pointer" in out, "elements that are not there", out)


BODY = struct.pack("<i2f4xd3i4xQII", 9, 1.5, 2.5, 3.25, 11, 22, 33, 0, 0, 0)
TYPED = ["--kernel", "typed", "--grid", "1", "--block", "32", "--gpu", "rtx-3070", "--buf", "out:f32:32", "--arg", "bytes:" + BODY.hex(), "--arg", "out"]


def prints(expected):
    return [f"print {text}" for text, _ in expected]


def test_types():
    """Structures, bases, bits, unions, enumerations, arrays of arrays, what pointers and references name, variables of the file. Values: of thread 5,
    from the source. In a function, in its caller, and in that behind the call."""
    t = 5
    rows = [[f"{10 * (3 * i + j) + t}" for j in range(3)] for i in range(2)]
    m = ["{" + ", ".join(row) + "}" for row in rows]
    tile = ", ".join(f"{{x = {k}, y = -1}}" for k in range(32))
    in_function = [("b.mass", "3.25"), ("b.id", "9"), ("v->x", f"{2 + t}"), ("*v", f"{{x = {2 + t}, y = 3}}"), ("b.tag[1] + 1", "23"),
                   ("b.next->id", "77"), ("v->y * 2", "6")]
    in_kernel = [
        ("first", "{<Base> = {id = 9}, at = {x = 1.5, y = 2.5}, mass = 3.25, tag = {11, 22, 33}, next = 0x0, low = 0, high = 0, negative = 0}"),
        ("mine.tag", "{11, 22, 33}"), ("mine.negative", "-3"), ("mine.low + mine.high", "22 = 0x16"), ("p->next->id", "77"), ("(*p).at.y", "2.5"),
        ("p[0].mass", "3.25"), ("mine.id == p->id && first.at.x < 2", "1"), ("m", "{" + ", ".join(m) + "}"), ("m[1]", m[1]), ("m[1][2]", rows[1][2]),
        ("colour", "GREEN (7)"), ("colour == 7", "1"), ("tile[3]", "{x = 3, y = -1}"), ("tile", f"{{{tile}}}"), ("before", "{1, 1, 1, 1}"),
        ("before[3] + tile[31].x", "32"), ("table[1].id", "77"), ("table[0].tag", "{0, 0, 0}"), ("scale", "3"), ("v", f"{{x = {2 + t}, y = 3}}")]
    product = 3.25 * (2 + t)
    bits = int.from_bytes(struct.pack("<f", product), "little")
    union = [("both", f"{{i = {bits}, f = {product:g}}}"), ("both.f", f"{product:g}")]
    bad = [("first + 1", "a structure is no number"), ("p->foo", "'Body' has no member 'foo'"), ("m[2]", "the array has 2 elements"),
           ("m[0][3]", "the array has 3 elements"), ("*colour", "it is no array or pointer"), ("colour.x", "is no structure"),
           ("mine->id", "is no pointer"), ("first.next->id", "null"), ("first.", "the name of a member is missing"),
           ("*" * 100 + "p", "nested too deeply"), ("p" + "->next" * 100, "null"), ("mine." + "x" * 300, "no number"), ("m[" * 80, "nested too deeply")]
    out = session([f"break debugged.cu:{LINE['weight']} thread {t}", "continue", *prints(in_function), "up", *prints(in_kernel), "down",
                   f"break debugged.cu:{LINE['both']} thread {t}", "continue", *prints(union), "delete", "finish", *prints(in_kernel), *prints(bad),
                   "set R4 = first"], cubin("debugged_g"), *TYPED, status=2)
    lines = iter(out.splitlines())
    for text, value in in_function + in_kernel + union + in_kernel:
        need(any(line in (value, f"{value} = {int(value):#x}" if value.isdigit() else "") for line in lines), f"{text} is not {value}", out)
    errors = [line for line in out.splitlines() if line.startswith("error: ")]
    need(len(errors) == len(bad) + 1, f"{len(errors)} errors", out)
    for (text, why), error in zip(bad, errors):
        need(why in error, f"{text}: {error}", out)


def test_variables_damaged():
    """Bytes of a cubin's debug sections changed: names may be gone, the session goes on."""
    whole = pathlib.Path(cubin("debugged_g")).read_bytes()
    start, end = whole.index(b"_Z6squarei\0\2"), whole.index(b"lgenfe") + 900
    for seed in range(40):
        rng = random.Random(seed)
        data = bytearray(whole)
        for _ in range(rng.choice((1, 3, 40))):
            data[rng.randrange(start, end)] = rng.choice((0, 0xff, 0x7f, rng.randrange(256)))
        (DIR / "damaged.cubin").write_bytes(data)
        script = DIR / "commands.txt"
        script.write_text("goto 300\ninfo locals\nprint i\nbreak twice\ncontinue\ninfo locals\n")
        r = subprocess.run([BIN, "debug", "-x", str(script), "--batch", str(DIR / "damaged.cubin"), *WORK], capture_output=True, timeout=60, cwd=DIR)
        need(r.returncode in (0, 2), f"exit status {r.returncode}, seed {seed}", r.stderr.decode(errors="replace")[-300:])


# --- going back --------------------------------------------------------------------------------------------


def states(out):
    return re.findall(r"position (\d+), state (\w+)", out)


STEPS = ("stepi", "stepi 3", "stepc", "stepc 2", "next", "step", "warp 0", "lane 1", "warp 1")


def launch(kernel):
    return str(ROOT / "kernels" / kernel / f"{kernel}.launch")


def there_and_back(args, seed):
    """Random steps forwards, then each position again: by goto in any order, and by single steps back."""
    rng = random.Random(seed)
    forward = ["state"]
    for _ in range(25):
        forward += [rng.choice(STEPS) if rng.random() < 0.9 else "goto position + %d" % rng.randrange(1, 200), "state"]
    out = run_any(forward, args)
    seen = dict(states(out))
    need(len(seen) > 5, "too few positions", out[-500:])
    order = list(seen)
    rng.shuffle(order)
    again = []
    for p in order:
        again += [f"goto {p}", "state"]
    back = ["reverse-stepi", "reverse-stepc", "reverse-step", "reverse-next"]
    tail = [c for _ in range(6) for c in (rng.choice(back), "state")]
    out = run_any(forward + again + tail + ["goto 0", "state"], args)
    known = {}
    for p, s in states(out):
        need(known.setdefault(p, s) == s, f"position {p} has two states, seed {seed}", out[-800:])
    need(states(out)[-1] == states(out)[0], "the start is not the start", out[-300:])


def run_any(commands, args):
    """Commands that may be refused, where nothing is left to step."""
    script = DIR / "any.txt"
    script.write_text("\n".join(commands) + "\n")
    r = subprocess.run([BIN, "debug", "-x", str(script), "--batch", *args], capture_output=True, text=True, timeout=120, cwd=DIR)
    need(r.returncode in (0, 2), f"exit status {r.returncode}", r.stdout[-500:] + r.stderr)
    return r.stdout


def test_back_to_the_same_state():
    for k, kernel in enumerate(("divergence", "scan", "bfs", "spin_lock_inside", "recursion", "hist_shared", "warp_queue", "grid_barrier",
                                "barriers", "local_array")):
        there_and_back([launch(kernel)], 100 + k)


def test_back_to_the_same_state_clusters():
    there_and_back([launch("cluster_reduce"), "--gpu", "h100"], 7)


def test_steps_back_are_steps():
    """N steps of one lane forwards, N back: each state in the other order."""
    out = work(["break work", "continue", "state"] + ["stepi", "state"] * 7 + ["reverse-stepi", "state"] * 7)
    s = states(out)
    need(len(s) == 15 and s[:8] == s[:6:-1], f"{s}", out[-500:])


def test_reverse_continue():
    """Forwards over every hit of a breakpoint, then back over the same ones."""
    out = work([f"break debugged.cu:{LINE['part']}"] + ["continue", "state"] * 4 + ["reverse-continue", "state"] * 4)
    s = states(out)
    need(s[4:7] == s[2::-1] and s[7][0] == "0", f"{s}", out[-500:])


def test_print_is_printed_once():
    plain = subprocess.run([BIN, "run", launch("printf_demo"), "--functional", "--quiet"], capture_output=True, text=True, cwd=DIR).stdout
    out = session(["goto 400", "goto 100", "goto 700", "reverse-stepi", "goto 0"], launch("printf_demo"))
    printed = [l for l in plain.splitlines() if l in out.splitlines()]
    need(printed and all(out.splitlines().count(l) == plain.splitlines().count(l) for l in printed), "lines of printf", out[-500:])


# --- memory ------------------------------------------------------------------------------------------------


def test_watch():
    out = work([f"break debugged.cu:{LINE['part']} cta 1,0,0 thread 5", "continue", "watch s32 shared[20]", "rwatch u32 shared[20]", "continue",
                "continue", "reverse-continue", "reverse-continue", "reverse-continue"])
    need(re.search(rf"watchpoint 2: s32 shared\[20\]\n  old 0\n  new {a(69)} ", out), "the write", out)
    need(re.search(rf"watchpoint 3: u32 shared\[20\]\n  value {a(69)} .*\nCTA \(1,0,0\) warp 0 lane 4 ", out), "the read, by the lane in front", out)
    need(out.count("watchpoint 3: u32 shared[20]\n") == 2 and out.count("watchpoint 2: s32 shared[20]\n") == 2, "back and forth", out)


def test_change_and_back():
    """A changed register changes the result; the change is there again behind its position, and not ahead of it."""
    listing = work(["disassemble work 60"])
    pc, register = re.search(r"(0x[0-9a-f]+) <work\S+  STG\.E \[R\d+\.64\], (R\d+)", listing).groups()
    out = work([f"break *{pc} cta 0,0,0 warp 0", "continue", f"print s32({register})", f"set {register} = -7", f"print s32({register})",
                "stepi", "reverse-stepi", f"print s32({register})", "reverse-stepi", f"print s32({register})", "delete"])
    got = [int(l.split(" ")[0]) for l in out.splitlines() if re.fullmatch(r"-?\d+( = 0x[0-9a-f]+)?", l)]
    need(got[1:3] == [-7, -7] and got[3] != -7, f"{got}", out)


def test_edited_result():
    r = session([f"break debugged.cu:{LINE['out']} cta 0,0,0 warp 0", "continue", "set s32 shared[0] = 5", "goto 0", "continue", "print s32 shared[0]",
                 "x 4 s32 shared[0]"], cubin("debugged"), *WORK)
    need(numbers(r, "shared[0x0]") == [5, a(1), a(2), a(3)], "the change comes again", r)


def test_hostile_addresses():
    """Addresses of any kind are refused with a line, and the session goes on."""
    wild = [0, 1, 0xffff, 2**31, 2**32 - 4, 2**48, 2**63, 2**64 - 1, 0x8ffe00000000 + 2**20, 0x8fff00000000 + 2**31]
    commands = [f"x 256 u64 {space}[{at:#x}]" for at in wild for space in ("global", "shared", "local", "generic", "const", "code")]
    commands += [f"set u64 {space}[{at:#x}] = 1" for at in wild[3:] for space in ("global", "shared", "local", "generic", "const", "code")]
    commands += [f"watch u32 {space}[{at:#x}]" for at in wild[3:] for space in ("global", "local")]
    out = work(commands + ["state"], status=2)
    need(out.count("error: ") == len(commands) and states(out), f"{out.count('error: ')} of {len(commands)} refused", out[-500:])


BAD = ["foo", "break", "break nosuch", "break debugged.cu:99999", "break *0x3", "break work cta x", "break work if tid.x ==", "print", "print R300",
       "print (((1)", "print 1/0", "print " + "(" * 500 + "1", "set RZ = 1", "set", "x", "x 0 u32 shared[0]", "watch", "delete 77",
       "lane 99", "warp 99", "cta 99", "thread 999", "goto", "goto -1", "goto 1.5", "info", "info nothing", "condition 1", "list x", "stepi x",
       "reverse-", "ignore 5 x", "print u32 nowhere[0]", "print " + "a" * 500, "print 1 2"]


def test_bad_commands():
    out = work([c for bad in BAD for c in ("echo === " + bad[:40], bad)], status=2)
    parts = re.split(r"=== (.*)\n", out)[1:]
    for bad, said in zip(parts[::2], parts[1::2]):
        need(said.startswith("error: ") and len(said.splitlines()) - said.count("the launch has ended") - said.count("all 1") <= 2,
             f"'{bad}' said: {said}")


def test_fault():
    """A kernel that faults stops there, and can be looked at backwards."""
    args = [cubin("debugged"), *WORK[:-4], "--arg", "u64:0x10", "--arg", "i32:128"]
    out = session(["continue", "print lane", "reverse-stepi", "stepi", "state", "continue"], *args, status=3)
    need("fault: " in out and re.search(r"=> 0x\w+ <work\S+  STG", out), "at the store", out)


def test_interrupt():
    """Ctrl-C stops what runs, not what is asked for behind it."""
    master, slave = pty.openpty()
    p = subprocess.Popen([BIN, "debug", cubin("debugged_g"), "--kernel", "count", "--grid", "64", "--block", "1024", "--gpu", "rtx-3070", "--buf", "out:i32:1",
                          "--arg", "out", "--arg", "i32:100000000"], stdin=slave, stdout=slave, stderr=slave, start_new_session=True, cwd=DIR,
                         preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
    os.close(slave)
    said = b""

    def until(text):
        nonlocal said
        end = time.time() + 60
        while text not in said:
            need(time.time() < end and select.select([master], [], [], 60)[0], f"no '{text.decode()}'", said.decode(errors="replace"))
            said += os.read(master, 4096)
        said = b""

    until(b"(warpstep)")
    os.write(master, b"\x03")  # at the prompt: nothing
    os.write(master, b"continue\n")
    until(b"continue")
    time.sleep(1)
    os.write(master, b"\x03")
    until(b"interrupted")
    os.write(master, b"quit\n")
    need(p.wait(60) == 0, f"exit status {p.returncode}")
    os.close(master)


# --- programs ----------------------------------------------------------------------------------------------


def compiler():
    nvcc = os.environ.get("NVCC") or shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    if not pathlib.Path(nvcc).exists():
        raise Skipped("no nvcc")
    return nvcc


HOST = """
#include <cstdio>
#include "debugged.cu"
int main()
{
  int *out, host[128], wrong = 0;
  cudaMalloc(&out, sizeof host);
  for (int k = 0; k < 3; k++) work<<<2, 64>>>(out, 128);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 128; i++) {
    int a = i * i + 3, b = (i ^ 1) * (i ^ 1) + 3;
    wrong += host[i] != (i % 2 ? a - 2 * b - 1 : a + b);
  }
  printf("%d wrong\\n", wrong);
  return wrong != 0;
}
"""


def program():
    app = DIR / "app"
    if not app.exists():
        (DIR / "app.cu").write_text(HOST)
        subprocess.run([compiler(), "-arch=sm_86", "-lineinfo", "-I", str(HERE), "-o", str(app), str(DIR / "app.cu")], check=True)
    return str(app)


def test_program():
    """A program's launches, one behind another; the program goes on from its launch call and checks its results."""
    out = session([f"break debugged.cu:{LINE['part']} cta 1,0,0 warp 0", "continue", f"print s32 shared[{4 * 3}]", "next", f"print s32 shared[{4 * 3}]",
                   "reverse-next", f"print s32 shared[{4 * 3}]", "continue", "continue", "info launch"], program())
    need([l for l in out.splitlines() if re.fullmatch(r"\d+( = .*)?", l)] == ["0", str(a(67)), "0"], "shared memory", out)
    need("launch 2: work" in out and "0 wrong" in out, "the second launch, and the end", out)


DRIVER = """
#include <stdio.h>
int cuInit(unsigned), cuDeviceGet(int *, int), cuModuleLoad(void **, const char *), cuModuleGetFunction(void **, void *, const char *), cuCtxSynchronize(void);
int cuDevicePrimaryCtxRetain(void **, int), cuCtxSetCurrent(void *), cuMemAlloc_v2(unsigned long long *, size_t), cuMemcpyDtoH_v2(void *, unsigned long long, size_t);
int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
int main(int argc, char **argv)
{
  void *context, *module, *kernel;
  unsigned long long out;
  int device, n = 128, host[128], wrong = 0, bad = argc != 3;
  bad |= cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) || cuCtxSetCurrent(context);
  bad |= cuModuleLoad(&module, argv[1]) || cuModuleGetFunction(&kernel, module, argv[2]) || cuMemAlloc_v2(&out, sizeof host);
  void *args[] = {&out, &n};
  bad |= cuLaunchKernel(kernel, 2, 1, 1, 64, 1, 1, 0, NULL, args, NULL) || cuMemcpyDtoH_v2(host, out, sizeof host);
  for (int i = 0; i < 128; i++) {
    int a = i * i + 3, b = (i ^ 1) * (i ^ 1) + 3;
    wrong += host[i] != (i % 2 ? a - 2 * b - 1 : a + b);
  }
  printf("%d wrong\\n", wrong + bad);
  return wrong || bad;
}
"""


def test_driver_program():
    """A program without code for GPUs in it: it loads a file through the driver interface. What stands behind its name are its arguments."""
    app = DIR / "driver"
    (DIR / "driver.c").write_text(DRIVER)
    library = str(pathlib.Path(BIN).resolve().parent / "cuda/libwarpstep-cuda.so")
    subprocess.run(["cc", "-o", str(app), "-Wl,--allow-shlib-undefined", str(DIR / "driver.c"), library], check=True)
    out = session(["break work cta 1,0,0 warp 1 lane 3", "continue", "print tid.x"], str(app), cubin("debugged"), "work")
    need("launch 1: work, grid (2,1,1), block (64,1,1)" in out and "\n35\n" in out and "0 wrong" in out, "its launch", out)
    (DIR / "in_path").mkdir()
    app.rename(DIR / "in_path/driver_of_debug")
    out = session(["info launch", "continue"], "driver_of_debug", cubin("debugged"), "work", path=DIR / "in_path")
    need("launch 1: work" in out and "0 wrong" in out, "by its name alone", out)


def test_program_killed():
    out = session(["break work", "continue", "kill"], program())
    need("wrong" not in out, "it went on", out)


# --- gdb ---------------------------------------------------------------------------------------------------


def gdb(commands, name="debugged", args=WORK):
    path = shutil.which("gdb")
    if not path:
        raise Skipped("no gdb")
    stub = " ".join([BIN, "debug", "--gdb", "-", cubin(name), *args])
    script = DIR / "commands.gdb"
    script.write_text("\n".join(["set pagination off", "set confirm off", "set debuginfod enabled off", "set width 0",
                                 f"directory {HERE}", f"source {ROOT / 'data/gdb/warpstep.py'}", f"target remote | exec {stub}", *commands]) + "\n")
    r = subprocess.run([path, "-nx", "-q", "-batch", "-x", str(script)], capture_output=True, text=True, timeout=120, cwd=DIR)
    return r.stdout + r.stderr


def test_gdb_session():
    """A breakpoint on a source line, a lane, a step back of one instruction, and on to the right result."""
    listing = work(["disassemble work 60"])
    pc = int(re.search(r"(0x[0-9a-f]+) <work\S+  STS", listing).group(1), 16)
    register = re.search(r"STS \[R\d+\.X4\], (R\d+)", listing).group(1)
    out = gdb([f"break debugged.cu:{LINE['part']}", "continue", "echo lane=\\n", f"p ${register}[5]", "p $tid_x[5]",
               "stepi", "echo pc=\\n", "p/x $rip", "reverse-stepi", "echo back=\\n", "p/x $rip", "bt", "x/i $pc", "delete", "continue"])
    need(re.search(rf"Breakpoint 1, .*work \(\) at debugged.cu:{LINE['part']}", out), "stopped at the line", out)
    need(re.search(rf"lane=\n\$1 = {a(5)}\n\$2 = 5\n", out), "registers of lane 5", out)
    need(f"pc=\n$3 = {pc + 16:#x}" in out and f"back=\n$4 = {pc:#x}" in out, "a step, and back", out)
    need(re.search(rf"=> {pc:#x} <work\+\d+>:\s+STS", out), "SASS", out)
    need("all 1 results match" in out or "exited normally" in out, "the end", out)


def test_gdb_result():
    """The launch that gdb went back and forth in ends as its CPU reference says."""
    path = shutil.which("gdb")
    if not path:
        raise Skipped("no gdb")
    script = DIR / "result.gdb"
    script.write_text("set confirm off\nset debuginfod enabled off\n"
                      f"target remote | exec {BIN} debug --gdb - {launch('sgemm_tiled')} 2>{DIR}/said\n"
                      "break sgemm_tiled\ncontinue\nstepi\nstepi\nreverse-stepi\ndelete\ncontinue\n")
    out = subprocess.run([path, "-nx", "-q", "-batch", "-x", str(script)], capture_output=True, text=True, timeout=120, cwd=DIR).stdout
    need("exited normally" in out, "it ends", out)
    need("all 1 results match" in (DIR / "said").read_text(), "the results", (DIR / "said").read_text())


def test_gdb_backwards():
    out = gdb([f"break debugged.cu:{LINE['odd']}", "continue", "bt", "thread 1", "watch *(int *)0x8ffe00000014", "reverse-continue", "echo value=\\n",
               "p *(int *)0x8ffe00000014", "delete", "reverse-continue", "next", "next", "next", "info threads", "warpstep info ctas"])
    need(re.search(rf"Old value = {a(5)}\nNew value = 0\n", out), "the watchpoint, undone", out)
    need("value=\n$1 = 0\n" in out, "the value ahead of it", out)
    need("No more reverse-execution history" in out, "the start", out)
    need(re.search(r"\* 1 +Thread 1 \"cta \(0,0,0\) warp 0\"", out) and "CTA 0 (0,0,0): 2 of 2 warps left" in out, "threads", out)


def test_gdb_callers():
    out = gdb(["break factorial", "continue", "continue", "continue", "bt", "finish", "up", "p $rsp"], "debugged_g",
              ["--kernel", "deep", "--grid", "1", "--block", "32", "--gpu", "rtx-3070", "--buf", "out:i32:32", "--arg", "out"])
    need(re.search(r"#0 .*factorial.*\n#1 .*factorial.*\n#2 .*factorial.*\n#3 .*deep", out), "frames", out)
    need(re.search(r"\n0x\w+ in factorial \(\) at debugged.cu:\d+\n", out), "finish", out)


def test_gdb_writes():
    out = gdb(["break *%s" % re.search(r"(0x[0-9a-f]+) <work\S+  STS", work(["disassemble work 60"])).group(1), "continue", "set var $R0[3] = 77",
               "p $R0[3]", "set var $P0 = 5", "p/x $P0", "set var *(int *)0x8ffe00000000 = 99", "p *(int *)0x8ffe00000000", "p *(int *)0x10",
               "p $R254[0]", "kill"])
    need("= 77\n" in out and "= 0x5\n" in out and "= 99\n" in out, "written", out)
    need("Cannot access memory at address 0x10" in out, "a wild address", out)


def test_gdb_program():
    if not shutil.which("gdb"):
        raise Skipped("no gdb")
    script = DIR / "program.gdb"
    script.write_text("set confirm off\nset debuginfod enabled off\n" f"target remote | exec {BIN} debug --gdb - {program()} 2>{DIR}/said\n"
                      f"break debugged.cu:{LINE['part']}\ncontinue\nreverse-stepi\ndelete\ncontinue\n")
    out = subprocess.run([shutil.which("gdb"), "-nx", "-q", "-batch", "-x", str(script)], capture_output=True, text=True, timeout=120, cwd=DIR).stdout
    need(re.search(rf"Breakpoint 1.*debugged.cu:{LINE['part']}", out) and "exited normally" in out, "a program", out)


def packet(data):
    escaped = b"".join(b"}" + bytes([c ^ 0x20]) if c in b"$#}*" else bytes([c]) for c in data)
    return b"$" + escaped + b"#%02x" % (sum(escaped) & 255)


PACKETS = [b"qSupported:swbreak+", b"?", b"g", b"p28", b"p10", b"P28=" + b"ab" * 128, b"P28=0", b"m7ffe00000000,40", b"m10080,100", b"m0,ffffffffffffffff",
           b"mfffffffffffffff0,20", b"M7ffe00000000,4:01020304", b"M0,4:00", b"Z0,11080,1", b"z0,11080,1", b"Z2,7ffe00000014,4", b"Z2,7ffe00000014,ffffffff",
           b"Z4,0,4", b"vCont?", b"vCont;s:1", b"vCont;c", b"bs", b"bc", b"Hg1", b"Hg7fffffffffffffff", b"T2", b"qfThreadInfo", b"qC",
           b"qXfer:threads:read::0,fff", b"qXfer:features:read:target.xml:0,ffb", b"qXfer:features:read:target.xml:ffffffffffffffff,1",
           b"vFile:setfs:0", b"vFile:open:" + b"/warpstep-kernels".hex().encode() + b",0,0", b"vFile:pread:5,3fff,0", b"vFile:pread:5,ffffffffffffffff,ffffffffffffffff",
           b"vFile:fstat:5", b"vFile:close:5", b"qRcmd," + b"info warps".hex().encode(), b"qRcmd,zz", b"qRcmd," + b"61" * 3000, b"", b"X", b"G00"]


def test_gdb_hostile():
    """Packets of all kinds, in any order and damaged: no crash, and an answer to the last one."""
    for seed in range(6):
        rng = random.Random(seed)
        data = b""
        for _ in range(150):
            p = bytearray(rng.choice(PACKETS))
            for _ in range(rng.randrange(3) if rng.random() < 0.5 else 0):
                if p:
                    p[rng.randrange(len(p))] = rng.randrange(256)
            p = packet(bytes(p))
            if rng.random() < 0.1:
                p = p[: rng.randrange(len(p))]
            data += p + (b"\x03" if rng.random() < 0.02 else b"")
        data += b"$" + b"a" * 40000 + b"#00" + packet(b"bc") + packet(b"qAttached") + packet(b"k")
        r = subprocess.run([BIN, "debug", "--gdb", "-", cubin("debugged"), *WORK], input=data, capture_output=True, timeout=120, cwd=DIR)
        need(r.returncode in (0, 1, 3), f"exit status {r.returncode}, seed {seed}", r.stderr.decode(errors="replace")[-500:])
    need(packet(b"OK") in r.stdout, "no answer")


# --- DAP ---------------------------------------------------------------------------------------------------


def test_dap_session():
    """An editor's session: breakpoint on a line, registers of a lane, a step back, memory, on to the end."""
    listing = work(["disassemble work 60"])
    pc, register = re.search(r"(0x[0-9a-f]+) <work\S+  STS \[R\d+\.X4\], (R\d+)", listing).groups()
    c = Client([BIN, "debug", "--dap", cubin("debugged"), *WORK], DIR)
    can = c.body("initialize", adapterID="test")
    need(can["supportsStepBack"] and c.event("initialized") is not None, "capabilities", str(can))
    c.body("launch")
    points = c.body("setBreakpoints", source={"path": "/elsewhere/debugged.cu"},
                    breakpoints=[{"line": LINE["part"], "condition": "ctaid.x == 1 && tid.x == 5"}, {"line": 99999}, {"line": 1, "condition": "1 +"}])["breakpoints"]
    need([p["verified"] for p in points] == [True, False, False] and points[0]["line"] == LINE["part"], str(points))
    c.body("configurationDone")
    need(c.event("stopped")["reason"] == "entry", "at the start")
    threads = c.body("threads")["threads"]
    need([t["name"] for t in threads] == ["cta (0,0,0) warp 0", "cta (0,0,0) warp 1"], str(threads))
    c.body("continue", threadId=1)
    stop = c.event("stopped")
    need(stop["reason"] == "breakpoint", str(stop))
    thread = stop["threadId"]
    frames = c.body("stackTrace", threadId=thread)["stackFrames"]
    need(frames[0]["name"] == "work" and frames[0]["line"] == LINE["part"] and frames[0]["instructionPointerReference"] == pc, str(frames))
    scopes = c.body("scopes", frameId=frames[0]["id"])["scopes"]
    need(scopes[0]["name"] == "Registers of lane 5", str(scopes))
    registers = {v["name"]: v["value"] for v in c.body("variables", variablesReference=scopes[0]["variablesReference"])["variables"]}
    need(int(registers[register], 16) == a(69), str(registers))
    place = {v["name"]: v["value"] for v in c.body("variables", variablesReference=scopes[2]["variablesReference"])["variables"]}
    need(place["threadIdx.x"] == "5" and place["blockIdx.x"] == "1", str(place))
    need(c.body("evaluate", expression=f"s32({register}) + 1", frameId=frames[0]["id"])["result"] == str(a(69) + 1), "evaluate")
    c.body("next", threadId=thread, granularity="instruction")
    need(c.event("stopped")["reason"] == "step", "a step")
    memory = c.body("readMemory", memoryReference="0x8ffe00000000", offset=20, count=4)
    need(int.from_bytes(base64.b64decode(memory["data"]), "little") == a(69) and memory["address"] == "0x8ffe00000014", str(memory))
    c.body("stepBack", threadId=thread, granularity="instruction")
    c.event("stopped")
    memory = c.body("readMemory", memoryReference="0x8ffe00000000", offset=20, count=4)
    need(base64.b64decode(memory["data"]) == bytes(4), str(memory))
    need(c.body("stackTrace", threadId=thread)["stackFrames"][0]["instructionPointerReference"] == pc, "back")
    code = c.body("disassemble", memoryReference=pc, instructionOffset=-1, instructionCount=3)["instructions"]
    need(code[1]["address"] == pc and code[1]["instruction"].startswith("STS"), str(code))
    need("CTA 1" in c.body("evaluate", expression="info ctas", context="repl")["result"], "the prompt")
    for bad in (("readMemory", {"memoryReference": "0x0", "count": 8}), ("readMemory", {"count": 1 << 40}), ("disassemble", {"instructionCount": -1}),
                ("stackTrace", {"threadId": 77777}), ("variables", {"variablesReference": -5}), ("evaluate", {"expression": "1 +"}), ("nosuch", {})):
        r = c.request(bad[0], **bad[1])
        need(not r["success"] and r["message"], str(r))
    c.body("setBreakpoints", source={"path": "/elsewhere/debugged.cu"}, breakpoints=[])
    c.body("setInstructionBreakpoints", breakpoints=[{"instructionReference": pc, "offset": 16}])
    c.body("reverseContinue", threadId=thread)
    need(c.event("stopped")["reason"] in ("breakpoint", "entry"), "backwards")
    c.body("setInstructionBreakpoints", breakpoints=[])
    c.body("continue", threadId=thread)
    need(c.event("exited")["exitCode"] == 0 and c.event("terminated") is not None, "the end")
    status, said = c.end()
    need(status == 0, f"exit status {status}", said)


def test_dap_variables():
    """An editor opens a structure, an array, a pointer and what a class inherits, in a function and in its caller."""
    c = Client([BIN, "debug", "--dap", cubin("debugged_g"), *TYPED], DIR)
    c.body("initialize", adapterID="test")
    c.body("launch")
    c.body("setBreakpoints", source={"path": "debugged.cu"}, breakpoints=[{"line": LINE["weight"], "condition": "tid.x == 5"}])
    c.body("configurationDone")
    c.event("stopped")
    c.body("continue", threadId=1)
    thread = c.event("stopped")["threadId"]
    frames = c.body("stackTrace", threadId=thread)["stackFrames"]
    need([f["name"] for f in frames] == ["weight", "typed"], str(frames))

    def opened(reference):
        return {v["name"]: v for v in c.body("variables", variablesReference=reference)["variables"]}

    def locals_of(frame):
        scope = c.body("scopes", frameId=frame["id"])["scopes"][0]
        need(scope["name"] == "Locals", str(scope))
        return opened(scope["variablesReference"])

    inner, outer = locals_of(frames[0]), locals_of(frames[1])
    v = opened(inner["v"]["variablesReference"])
    need([x["value"] for x in v.values()] == ["{x = 7, y = 3}"], str(v))
    mine = opened(outer["mine"]["variablesReference"])
    need(list(mine) == ["id", "at", "mass", "tag", "next", "low", "high", "negative"], str(list(mine)))
    need((mine["id"]["value"], mine["mass"]["value"], mine["negative"]["value"]) == ("9", "3.25", "-3"), str(mine))
    need(mine["mass"]["variablesReference"] == 0 and outer["out"]["variablesReference"] != 0, "what has parts")
    need([x["value"] for x in opened(mine["tag"]["variablesReference"]).values()] == ["11", "22", "33"], "an array")
    to = opened(mine["next"]["variablesReference"])
    need(opened(next(iter(to.values()))["variablesReference"])["id"]["value"] == "77", str(to))
    row = opened(outer["m"]["variablesReference"])["[1]"]
    need([x["value"] for x in opened(row["variablesReference"]).values()] == ["35", "45", "55"], str(row))
    asked = c.body("evaluate", expression="mine.at", frameId=frames[1]["id"])
    need(asked["result"] == "{x = 1.5, y = 2.5}" and opened(asked["variablesReference"])["y"]["value"] == "2.5", str(asked))
    old = outer["mine"]["variablesReference"]
    c.body("next", threadId=thread)
    c.event("stopped")
    for reference in (old, 5, 8 * 10**6 + 5, -3):
        r = c.request("variables", variablesReference=reference)
        need(r and not r["success"], f"a reference of before: {reference}", str(r))
    need(c.end()[0] in (0, 1), "the end")


def test_dap_damaged():
    for data in (b"", b"hello\n", b"Content-Length: 99999999\r\n\r\n{}", b"Content-Length: 5\r\n\r\n{}", b"Content-Length: 2\r\n\r\n[]",
                 b"Content-Length: 3\r\n\r\n\xff\xfe{", b"Content-Length: 60\r\n\r\n" + b"[" * 60):
        r = subprocess.run([BIN, "debug", "--dap", cubin("debugged"), *WORK], input=data, capture_output=True, timeout=60, cwd=DIR)
        need(r.returncode == 0, f"exit status {r.returncode} from {data[:40]}", r.stderr.decode())


def main():
    global DIR
    tests = {k[5:]: f for k, f in globals().items() if k.startswith("test_")}
    chosen = sys.argv[1:] or list(tests)
    failed = 0
    for name in chosen:
        with tempfile.TemporaryDirectory() as d:
            DIR = pathlib.Path(d)
            try:
                tests[name]()
                print(f"ok debug/{name}", flush=True)
            except Skipped as why:
                print(f"ok debug/{name} # SKIP {why}", flush=True)
            except (Failed, subprocess.TimeoutExpired) as why:
                failed += 1
                print(f"not ok debug/{name}: {why}", flush=True)
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
