#!/usr/bin/env python3
"""CuPy's own tests on the simulated GPU: passed, failed, skipped, and why.

    git clone --branch v14.2.0 https://github.com/cupy/cupy
    tools/compat/cupy_tests.py --python cupy-env/bin/python --repo cupy --out cupy.jsonl [DIRECTORY ...]
    tools/compat/cupy_tests.py --summary cupy.jsonl       # the table of docs/compatibility.md

The interpreter needs cupy, pytest, hypothesis and scipy (skipped with a line where it has no CuPy); the repository's version is that of the package. Each
file of tests is a process of its own under `warpstep exec --functional` with --seconds of processor time. Its tests come in an order that depends only on --seed,
so that those before a limit are a sample of all, not the first ones. A test that takes longer than --test seconds, or waits 15 times as long, is interrupted and counted as "over the limit".
Environment: BIN (build/warpstep), GPU (rtx-3070)."""
import argparse
import collections
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIRECTORIES = ("core_tests", "creation_tests", "linalg_tests", "fft_tests", "random_tests", "sparse_tests", "cuda_tests")
PLACES = {"sparse_tests": "cupyx_tests/scipy_tests/sparse_tests"}
REFUSED = re.compile(r"warpstep: (\S+): warpstep's own (\S+) does not have")

# A plug-in for pytest: the order of tests, a limit for each, and a line for each result.
PLUGIN = '''
import json, os, random, signal
import pytest
OUT = open(os.environ["WS_RESULTS"], "a", buffering=1)
class OverLimit(BaseException):
    pass
def over(signum, frame):
    raise OverLimit()
@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    items.sort(key=lambda i: i.nodeid)
    random.Random(int(os.environ["WS_SEED"])).shuffle(items)
    del items[int(os.environ["WS_MOST"]):]
    OUT.write(json.dumps({"collected": len(items)}) + "\\n")
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    seconds = float(os.environ["WS_TEST"])
    signal.signal(signal.SIGPROF, over)
    signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, 15 * seconds)  # of one that waits for ever
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    r = outcome.get_result()
    kind = r.outcome
    why = ""
    if call.excinfo is not None:
        text = str(call.excinfo.value)
        why = (call.excinfo.typename + ": " + text)[:1500]
        # A test that repeats itself reports what it caught.
        if call.excinfo.errisinstance(OverLimit) or "OverLimit" in text:
            kind, why = "limit", ""
            r.outcome = "failed"
    if r.when == "call" or kind != "passed":
        if hasattr(r, "wasxfail"):
            kind = "xfailed"
        OUT.write(json.dumps({"test": item.nodeid, "result": kind, "why": why, "seconds": call.duration}) + "\\n")
'''


def files_of(tests, directory):
    place = tests / PLACES.get(directory, f"cupy_tests/{directory}")
    return sorted(place.rglob("test_*.py"))


def run_file(args, scratch, file, out):
    results = scratch / "results.jsonl"
    results.write_text("")
    env = dict(os.environ, WS_RESULTS=str(results), WS_SEED=str(args.seed), WS_TEST=str(args.test), WS_MOST=str(args.most),
               PYTHONPATH=str(scratch), CUPY_TEST_FULL_COMBINATION="0")
    binary = os.environ.get("BIN", ROOT / "build/warpstep")
    limit = int(args.seconds)
    done = subprocess.run(
        [binary, "exec", "--quiet", "--functional", "--gpu", os.environ.get("GPU", "rtx-3070"), args.python, "-m", "pytest", "-q", "-p", "ws_counted",
         "-p", "no:cacheprovider", "-x" if args.first else "-q", str(file.relative_to(scratch / "tests"))],
        cwd=scratch / "tests", env=env, capture_output=True, text=True, errors="replace", check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 20)))
    rows = [json.loads(line) for line in results.read_text().splitlines()]
    collected = sum(r.get("collected", 0) for r in rows)
    tests = [r for r in rows if "test" in r]
    refused = sorted({m.group(1) for m in REFUSED.finditer(done.stderr)})
    summary = {"file": str(file.relative_to(scratch / "tests")), "directory": args.directory, "collected": collected, "status": done.returncode,
               "refused": refused, "tests": tests, "tail": "" if tests else (done.stdout + done.stderr)[-1500:]}
    out.write(json.dumps(summary) + "\n")
    out.flush()
    counts = collections.Counter(t["result"] for t in tests)
    print(f"{summary['file']}: {dict(counts)} of {collected}, status {done.returncode} {' '.join(refused)}", flush=True)
    return not counts["failed"]


def summary(path):
    rows = {}  # of a file that ran again the last
    for line in pathlib.Path(path).read_text().splitlines():
        rows[json.loads(line)["file"]] = json.loads(line)
    rows = list(rows.values())
    for row in rows:
        row["directory"] = next((d for d in row["file"].split("/")[::-1] if d.endswith("_tests")), "")
    rows.sort(key=lambda r: r["directory"])
    print("| directory | files | tests | passed | skipped, expected to fail | failed | over the limit | not come to |\n|---|--:|--:|--:|--:|--:|--:|--:|")
    for directory in dict.fromkeys(r["directory"] for r in rows):
        mine = [r for r in rows if r["directory"] == directory]
        n = collections.Counter(t["result"] for r in mine for t in r["tests"])
        collected = sum(r["collected"] for r in mine)
        print(f"| {directory} | {len(mine)} | {collected} | {n['passed']} | {n['skipped'] + n['xfailed']} | {n['failed']} | {n['limit']} | "
              f"{max(0, collected - len({t['test'] for r in mine for t in r['tests']}))} |")
    failed = [(t["test"], t["why"].splitlines()[0] if t["why"] else "") for r in rows for t in r["tests"] if t["result"] == "failed"]
    for why, n in collections.Counter(re.sub(r"0x[0-9a-f]+|\d+", "N", w) for _, w in failed).most_common(60):
        example = next(t for t, w in failed if re.sub(r"0x[0-9a-f]+|\d+", "N", w) == why)
        print(f"{n:5} {why[:160]}   ({example})")
    print("refused:", sorted({f for r in rows for f in r["refused"]}))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--python", default=sys.executable)
    p.add_argument("--repo", type=pathlib.Path)
    p.add_argument("--out", default="cupy.jsonl")
    p.add_argument("--seconds", type=float, default=120, help="of processor time for a file")
    p.add_argument("--test", type=float, default=20, help="of processor time for a test")
    p.add_argument("--most", type=int, default=10 ** 9, help="tests of a file")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--first", action="store_true", help="stop a file at its first failure")
    p.add_argument("--summary")
    p.add_argument("directories", nargs="*")
    args = p.parse_args()
    if args.summary:
        return summary(args.summary)
    if subprocess.run([args.python, "-c", "import cupy, pytest"], capture_output=True, check=False).returncode:
        print(f"ok cupy_tests # SKIP {args.python} does not have cupy and pytest")
        return 0
    good = True
    with tempfile.TemporaryDirectory() as name, open(args.out, "a", encoding="utf-8") as out:
        scratch = pathlib.Path(name)
        # Beside the repository's own sources `import cupy` would take those.
        shutil.copytree(args.repo / "tests", scratch / "tests")
        shutil.copy(args.repo / "pyproject.toml", scratch / "tests")
        (scratch / "ws_counted.py").write_text(PLUGIN)
        for args.directory in args.directories or DIRECTORIES:
            files = [scratch / "tests" / args.directory] if args.directory.endswith(".py") else files_of(scratch / "tests", args.directory)
            for file in files:
                good = run_file(args, scratch, file, out) and good
    return not good


sys.exit(main())
