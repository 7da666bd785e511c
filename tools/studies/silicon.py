#!/usr/bin/env python3
"""Settings of the core against silicon: the mean error of each, beside the published one.

  tools/studies/silicon.py [--bin build/warpstep] [--jobs 2] [--keep DIR] >docs/studies/silicon.md

Every setting of Tables 5 to 7 of Huerta et al., MICRO 2025, and every issue policy, is run with `warpstep validate --set` over
kernels that were measured on silicon and that the tree can run by itself: the SGEMM ladder of an RTX A6000 and the quick rows of an
RTX 2080 Ti. Published errors are of that paper's simulator over 128 benchmarks on an RTX A6000. Seven minutes of a core.
--keep DIR keeps each run there and does not repeat it.
"""

import argparse
import os
import re
import subprocess
import sys

SUITES = [("SGEMM ladder, rtx-a6000", ["--suite", "gemm-rtx-a6000"]), ("quick rows, rtx-2080ti", ["--suite", "textbook-rtx-2080ti", "--only", "quick"])]

# Question: rows of (what, settings, published mean error in percent; None: not published).
STUDIES = [
    ("Instruction prefetcher (Table 5)", [
        ("off", ["l0i.stream_lines=0"], 45.55),
        ("1 line", ["l0i.stream_lines=1"], 35.09),
        ("2 lines", ["l0i.stream_lines=2"], 22.82),
        ("4 lines", ["l0i.stream_lines=4"], 15.63),
        ("8 lines", ["l0i.stream_lines=8"], 13.45),
        ("16 lines", ["l0i.stream_lines=16"], 13.51),
        ("32 lines", ["l0i.stream_lines=32"], 13.52),
        ("perfect instruction cache", ["icache.perfect=true"], 15.52),
    ]),
    ("Register file (Table 6)", [
        ("1 read port, cache", [], 13.45),
        ("1 read port, no cache", ["regfile.cache=false"], 17.56),
        ("2 read ports, no cache", ["regfile.cache=false", "regfile.read_ports=2"], 13.26),
        ("ideal", ["regfile.perfect=true"], 13.27),
    ]),
    ("Dependences (Table 7)", [
        ("control bits", [], 13.45),
        ("scoreboard, 1 reader", ["issue.dependence=scoreboard", "scoreboard.consumers=1"], 20.41),
        ("scoreboard, 3 readers", ["issue.dependence=scoreboard", "scoreboard.consumers=3"], 15.21),
        ("scoreboard, 63 readers", ["issue.dependence=scoreboard", "scoreboard.consumers=63"], 14.71),
        ("scoreboard, any number", ["issue.dependence=scoreboard", "scoreboard.consumers=0"], 14.71),
    ]),
    ("Issue policy", [
        ("cggty", [], None),
        ("gto", ["issue.policy=gto"], None),
        ("oldest", ["issue.policy=oldest"], None),
        ("lrr", ["issue.policy=lrr"], None),
    ]),
]

# The line of all held-out rows: n, mean, p50, p90, worst, bias, r, rank, slope.
SUMMARY = re.compile(r"all, held out +(\d+) +(\S+) +\S+ +(\S+) +(\S+) +(\S+) +\S+ +(\S+)")


def errors(options, suite, settings):
    """Mean and bias in percent and rank correlation of a suite under settings."""
    command = [options.bin, "validate", *suite, "--quiet", "--jobs", str(options.jobs)]
    if options.keep:
        where = os.path.join(options.keep, "-".join([suite[1], *settings]))
        os.makedirs(where, exist_ok=True)
        command += ["--keep", where]
    for setting in settings:
        command += ["--set", setting]
    done = subprocess.run(command, capture_output=True, text=True)
    found = SUMMARY.search(done.stdout)
    if not found:
        sys.exit("%s: no line of held-out rows; %s" % (" ".join(command), done.stderr.strip()[-300:]))
    print(" ".join(settings) or "the preset", found.group(0), file=sys.stderr)
    return found.group(2), found.group(5), found.group(6)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/warpstep")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep")
    options = parser.parse_args()
    known = {}
    print("# Settings of the core against silicon\n")
    print("Printed by `tools/studies/silicon.py`; what it says is in [studies.md](../studies.md). Mean error, bias and rank correlation over the held-out")
    print("rows of a suite of `warpstep validate`; published: mean error over 128 benchmarks on an RTX A6000 (Huerta et al., MICRO 2025).")
    for title, rows in STUDIES:
        print("\n## %s\n" % title)
        print("| | published, % |" + "".join(" %s: mean, %% | bias, %% | rank |" % name for name, _ in SUITES))
        print("|---|---|" + "---|---|---|" * len(SUITES))
        for what, settings, published in rows:
            line = "| %s | %s |" % (what, "" if published is None else "%.2f" % published)
            for name, suite in SUITES:
                key = (name, tuple(settings))
                if key not in known:
                    known[key] = errors(options, suite, settings)
                mean, bias, rank = known[key]
                line += " %s | %s | %s |" % (mean, bias, rank)
            print(line, flush=True)


if __name__ == "__main__":
    main()
