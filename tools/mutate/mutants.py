#!/usr/bin/env python3
"""mutants.py: breaks the source in small ways, one at a time, and looks whether the tests notice (docs/mutation.md).

    tools/mutate/mutants.py --work DIR [--count N] [--seed S] [--minutes M] [--folder time,func,host,cuda]
    tools/mutate/mutants.py --work DIR --again     the mutants that survived so far, against the tests of today
    tools/mutate/mutants.py --work DIR --table     the survivors

Results are kept in DIR/results.jsonl, one mutant a line; a run goes on where the last one ended. A mutant that does not compile, or
whose object code is the same, does not count; one that makes a test fail, crash or use ten times the processor time is killed.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

from candidates import Mutant, candidates
from cover import Cover
from tree import FOLDERS, Tree

SLOWEST = 5  # seconds of a processor; slower tests are left out
ENOUGH = 8  # of all tests of a mutant, unless --all; who lives that long, lives
HERE = pathlib.Path(__file__).resolve().parent.parent.parent


def choose(root, folders, seed):
    """Endless: folder by folder in turn, a kind at random, one of its mutants at random."""
    rng = random.Random(seed)
    pool = {f: collections.defaultdict(list) for f in folders}
    for f in folders:
        for path in sorted((root / "src" / f).rglob("*.c")):
            name = str(path.relative_to(root))
            for m in candidates(name, path.read_text()):
                pool[f][m.kind].append(m)
    while any(pool[f] for f in folders):
        for f in folders:
            kinds = sorted(k for k in pool[f] if pool[f][k])
            if kinds:
                of_kind = pool[f][rng.choice(kinds)]
                yield of_kind.pop(rng.randrange(len(of_kind)))


class Campaign:
    """folders: whose mutants are tried; tests that cannot see any of them are left out."""
    def __init__(self, tree, work, folders, programs):
        self.tree, self.work = tree, pathlib.Path(work)
        sources = {f: [str(p.relative_to(tree.root)) for p in (tree.root / "src" / f).rglob("*.c")] for f in FOLDERS}
        self.commands = {n: c for n, c in tree.tests(programs).items() if any(self.may_see(n, p) for f in folders for p in sources[f])}
        self.seconds, self.lines = {}, {}
        self.executed, self.enough = {}, ENOUGH
        self.kills = collections.Counter()  # (file, test), and (test)
        self.runs = collections.Counter()
        self.cover = Cover(tree.root / "build", (tree.whole, tree.shims, tree.shim), sum(sources.values(), []))

    def prepare(self):
        """How long each test takes, and which lines it executes; it must pass. Known from last time when the test is the same."""
        path = self.work / "tests.json"
        known = json.loads(path.read_text()) if path.exists() else {}
        for name in self.commands:
            stamp = self.stamp(name)
            if known.get(name, {}).get("stamp") != stamp:
                known[name] = dict(self.measure(name), stamp=stamp)
                path.write_text(json.dumps(known))
        self.seconds = {n: known[n]["seconds"] for n in self.commands if (known[n]["seconds"] or SLOWEST) < SLOWEST}
        self.lines = {n: {p: int(bits, 16) for p, bits in known[n]["lines"].items()} for n in self.seconds if known[n]["lines"] is not None}
        self.executed = {n: sum(bits.bit_count() for bits in lines.values()) for n, lines in self.lines.items()}

    def measure(self, name):
        """With breakpoints; without where they are why it fails."""
        status, seconds = self.tree.run(self.commands[name], 1.5 * SLOWEST, self.cover.environment())
        lines = {p: f"{bits:x}" for p, bits in self.cover.covered().items()} if status == 0 else None
        if status not in (0, "timeout"):
            status, seconds = self.tree.run(self.commands[name], SLOWEST)
        said = f" left out: ends with {status} without a mutant" if status != 0 else "" if lines is not None else ": lines not known"
        print(f"{seconds:7.2f} s {name}{said}", flush=True)
        return {"seconds": seconds if status == 0 else None, "lines": lines}

    def stamp(self, name):
        """Changes when the test does."""
        sources = list((self.tree.root / "tests").glob(f"*/{name}.c")) if name.startswith("test_") else []
        return sources[0].read_text() if sources else self.commands[name]

    def may_see(self, name, path):
        """Whether the test can execute the file at all."""
        if path.startswith("src/cuda/"):
            return name.startswith(("exec ", "riscv ", "test_cuda_"))
        if name.startswith("riscv ") and path.startswith(("src/host/linux/", "src/func/rv64/")):
            return "--functional" in name or path.endswith("linux_cores.c") or name.endswith("fused")  # time adds nothing
        return not (path.startswith("src/time/") and "--functional" in name)

    def order(self, m):
        """Tests that execute the mutant's line, those likely to fail soon first."""
        near = self.cover.near(m.path, m.line, (self.tree.root / m.path).read_text())
        names = [n for n in self.seconds if self.reaches(n, m.path, near)]
        if not names: # as constructors of the libraries: perhaps those that execute anything of the file
            names = [n for n in self.seconds if self.reaches(n, m.path, -1)]

        def worth(n):
            """What it killed, and how much of what it executes is in this file, by its time. Unit tests look at what they call, programs
            at results alone."""
            own = self.kills[m.path, n] / (self.runs[m.path, n] + 1)
            lines = self.lines.get(n) or {}
            focus = lines.get(m.path, 0).bit_count() / max(1, self.executed.get(n, 1))
            focus *= 5 if n.startswith("test_") else 1 if m.path.startswith("src/cuda/") or not n.startswith("exec ") else 0.1
            return -(own + focus + 0.2 * self.kills[n] / (self.runs[n] + 2) + 0.01) / (self.seconds[n] + 0.05)
        return sorted(names, key=worth)

    def reaches(self, name, path, near):
        lines = self.lines.get(name)
        return self.may_see(name, path) and (lines is None or not near or bool(lines.get(path, 0) & near))

    def test(self, m):
        """Name of a test that fails, or None. Called with the mutant compiled."""
        linked = shim = False
        left = self.enough
        for n in self.order(m):
            left -= self.seconds[n]
            if left < 0:
                return None
            if not linked:
                linked = self.tree.relink(m.path)
                if not linked:
                    return "link"
            if n.startswith("exec ") and not shim:
                shim = self.tree.relink_shim()
            status = self.twice(n)
            self.runs[m.path, n] += 1
            self.runs[n] += 1
            if status != 0:
                self.kills[m.path, n] += 1
                self.kills[n] += 1
                return n if status != "timeout" else n + " (timeout)"
        return None

    def twice(self, name):
        """Status of a test with the mutant; one that fails must fail again, since some look at the clock on the wall."""
        limit = 10 * self.seconds[name] + 1
        status, _ = self.tree.run(self.commands[name], limit)
        return status if status in (0, "timeout") else self.tree.run(self.commands[name], limit)[0]

    def judge(self, m):
        """"invalid", "same", the test that killed it, or None."""
        path = self.tree.root / m.path
        text = path.read_text()
        lines = text.split("\n")
        if lines[m.line - 1] != m.old:
            return "invalid"
        objects = self.tree.objects(m.path)
        before, code = [o.read_bytes() for o in objects], self.tree.code(m.path)
        stamps = [(o.stat().st_atime_ns, o.stat().st_mtime_ns) for o in objects]
        stamp = (path.stat().st_atime_ns, path.stat().st_mtime_ns)
        lines[m.line - 1] = m.new
        path.write_text("\n".join(lines))
        try:
            if not self.tree.recompile(m.path):
                return "invalid"
            if self.tree.code(m.path) == code:
                return "same"
            return self.test(m)
        except subprocess.TimeoutExpired:
            return "invalid"
        finally:
            path.write_text(text)
            self.tree.restore()
            for o, data, times in zip(objects, before, stamps):
                o.write_bytes(data)
                os.utime(o, ns=times)
            os.utime(path, ns=stamp)


def load(path):
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return {tuple(r["mutant"]): r["verdict"] for r in rows}


def tally(results):
    counted = {m: v for m, v in results.items() if v not in ("invalid", "same")}
    print(f"{'folder':8} {'mutants':>8} {'killed':>8} {'%':>6}")
    for f in (*FOLDERS, ""):
        mine = [v for m, v in counted.items() if m[0].startswith(f"src/{f}")]
        killed = sum(v is not None for v in mine)
        if mine:
            print(f"{f or 'all':8} {len(mine):8} {killed:8} {100 * killed / len(mine):6.1f}")


def table(results):
    for m, verdict in sorted(results.items()):
        if verdict is None:
            print(f"{m[0]}:{m[1]} {m[2]}\n- {m[3].strip()}\n+ {m[4].strip()}")
    tally(results)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--work", required=True)
    p.add_argument("--count", type=int, default=300, help="mutants that count, in all")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--minutes", type=float, default=1e9)
    p.add_argument("--folder", default=",".join(FOLDERS))
    p.add_argument("--jobs", type=int, default=1, help="of make, to build the copies")
    p.add_argument("--programs", action="store_true", help="compile tests/exec with nvcc, for src/cuda")
    p.add_argument("--sync", default="", help="copy only what lies below this folder; -: nothing")
    p.add_argument("--all", action="store_true", help="all tests that execute a mutant's line, however long they take")
    p.add_argument("--again", action="store_true")
    p.add_argument("--table", action="store_true")
    o = p.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # and put the source back
    work = pathlib.Path(o.work)
    work.mkdir(parents=True, exist_ok=True)
    path = work / "results.jsonl"
    results = load(path)
    if o.table:
        return table(results)
    tree = Tree(HERE, work, o.jobs)
    if o.sync != "-":
        tree.copy(o.sync)
    tree.build()
    tree.riscv_programs()
    if o.programs:
        tree.programs()
    campaign = Campaign(tree, work, o.folder.split(","), o.programs)
    campaign.prepare()
    campaign.enough = float("inf") if o.all else ENOUGH
    if o.again:
        todo = (Mutant(*m) for m, v in results.items() if v is None)
    else:
        todo = choose(tree.root, o.folder.split(","), o.seed)
    end, counted = time.monotonic() + 60 * o.minutes, sum(v not in ("invalid", "same") for v in results.values())
    with path.open("a") as out:
        for m in todo:
            if time.monotonic() > end or (counted >= o.count and not o.again):
                break
            if tuple(m) in results and not o.again:
                continue
            verdict = campaign.judge(m)
            results[tuple(m)] = verdict
            out.write(json.dumps({"mutant": m, "verdict": verdict}) + "\n")
            out.flush()
            counted += verdict not in ("invalid", "same")
            if verdict is None:
                print(f"{counted}: {m.path}:{m.line} {m.kind}\n- {m.old.strip()}\n+ {m.new.strip()}", flush=True)
    tally(results)


if __name__ == "__main__":
    sys.exit(main())
