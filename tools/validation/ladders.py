#!/usr/bin/env python3
"""Runs ladders of kernels as their authors published them, and prints the error of each step beside the published time.

  ladders.py SOURCES WORK [--only LADDER[,STEP]] [--set KEY=VALUE] [--csv FILE] [--record] [--jobs N]
  ladders.py --list | --check

SOURCES: where the authors' repositories are or go: a missing one is cloned from github.com/OWNER/NAME to SOURCES/NAME,
at the commit that LADDERS names. WORK: for the programs, which are built once. data/ladders/LADDER.csv has what was
published, and the error of the last accepted run (--record takes this one's). Status 1: an error moved by more than
TOLERANCE points from that, a program failed, or its results are not the CPU's. Times are the last launch's, of programs
that print "us" the last of those. --set changes a parameter for all rows, and nothing is held against what is recorded.
Rows that a value of the model was chosen by (`split` is fitted) are in no mean. --list: the ladders, with the recorded
errors summed up. --check: do they give what docs/accuracy.md says of the ladders? Needs git and nvcc to run.
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
AD103 = ["--gpu", "rtx-4080", *sets(gpu__sms=66, l2__bytes=50331648, l2__slices=48, l2__bytes_per_cycle=1050,
                                    dram__pin_mbps=21000)]


def product(steps, in_type, out_type, by_columns, scale, bound):
    """Options for ladder_product.cu."""
    return ["-DSTEPS=" + " ".join(f"S({s})" for s in steps), f"-DIN={in_type}", f"-DOUT={out_type}",
            f"-DB_BY_COLUMNS={by_columns}", f"-DSCALE={scale}", f"-DBOUND={bound}"]


FAST_SM89 = ["-O3", "--use_fast_math", "-arch=sm_89"]
SIMT = product([f"matmul_v{v}" for v in ("1", "2", "3", "4", "5", "6a", "6b")], "float", "float", 0, "(1 / 8.)", 1e-2)
BF16 = "__nv_bfloat16"
SM80 = product([f"matmul_v{v}" for v in ("1", "2", "3", "4", "5", "6", "6b")], BF16, BF16, 1, "(1 / 512.)", 1e-2)
SM80_SOURCES = [f"02b_matmul_sm80/matmul_v{v}.cu" for v in (1, 5, 6)]
MMA_FLAGS = ["-O3", "-std=c++17", "--expt-relaxed-constexpr"]  # as PyTorch builds extensions
SM80_FLAGS = [*MMA_FLAGS, "-arch=sm_80", *SM80]
SM120_SOURCES = [f"02c_matmul_sm120/matmul_v{v}.cu" for v in (0, 1, 2)]
SM120_FLAGS = [*MMA_FLAGS, "-gencode", "arch=compute_120a,code=sm_120a", "-lcuda"]
SM120_BF16 = product([f"matmul_v{v}_bf16" for v in range(3)], BF16, BF16, 1, "(1 / 64.)", 0.05)
SM120_INT8 = product([f"matmul_v{v}_int8" for v in range(3)], "int8_t", "int", 1, 1, 0.5)
HOPPER_FLAGS = ["-O3", "-DNDEBUG", "-std=c++17", "--expt-relaxed-constexpr", "--use_fast_math", "-lcuda", "-gencode",
                "arch=compute_90a,code=sm_90a", "-DRUN=runKernel12",
                '-DKERNEL="{source}/examples/matmul/matmul_12.cuh"']
ATTENTION_FLAGS = ["-O3", "-std=c++20", "--use_fast_math", "--expt-relaxed-constexpr", "-arch=sm_80"]

LADDERS = {
    "sums-4070ti-super": Ladder(*LEARN, "ladder_sums.cu", ["03_sum/sum.cu"], FAST_SM89,
                                [*AD103, "--clock", "2340", "--cold"]),
    "product-4070ti-super": Ladder(*LEARN, "ladder_product.cu", ["02a_matmul_simt/matmul.cu"], [*FAST_SM89, *SIMT],
                                   [*AD103, *sets(gpu__sms=2, l2__bytes_per_cycle=32), "--clock", "2340", "--cold"],
                                   2 / 66),
    "softmax-4070ti-super": Ladder(*LEARN, "ladder_softmax.cu", ["04_softmax/softmax.cu"], FAST_SM89, AD103),
    "bf16-a100": Ladder(*LEARN, "ladder_product.cu", SM80_SOURCES, SM80_FLAGS,
                        ["--gpu", "a100", *sets(gpu__sms=27, l2__bytes_per_cycle=968)], 27 / 108),
    "bf16-a100-whole": Ladder(*LEARN, "ladder_product.cu", SM80_SOURCES, SM80_FLAGS, ["--gpu", "a100"]),
    "bf16-sm80-rtx-5090": Ladder(*LEARN, "ladder_product.cu", SM80_SOURCES,
                                 [*MMA_FLAGS, "-arch=sm_120", *SM80], ["--gpu", "rtx-5090"]),
    "bf16-rtx-5090": Ladder(*LEARN, "ladder_product.cu", SM120_SOURCES, [*SM120_FLAGS, *SM120_BF16],
                            ["--gpu", "rtx-5090"]),
    "int8-rtx-5090": Ladder(*LEARN, "ladder_product.cu", SM120_SOURCES, [*SM120_FLAGS, *SM120_INT8],
                            ["--gpu", "rtx-5090"]),
    "attention-a100": Ladder(*FLASH, "ladder_attention.cu", [], ATTENTION_FLAGS,
                             ["--gpu", "a100-sxm4-80gb", "--clock", "1110",
                              *sets(gpu__sms=8, l2__bytes_per_cycle=287, dram__pin_mbps=3024)], 8 / 108),
    "attention-rtx-3090": Ladder(*FLASH, "ladder_attention.cu", [], ATTENTION_FLAGS,
                                 ["--gpu", "rtx-3090", "--clock", "1680",
                                  *sets(gpu__sms=8, l2__bytes_per_cycle=148, dram__pin_mbps=19002)], 8 / 82),
    "bf16-h100": Ladder(*FAST, "ladder_hopper.cu", [], HOPPER_FLAGS, ["--gpu", "h100"]),
}


# --- what was published -----------------------------------------------------------------------------

def read_rows(path):
    """Comments of the table, and its rows."""
    lines = path.read_text(encoding="utf-8").splitlines()
    comments = [line for line in lines if line.startswith("#")]
    return comments, list(csv.DictReader(line for line in lines if line not in comments))


def expected_us(ladder, row):
    """Microseconds that the part of the work takes by the published figure: a time of the whole, of which `work`
    runs, or a rate, with `work` in GFLOP."""
    figure, unit, work = float(row["published"]), row["unit"], float(row["work"])
    if unit in ("us", "ms"):
        return figure * {"us": 1, "ms": 1000}[unit] * work / ladder.share
    percent = re.fullmatch(r"% of ([\d.]+) TFLOP/s", unit)
    rate = figure / 100 * float(percent[1]) if percent else figure
    return work / (rate * ladder.share) * 1000


def whole_us(ladder, row):
    """The same for the whole work where a time is published, by which steps of which other parts run are ordered."""
    expected = expected_us(ladder, row)
    return expected * ladder.share / float(row["work"]) if row["unit"] in ("us", "ms") else expected


# --- building and running ---------------------------------------------------------------------------

def repository_of(ladder, sources):
    """The author's repository, fetched when it is not there."""
    path = sources / ladder.repository.split("/")[1]
    if not path.exists():
        subprocess.run(["git", "clone", "--quiet", f"https://github.com/{ladder.repository}", path], check=True)
        subprocess.run(["git", "-C", path, "checkout", "--quiet", ladder.commit], check=True)
    asked = subprocess.run(["git", "-C", path, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    head = asked.stdout.strip()
    if head != ladder.commit:
        sys.exit(f"{path}: at {head}, the figures belong to {ladder.commit}")
    return path


def build(name, ladder, row, source, work):
    """The program of a row. One with a build of its own says so in `build`: a folder of headers and a configuration."""
    own = row.get("build", "")
    program = work / (f"{name}-{row['id']}" if own else name)
    if program.exists():
        return program
    flags = [f.replace("{source}", str(source)) for f in ladder.flags]
    command = ["nvcc", "-cudart", "shared", *flags, f"-I{HERE}", "-o", program, HERE / ladder.host,
               *(source / s for s in ladder.sources)]
    if own:
        folder, configuration = own.split(" ")
        # nvcc would split at the commas
        command += [f"-I{source / folder}", "-DCONFIGURATION=" + configuration.replace(",", r"\,")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{name} {row['id']}: nvcc failed\n{done.stderr}")
    return program


def simulated_us(name, ladder, row, program, work, more):
    """Microseconds here, or None when the program failed or its results are wrong."""
    out = work / f"{name}-{row['id']}.json"
    options = [*ladder.board, *row.get("options", "").split(), *more]
    command = [BIN, "exec", "--quiet", "--json", out, *options, program, *row["arguments"].split()]
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
    known = f"recorded {row['error_pct']}" if row["error_pct"] else ""
    print(f"  {row['id']:28} {text:38} {known}", flush=True)
    return error


# --- the table --------------------------------------------------------------------------------------

def ranks(values):
    """Of Spearman's: equal values share their places."""
    return [sum(v < w for v in values) + (values.count(w) + 1) / 2 for w in values]


def held_out(row):
    return row.get("split") != "fitted"


def recorded(names):
    """(published time, error) of the rows that were held out, as they are recorded."""
    rows = [(LADDERS[n], r) for n in names for r in read_rows(DATA / f"{n}.csv")[1] if held_out(r)]
    return [(whole_us(ladder, r), float(r["error_pct"])) for ladder, r in rows]


def mean_and_p90(rows):
    """Of the errors without their sign. p90 is interpolated, as in validate."""
    errors = sorted(abs(e) for _, e in rows)
    place = 0.9 * (len(errors) - 1)
    below = int(place)
    above = min(below + 1, len(errors) - 1)
    return statistics.mean(errors), errors[below] + (place - below) * (errors[above] - errors[below])


def summary(rows):
    """One line over (published time, error) pairs."""
    mean, p90 = mean_and_p90(rows)
    there = [t for t, _ in rows]
    here = [t * (1 + e / 100) for t, e in rows]
    distinct = len(set(there)) > 1 and len(set(here)) > 1
    rank = statistics.correlation(ranks(there), ranks(here)) if distinct else float("nan")
    signed = [e for _, e in rows]
    return (f"{len(rows)} rows: mean {mean:.1f} %, p90 {p90:.1f} %, worst {max(signed, key=abs):+.1f} %, "
            f"bias {statistics.mean(signed):+.1f} %, rank {rank:.3f}")


def check(text):
    """What of the lines of docs/accuracy.md that name ladders is not what is recorded."""
    wrong, seen = [], set()
    for line in text.splitlines():
        cells = [c.strip() for c in line.strip("|").split("|")]
        if not line.startswith("| ") or len(cells) < 6 or "--only" not in cells[-1]:
            continue
        names = [n for n in re.findall(r"[\w-]+", cells[-1]) if n in LADDERS]
        if not names:
            continue
        seen |= set(names)
        rows = recorded(names)
        mean, p90 = mean_and_p90(rows)
        want = (cells[2], *(re.match(r"[\d.]*", c)[0] for c in cells[3:5]))
        got = (str(len(rows)), f"{mean:.1f}", f"{p90:.1f}" if len(rows) > 1 else "")
        if want != got:
            wrong.append(f"{', '.join(names)}: {' '.join(want)} in docs/accuracy.md, recorded are {' '.join(got)}")
    return wrong + [f"{n}: no line of docs/accuracy.md" for n in LADDERS if n not in seen]


def record(path, comments, rows):
    with open(path, "w", newline="", encoding="utf-8") as f:
        f.writelines(c + "\n" for c in comments)
        table = csv.DictWriter(f, rows[0].keys(), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def moved(row, error):
    """A row that failed, or whose error is no longer the recorded one."""
    return error is None or (row["error_pct"] and abs(error - float(row["error_pct"])) > TOLERANCE)


def run_ladder(name, args):
    """True: no row failed or moved. Rows that ran are appended to args.done."""
    ladder, path = LADDERS[name], DATA / f"{name}.csv"
    comments, rows = read_rows(path)
    chosen = [r for r in rows if args.step in (None, r["id"])]
    if not chosen:
        sys.exit(f"{name}: no step '{args.step}'")
    print(f"{name}: {ladder.repository}, commit {ladder.commit[:8]}\n"
          f"  {'step':28} {'published us':>12} {'here us':>12} {'error':>11}", flush=True)
    source = repository_of(ladder, args.sources)
    programs = [build(name, ladder, r, source, args.work) for r in chosen]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        errors = list(pool.map(lambda r, p: run_row(name, ladder, r, p, args.work, args.more), chosen, programs))
    good = [(r, e) for r, e in zip(chosen, errors) if e is not None]
    pairs = [(whole_us(ladder, r), e) for r, e in good if held_out(r)]
    if len(pairs) > 1:
        print("  " + summary(pairs))
    args.done += [(name, r["id"], e) for r, e in good]
    worse = any(moved(r, e) for r, e in zip(chosen, errors))
    if args.record:
        for r, e in good:
            r["error_pct"] = f"{e:.1f}"
        record(path, comments, rows)
    return len(good) == len(chosen) and bool(args.record or args.more or not worse)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", type=pathlib.Path, nargs="?")
    parser.add_argument("work", type=pathlib.Path, nargs="?")
    parser.add_argument("--only", default="")
    parser.add_argument("--set", action="append", default=[], dest="changes")
    parser.add_argument("--csv", type=pathlib.Path)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    if args.list or args.check:
        for name in LADDERS if args.list else []:
            print(f"{name:22} {summary(recorded([name]))}")
        wrong = check((ROOT / "docs/accuracy.md").read_text(encoding="utf-8")) if args.check else []
        print("".join(w + "\n" for w in wrong), end="")
        return 1 if wrong else 0
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
        lines = ["ladder,step,error_pct", *(f"{n},{s},{e:.1f}" for n, s, e in args.done)]
        args.csv.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0 if all(status) else 1


if __name__ == "__main__":
    sys.exit(main())
