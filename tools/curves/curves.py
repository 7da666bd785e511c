#!/usr/bin/env python3
"""Runs the memory curves of bench/curves on the simulator and compares them with measured silicon.

  curves.py [--all] [--tap] [--jobs N] [--only TEST[,PRESET[,X]]]

data/curves/*.csv hold what was measured: one point per row (test, preset, x, value, tolerance in
percent, set: quick or full, source). Points that are known to miss are listed with their cause in
tests/curves/gaps.csv: a listed point that has come within its tolerance fails, so that the list stays true.
Without --all only the quick points run. BIN names the program (build/warpstep)."""
import argparse
import concurrent.futures
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = os.environ.get("BIN", str(ROOT / "build/warpstep"))
LINE, SECTORS_SLOTS = 128, 16
FP64_OPERATIONS = 128  # in a round of bench/curves/fp64.cu; the source divides by it where chains leave a rest, too


def simulate(preset, kernel, grid, block, buffers, args, shmem=0, sets=(), program="curves/curves", warm_up=0):
    """One run of a program of bench/, behind `warm_up` launches of it that do not count; returns its statistics and
    the first eight bytes of its last buffer."""
    sm = sm_of(preset)
    with tempfile.TemporaryDirectory() as out:
        command = [BIN, "run", f"{ROOT}/bench/{program}.sm_{sm}.cubin", "--gpu", preset,
                   "--kernel", kernel, "--grid", str(grid), "--block", str(block), "--shmem",
                   str(shmem), "--quiet", "--json", f"{out}/r.json", "--out", out, "--warm-up", str(warm_up)]
        for b in buffers:
            command += ["--buf", b]
        for a in args:
            command += ["--arg", str(a)]
        for s in sets:
            command += ["--set", s]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}\n{done.stderr}")
        result = json.loads(pathlib.Path(f"{out}/r.json").read_text())
        buf = pathlib.Path(f"{out}/out.bin")
        first = int.from_bytes(buf.read_bytes()[:8], "little") if buf.exists() else 0
    return result["stats"], first


PARAMS = {}


def params(preset):
    if preset not in PARAMS:
        text = subprocess.run([BIN, "gpus", "--resolve", preset], text=True,
                              capture_output=True, check=False).stdout
        PARAMS[preset] = parse_params(text)
    return PARAMS[preset]


def parse_params(text):
    values = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) >= 2:
            values[words[0]] = words[1]
    return values


def number(preset, key):
    return int(params(preset)[key])


def sm_of(preset):
    return number(preset, "arch.sm")


def cycles(stats):
    return stats["gpu"]["cycles"] - stats["gpu"]["launch_cycles"]


def gigabytes_per_second(preset, nbytes, ncycles):
    return nbytes / ncycles * number(preset, "gpu.clock_khz") * 1e3 / 1e9


# --- the tests: x -> value ----------------------------------------------------------------------

SOURCE_LOADS = 1_000_000  # of each launch of the chase that was measured; all launches begin at the same line


def chase(preset, lines, warm, timed, warm_up=0):
    """Cycles of `timed` loads of one thread. One SM works: a board of two takes as long as all."""
    return simulate(preset, "chase", 1, 1, [f"b:u64:{lines * 16}:chain,step=16,seed=1", "out:u64:2:zero"],
                    ["b", f"u32:{warm}", f"u32:{timed}", "out"], sets=["gpu.sms=2"], warm_up=warm_up)[1]


def warm_latency(preset, kib):
    """Pointer chase of one thread through `kib` KiB: cycles per load, behind many others."""
    lines = round(kib * 1024 / LINE)
    l2 = number(preset, "l2.bytes")
    if lines <= 4096:
        warm = lines * SECTORS_SLOTS
    elif lines * LINE <= 2 * l2:
        warm = 2 * lines
    else:
        warm = 8192  # every load misses, visited or not
    warm = (warm + 31) // 32 * 32
    return chase(preset, lines, warm, 8192) / 8192


def last_round_is_left(lines, preset, l2):
    """Does a launch end in the middle of a round, and find the lines of that piece in L2 (or in their SM's half of it)
    when it begins anew? Only where there are few rounds this changes the mean."""
    part = l2 // int(params(preset).get("l2.partitions", "1"))
    left = SOURCE_LOADS % lines
    return 0.9 * part < lines * LINE and lines < SOURCE_LOADS <= 6 * lines and left * LINE < 1.25 * l2


def latency(preset, kib):
    """Pointer chase of one thread through `kib` KiB, as measured: the third of three equal launches of 1,000,000 loads
    (a round, if that is more), cycles per load. Launches begin with an empty L1 and what L2 still holds. Most of their
    loads are alike, so only some of these are run, but where the end of a round matters."""
    lines = round(kib * 1024 / LINE)
    l2 = number(preset, "l2.bytes")
    if last_round_is_left(lines, preset, l2):
        return chase(preset, lines, 0, SOURCE_LOADS, warm_up=1) / SOURCE_LOADS
    steady = warm_latency(preset, kib)
    if lines > 4096:
        return steady
    first = (lines * SECTORS_SLOTS + 31) // 32 * 32
    return (chase(preset, lines, 0, first, warm_up=1) + (SOURCE_LOADS - first) * steady) / SOURCE_LOADS


def page_latency(preset, mib):
    """The same with one line in every 2 MiB: the TLB's curve."""
    pages = int(mib) // 2
    warm = (pages * SECTORS_SLOTS + 31) // 32 * 32
    timed = 4096
    _, took = simulate(preset, "chase", 1, 1,
                       [f"b:u64:{pages * 262144}:chain,step=262144,seed=1", "out:u64:2:zero"],
                       ["b", f"u32:{warm}", f"u32:{timed}", "out"],
                       sets=["l1.set_hash=linear", "l1.sets=8",
                             "l1.data_max=1024"])  # all in one way: the loads go on to L2, as measured
    return took / timed


def per_round(preset, kernel, buffers, args, rounds, block=1024, grid=1, sets=(), program="curves/curves"):
    """Cycles of a round: the difference of two runs of different length, `rounds`."""
    took = [cycles(simulate(preset, kernel, grid, block, buffers, args + [f"u32:{r}"],
                            sets=sets, program=program)[0]) for r in rounds]
    return (took[1] - took[0]) / (rounds[1] - rounds[0])


def stride(preset, floats):
    """Cycles of a warp-wide 32-bit load that hits L1."""
    got = per_round(preset, "strides", ["a:f32:8192:zero", "o:f32:1024:zero"],
                    ["a", "o", "u32:0", f"u32:{int(floats)}"], (32, 96), sets=["gpu.sms=1"])
    return got / (32 * 8)


def l1_read(preset, width):
    """Bytes per cycle and SM of loads of `width` bytes per lane from L1."""
    width = int(width)
    kernel = {4: "read32", 8: "read64", 16: "read128"}[width]
    n = 8 * 1024 * 4 // width * (width // 4)  # 8 loads of 1,024 threads
    got = per_round(preset, kernel, [f"a:u8:{n * width}:zero", "o:u8:16384:zero"],
                    ["a", "o", "u32:0", f"u32:{n}"], (8, 24), sets=["gpu.sms=1"])
    return n * width / got


def shared_store(preset, width):
    """The same for stores to shared memory."""
    got = per_round(preset, {4: "sts32", 8: "sts64"}[int(width)], ["o:u8:16384:zero"],
                    ["o", "u32:0"], (16, 48), sets=["gpu.sms=1"])
    return 1024 * 8 * int(width) / got


def shared_buffer(preset, kib):
    """One CTA per SM, all read the same buffer with 32-bit loads: GB/s. The first round finds nothing in L2, and in the
    second the SMs that came last catch up: it takes 80 % of the later ones. What L2 does not hold is read the same way
    in every round."""
    n = int(kib) * 256 // 8192 * 8192
    sms = number(preset, "gpu.sms")
    got = per_round(preset, "read32", [f"a:f32:{n}:zero", "o:f32:1024:zero"],
                    ["a", "o", "u32:0", f"u32:{n}"],
                    (2, 4) if n * 4 <= number(preset, "l2.bytes") else (1, 2), grid=sms)
    return gigabytes_per_second(preset, n * 4 * sms, got)


def l2_shares(preset, kib):
    """Two CTAs of 1,024 threads per SM read shares of distinct data, several CTAs each: GB/s."""
    share = 8192  # doubles: 64 KiB
    shares = int(kib) // 64
    sms = number(preset, "gpu.sms")
    per_sm = 2 if sm_of(preset) in (80, 90) else 1
    buffers = [f"b:f64:{shares * share}:zero", "o:f64:1024:zero"]
    args = ["b", "o", f"u32:{shares}", f"u32:{share}"]
    first = -(-shares // (sms * per_sm)) * sms * per_sm  # whole waves that touch all data
    grids = (first + 4 * sms * per_sm, first + 12 * sms * per_sm)
    took = [cycles(simulate(preset, "read_shares", g, 1024, buffers, args)[0]) for g in grids]
    return gigabytes_per_second(preset, (grids[1] - grids[0]) * share * 8, took[1] - took[0])


def stream(kernel, arrays):
    def measure(preset, threads):
        """A stream of doubles from and to DRAM at `threads` threads per SM: GB/s of useful data. As in the source the
        arrays lie where they lie, however long the run: how far they are apart decides which channels of DRAM read and
        write at the same time (docs/accuracy-tried.md, "Channels in step")."""
        threads = int(threads)
        ctas = 2 if threads > 112 else 1
        block = threads // ctas
        shmem = number(preset, "sm.shared_bytes") // ctas - 2048
        shmem = min(shmem, number(preset, "sm.shared_per_cta_max")) // 256 * 256
        per_wave = block * ctas * number(preset, "gpu.sms")
        waves = stream_waves(preset, per_wave, arrays)
        buffers = [f"{name}:f64:{waves[1] * per_wave}:zero" for name in "ab"]
        took, elements = [], []
        for n in (w * per_wave for w in waves):
            stats, _ = simulate(preset, kernel, n // block, block, buffers, ["a", "b", f"u32:{n}"], shmem)
            took.append(cycles(stats))
            elements.append(n)
        return gigabytes_per_second(preset, (elements[1] - elements[0]) * 8 * arrays,
                                    took[1] - took[0])
    return measure


def stream_waves(preset, per_wave, arrays):
    """Two lengths, in waves of CTAs. What is written must have filled L2 in the shorter run."""
    l2 = number(preset, "l2.bytes") if arrays == 2 else 0
    first = max(4, -(-l2 // (per_wave * 8)))
    return first, first + max(8, first // 2)


def l2_stream(kernel, arrays):
    def measure(preset, threads):
        """The same within L2, arrays of 768 KiB, two CTAs per SM: GB/s of useful data."""
        block, n = int(threads) // 2, 98304
        sms = number(preset, "gpu.sms")
        shmem = (number(preset, "sm.shared_bytes") // 2 - 2048) // 256 * 256
        shmem = min(shmem, number(preset, "sm.shared_per_cta_max") // 256 * 256)
        buffers = [f"{b}:f64:{n}:zero" for b in "abcd"]
        warm = -(-n // (2 * sms * block))  # waves that touch all
        waves = (warm + 2, warm + 8)
        took = [cycles(simulate(preset, kernel, 2 * sms * w, block, buffers, [*"abcd", f"u32:{n}"], shmem)[0])
                for w in waves]
        data = (waves[1] - waves[0]) * 2 * sms * block * 8 * arrays
        return gigabytes_per_second(preset, data, took[1] - took[0])
    return measure


def fp64(kernel):
    def measure(preset, warps):
        """Cycles of a warp's FP64 operation on one SM with so many warps."""
        got = per_round(preset, kernel, ["o:f64:4096:zero"], ["f64:0.32", "o"], (4, 8), 32 * int(warps),
                        sets=["gpu.sms=1"], program="curves/fp64")
        return got / FP64_OPERATIONS / warps
    return measure


# Kernels of bench/latency/latency.py: chains, and by what the source divides the cycles of the other ones.
CHAIN_LENGTHS = (32, 64)
DIVIDED_BY = {"Nop": 4, "MovSpec": 2, "Cvt": 3, "Div": 2, "DivU": 2, "Rem": 2, "RemU": 2, "Mul24Lo": 2, "Mul24Hi": 2,
              "Popc": 3, "Clz": 4, "Bfind": 3, "Brev": 4, "Bfe": 4, "Cnot": 2, "FDiv": 2, "DFDiv": 2, "Rcp": 3,
              "FastRcp": 3, "DRcp": 2, "Sqrt": 3, "DSqrt": 2, "FastSqrt": 3, "Rsqrt": 3, "FastDRsqrt": 4, "Sin": 1,
              "Ex2": 3}


def between_clocks(preset, kernel, sets=()):
    """Cycles between the clock reads of a kernel of one thread, and its warp instructions."""
    stats, first = simulate(preset, kernel, 1, 1, ["out:u32:64:zero"], ["out"], sets=sets, program="latency/latency")
    return first & 0xFFFFFFFF, stats["warp_insts"]


def instruction(preset, name):
    """Cycles of an operation. Chains: of each instruction, from the difference of two lengths, which are longer than the
    source's and would wait for code. Else the rule of the source: cycles between the clock reads less those of a pair of
    reads alone, divided by operations, rounded down."""
    if name in DIVIDED_BY:
        alone = between_clocks(preset, "Ovhd")[0]
        return (between_clocks(preset, name)[0] - alone) // DIVIDED_BY[name]
    if name == "Ovhd":
        return between_clocks(preset, name)[0]
    short, long = (between_clocks(preset, f"{name}_{n}", ["icache.perfect=true"]) for n in CHAIN_LENGTHS)
    return (long[0] - short[0]) / (long[1] - short[1])


TESTS = {
    **{f"fp64_fma{n}": fp64(f"fma{n}") for n in range(1, 9)}, "fp64_root": fp64("roots"), "instruction": instruction,
    "latency": latency, "warm_latency": warm_latency, "page_latency": page_latency,
    "stride": stride, "l1_read": l1_read,
    "shared_store": shared_store, "shared_buffer": shared_buffer, "l2_shares": l2_shares,
    "stream_init": stream("stream_init", 1), "stream_read": stream("stream_read", 1),
    "stream_scale": stream("stream_scale", 2),
    "l2_write": l2_stream("l2_write", 1), "l2_scale": l2_stream("l2_scale", 2), "l2_triad": l2_stream("l2_triad", 4),
}


# --- comparing ------------------------------------------------------------------------------------

def read_csv(path):
    with open(path, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(line for line in f if not line.startswith("#")))


def points(all_points, only):
    for path in sorted((ROOT / "data/curves").glob("*.csv")):
        for p in read_csv(path):
            if not all_points and p["set"] != "quick":
                continue
            if only and [p["test"], p["preset"], p["x"]][:len(only)] != only:
                continue
            yield p


def verdict(point, got, gaps):
    """One line: ok or not ok, the figures, and the cause of a known gap."""
    want, tolerance = float(point["value"]), float(point["tolerance_pct"])
    error = 100 * (got / want - 1)
    gap = gaps.get((point["test"], point["preset"], point["x"]))
    near = abs(error) <= tolerance
    name = f"curve {point['test']} {point['preset']} {point['x']}"
    figures = f"{got:.4g}, measured {want:.4g} ({error:+.1f} %, may be {tolerance:g} %)"
    if gap and near:
        return False, f"not ok {name}: {figures}: the gap has closed, take it out of gaps.csv"
    if gap:
        return True, f"ok {name}: known gap: {figures}: {gap}"
    return near, f"{'ok' if near else 'not ok'} {name}: {figures}"


def run_point(point, gaps):
    try:
        x = point["x"] if point["test"] == "instruction" else float(point["x"])
        return verdict(point, TESTS[point["test"]](point["preset"], x), gaps)
    except (RuntimeError, KeyError, ValueError) as e:
        return False, f"not ok curve {point['test']} {point['preset']} {point['x']}: {e!r}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="also the points of the full set")
    parser.add_argument("--tap", action="store_true", help="print passing points, too")
    parser.add_argument("--jobs", type=int, default=int(os.environ.get("JOBS", "2")))
    parser.add_argument("--only", help="TEST; TEST,PRESET; or one point: TEST,PRESET,X")
    options = parser.parse_args()
    tap = options.tap or os.environ.get("CMOCKA_MESSAGE_OUTPUT") == "TAP"
    gaps = {(g["test"], g["preset"], g["x"]): g["cause"]
            for g in read_csv(ROOT / "tests/curves/gaps.csv")}
    todo = list(points(options.all, options.only and options.only.split(",")))
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for ok, line in pool.map(lambda p: run_point(p, gaps), todo):
            failed += not ok
            if tap or not ok:
                print(line, flush=True)
    print(f"curves: {len(todo) - failed} passed, {failed} failed")
    sys.exit(1 if failed or not todo else 0)


if __name__ == "__main__":
    main()
