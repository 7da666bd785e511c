#!/usr/bin/env python3
"""Runs ladders of kernels as their authors published them, and prints the error of each step beside the published time.

  ladders.py SOURCES WORK [--only LADDER[,STEP]] [--set KEY=VALUE] [--csv FILE] [--record] [--jobs N] [--list]

SOURCES: where the authors' repositories are or go: a missing one is cloned from github.com/OWNER/NAME to SOURCES/NAME, at
the commit that LADDERS names. WORK: for the programs, which are built once. data/ladders/LADDER.csv has what was published, and
the error of the last accepted run (--record takes this one's). Status 1: an error moved by more than TOLERANCE points from
that, a program failed, or its results are not the CPU's. Times are the launch's, of programs that print "us" the last of
those. --set changes a parameter for all rows, and nothing is held against what is recorded. Needs git and nvcc.
BIN: the program (build/warpstep)."""
import argparse
import concurrent.futures
import csv
import dataclasses
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE, DATA = pathlib.Path(__file__).resolve().parent / "ladders", ROOT / "data/ladders"
BIN = os.environ.get("BIN", str(ROOT / "build/warpstep"))
TOLERANCE = 3.0  # points, as the suites of validate have it


@dataclasses.dataclass
class Ladder:
    """How the steps of one table are built and run."""
    repository: str
    commit: str
    host: str          # in HERE
    sources: list      # of the repository
    flags: list        # of nvcc; {source} is the repository
    board: list        # options of exec
    share: float = 1   # of the board's SMs that run


LEARN = ("gau-nernst/learn-cuda", "1454f8b71499a68eacdbf44c08e36a7003d8ab99")
FLASH = ("sonnyli/flash_attention_from_scratch", "58b7e33f898d65d04e687c8da4db0dccbf243517")
FAST = ("pranjalssh/fast.cu", "38eb642e0c081231d6f695978be63604bd7c689b")


def sets(**values):
    return [word for key, value in values.items() for word in ("--set", f"{key.replace('__', '.')}={value}")]


# A GeForce RTX 4070 Ti SUPER: an AD103 as that of the RTX 4080, with other numbers.
AD103 = ["--gpu", "rtx-4080", *sets(gpu__sms=66, l2__bytes=50331648, l2__slices=48, l2__bytes_per_cycle=1050, dram__pin_mbps=21000)]


def product(steps, in_type, out_type, by_columns, scale, bound):
    """Options for ladder_product.cu."""
    return ["-DSTEPS=" + " ".join(f"S({s})" for s in steps), f"-DIN={in_type}", f"-DOUT={out_type}", f"-DB_BY_COLUMNS={by_columns}",
            f"-DSCALE={scale}", f"-DBOUND={bound}"]


SIMT = product([f"matmul_v{v}" for v in ("1", "2", "3", "4", "5", "6a", "6b")], "float", "float", 0, "(1 / 8.)", 1e-2)
SM80 = product([f"matmul_v{v}" for v in ("1", "2", "3", "4", "5", "6", "6b")], "__nv_bfloat16", "__nv_bfloat16", 1, "(1 / 512.)", 1e-2)
SM80_SOURCES = [f"02b_matmul_sm80/matmul_v{v}.cu" for v in (1, 5, 6)]
SM120_SOURCES = [f"02c_matmul_sm120/matmul_v{v}.cu" for v in (0, 1, 2)]
SM120_FLAGS = ["-O3", "-std=c++17", "--expt-relaxed-constexpr", "-gencode", "arch=compute_120a,code=sm_120a", "-lcuda"]
ATTENTION_FLAGS = ["-O3", "-std=c++20", "--use_fast_math", "--expt-relaxed-constexpr", "-arch=sm_80"]

LADDERS = {
    "sums-4070ti-super": Ladder(*LEARN, "ladder_sums.cu", ["03_sum/sum.cu"], ["-O3", "--use_fast_math", "-arch=sm_89"],
                                [*AD103, "--clock", "2340", "--cold"]),
    "product-4070ti-super": Ladder(*LEARN, "ladder_product.cu", ["02a_matmul_simt/matmul.cu"], ["-O3", "--use_fast_math", "-arch=sm_89", *SIMT],
                                   [*AD103, *sets(gpu__sms=2, l2__bytes_per_cycle=32), "--clock", "2340", "--cold"], 2 / 66),
    "softmax-4070ti-super": Ladder(*LEARN, "ladder_softmax.cu", ["04_softmax/softmax.cu"], ["-O3", "--use_fast_math", "-arch=sm_89"], AD103),
    "bf16-a100": Ladder(*LEARN, "ladder_product.cu", SM80_SOURCES, ["-O3", "-std=c++17", "-arch=sm_80", *SM80],
                        ["--gpu", "a100", *sets(gpu__sms=27, l2__bytes_per_cycle=968)], 27 / 108),
    "bf16-a100-whole": Ladder(*LEARN, "ladder_product.cu", SM80_SOURCES, ["-O3", "-std=c++17", "-arch=sm_80", *SM80], ["--gpu", "a100"]),
    "bf16-sm80-rtx-5090": Ladder(*LEARN, "ladder_product.cu", SM80_SOURCES, ["-O3", "-std=c++17", "-arch=sm_120", *SM80], ["--gpu", "rtx-5090"]),
    "bf16-rtx-5090": Ladder(*LEARN, "ladder_product.cu", SM120_SOURCES,
                            [*SM120_FLAGS, *product([f"matmul_v{v}_bf16" for v in range(3)], "__nv_bfloat16", "__nv_bfloat16", 1, "(1 / 64.)", 0.05)],
                            ["--gpu", "rtx-5090"]),
    "int8-rtx-5090": Ladder(*LEARN, "ladder_product.cu", SM120_SOURCES,
                            [*SM120_FLAGS, *product([f"matmul_v{v}_int8" for v in range(3)], "int8_t", "int", 1, 1, 0.5)], ["--gpu", "rtx-5090"]),
    "attention-a100": Ladder(*FLASH, "ladder_attention.cu", [], ATTENTION_FLAGS,
                             ["--gpu", "a100-sxm4-80gb", *sets(gpu__sms=8, l2__bytes_per_cycle=287, dram__pin_mbps=3024), "--clock", "1110"], 8 / 108),
    "attention-rtx-3090": Ladder(*FLASH, "ladder_attention.cu", [], ATTENTION_FLAGS,
                                 ["--gpu", "rtx-3090", *sets(gpu__sms=8, l2__bytes_per_cycle=148, dram__pin_mbps=19002), "--clock", "1680"], 8 / 82),
    "bf16-h100": Ladder(*FAST, "ladder_hopper.cu", [],
                        ["-O3", "-std=c++17", "-gencode", "arch=compute_90a,code=sm_90a", '-DKERNEL="{source}/examples/matmul/matmul_12.cuh"',
                         "-DRUN=runKernel12", "-lcuda"], ["--gpu", "h100"]),
}


# --- what was published -----------------------------------------------------------------------------

def read_rows(path):
    """Comments of the table, and its rows."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.startswith("#")], list(csv.DictReader(line for line in lines if not line.startswith("#")))


def expected_us(ladder, row):
    """Microseconds that the part of the work takes by the published figure: a time of the whole, of which `work` runs, or a
    rate, with `work` in GFLOP."""
    figure, unit, work = float(row["published"]), row["unit"], float(row["work"])
    if unit in ("us", "ms"):
        return figure * {"us": 1, "ms": 1000}[unit] * work / ladder.share
    percent = re.fullmatch(r"% of ([\d.]+) TFLOP/s", unit)
    rate = figure / 100 * float(percent[1]) if percent else figure
    return work / (rate * ladder.share) * 1000


# --- building and running ---------------------------------------------------------------------------

def repository_of(ladder, sources):
    """The author's repository, fetched when it is not there."""
    path = sources / ladder.repository.split("/")[1]
    if not path.exists():
        subprocess.run(["git", "clone", "--quiet", f"https://github.com/{ladder.repository}", path], check=True)
        subprocess.run(["git", "-C", path, "checkout", "--quiet", ladder.commit], check=True)
    head = subprocess.run(["git", "-C", path, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    if head != ladder.commit:
        sys.exit(f"{path}: at {head}, the figures belong to {ladder.commit}")
    return path


def build(name, ladder, row, source, work):
    """The program of a row. Rows with a build of their own say so in `build`: a folder of headers and a configuration."""
    own = row.get("build", "")
    program = work / (f"{name}-{row['id']}" if own else name)
    if program.exists():
        return program
    command = ["nvcc", "-cudart", "shared", *(f.format(source=source) for f in ladder.flags), f"-I{HERE}", "-o", program, HERE / ladder.host,
               *(source / s for s in ladder.sources)]
    if own:
        folder, configuration = own.split(" ")
        command += [f"-I{source / folder}", "-DCONFIGURATION=" + configuration.replace(",", r"\,")]  # nvcc splits at commas
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{name} {row['id']}: nvcc failed\n{done.stderr}")
    return program


def simulated_us(name, ladder, row, program, work, more):
    """Microseconds here, or None when the program failed or its results are wrong."""
    out = work / f"{name}-{row['id']}.json"
    command = [BIN, "exec", "--quiet", "--json", out, *ladder.board, *row.get("options", "").split(), *more, program, *row["arguments"].split()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{name} {row['id']}: failed: {done.stdout}{done.stderr}", flush=True)
        return None
    printed = re.findall(r"^us ([\d.]+)$", done.stdout, re.MULTILINE)
    if printed:
        return float(printed[-1])
    last = json.loads(out.read_text(encoding="utf-8"))["launches"][-1]
    return (last["end_ps"] - last["start_ps"]) / 1e6


def run_row(name, ladder, row, program, work, more):
    here, there = simulated_us(name, ladder, row, program, work, more), expected_us(ladder, row)
    error = None if here is None else 100 * (here / there - 1)
    text = "failed" if error is None else f"{there:12.2f} {here:12.2f} {error:+9.1f} %"
    print(f"  {row['id']:28} {text:38} {'recorded ' + row['error_pct'] if row['error_pct'] else ''}", flush=True)
    return error


# --- the table --------------------------------------------------------------------------------------

def ranks(values):
    """Of Spearman's: equal values share their places."""
    return [sum(v < w for v in values) + (values.count(w) + 1) / 2 for w in values]


def summary(rows):
    """One line over (expected, error) pairs. p90 is interpolated, as in validate."""
    errors = sorted(abs(e) for _, e in rows)
    place = 0.9 * (len(errors) - 1)
    below = int(place)
    p90 = errors[below] + (place - below) * (errors[min(below + 1, len(errors) - 1)] - errors[below])
    there = [t for t, _ in rows]
    here = [t * (1 + e / 100) for t, e in rows]
    rank = statistics.correlation(ranks(there), ranks(here)) if len(set(there)) > 1 and len(set(here)) > 1 else float("nan")
    return (f"  {len(rows)} rows: mean {statistics.mean(errors):.1f} %, p90 {p90:.1f} %, worst {errors[-1]:.1f} %, "
            f"bias {statistics.mean(e for _, e in rows):+.1f} %, rank {rank:.3f}")


def record(path, comments, rows):
    with open(path, "w", newline="", encoding="utf-8") as f:
        f.writelines(c + "\n" for c in comments)
        table = csv.DictWriter(f, rows[0].keys(), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def run_ladder(name, args):
    """True: no row failed or moved. Rows that ran are appended to args.done."""
    ladder, path = LADDERS[name], DATA / f"{name}.csv"
    comments, rows = read_rows(path)
    chosen = [r for r in rows if args.step in (None, r["id"])]
    if not chosen:
        sys.exit(f"{name}: no step '{args.step}'")
    print(f"{name}: {ladder.repository}, commit {ladder.commit[:8]}\n  {'step':28} {'published us':>12} {'here us':>12} {'error':>11}", flush=True)
    source = repository_of(ladder, args.sources)
    programs = [build(name, ladder, r, source, args.work) for r in chosen]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        errors = list(pool.map(lambda at: run_row(name, ladder, chosen[at], programs[at], args.work, args.more), range(len(chosen))))
    good = [(expected_us(ladder, r), e) for r, e in zip(chosen, errors) if e is not None]
    if len(good) > 1:
        print(summary(good))
    args.done += [(name, r["id"], e) for r, e in zip(chosen, errors) if e is not None]
    moved = [r["id"] for r, e in zip(chosen, errors) if e is None or (r["error_pct"] and abs(e - float(r["error_pct"])) > TOLERANCE)]
    if args.record:
        for r, e in zip(chosen, errors):
            r["error_pct"] = r["error_pct"] if e is None else f"{e:.1f}"
        record(path, comments, rows)
    return None not in errors and (args.record or args.more or not moved)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", type=pathlib.Path, nargs="?")
    parser.add_argument("work", type=pathlib.Path, nargs="?")
    parser.add_argument("--only", default="")
    parser.add_argument("--set", action="append", default=[], dest="changes")
    parser.add_argument("--csv", type=pathlib.Path)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--list", action="store_true", help="the ladders and their numbers of steps")
    args = parser.parse_args()
    if args.list:
        for name in LADDERS:
            print(f"{name:24} {len(read_rows(DATA / f'{name}.csv')[1]):3} steps  {LADDERS[name].repository}")
        return 0
    if not args.sources or not args.work:
        parser.error("SOURCES and WORK are needed")
    if args.record and args.changes:
        parser.error("--record takes no errors of a changed model")
    args.sources, args.work, args.done = args.sources.resolve(), args.work.resolve(), []
    args.sources.mkdir(parents=True, exist_ok=True)
    args.work.mkdir(parents=True, exist_ok=True)
    args.more = [word for change in args.changes for word in ("--set", change)]
    ladder, _, step = args.only.partition(",")
    args.step = step or None
    if ladder and ladder not in LADDERS:
        parser.error(f"no ladder '{ladder}'; --list says which there are")
    status = [run_ladder(name, args) for name in ([ladder] if ladder else LADDERS)]
    if args.csv:
        args.csv.write_text("ladder,step,error_pct\n" + "".join(f"{n},{s},{e:.1f}\n" for n, s, e in args.done), encoding="utf-8")
    return 0 if all(status) else 1


if __name__ == "__main__":
    sys.exit(main())
