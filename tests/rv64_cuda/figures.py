#!/usr/bin/env python3
"""A line of tests/rv64_cuda/figures.txt: WHAT, then figures of a run of tests/rv64_cuda/programs/scenarios.cu, of its JSON document and of
the time that it prints.

    figures.py WHAT JSON TEXT
"""
import json
import re
import sys

CPU = ("insts", "l1d_misses", "l2_misses")
GPU_L2 = ("read_asks", "write_asks", "of_caches", "lost_sectors", "forwards", "ungranted")


def main():
    what, document, text = sys.argv[1:]
    run = json.load(open(document))
    cores = run["cpu"]
    figures = {"work_ns": int(re.search(r"time (\d+) ns", open(text).read()).group(1)), "time_ps": cores["time_ps"]}
    figures |= {key: cores["cpu"][key] for key in CPU}
    figures |= {"messages": cores["network"]["messages"]}
    figures |= {key: cores["gpu_l2"][key] for key in GPU_L2 if "gpu_l2" in cores}
    figures |= {"kernel_cycles": sum(launch["cycles"] for launch in run["launches"])}
    print(what, *(f"{key}={value}" for key, value in figures.items()))


if __name__ == "__main__":
    main()
