"""Foreign suites of pytest on the simulated GPU, counted: what cupy_tests.py, jax_tests.py and pytorch_modules.py share.

A file of tests is a process of its own under `warpstep exec --functional`, with a limit of processor time. Its tests come in an order that depends only on a
seed, so that those before the limit are a sample of all, not the first ones. A test that takes longer than its own limit, or waits 15 times as long, is
interrupted and counted as "over the limit"."""
import collections
import json
import os
import pathlib
import re
import resource
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
REFUSED = re.compile(r"warpstep: (\S+): warpstep's own (\S+) does not have")

# A plug-in for pytest: the order of tests, a limit for each, and a line for each result.
PLUGIN = '''
import json, os, random, re, signal
import pytest
OUT = open(os.environ["WS_RESULTS"], "a", buffering=1)
class OverLimit(BaseException):
    pass
def over(signum, frame):
    raise OverLimit()
@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    items[:] = [i for i in items if re.search(os.environ.get("WS_ONLY", ""), i.nodeid)]
    items.sort(key=lambda i: i.nodeid)
    random.Random(int(os.environ["WS_SEED"])).shuffle(items)
    del items[int(os.environ["WS_MOST"]):]
    OUT.write(json.dumps({"collected": len(items)}) + "\\n")
    done = set(json.loads(os.environ["WS_DONE"]))
    items[:] = [i for i in items if i.nodeid not in done]
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


def options(p):
    """What all of these scripts take."""
    p.add_argument("--seconds", type=float, default=120, help="of processor time for a file")
    p.add_argument("--test", type=float, default=20, help="of processor time for a test")
    p.add_argument("--most", type=int, default=10 ** 9, help="tests of a file")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--first", action="store_true", help="stop a file at its first failure")
    p.add_argument("--rest", action="store_true", help="only tests without a result in --out, and those that failed")
    p.add_argument("--summary")


def results_of(path):
    """What a file of results says, by file of tests: of a test that ran again the last."""
    rows = {}
    for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines():
        new = json.loads(line)
        row = rows.setdefault(new["file"], {**new, "tests": {}, "refused": []})
        row["collected"] = max(row["collected"], new["collected"])
        row["tests"].update((t["test"], t) for t in new["tests"])
        row["refused"] = new["refused"]
    return rows


def where():
    """What tests run on: the GPUs of MACHINE, or one GPU."""
    return ["--machine", os.environ["MACHINE"]] if os.environ.get("MACHINE") else ["--gpu", os.environ.get("GPU", "rtx-3070")]


def run_file(args, folder, file, group, out, more_env=None, more_plugin=""):
    """One file of tests, a path below `folder`, where pytest starts: a line for `out`. Returns whether nothing failed."""
    done = results_of(args.out).get(str(file), {}) if args.rest else {}
    env_done = json.dumps([t for t, r in done.get("tests", {}).items() if r["result"] not in ("failed", "limit")])
    results = folder / "ws_results.jsonl"
    results.write_text("", encoding="utf-8")
    (folder / "ws_counted.py").write_text(more_plugin + PLUGIN, encoding="utf-8")
    env = dict(os.environ, WS_RESULTS=str(results), WS_SEED=str(args.seed), WS_TEST=str(args.test), WS_MOST=str(args.most), WS_DONE=env_done,
               PYTHONPATH=str(folder), **(more_env or {}))
    binary = os.environ.get("BIN", ROOT / "build/warpstep")
    limit = int(args.seconds)
    ended = subprocess.run(
        [binary, "exec", "--quiet", "--functional", *where(), args.python, "-m", "pytest", "-q", "-p", "ws_counted",
         "-p", "no:cacheprovider", "-x" if args.first else "-q", str(file)],
        cwd=folder, env=env, capture_output=True, text=True, errors="replace", check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 20)))
    rows = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
    collected = sum(r.get("collected", 0) for r in rows)
    tests = [r for r in rows if "test" in r]
    refused = sorted({m.group(1) for m in REFUSED.finditer(ended.stderr)})
    row = {"file": str(file), "directory": group, "collected": collected, "status": ended.returncode,
           "refused": refused, "tests": tests, "tail": "" if tests else (ended.stdout + ended.stderr)[-1500:]}
    out.write(json.dumps(row) + "\n")
    out.flush()
    counts = collections.Counter(t["result"] for t in tests)
    print(f"{file}: {dict(counts)} of {collected}, status {ended.returncode} {' '.join(refused)}", flush=True)
    return not counts["failed"]


def summary(path, by_file=False):
    """The table of docs/compatibility.md, by directory or by file, and the causes of failures."""
    rows = sorted(results_of(path).values(), key=lambda r: (r["directory"], r["file"]))
    if by_file:
        rows = [{**r, "directory": r["file"]} for r in rows]
    print("| directory | files | tests | passed | skipped, expected to fail | failed | over the limit | not come to |\n|---|--:|--:|--:|--:|--:|--:|--:|")
    for directory in dict.fromkeys(r["directory"] for r in rows):
        mine = [r for r in rows if r["directory"] == directory]
        n = collections.Counter(t["result"] for r in mine for t in r["tests"].values())
        collected = sum(r["collected"] for r in mine)
        print(f"| {directory} | {len(mine)} | {collected} | {n['passed']} | {n['skipped'] + n['xfailed']} | {n['failed']} | {n['limit']} | "
              f"{max(0, collected - sum(n.values()))} |")
    failed = [(t["test"], t["why"].splitlines()[0] if t["why"] else "") for r in rows for t in r["tests"].values() if t["result"] == "failed"]
    for why, n in collections.Counter(re.sub(r"0x[0-9a-f]+|\d+", "N", w) for _, w in failed).most_common(60):
        example = next(t for t, w in failed if re.sub(r"0x[0-9a-f]+|\d+", "N", w) == why)
        print(f"{n:5} {why[:160]}   ({example})")
    print("refused:", sorted({f for r in rows for f in r["refused"]}))
