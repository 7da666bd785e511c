#!/usr/bin/env python3
"""Compares what two built trees say. Called by same.sh, which builds commits.

Parts (--parts, comma-separated; all by default):
  corpus   every launch of kernels/ on its targets: without and with time, on one and two host threads.
           Compared: exit status, JSON, all buffers after the run
  cases    every captured launch of tests/exec/cases, without and with time. Compared: exit status, output, JSON
  exec     every program of tests/exec with both runtimes, without and with time (nvcc needed). Compared: exit
           status, output, JSON (values and simulated times)
  cost     host instructions (callgrind) of three short loops: NEW may take --budget per cent more

Inputs are those of the tree the script lies in; programs, presets and shim libraries those of OLD and NEW. What
differs is run again on both sides: a field that one side alone gives in two ways is reported apart, as not
reproducible. Fields that hold host time or a version are not compared (IGNORED).
"""
import argparse
import collections
import concurrent.futures
import hashlib
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zlib

IGNORED = {"host", "version", "build", "warp_insts_per_second", "host_seconds"}
TARGETS = {"70": "v100", "75": "rtx-2080ti", "80": "a100", "86": "rtx-3070", "90": "h200", "100": "b200",
           "120": "rtx-5070ti", "72": "xavier", "87": "jetson-orin", "89": "rtx-4090", "103": "b300",
           "110": "jetson-thor", "121": "gb10"}
QUICK_TARGETS = ["86", "90"]
QUICK_KERNELS = ("atomics bfs cluster_reduce cp_async divergence fp64_math grid_sync hist_global mma_f16 printf_demo "
                 "reduce_shfl scan sgemm_tiled spmv_scalar stream_triad tex_filter2d transpose_naive vecadd").split()
QUICK_PROGRAMS = "async_copies concurrent cooperative faults graphs streams stream_values vecadd".split()
WITHOUT, WITH = "--functional", "--timed"
# Programs whose kernels wait for one another on two GPUs: without time one runs to its end before the other begins.
WITH_TIME_ONLY = {"machine_pair", "machine_switch"}
COST_SETUP = "--gpu rtx-3070 --quiet --no-check"
# docs/performance.md: FP32 loop of 60 rounds, matrix product with K = 64, triad of 196,608 vectors of four.
COST = {
    "FP32 loop": "saxpy_loop --grid 552 --block 128 --buf y:f32:70656:uniform,seed=3,min=-2,max=2 "
                 "--arg y --arg f32:0.75 --arg f32:0.3 --arg i32:60",
    "tiled matrix product": "sgemm_tiled --grid 16,16 --block 16,16 --buf a:f32:16384:uniform,seed=4,min=-1,max=1 "
                            "--buf b:f32:16384:uniform,seed=5,min=-1,max=1 --buf c:f32:65536 "
                            "--arg a --arg b --arg c --arg i32:256 --arg i32:256 --arg i32:64",
    "streaming": "stream_triad --grid 552 --block 128 --buf a:f32:786432 --buf b:f32:786432:uniform,seed=16,min=-1,max=1 "
                 "--buf c:f32:786432:uniform,seed=17,min=-1,max=1 --arg a --arg b --arg c --arg f32:3 --arg u32:196608",
}


class Case:
    """A command, without the program. `files`: its inputs, whose contents are part of its name in the cache."""

    def __init__(self, part, name, command, files, buffers=False, cost=False):
        self.part, self.name, self.command, self.buffers, self.cost = part, name, command, buffers, cost
        self.files = files

    def key(self):
        h = hashlib.sha256(repr((self.command, self.buffers, self.cost)).encode())
        for f in sorted(self.files):
            h.update(pathlib.Path(f).read_bytes())
        return h.hexdigest()[:32]


class Tree:
    """A built tree: named by what was built, so that what it said can be kept."""

    def __init__(self, folder, cache):
        self.bin = pathlib.Path(folder) / "build/warpstep"
        self.env = {**os.environ, "WARPSTEP_PRESETS": str(pathlib.Path(folder) / "presets")}
        h = hashlib.sha256()
        shims = pathlib.Path(folder) / "build/cuda"
        for f in [self.bin, *sorted(shims.glob("*.so*")), *sorted((pathlib.Path(folder) / "presets").rglob("*.cfg"))]:
            h.update(f.read_bytes())
        self.said = cache / "said" / h.hexdigest()[:32]
        self.said.mkdir(parents=True, exist_ok=True)


# --- cases -----------------------------------------------------------------------------------------

def inputs(launch):
    """A launch file and what lies beside it; the expected values of its reference."""
    folder = launch.parent
    refs = pathlib.Path("build/ref") / folder.name
    return [p for p in [*folder.iterdir(), *(refs.iterdir() if refs.is_dir() else [])] if p.is_file()]


def built_for(launch, sm):
    """As tests/run.sh has it: of the targets of kernels/selection few cubins are built."""
    if f"sm_{sm}" in pathlib.Path("kernels/selection").read_text().split():
        return launch.with_suffix(f".sm_{sm}.cubin").exists()
    listed = launch.with_suffix(".targets")
    return not listed.exists() or sm in re.findall(r"sm_(\d+)", listed.read_text())


def corpus(o):
    for launch in sorted(pathlib.Path("kernels").glob("*/*.launch")):
        if o.kernels and launch.stem not in o.kernels:
            continue
        files = inputs(launch)
        for sm in o.targets:
            if not built_for(launch, sm):
                continue
            for mode in (WITHOUT, WITH):
                for threads in ("1", "2"):
                    name = f"{launch.stem} sm_{sm} {mode[2:]} {threads} thread{'s' * (threads > '1')}"
                    command = ["run", str(launch), "--gpu", TARGETS[sm], "--quiet", "--threads", threads, "--json", "JSON"]
                    yield Case("corpus", name, command + [mode] * (mode == WITHOUT), files, buffers=True)


def cases(o):
    for case in sorted(pathlib.Path("tests/exec/cases").glob("*.case")):
        if o.programs and case.name.split("-")[0] not in o.programs:
            continue
        for mode in (WITHOUT, WITH):
            command = ["run", str(case), "--quiet", "--json", "JSON"] + [mode] * (mode == WITHOUT)
            yield Case("cases", f"{case.stem} {mode[2:]}", command, [case])


def build_programs(o):
    """tests/exec/run.sh --build, once for each state of the sources. The folder with the programs."""
    sources = sorted(p for p in pathlib.Path("tests/exec").glob("*") if p.is_file())
    digest = hashlib.sha256(b"".join(p.read_bytes() for p in sources)).hexdigest()[:16]
    folder = (o.cache / "programs" / digest).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    names = o.programs or [p.stem for p in sources if p.suffix == ".cu" and "." not in p.stem]
    missing = [n for n in names if not (folder / f"{n}.static").exists()]
    if missing:
        print(f"compiling {len(missing)} programs of tests/exec", file=sys.stderr)
        env = {**os.environ, "BIN": str(pathlib.Path(o.new).absolute() / "build/warpstep")}
        command = ["tests/exec/run.sh", "--build", folder, *missing]
        if subprocess.run(command, stdout=sys.stderr, env=env).returncode:
            sys.exit("tools/same.py: tests/exec does not compile")
    return folder


def programs(o):
    if not shutil.which("nvcc") and not os.access("/usr/local/cuda/bin/nvcc", os.X_OK):
        print("no nvcc: programs of tests/exec are not compared")
        return
    folder = build_programs(o)
    for p in sorted([*folder.glob("*.shared"), *folder.glob("*.static")]):
        if o.programs and p.stem not in o.programs:
            continue
        extra = pathlib.Path("tests/exec") / (p.stem + ".args")
        args = extra.read_text().split() if extra.exists() else []
        for mode in (WITHOUT, WITH)[p.stem in WITH_TIME_ONLY:]:
            kept = [a for a in args if a not in (WITHOUT, WITH)]
            if mode == WITHOUT and "--time-kernels" in kept:
                kept = []
            command = ["exec", *kept, mode, "--report", "REPORT", "--json", "JSON", str(p)]
            yield Case("exec", f"{p.name} {mode[2:]}", command, [p])


def costs(o):
    for name, text in COST.items():
        kernel, *rest = text.split()
        cubin = f"kernels/{kernel}/{kernel}.sm_86.cubin"
        yield Case("cost", name, ["run", cubin, "--kernel", kernel, *COST_SETUP.split(), *rest], [cubin], cost=True)


PARTS = {"corpus": corpus, "cases": cases, "exec": programs, "cost": costs}


# --- running ---------------------------------------------------------------------------------------

def flat(value, path=""):
    """Leaves of a JSON value by their path; fields of lists of launches and the like count as one field each."""
    if isinstance(value, dict):
        for k, v in value.items():
            if k not in IGNORED:
                yield from flat(v, f"{path}.{k}" if path else k)
    elif isinstance(value, list):
        for i, v in enumerate(value):
            yield from flat(v, f"{path}[{i}]")
    else:
        yield path, value


def run_case(o, tree, case):
    """What the program says: {field: value}. The status is an int, or the text "none …": no end in time."""
    with tempfile.TemporaryDirectory() as tmp:
        tmp = pathlib.Path(tmp)
        names = {"JSON": str(tmp / "json"), "REPORT": str(tmp / "report")}
        command = [str(tree.bin), *(names.get(a, a) for a in case.command)]
        if case.buffers:
            (tmp / "out").mkdir()
            command += ["--out", str(tmp / "out")]
        if case.cost:
            command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={tmp / 'callgrind'}", *command]
        command = ["setarch", "-R", *command]  # addresses of host memory are the same each time
        # Into files, not pipes: what a program leaves behind may hold these open.
        with open(tmp / "stdout", "wb") as out, open(tmp / "stderr", "wb") as err:
            try:
                status = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, timeout=o.limit,
                                        env=tree.env, start_new_session=True).returncode
            except subprocess.TimeoutExpired:
                return {"status": f"none after {o.limit} s"}
        said = {"status": status}
        if case.cost:
            text = (tmp / "callgrind").read_text(errors="replace") if status == 0 else ""
            total = re.search(r"^(?:summary|totals): (\d+)", text, re.M)
            said["instructions"] = int(total.group(1)) if total else None
            return said
        for f in ("stdout", "stderr"):
            text = (tmp / f).read_text(errors="replace").replace(str(tmp), "TMP").replace(str(tree.bin.parent), "BUILD")
            said[f] = re.sub(r"\bprocess \d+", "process N", text)
        if (tmp / "json").exists():
            said.update(flat(json.loads((tmp / "json").read_text())))
        for f in sorted((tmp / "out").glob("*")):
            said["buffer " + f.name] = hashlib.sha256(f.read_bytes()).hexdigest()
        return said


def run_and_keep(o, tree, case, key):
    said = run_case(o, tree, case)
    if isinstance(said["status"], int) and said["status"] != 2:  # no end in time, files not found: the machine's fault
        fresh = tree.said / f"{key}.{os.getpid()}"
        fresh.write_bytes(zlib.compress(json.dumps(said).encode()))
        fresh.rename(tree.said / key)
    return said


def said_by(o, tree, case, key):
    kept = tree.said / key
    return json.loads(zlib.decompress(kept.read_bytes())) if kept.exists() else run_and_keep(o, tree, case, key)


# --- comparing -------------------------------------------------------------------------------------

def differing(a, b):
    return [f for f in {**a, **b} if a.get(f) != b.get(f)]


def shown(value):
    text = "nothing" if value is None else str(value).strip().replace("\n", " | ")
    return text if len(text) <= 60 else text[:57] + "..."


def line_of(field, old, new):
    """Of two texts, the first lines that differ."""
    a, b = old.get(field), new.get(field)
    if isinstance(a, str) and isinstance(b, str) and "\n" in a + b:
        pairs = itertools.zip_longest(a.splitlines(), b.splitlines())
        a, b = next((p for p in pairs if p[0] != p[1]), ("...", "... (ends of lines)"))
    return f"{shown(a)} -> {shown(b)}"


class Verdict:
    def __init__(self, case, old, new, fields, unstable):
        self.case, self.old, self.new, self.fields, self.unstable = case, old, new, fields, unstable


def settle(o, tree, case, key, said, fields):
    """Runs a case again that differs in these fields. What it says now, and the fields that it says in two ways."""
    again = run_and_keep(o, tree, case, key)
    if not set(differing(said, again)) & set(fields):
        return again, set()
    return again, set(differing(again, run_case(o, tree, case)))


def judge(o, trees, case):
    key = case.key()
    old, new = (said_by(o, tree, case, key) for tree in trees)
    if case.cost:
        return Verdict(case, old, new, cost_fields(o, old, new), [])
    fields, unstable = differing(old, new), set()
    if fields:  # is it the trees, or the case?
        (old, a), (new, b) = (settle(o, t, case, key, said, fields) for t, said in zip(trees, (old, new)))
        fields, unstable = differing(old, new), a | b
    return Verdict(case, old, new, [f for f in fields if f not in unstable], [f for f in fields if f in unstable])


def cost_fields(o, old, new):
    a, b = old.get("instructions"), new.get("instructions")
    return [] if a and b and b <= a * (1 + o.budget / 100) else ["instructions"]


def report(verdicts):
    wrong = [v for v in verdicts if v.fields]
    for v in verdicts:
        if v.case.cost and v.old.get("instructions") and v.new.get("instructions"):
            a, b = v.old["instructions"], v.new["instructions"]
            print(f"cost  {v.case.name}: {a:,} -> {b:,} host instructions ({100 * (b - a) / a:+.2f} %)")
    by_field = collections.defaultdict(list)
    for v in wrong:
        for f in v.fields:
            by_field[v.case.part, re.sub(r"\[\d+\]", "[]", f)].append((v, f))
    for (part, field), where in sorted(by_field.items(), key=lambda x: -len(x[1])):
        v, f = where[0]
        print(f"differs  {part} {field}: {len({w.case.name for w, _ in where})} runs, first {v.case.name}: "
              f"{line_of(f, v.old, v.new)}")
    for v in wrong:
        print(f"not ok   {v.case.part} {v.case.name}: {len(v.fields)} fields, {v.fields[0]} "
              f"{line_of(v.fields[0], v.old, v.new)}")
    for v in verdicts:
        if v.unstable:
            print(f"unstable {v.case.part} {v.case.name}: {', '.join(v.unstable[:5])}: not reproducible by one tree alone")
    late = [v for v in verdicts if isinstance(v.old["status"], str) and isinstance(v.new["status"], str)]
    for v in late:
        print(f"too long {v.case.part} {v.case.name}: {v.old['status']}, not compared")
    count = collections.Counter(v.case.part for v in verdicts)
    print(f"{', '.join(f'{n} {p}' for p, n in count.items())} runs compared: {len(wrong)} differ, "
          f"{sum(1 for v in verdicts if v.unstable)} have fields that are not reproducible, {len(late)} too long")
    return bool(wrong)


def options():
    p = argparse.ArgumentParser(prog="tools/same.sh", formatter_class=argparse.RawDescriptionHelpFormatter,
                                description=__doc__)
    words = lambda s: s.replace(",", " ").split()
    p.add_argument("--quick", action="store_true", help="a few kernels, on sm_86 and sm_90, and a few programs: minutes")
    p.add_argument("--parts", type=words, default=list(PARTS), help="of: " + ", ".join(PARTS))
    p.add_argument("--kernels", type=words, help="of kernels/; all")
    p.add_argument("--programs", type=words, help="of tests/exec, and their captured launches; all")
    p.add_argument("--targets", type=words, help="sm_ numbers, as 86; all")
    p.add_argument("--jobs", type=int, default=int(os.environ.get("JOBS", os.cpu_count() or 2)), help="runs at a time")
    p.add_argument("--limit", type=int, default=600, help="seconds one run may take (600)")
    p.add_argument("--budget", type=float, default=2, help="per cent of host instructions that may be added (2)")
    p.add_argument("--cache", type=pathlib.Path, default=pathlib.Path("build/same"), help=argparse.SUPPRESS)
    p.add_argument("old")
    p.add_argument("new")
    o = p.parse_args()
    o.targets = o.targets or (QUICK_TARGETS if o.quick else list(TARGETS))
    if o.quick:
        o.kernels, o.programs = o.kernels or QUICK_KERNELS, o.programs or QUICK_PROGRAMS
    if bad := [x for x in o.parts if x not in PARTS] + [x for x in o.targets if x not in TARGETS]:
        p.error(f"unknown: {', '.join(bad)}")
    if missing := [k for k in o.kernels or [] if not pathlib.Path("kernels", k).is_dir()]:
        p.error(f"no such kernel: {', '.join(missing)}")
    return o


def main():
    o = options()
    trees = [Tree(o.old, o.cache), Tree(o.new, o.cache)]
    todo = [c for part in o.parts for c in PARTS[part](o)]
    if not todo:
        sys.exit("tools/same.py: no case chosen")
    verdicts = []
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        for v in pool.map(lambda c: judge(o, trees, c), todo):
            verdicts.append(v)
            if sys.stderr.isatty():
                print(f"\r{len(verdicts)} of {len(todo)}", end="", file=sys.stderr)
    return report(verdicts)


if __name__ == "__main__":
    sys.exit(main())
