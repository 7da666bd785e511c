#!/usr/bin/env python3
"""What the presets derive of each board beside what its vendor prints (data/boards/peaks.csv).

  peaks.py [--presets DIR] [--tap]

The figures are those of `warpstep gpus`: SMs, FP32 of all lanes, products of the tensor cores, bandwidth of device
memory, L2. Every preset must have a row. BIN names the program (build/warpstep)."""
import argparse
import csv
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = os.environ.get("BIN", str(ROOT / "build/warpstep"))
COLUMNS = ["sms", "mhz", "tflops", "tensor", "gbps", "gib", "l2_mib"]  # the last ones of a line, behind the product's name
NO_SHEET = {"rtx-3060-laptop"}


def derived(presets):
    """preset -> figures by name."""
    command = [BIN, "gpus"] + (["--presets", presets] if presets else [])
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr.strip())
    found = {}
    for line in done.stdout.splitlines()[1:]:
        words = line.split()
        found[words[0]] = dict(zip(COLUMNS, map(float, words[-len(COLUMNS):])))
    return found


def sheets():
    lines = (ROOT / "data/boards/peaks.csv").read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def check(row, board):
    """One line: ok or not ok, and the figures."""
    got, want = board[row["quantity"]], float(row["value"])
    if row["at_mhz"]:
        got *= float(row["at_mhz"]) / board["mhz"]
    error = 100 * (got / want - 1)
    fine = abs(error) <= float(row["tolerance_pct"])
    return fine, (f"{'ok' if fine else 'not ok'} board {row['preset']} {row['quantity']}: {got:g}, printed {want:g} "
                  f"({error:+.2f} %, may be {row['tolerance_pct']}; {row['source']})")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--presets", help="where the presets are")
    parser.add_argument("--tap", action="store_true", help="print what agrees, too")
    options = parser.parse_args()
    boards, rows = derived(options.presets), sheets()
    verdicts = [check(row, boards[row["preset"]]) for row in rows if row["preset"] in boards]
    verdicts += [(False, f"not ok board {row['preset']}: no such preset") for row in rows if row["preset"] not in boards]
    named = {row["preset"] for row in rows} | NO_SHEET
    verdicts += [(False, f"not ok board {name}: data/boards/peaks.csv has nothing of it") for name in boards.keys() - named]
    failed = sum(not fine for fine, _ in verdicts)
    for fine, line in verdicts:
        if options.tap or os.environ.get("CMOCKA_MESSAGE_OUTPUT") == "TAP" or not fine:
            print(line)
    print(f"boards: {len(verdicts) - failed} figures agree, {failed} do not")
    sys.exit(1 if failed or not rows else 0)


if __name__ == "__main__":
    main()
