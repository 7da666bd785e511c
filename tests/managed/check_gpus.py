#!/usr/bin/env python3
"""check_gpus.py BIN GPUS SCRATCH: what managed memory does on several GPUs for scripts of known order (gpus.cu), against a model.

The model is written from the rules (docs/managed-memory.md), page by page, and shares nothing with the simulator. What links
carry is held against it, too: a page that moves is 4096 bytes on the way between the two GPUs, or on both ways by the host.
"""
import json
import random
import subprocess
import sys

PAGE, LEAF, BLOCK = 4096, 16, 512
HOST = "h"
KEYS = ("faults", "batches", "host_faults", "migrated_to_gpu_bytes", "migrated_to_host_bytes", "populated_bytes", "tree_prefetched_bytes",
        "prefetched_bytes", "evictions", "evicted_bytes", "thrashed_bytes", "mapped_bytes", "duplicate_faults", "duplicated_bytes",
        "collapsed_bytes", "migrated_from_gpus_bytes", "staged_bytes", "peer_mapped_bytes", "access_counter_notifications")


class Model:
    def __init__(self, pages, gpus, peers, room=1 << 30):
        self.pages, self.gpus, self.peers, self.room = pages, range(gpus), peers, room
        self.at = {k: set() for k in [HOST, *self.gpus]}
        self.mapped = [set() for _ in self.gpus]
        self.left = [set() for _ in self.gpus]
        self.order = [[] for _ in self.gpus]  # blocks, by when pages came last
        self.prefers = [None] * pages
        self.by = [frozenset()] * pages
        self.mostly = [False] * pages
        self.n = [dict.fromkeys(KEYS, 0) for _ in self.gpus]
        self.link = {(a, b): 0 for a in self.at for b in self.at if a != b}  # bytes of pages

    def block(self, page):
        first = page // BLOCK * BLOCK
        return range(first, min(first + BLOCK, self.pages))

    def span(self, page):
        """Pages of the block around it of which the same was said."""
        said = lambda p: (self.prefers[p], self.by[p], self.mostly[p])
        part = {page}
        for way in (1, -1):
            p = page + way
            while p in self.block(page) and said(p) == said(page):
                part.add(p)
                p += way
        return part

    def holders(self, page):
        return [k for k in self.at if page in self.at[k]]

    def tree(self, there, page):
        best, size = {p for p in self.block(page) if p // LEAF == page // LEAF}, LEAF
        leaf = set(best)
        while size <= BLOCK:
            first = page // size * size
            sub = [p for p in range(first, first + size) if p < self.pages]
            if 100 * sum(p in there or p in leaf for p in sub) > 51 * len(sub):
                best = set(sub)
            size *= 2
        return best - there

    def carry(self, a, b, pages):
        self.link[a, b] += len(pages) * PAGE

    def take(self, k, pages):
        """They are no more there, wherever that is."""
        for p in pages:
            self.at[k].discard(p)
        if k != HOST:
            for block in {p // BLOCK for p in pages}:
                if block in self.order[k] and not self.at[k] & set(self.block(block * BLOCK)):
                    self.order[k].remove(block)

    def leave(self, k, pages):
        """A GPU gives them up: those that nobody else has go to the host."""
        home = {p for p in pages if p in self.at[k] and self.holders(p) == [k]}
        self.take(k, pages)
        self.at[HOST] |= home
        for m in self.mapped:
            m -= home
        return home

    def evict(self, k):
        block = set(self.block(self.order[k][0] * BLOCK)) & self.at[k]
        home = self.leave(k, block)
        self.left[k] |= block
        self.n[k]["evictions"] += 1
        self.n[k]["evicted_bytes"] += len(home) * PAGE
        self.n[k]["migrated_to_host_bytes"] += len(home) * PAGE
        self.carry(k, HOST, home)

    def arrive(self, k, pages, written=()):
        if not pages:
            return
        block = min(pages) // BLOCK
        while block not in self.order[k] and len(self.order[k]) >= self.room:
            self.evict(k)
        n = self.n[k]
        for p in pages:
            having = self.holders(p)
            near = [j for j in having if j != HOST and self.peers]
            if near and (self.peers == "fast" or HOST not in having):
                n["migrated_from_gpus_bytes"] += PAGE
                self.carry(near[0], k, [p])
            elif HOST in having:
                n["migrated_to_gpu_bytes"] += PAGE
                self.carry(HOST, k, [p])
            elif having:  # by way of the host
                n["migrated_to_gpu_bytes"] += PAGE
                n["staged_bytes"] += PAGE
                self.n[having[0]]["migrated_to_host_bytes"] += PAGE
                self.carry(having[0], HOST, [p])
                self.carry(HOST, k, [p])
            else:
                n["populated_bytes"] += PAGE
            if having and self.mostly[p] and p not in written:
                n["duplicated_bytes"] += PAGE
            else:
                for j in having:
                    self.take(j, [p])
                for m in self.mapped:
                    m.discard(p)
            n["thrashed_bytes"] += PAGE * (p in self.left[k])
        self.at[k] |= pages
        self.left[k] -= pages
        self.mapped[k] -= pages
        if block in self.order[k]:
            self.order[k].remove(block)
        self.order[k].append(block)

    def fault(self, k):
        self.n[k]["faults"] += 1
        self.n[k]["batches"] += 1

    def reached(self, k, page):
        """Without a fault, where it is."""
        if page in self.mapped[k]:
            return bool(self.holders(page))
        if self.mostly[page]:
            return False
        if page in self.at[HOST] and (self.prefers[page] == HOST or k in self.by[page]):
            return True
        return bool(self.peers) and k in self.by[page] and any(page in self.at[j] for j in self.gpus)

    def stays(self, k, page):
        """On the GPU that is preferred for it."""
        on = self.prefers[page]
        if on in (None, HOST, k) or not self.peers or self.mostly[page]:
            return False
        if not self.holders(page) and (page // BLOCK in self.order[on] or len(self.order[on]) < self.room):
            self.n[on]["populated_bytes"] += PAGE
            self.arrive_fresh(on, page)
        return page in self.at[on]

    def arrive_fresh(self, k, page):
        self.at[k].add(page)
        if page // BLOCK in self.order[k]:
            self.order[k].remove(page // BLOCK)
        self.order[k].append(page // BLOCK)

    def touch(self, k, page, write):
        if page in self.at[k]:
            others = [j for j in self.holders(page) if j != k]
            if write and others:
                self.fault(k)
                self.n[k]["collapsed_bytes"] += PAGE
                for j in others:
                    self.take(j, [page])
            return
        if self.reached(k, page):
            return
        self.fault(k)
        if self.stays(k, page):
            self.mapped[k].add(page)
            self.n[k]["peer_mapped_bytes"] += PAGE
            return
        part, there = self.span(page), self.at[k] & set(self.block(page))
        take = part if self.prefers[page] == k and not there else self.tree(there, page) & part
        if self.prefers[page] == HOST and not self.mostly[page]:
            fresh = {p for p in take if not self.holders(p)}
            self.at[HOST] |= fresh
            take = {p for p in take - fresh if any(p in self.at[j] for j in self.gpus)}
        self.n[k]["tree_prefetched_bytes"] += len(take - {page}) * PAGE
        self.arrive(k, take, {page} if write else ())

    def host(self, page, write):
        block = set(self.block(page))
        leaf = {p for p in block if p // LEAF == page // LEAF}
        on = lambda p: any(p in self.at[j] for j in self.gpus)
        if write and page in self.at[HOST] and on(page):
            for k in self.gpus:
                gone = {page} & self.at[k]
                self.n[k]["collapsed_bytes"] += len(gone) * PAGE
                self.leave(k, gone)
        self.at[HOST] |= {p for p in leaf if not self.holders(p)}
        for k in self.gpus:
            if not {p for p in leaf & self.at[k] if p not in self.at[HOST]}:
                continue
            self.n[k]["host_faults"] += 1
            back = set()
            for part in {frozenset(self.span(p)) for p in leaf}:
                asked = leaf & part
                grown = set(asked)
                if self.prefers[min(part)] not in self.gpus:
                    for p in asked:
                        grown |= self.tree_of(self.at[HOST] & block, asked, p) & part
                back |= (grown & self.at[k]) - self.at[HOST]
            self.n[k]["migrated_to_host_bytes"] += len(back) * PAGE
            for j in self.gpus:
                if j != k:
                    self.leave(j, back & self.at[j])
            self.leave(k, back)

    def tree_of(self, there, faulted, page):
        best, size = set(faulted), LEAF
        full = {p for p in self.block(page) if any(p // LEAF == q // LEAF for q in faulted)} | there
        while size <= BLOCK:
            first = page // size * size
            sub = [p for p in range(first, first + size) if p < self.pages]
            if 100 * sum(p in full for p in sub) > 51 * len(sub):
                best = set(sub)
            size *= 2
        return best | {p for p in self.block(page) if p // LEAF == page // LEAF}

    def prefetch(self, to, pages):
        for first in sorted({p // BLOCK for p in pages}):
            part = {p for p in pages if p // BLOCK == first}
            if to != HOST:
                part -= self.at[to]
                self.n[to]["prefetched_bytes"] += len(part) * PAGE
                self.arrive(to, part)
                continue
            for k in self.gpus:
                moves = {p for p in part & self.at[k] if p not in self.at[HOST] and not any(p in self.at[j] for j in range(k))}
                self.n[k]["migrated_to_host_bytes"] += len(moves) * PAGE
                self.carry(k, HOST, moves)
            for k in self.gpus:
                self.leave(k, part & self.at[k])

    def advise(self, what, on, pages):
        for p in pages:
            before = self.by[p], self.prefers[p] == HOST, self.mostly[p]
            if what == "l":
                self.prefers[p] = on
            elif what in "ax":
                self.by[p] = self.by[p] | {on} if what == "a" else self.by[p] - {on}
            else:
                self.mostly[p] = what == "m"
            if what == "n":
                for k in self.gpus:
                    if p in self.at[k] and len(self.holders(p)) > 1:
                        self.n[k]["collapsed_bytes"] += PAGE
                        for j in self.holders(p):
                            if j != k:
                                self.take(j, [p])
            if before != (self.by[p], self.prefers[p] == HOST, self.mostly[p]):
                for m in self.mapped:
                    m.discard(p)

    def step(self, s):
        what, at, rest = s[0], s[1], s.split(":")[1]
        on = HOST if at == "h" else int(at) if at.isdigit() else None
        if what in "rw":
            for p in map(int, rest.split(",")):
                if on == HOST:
                    self.host(p, what == "w")
                else:
                    self.touch(on, p, what == "w")
            return
        first, last = map(int, rest.split("-"))
        if what == "p":
            self.prefetch(on, set(range(first, last + 1)))
        elif what != "d":
            self.advise(what, on, range(first, last + 1))


def run(at, machine, mib, script, more=()):
    binary, program, scratch = at
    out = scratch + "/gpus.json"
    done = subprocess.run([binary, "exec", "--quiet", "--json", out, "--machine", machine, *more, program, str(mib), *script],
                          capture_output=True, text=True)
    if done.stdout != "right\n" or done.returncode:
        return None, f"status {done.returncode}: {done.stdout} {done.stderr[:300]}"
    with open(out) as f:
        return json.load(f), ""


def differences(report, model, links):
    """… of what was counted; and, where nothing else takes the links, of what they carried."""
    got = report["managed_memory"]["gpus"]
    wrong = [f"GPU {k}: {key} {got[k][key]}, not {v}" for k in model.gpus for key, v in model.n[k].items() if got[k][key] != v]
    for a, b in model.link if links else ():
        if HOST in (a, b):
            continue
        is_ = sum(x["payload_bytes"] for x in report["links"] if (x["from"], x["to"]) == (f"gpu{a}", f"gpu{b}"))
        if is_ != model.link[a, b]:
            wrong.append(f"the link from GPU {a} to {b} carried {is_}, not {model.link[a, b]}")
    return ", ".join(wrong)


def case(name, at, script, mib=4, machine="2x-rtx-3090-nvlink", peers="fast", room=None, links=True, more=()):
    m = Model(mib * 256, 4 if machine.startswith("4x") else 2, peers, room or 1 << 30)
    for s in script:
        m.step(s)
    set_ = ["--set", f"gpu.memory_mib={2 * room + 1}"] if room else []
    report, why = run(at, machine, mib, script, [*set_, *more])
    why = why or differences(report, m, links)
    print(f"not ok managed memory of GPUs: {name}: {why}" if why else f"ok managed memory of GPUs: {name}")
    return not why and report


def pages(dice, total, n):
    return ",".join(str(dice.randrange(total)) for _ in range(n))


def at_random(dice, total, advice):
    """A script of touches, prefetches and, if wanted, advice."""
    script = []
    for _ in range(24):
        kind = dice.random()
        first = dice.randrange(total)
        last = min(total - 1, first + dice.choice((0, 7, 40, 300, 600)))
        if kind < 0.15:
            script.append(f"p{dice.choice('01h')}:{first}-{last}")
        elif kind < 0.4 and advice:
            script.append(f"{dice.choice(['l0', 'l1', 'lh', 'lx', 'a0', 'a1', 'x0', 'x1', 'm', 'm', 'n'])}:{first}-{last}")
        else:
            script.append(f"{dice.choice('rw')}{dice.choice('0011h')}:{pages(dice, total, dice.randrange(1, 9))}")
    return script


def rate(at, machine, mib, script, a, b):
    """GB/s at which the last step moved all of it from one GPU to the other, by how long it took beyond the same without that step."""
    whole, why = run(at, machine, mib, script)
    before, why_ = run(at, machine, mib, script[:-1])
    if not whole or not before:
        print(f"not ok managed memory of GPUs: {why} {why_}")
        return 0
    return (mib << 20) / ((whole["time_ps"] - before["time_ps"]) / 1e3)


def times(at):
    """A prefetch from GPU to GPU at the rate of the bridge: 4 links of 14.063 GB/s, 128 of 140 bytes; one by way of the host at
    half of what PCI Express 4.0 gives, as its two copies of a block follow each other."""
    ok = True
    bridge, host = 4 * 14.063 * 128 / 140, 31.508 * 128 / (128 + 25)
    for name, machine, want in (("over the bridge", "2x-rtx-3090-nvlink", bridge), ("by way of the host", "4x-rtx-4090-pcie", host / 2)):
        got = rate(at, machine, 32, ["p0:0-8191", "p1:0-8191"], 0, 1)
        is_so = 0.7 * want < got < want
        print(("ok" if is_so else "not ok") + f" managed memory of GPUs: a prefetch from one to the other {name}, {got:.1f} of {want:.1f} GB/s")
        ok &= is_so
    return ok


def main():
    at = sys.argv[1:]
    dice = random.Random(20)
    every = ",".join(map(str, range(0, 1024, 16)))
    some = ",".join(map(str, range(0, 1024, 64)))
    all_ = "0-1023"
    turns = [f"w{i % 2}:{every}" for i in range(4)]
    ok = [
        case("two take turns to write all of it", at, [f"wh:{every}", *turns, "rh:0,100,1000"]),
        case("they read in turn: pages move as well", at, [f"wh:{some}", "r0:0,5,900", "r1:0,5,900", "r0:0"]),
        case("nobody has touched it", at, ["w0:3,600", "w1:3,601", "rh:3,4,600,601"]),
        case("mostly read: each gets copies, a write ends them", at,
             ["wh:0,16,512", f"m:{all_}", "r0:0,16,512", "r1:0,16,512", "w1:16", "rh:17", "r0:16,17", "wh:512", "r1:512,513", "r0:512"]),
        case("copies of what a GPU has made", at, [f"m:{all_}", "w0:0", "r1:0", "rh:0", "r0:0", "w1:0"]),
        case("preferred on one: the other reaches it there", at,
             [f"l0:{all_}", "w0:0", "r1:0,1,600", "w1:2", "r0:600", "rh:2", "r1:2"], links=False),
        case("each prefers its half", at, ["l0:0-511", "l1:512-1023", "w0:0,512,513", "w1:512,0,1", "r0:1,513"], links=False),
        case("accessed by both: no faults wherever it is", at, [f"wh:{some}", f"a0:{all_}", f"a1:{all_}", "r0:0,64", "p0:0-511",
             "r1:0,64,512", "p1:0-511", "w0:0", "x0:0-1023", "w0:0"], links=False),
        case("preferred at the host, prefetched to one", at, [f"lh:{all_}", "p0:0-511", "r0:0,600", "r1:0,600", "rh:0"], links=False),
        case("prefetched from one to the other and home", at, [f"wh:{some}", f"p0:{all_}", "p1:100-700", "r1:100,50", "ph:0-600", "r0:5"]),
        case("more than one GPU has, the other has the rest", at,
             [f"wh:{every}", "p1:0-511", *(f"w0:{some},{some}" for _ in range(2)), f"r1:{some}"], room=1),
        case("a copy reads it where it is", at, ["w0:0,16,32", "d1:0-47", "d0:0-47", "rh:0", "d1:0-47"], links=False),
        case("without a way between them: by the host", at, [f"wh:{some}", *turns, "p0:0-511", f"m:{all_}", "r1:0,1", "r0:0,1,900", "w0:1"],
             machine="4x-rtx-4090-pcie", peers=None),
        case("preferred where the other has no way to", at, [f"l0:{all_}", "w0:0", "r1:0,600", f"a1:{all_}", "r0:0", "r1:0"],
             machine="4x-rtx-4090-pcie", peers=None),
        *(case(f"at random, {i}", at, at_random(dice, 1024, False)) for i in range(6)),
        *(case(f"at random, with little room, {i}", at, at_random(dice, 1536, False), mib=6, room=2) for i in range(6)),
        *(case(f"at random, with advice, {i}", at, at_random(dice, 1024, True), links=False) for i in range(24)),
        times(at),
    ]
    return not all(ok)


sys.exit(main())
