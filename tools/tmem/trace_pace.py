#!/usr/bin/env python3
"""The pace of the tensor pipe in a trace that a matrix product recorded of itself on a GPU.

    tools/tmem/trace_pace.py trace_v6.json.gz

The trace is one of gau-nernst/learn-cuda, 02e_matmul_sm100: each warp of a persistent or plain product of pairs of CTAs
wrote down, in nanoseconds, when it waited and issued. A stage is 64 of k: four products of 256 x 256 x 16, 512 cycles of
the pipe. It is done when the copying warp, which waits for the stage's room, goes on, --stages stages later. Where
stages are issued well before they are done the pipe never runs dry, so the interval between stages that are done is its
pace, and 512 cycles by it the clock."""
import argparse
import collections
import gzip
import json
import statistics

CYCLES, PER_TILE, WARPS = 512, 64, 6
SKIP = 10      # first and last stages of a tile, where the pipe fills and another tile begins
WAITED_NS = 100  # shorter waits found the stage done already


def ctas(path):
    """{CTA: {name of an event: [(start, length), ...] in order of one warp}}"""
    with gzip.open(path) as f:
        events = json.load(f)["traceEvents"]
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for e in events:
        warp = e["tid"] - e["pid"]  # the trace adds the number of the SM
        found[warp // WARPS][e["name"]].append((e["ts"], e["dur"]))
    return found


def paces(cta, stages):
    """Of each tile of a CTA that issues: (start, interval between stages done, from issue to done), in ns."""
    issued, room = cta["ISSUE_MMA"], cta["WAIT_MMA"]
    for first in range(0, len(issued) - PER_TILE + 1, PER_TILE):
        done = [(i, room[i + stages][0] + room[i + stages][1])
                for i in range(first + SKIP, first + PER_TILE - SKIP)
                if i + stages < len(room) and room[i + stages][1] >= WAITED_NS]
        if len(done) > 5:
            (i, start), (j, end) = done[0], done[-1]
            yield issued[first][0], (end - start) / (j - i), statistics.mean(t - issued[k][0] for k, t in done)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("trace")
    p.add_argument("--stages", type=int, default=7, help="stages in shared memory (7)")
    a = p.parse_args()
    tiles = sorted(t for cta in ctas(a.trace).values() for t in paces(cta, a.stages))
    waves = collections.defaultdict(list)
    for t in tiles:
        waves[round((t[0] - tiles[0][0]) / 24000)].append(t)
    for n, wave in sorted(waves.items()):
        pace = statistics.mean(t[1] for t in wave)
        ahead = statistics.mean(t[2] for t in wave)
        print(f"wave {n + 1}: {len(wave)} pairs, a stage each {pace:.1f} ns, done {ahead:.0f} ns after its issue: "
              f"{CYCLES / pace * 1000:.0f} MHz")


if __name__ == "__main__":
    main()
