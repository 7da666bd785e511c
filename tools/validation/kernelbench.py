#!/usr/bin/env python3
"""Times operators of PyTorch and prints the error beside what KernelBench measured on six boards (data/kernelbench).

  kernelbench.py SOURCE PYTHON [--only BOARD[,PROBLEM]] [--set KEY=VALUE] [--jobs N] [--record]
  kernelbench.py --table | --check

SOURCE: github.com/ScalingIntelligence/KernelBench at commit 7dd9cfa. PYTHON: an interpreter with PyTorch 2.5.0 (its
package of CUDA 12.4, whose kernels these are). One call of an operator runs without time, the next one in time, between
two events as there. What a launch costs the host's own thread is in the published times: a board's shortest operator
(split `floor`) says how much that is, and both sides are compared beyond it. --record writes the errors to the data.
--table prints the recorded errors as docs/accuracy.md has them, --check looks whether it has. Status 1: a row did not
run. A row takes 1 to 5 minutes of a processor. BIN: the program (build/warpstep)."""
import argparse
import concurrent.futures
import csv
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "data/kernelbench/eager.csv"
BIN = os.environ.get("BIN", str(ROOT / "build/warpstep"))
PRESETS = {"H100_together": ("h100",), "A100_modal": ("a100",), "L40S_matx3": ("l40s",), "L4_modal": ("l4",),
           "T4_modal": ("t4",), "A10G_modal": ("a10", "--set", "gpu.sms=80", "--clock", "1710")}

OPERATORS = {"5": "product with a scalar", "35": "group norm", "36": "RMS norm", "37": "Frobenius norm",
             "40": "layer norm, 16 CTAs", "43": "max pooling, 3D", "45": "average pooling, 2D",
             "46": "average pooling, 3D"}

PROGRAM = """
import sys, torch
names, calls = {}, int(sys.argv[2])
exec(compile(open(sys.argv[1]).read(), sys.argv[1], "exec"), names)
def there(values):
    return [v.cuda() if isinstance(v, torch.Tensor) else v for v in values]
with torch.no_grad():
    torch.manual_seed(42)
    inputs = there(names["get_inputs"]())
    model = names["Model"](*there(names["get_init_inputs"]())).cuda()
    torch.cuda.synchronize()
    for _ in range(calls):
        events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
        events[0].record()
        model(*inputs)
        events[1].record()
        torch.cuda.synchronize()
        print("took", events[0].elapsed_time(events[1]), flush=True)
"""


def read_rows():
    with open(DATA, encoding="utf-8") as f:
        return list(csv.DictReader(line for line in f if not line.startswith("#")))


def write_rows(rows):
    head = [line for line in DATA.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    with open(DATA, "w", encoding="utf-8") as f:
        f.write("\n".join(head) + "\n")
        out = csv.DictWriter(f, list(rows[0]), lineterminator="\n")
        out.writeheader()
        out.writerows(rows)


def cell(rows, board, problem):
    row = next(r for r in rows if (r["board"], r["problem"]) == (board, problem))
    if not row["error_pct"]:
        return ""
    return f"{float(row['error_pct']):+.1f}" + (" (fitted)" if row["split"] == "fitted" else "")


def table(rows):
    """The recorded errors in percent, and for each board the mean of the held-out ones."""
    yield "| operator | " + " | ".join(b.split("_")[0] for b in PRESETS) + " |"
    yield "|---|" + "--:|" * len(PRESETS)
    for problem, name in OPERATORS.items():
        cells = [cell(rows, b, problem) for b in PRESETS]
        if any(cells):
            yield f"| {problem}: {name} | " + " | ".join(cells) + " |"
    errors = [abs(float(r["error_pct"])) for r in rows if r["error_pct"] and r["split"] == "held-out"]
    yield f"{len(errors)} held-out rows: mean {statistics.mean(errors):.1f} %, worst {max(errors):.1f} %."


class Runner:
    """Runs problems on the simulator."""

    def __init__(self, args, work):
        self.args, self.work = args, pathlib.Path(work)
        (self.work / "timed_operator.py").write_text(PROGRAM, encoding="utf-8")

    def run(self, options, problem, calls):
        source = next(pathlib.Path(self.args.source, "KernelBench/level1").glob(f"{problem}_*.py"))
        return subprocess.run([BIN, "exec", "--quiet", *options, self.args.python, str(self.work / "timed_operator.py"),
                               str(source), str(calls)], capture_output=True, text=True, check=False)

    def launches(self, problem):
        """Of one call: the first of the second call is the one behind."""
        report = self.work / f"{problem}.json"
        if not report.exists():
            done = self.run(["--gpu", "a100", "--functional", "--json", str(report)], problem, 1)
            if done.returncode:
                sys.exit(f"kernelbench.py: problem {problem}: {done.stderr.strip()[-300:]}")
        return len(json.loads(report.read_text(encoding="utf-8"))["launches"])

    def milliseconds(self, row):
        n = self.launches(row["problem"])
        sets = [word for s in self.args.set for word in ("--set", s)]
        done = self.run(["--gpu", *PRESETS[row["board"]], *sets, "--time-kernels", f"{n + 1}..{2 * n}"],
                        row["problem"], 2)
        took = re.findall(r"^took ([\d.]+)", done.stdout, re.M)
        if done.returncode or len(took) != 2:
            print(f"{row['board']} {row['problem']}: {done.stderr.strip()[-300:]}", file=sys.stderr)
            return None
        return float(took[1])


def show(rows, check):
    """Prints the table, or what docs/accuracy.md lacks of it. True: it lacks something."""
    page = (ROOT / "docs/accuracy.md").read_text(encoding="utf-8").splitlines()
    lines = [line for line in table(rows) if not check or line not in page]
    print("\n".join(lines))
    return check and bool(lines)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("source", nargs="?")
    parser.add_argument("python", nargs="?")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--record", action="store_true")
    args = parser.parse_args()
    rows = read_rows()
    if args.table or args.check:
        return show(rows, args.check)
    if not args.python:
        parser.error("SOURCE and PYTHON are missing")
    board, _, problem = args.only.partition(",")
    chosen = [r for r in rows if (not board or r["board"] == board)
              and (not problem or r["problem"] == problem or r["split"] == "floor")]
    with tempfile.TemporaryDirectory() as work:
        runner = Runner(args, work)
        for p in {r["problem"] for r in chosen}:
            runner.launches(p)
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            took = list(pool.map(runner.milliseconds, chosen))
    floors = {r["board"]: (float(r["published_ms"]), t) for r, t in zip(chosen, took) if r["split"] == "floor"}
    errors = []
    for row, simulated in zip(chosen, took):
        if simulated is None or row["split"] == "floor":
            continue
        published, floor = float(row["published_ms"]), floors[row["board"]]
        error = 100 * ((simulated - floor[1]) / (published - floor[0]) - 1)
        print(f"{row['board']:14} {row['problem']:>3} {row['split']:9} published {published:8.4f} ms, "
              f"simulated {simulated - floor[1] + floor[0]:8.4f} ms, {error:+6.1f} %", flush=True)
        row["error_pct"] = f"{error:.1f}"
        if row["split"] == "held-out":
            errors.append(abs(error))
    if errors:
        print(f"held-out rows: {len(errors)}, mean {statistics.mean(errors):.1f} %")
    if args.record:
        write_rows(rows)
    return None in took


if __name__ == "__main__":
    sys.exit(main())
