#!/usr/bin/env python3
"""Programs of others that multiply into tensor memory, built and run under `warpstep exec`, without time and with it.

    tools/tmem/acceptance.py --work FOLDER cutlass=DIR kittens=DIR [--only REGEX] [--build]

acceptance.list names the programs; DIR is a checked-out NVIDIA/cutlass, HazyResearch/ThunderKittens. What is built
stays in FOLDER and is not built again. Prints a row of a Markdown table for each program: its arguments, what it said
about its results without time and in time, seconds of processor time of both runs, and the cycles of each timed launch.
--build only builds. BIN names the simulator, NVCC the compiler. The exit status is 1 when a program is not right, 2 for
wrong arguments."""
import argparse
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = os.environ.get("BIN", str(ROOT / "build/warpstep"))
NVCC = os.environ.get("NVCC", "nvcc")
FIELDS = "name repository source target preset timed arguments changes options right".split()
INCLUDES = {"cutlass": ["include", "tools/util/include", "examples/common"], "kittens": ["include", "prototype"]}
BUILD_LIMIT, RUN_LIMIT = 3600, 1800  # seconds


def programs(only):
    for line in (ROOT / "tools/tmem/acceptance.list").read_text().splitlines():
        if line and not line.startswith("#"):
            row = dict(zip(FIELDS, line.split("|"), strict=True))
            if re.search(only, row["name"]):
                yield row


def copied(row, source, folder):
    """The source and those beside it, in a folder of their own with the list's changes made."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for file in source.parent.glob("*.cu"):
        shutil.copy(file, folder)
    if row["changes"]:
        before = {file: file.read_text() for file in folder.glob("*.cu")}
        subprocess.run(["sed", "-i", "-E", row["changes"], *before], check=True)
        if all(file.read_text() == text for file, text in before.items()):
            sys.exit(f"nothing to change in {source}: another commit?")
    return folder / source.name


def built(row, repository, work):
    """The program, compiled where it is not there yet; None when the compiler fails (its words are in NAME.log)."""
    app = work / row["name"]
    if not app.exists():
        source = repository / row["source"]
        copy = copied(row, source, work / f"{row['name']}.src")
        command = [NVCC, "-std=c++17", "-DNDEBUG", "--expt-relaxed-constexpr", "-cudart", "shared", "-w"]
        command += [f"-gencode=arch=compute_{row['target']},code=sm_{row['target']}", *row["options"].split()]
        command += [f"-I{repository / at}" for at in INCLUDES[row["repository"]]] + [f"-I{source.parent}"]
        command += ["-o", app, copy, "-lcuda"]
        with open(work / f"{row['name']}.log", "w") as log:
            subprocess.run(command, stdout=log, stderr=log, timeout=BUILD_LIMIT, check=False)
    return app if app.exists() else None


def run(row, app, way, launches):
    """(right, seconds of processor time) of one run."""
    command = [BIN, "exec", "--quiet", "--gpu", row["preset"], *way, app, *row["arguments"].split()]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return f"no end within {RUN_LIMIT} s", RUN_LIMIT
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    launches.with_suffix(".out").write_text(done.stdout + done.stderr)
    right = done.returncode == 0 and row["right"] in done.stdout
    return "right" if right else "wrong", after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def timed_cycles(file):
    return [launch["cycles"] for launch in json.loads(file.read_text())["launches"] if launch.get("cycles")]


def row_of(row, app, work):
    """The row of the table, and whether both runs were right."""
    file = work / f"{row['name']}.json"
    plain, plain_s = run(row, app, ["--functional"], file)
    timed, timed_s = run(row, app, ["--time-kernels", row["timed"], "--json", file], file)
    cycles = ", ".join(f"{c:,}" for c in timed_cycles(file)) if timed == "right" else "-"
    size, seconds = row["arguments"] or row["changes"], f"{plain_s:.1f}, {timed_s:.1f}"
    words = [row["name"], row["preset"], size, f"{plain}, {timed}", seconds, cycles]
    return "| " + " | ".join(words) + " |", (plain, timed) == ("right", "right")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repositories", nargs="+", metavar="NAME=DIR")
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--only", default=".")
    parser.add_argument("--build", action="store_true")
    arguments = parser.parse_args()
    pairs = (argument.partition("=") for argument in arguments.repositories)
    repositories = {name: pathlib.Path(at).resolve() for name, _, at in pairs}
    if not repositories.keys() <= INCLUDES.keys():
        parser.error("repositories are " + ", ".join(INCLUDES))
    work = arguments.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    well = True
    for row in programs(arguments.only):
        if row["repository"] not in repositories:
            continue
        app = built(row, repositories[row["repository"]], work)
        if app is None:
            print(f"| {row['name']} | {row['preset']} | not built, see {row['name']}.log |", flush=True)
            well = False
        elif not arguments.build:
            words, right = row_of(row, app, work)
            print(words, flush=True)
            well &= right
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
