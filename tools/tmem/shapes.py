#!/usr/bin/env python3
"""Products into tensor memory (tcgen05.mma) by shape, run in time as a program and held against cycles measured on a B200
(data/tmem/b200_shapes.csv). Prints "ok NAME" or "not ok NAME" for intervals and latencies. BIN names the program.

    tools/tmem/shapes.py            all 264, and each that is off
    tools/tmem/shapes.py --every 9  each ninth
    tools/tmem/shapes.py --table    what docs/blocks/tmem.md shows: errors by place of A, CTAs and rows
"""
import argparse
import csv
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
KINDS = {"bf16": 0, "e4m3": 1, "f4": 1, "s8": 2, "mxf8": 3, "mxf4": 3}
FORMATS = {"bf16": 1, "e4m3": 0, "f4": 5, "s8": 1, "mxf8": 0, "mxf4": 5}
RESULTS = {"bf16": 1, "e4m3": 1, "f4": 1, "s8": 2, "mxf8": 0, "mxf4": 0}  # bits 5:4: FP32, S32; with scales their byte
INTERVAL, INTERVAL_SHARE, LATENCY, LATENCY_SHARE = 2, 0.95, 3, 0.98
SHORT, LONG, MOST = 4, 20, 264  # products in the two batches of shapes.cu, room for shapes in a launch
# Measured were they one at a time. In one launch of all, SMs that fetch the same code wait for each other, 15 cycles; in so
# many launches each row gets what it gets alone (all 264 were compared).
LAUNCHES = 12


def descriptor(row):
    """The instruction descriptor (NVIDIA CUTLASS, mma_sm100_desc.hpp)."""
    name, rows, columns = row["format"], int(row["rows"]), int(row["columns"])
    powers = (KINDS[name] == 3) << 23
    return RESULTS[name] << 4 | FORMATS[name] << 7 | FORMATS[name] << 10 | columns // 8 << 17 | powers | rows // 16 << 24


def measured():
    with open(ROOT / "data/tmem/b200_shapes.csv") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def simulate(rows, ctas, folder):
    """{number: (lone, few, many)} of the rows with so many CTAs."""
    records = [(i, KINDS[r["format"]], r["a"] == "tensor", descriptor(r), int(r["rows"]) // ctas, int(r["columns"]) // ctas)
               for i, r in rows if int(r["ctas"]) == ctas]
    if not records:
        return {}
    words = b"".join(struct.pack("<6I", *r) for r in records)
    (folder / f"shapes{ctas}.bin").write_bytes(words.ljust(24 * MOST, b"\0"))
    launch = folder / f"shapes{ctas}.launch"
    launch.write_text(f'''cubin = "{ROOT}/tests/tmem_shapes/shapes.sm_100.cubin"; kernel = "shapes_{'pair' if ctas == 2 else 'one'}";
grid = [{ctas * len(records)}]; block = [128]; shmem = 120000; data = "{folder}";
symbols = {{ shapes = {{ type = "u32"; count = {6 * MOST}; file = "shapes{ctas}.bin"; }}; }};
''')
    command = [os.environ.get("BIN", ROOT / "build/warpstep"), "run", launch, "--gpu", "b200"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = {}
    for line in done.stdout.splitlines():
        word = line.split()
        if len(word) == 5 and word[0] == "shape":
            found[int(word[1])] = tuple(map(int, word[2:]))
    if done.returncode or len(found) != len(records):
        sys.exit(f"not ok tmem_shapes run: {done.stderr.strip()[-400:]}")
    return found


def report(name, errors, limit, share):
    good = sum(abs(e) <= limit for e in errors)
    ok = good >= share * len(errors)
    print(f"{'ok' if ok else 'not ok'} tmem_shapes {name}: {good} of {len(errors)} within {limit} cycles, "
          f"the largest {max(errors, key=abs):+.1f}")
    return ok


def table(rows, errors):
    print("| A | CTAs | rows | shapes | interval: mean, largest error | latency: mean, largest error |\n|---|--:|--:|--:|--:|--:|")
    groups = {}
    for (i, r), e in zip(rows, errors):
        groups.setdefault((r["a"], r["ctas"], r["rows"]), []).append(e)
    for key, es in sorted(groups.items()):
        cells = [f"{sum(abs(e[k]) for e in es) / len(es):.1f}, {max((e[k] for e in es), key=abs):+.1f}" for k in (0, 1)]
        print(f"| {key[0]} | {key[1]} | {key[2]} | {len(es)} | {cells[0]} | {cells[1]} |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--all", action="store_true", help="a line for each shape")
    args = parser.parse_args()
    rows = list(enumerate(measured()))[::args.every]
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for first in range(LAUNCHES):
            for ctas in (1, 2):
                found |= simulate(rows[first::LAUNCHES], ctas, pathlib.Path(folder))
    errors = []
    for i, r in rows:
        lone, few, many = found[i]
        interval = (many - few) / (LONG - SHORT)
        errors.append((interval - float(r["interval"]), lone - int(r["latency"])))
        off = abs(errors[-1][0]) > INTERVAL or abs(errors[-1][1]) > LATENCY
        if args.all or (off and not args.table and args.every == 1):
            print(f"# {r['format']:5} A in {r['a']} memory, {r['ctas']} CTAs, {r['rows']} x {r['columns']}: interval {interval:.2f}, "
                  f"measured {r['interval']}; latency {lone}, measured {r['latency']}")
    if args.table:
        table(rows, errors)
    ok = report("intervals", [e[0] for e in errors], INTERVAL, INTERVAL_SHARE)
    return not (report("latencies", [e[1] for e in errors], LATENCY, LATENCY_SHARE) and ok)


if __name__ == "__main__":
    sys.exit(main())
