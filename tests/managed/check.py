#!/usr/bin/env python3
"""check.py BIN WALK SCRATCH TRIAD: what managed memory does for walks of known order (walk.cu), against a model of its own.

The model is written from the rules (docs/managed-memory.md), page by page, and shares nothing with the simulator: a fault
moves its 64 KiB and the largest subtree of its 2 MiB of which more than 51 % are there or faulted; the block that came
longest ago makes room; the host's faults follow the same tree.
"""
import json
import random
import subprocess
import sys

PAGE, LEAF, BLOCK = 4096, 16, 512


class Model:
    def __init__(self, pages, host_pages, threshold=51, room=1 << 30, advice="none"):
        self.pages, self.threshold, self.room, self.advice = pages, threshold, room, advice
        self.host = set()  # at the host; by big pages, as the host's faults are seen
        for p in range(host_pages):
            self.host.update(q for q in range(p // LEAF * LEAF, p // LEAF * LEAF + LEAF) if q < pages)
        self.gpu, self.left, self.order = set(), set(), []
        self.copies = set()  # on the GPU, and at the host as well
        self.n = dict.fromkeys(("faults", "batches", "host_faults", "migrated_to_gpu_bytes", "migrated_to_host_bytes", "populated_bytes",
                                "tree_prefetched_bytes", "prefetched_bytes", "evictions", "evicted_bytes", "thrashed_bytes",
                                "mapped_bytes", "duplicate_faults", "access_counter_notifications", "duplicated_bytes", "collapsed_bytes"), 0)

    def block(self, page):
        first = page // BLOCK * BLOCK
        return range(first, min(first + BLOCK, self.pages))

    def tree(self, there, faulted, page, threshold):
        """Pages to take for one fault whose own pages are `faulted`."""
        best = faulted
        size = LEAF
        while size <= BLOCK:
            first = page // size * size
            sub = [p for p in range(first, first + size) if p < self.pages]
            if 100 * sum(p in there or p in faulted for p in sub) > threshold * len(sub):
                best = set(sub)
            size *= 2
        return best - there

    def arrive(self, take, key):
        block = take and min(take) // BLOCK
        while take and block not in self.order and len(self.order) >= self.room:
            gone = {p for p in self.block(self.order[0] * BLOCK) if p in self.gpu}
            self.order.pop(0)
            self.gpu -= gone
            self.host |= gone
            self.left |= gone
            self.n["evictions"] += 1
            self.n["evicted_bytes"] += len(gone - self.copies) * PAGE
            self.n["migrated_to_host_bytes"] += len(gone - self.copies) * PAGE
            self.copies -= gone
        self.n["migrated_to_gpu_bytes"] += len(take & self.host) * PAGE
        self.n["populated_bytes"] += len(take - self.host) * PAGE
        self.n["thrashed_bytes"] += len(take & self.left) * PAGE
        self.n[key[0]] += (len(take) - key[1]) * PAGE
        if self.advice.startswith("copies"):
            self.copies |= take & self.host
            self.n["duplicated_bytes"] += len(take & self.host) * PAGE
        self.gpu |= take
        self.host -= take
        self.left -= take
        if take:
            if block in self.order:
                self.order.remove(block)
            self.order.append(block)

    def write(self, page):
        if self.advice == "copies-written" and page in self.copies:
            self.copies.discard(page)
            self.n["faults"] += 1
            self.n["batches"] += 1
            self.n["collapsed_bytes"] += PAGE

    def touch(self, page):
        if page in self.gpu or (self.advice in ("host", "map") and page in self.host):
            return
        self.n["faults"] += 1
        self.n["batches"] += 1
        block = self.block(page)
        leaf = {p for p in block if p // LEAF == page // LEAF}
        if self.advice == "gpu" and not self.gpu & set(block):
            take = set(block)
        elif self.threshold:
            take = self.tree(self.gpu & set(block), leaf, page, self.threshold)
        else:
            take = {page}
        if self.advice == "host":
            self.host |= take
        else:
            self.arrive(take, ("tree_prefetched_bytes", 1))

    def fetch(self):
        for first in range(0, self.pages, BLOCK):
            self.arrive(set(self.block(first)) - self.gpu, ("prefetched_bytes", 0))

    def back(self):
        self.n["migrated_to_host_bytes"] += len(self.gpu) * PAGE
        self.host |= self.gpu
        self.gpu, self.order = set(), []

    def read(self, page):
        if self.advice == "copies-host":
            gone = self.copies & {page}
            self.n["collapsed_bytes"] += len(gone) * PAGE
            self.gpu -= gone
            self.copies -= gone
        if page not in self.gpu or page in self.copies:
            self.host.update(p for p in self.block(page) if p // LEAF == page // LEAF and p not in self.gpu)
            return
        block = set(self.block(page))
        leaf = {p for p in block if p // LEAF == page // LEAF}
        threshold = 0 if self.advice == "gpu" else self.threshold
        take = (self.tree((self.host | self.copies) & block, leaf, page, threshold) if threshold else leaf) & (self.gpu - self.copies)
        self.n["host_faults"] += 1
        self.n["migrated_to_host_bytes"] += len(take) * PAGE
        self.gpu -= take
        self.host |= take
        if not self.gpu & block:
            self.order.remove(page // BLOCK)


def run(binary, program, scratch, model, mib, host_pages, reads, pages, more):
    out = scratch + "/managed.json"
    call = [binary, "exec", "--quiet", "--json", out, *more, program, str(mib), str(host_pages), model.advice, str(reads), *map(str, pages)]
    done = subprocess.run(call, capture_output=True, text=True)
    if done.stdout != "right\n" or done.returncode:
        return None, f"status {done.returncode}: {done.stdout} {done.stderr[:300]}"
    with open(out) as f:
        return json.load(f), ""


def case(name, binary, program, scratch, mib, pages, host_pages=None, reads=0, threshold=51, room=None, advice="none", threads=1):
    total = mib * 256
    host_pages = total if host_pages is None else host_pages
    more = ["--threads", str(threads), "--set", f"uvm.tree_threshold={threshold}"]
    if room:
        more += ["--set", f"gpu.memory_mib={2 * room + 1}"]
    m = Model(total, host_pages, threshold, room or 1 << 30, advice)
    if advice in ("fetch", "back"):
        m.fetch()
    if advice == "back":
        m.back()
    for p in pages:
        m.touch(p)
        m.write(p)
    for p in range(reads):
        m.read(p)
    got, why = run(binary, program, scratch, m, mib, host_pages, reads, pages, more)
    if got:
        is_ = got["managed_memory"]
        why = ", ".join(f"{k} {is_[k]}, not {v}" for k, v in m.n.items() if is_[k] != v)
    print(f"not ok managed memory: {name}: {why}" if why else f"ok managed memory: {name}")
    return got if not why else None


def rates(binary, triad, scratch, mib, memory, prefetch, threads):
    """GB/s of each pass, and what the report says."""
    out = scratch + "/triad.json"
    call = [binary, "exec", "--quiet", "--json", out, "--threads", str(threads), "--set", f"gpu.memory_mib={memory}", "--set", "gpu.sms=16",
            "--set", f"pcie.h2d_mbps={LINK}", "--set", f"pcie.d2h_mbps={LINK}", triad, str(mib)] + ["1"] * prefetch
    done = subprocess.run(call, capture_output=True, text=True)
    if done.returncode:
        return None, done.stdout + done.stderr[:300]
    with open(out) as f:
        return [float(line.split()[-2]) for line in done.stdout.splitlines() if line.startswith("pass")], json.load(f)


LINK = 12350  # MB/s: PCI Express 3.0 x16 of gpu-benches' V100


def streams(binary, triad, scratch):
    """Many warps at once: bytes, and rates in the direction and the order of size that were published (docs/managed-memory.md)."""
    faults, report = rates(binary, triad, scratch, 6, 64, 0, 1)
    again = rates(binary, triad, scratch, 6, 64, 0, 3)
    fetched, _ = rates(binary, triad, scratch, 6, 64, 1, 1)
    over, full = rates(binary, triad, scratch, 12, 8, 0, 1)
    if not faults or not fetched or not over:
        print(f"not ok managed memory: triad: {report} {full}")
        return False
    link = LINK / 1000
    checks = {
        "triad moves each byte once": report["managed_memory"]["migrated_to_gpu_bytes"] == 6 << 20,
        "the same for one and three host threads": (faults, report) == again,
        "prefetched, it runs at the rate of the link": 0.85 * link < fetched[0] < link,
        "by faults it takes about twice as long": 1.4 < fetched[0] / faults[0] < 3,
        "behind that it runs at the rate of the GPU's memory": faults[1] > 10 * link,
        "oversubscribed, a pass runs at 5.0 of 12.35 GB/s": 0.5 < over[2] / 5.0 < 2,
        "and pages thrash": full["managed_memory"]["thrashed_bytes"] > 0,
    }
    for name, is_so in checks.items():
        print(f"ok managed memory: {name}" if is_so else f"not ok managed memory: {name}: {faults} {fetched} {over}")
    return all(checks.values())


def main():
    binary, program, scratch, triad = sys.argv[1:]
    dice = random.Random(19)
    at = (binary, program, scratch)
    every = lambda n, step=1: list(range(0, n, step))
    ok = [
        case("pages one behind the other", *at, 2, every(512)),
        case("the same without the tree", *at, 2, every(96), threshold=0),
        case("every 16th page", *at, 4, every(1024, 16)),
        case("every 32nd page, backwards", *at, 4, every(1024, 32)[::-1]),
        case("pages at random", *at, 4, dice.sample(range(1024), 60)),
        case("another threshold", *at, 4, dice.sample(range(1024), 60), threshold=75),
        case("pages that nobody has touched", *at, 2, dice.sample(range(512), 20), host_pages=0),
        case("some of them touched", *at, 2, dice.sample(range(512), 20), host_pages=100),
        case("the host reads all of it again", *at, 4, every(1024, 16), reads=1024),
        case("the host reads without the tree", *at, 2, every(512, 16), reads=80, threshold=0),
        case("prefetched", *at, 4, every(1024, 16), advice="fetch"),
        case("prefetched and back", *at, 4, every(1024, 64), advice="back"),
        case("preferred on the GPU", *at, 4, dice.sample(range(1024), 10), reads=40, advice="gpu"),
        case("preferred at the host", *at, 2, dice.sample(range(512), 30), advice="host"),
        case("preferred at the host, untouched", *at, 2, dice.sample(range(512), 10), host_pages=0, advice="host"),
        case("mapped for the GPU", *at, 2, dice.sample(range(512), 30), advice="map"),
        case("mostly read", *at, 4, dice.sample(range(1024), 40), reads=300, advice="copies"),
        case("mostly read, part of it untouched", *at, 2, dice.sample(range(512), 20), host_pages=200, advice="copies"),
        case("mostly read, written by the host", *at, 4, dice.sample(range(1024), 40), reads=300, advice="copies-host"),
        case("mostly read, and written", *at, 2, dice.sample(range(512), 20), reads=200, advice="copies-written"),
        case("mostly read, twice as much as the GPU has", *at, 8, every(2048, 64) * 2, room=2, advice="copies"),
        case("twice as much as the GPU has", *at, 8, every(2048, 64) * 2, room=2),
        case("the same at random", *at, 8, [dice.randrange(2048) for _ in range(60)], room=2),
    ]
    # Host and GPU reach each other's memory: no faults but on what nobody has touched; a block is told of once, whatever
    # its accesses are behind that (two for each page of the walk), and moves.
    coherent = [("coherent, few accesses", 30, 512, 64, {}), ("coherent, many accesses", 40, 512, 64, {"access_counter_notifications": 1,
                "migrated_to_gpu_bytes": BLOCK * PAGE}), ("coherent, untouched", 31, 0, 512, {"faults": 6, "batches": 6,
                "populated_bytes": BLOCK * PAGE, "tree_prefetched_bytes": BLOCK * PAGE - 6 * PAGE})]
    for name, n, host_pages, reads, expect in coherent:
        more = ["--set", "uvm.ats=true", "--set", "uvm.counter_threshold=64"]
        m = Model(512, host_pages)
        m.n.update(expect)
        pages = every(512) if not host_pages else dice.sample(range(512), n)
        got, why = run(binary, program, scratch, m, 2, host_pages, reads, pages, more)
        if got:
            why = ", ".join(f"{k} {got['managed_memory'][k]}, not {v}" for k, v in m.n.items() if got["managed_memory"][k] != v)
        print(f"not ok managed memory: {name}: {why}" if why else f"ok managed memory: {name}")
        ok.append(not why)
    one = case("more than there is, one host thread", *at, 6, every(1536, 32) * 2, room=2)
    three = case("the same with three", *at, 6, every(1536, 32) * 2, room=2, threads=3)
    same = one == three
    print(("ok" if same else "not ok") + " managed memory: the same JSON for one and three host threads")
    return not (all(ok) and one and same and streams(binary, triad, scratch))


sys.exit(main())
