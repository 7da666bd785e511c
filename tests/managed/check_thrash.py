#!/usr/bin/env python3
"""check_thrash.py BIN SWING SCRATCH: pages that thrash (swing.cu), against a model of the driver's rules.

The model is written from the rules (docs/managed-memory.md) and shares nothing with the simulator. It has a rough clock: what a
turn takes is some per cent of a lapse, so that it decides as the simulator does, and naps, which GPUs spend with faults, are
counted by how long they are.
"""
import json
import random
import subprocess
import sys

PAGE, LEAF, BLOCK = 4096, 16, 512
HOST = "h"
LAPSE, LAPSE_MAX, THRESHOLD, NAPS = 2000, 500000, 3, 10  # us
PERIOD = 5.65  # from a fault that is put off to the next one: fault_ns, replay_ns and the way to the GPU
KEYS = ("host_faults", "put_off_host_faults", "migrated_to_gpu_bytes", "migrated_to_host_bytes", "populated_bytes", "tree_prefetched_bytes",
        "pinned_bytes", "migrated_from_gpus_bytes", "staged_bytes")


class Page:
    def __init__(self):
        self.last, self.moves, self.naps, self.end = None, 0, 0, -1
        self.fighters, self.off = set(), set()
        self.served = self.pinned = self.unpin = None


class Model:
    def __init__(self, pages, gpus, peers, pin=300, epoch=2000, resets=4):
        self.pages, self.gpus, self.peers = pages, range(gpus), peers
        self.pin_us, self.epoch_us, self.resets_left = pin * LAPSE, epoch * LAPSE, resets
        self.at = {k: set() for k in [HOST, *self.gpus]}
        self.mapped = {k: set() for k in self.gpus}
        self.n = dict.fromkeys(KEYS, 0)
        self.served = self.put_off = 0  # faults of GPUs
        self.t, self.lapse, self.vote = 0.0, LAPSE, 0
        self.page = None
        self.last = self.last_by = self.last_thrashing = None

    # --- the rules

    def reach(self, k, to):
        return k == to or (k != HOST and (to == HOST or bool(self.peers)))

    def thrashing(self):
        return {p for p in range(self.pages) if self.page and self.page[p].moves >= THRESHOLD}

    def forget(self, g):
        g.last, g.moves, g.fighters, g.pinned = None, 0, set(), None
        if g.off:
            g.off, g.end = set(), -1

    def moved(self, by, pages):
        pages = {p for p in pages if not self.page or self.page[p].pinned is None}
        if not pages:
            return
        if not self.page and self.last is not None and self.last_by != by and self.t - self.last <= self.lapse:
            self.page = [Page() for _ in range(self.pages)]
        for p in pages if self.page else ():
            g = self.page[p]
            before, g.last = g.last, self.t
            g.fighters.add(by)
            if before is None:
                continue
            if self.t - before <= self.lapse:
                g.moves = min(g.moves + 1, 7)
                if g.moves >= THRESHOLD:
                    self.last_thrashing = self.t
            elif g.moves >= THRESHOLD:
                self.forget(g)
        self.last, self.last_by = self.t, by

    def unpin(self):
        for p in range(self.pages) if self.page else ():
            g = self.page[p]
            if g.pinned is not None and g.unpin <= self.t:
                self.forget(g)
                for k in self.gpus:
                    self.mapped[k].discard(p)

    def decide(self, g, by, is_at):
        if self.peers == "fast" and HOST not in g.fighters and is_at != HOST:
            return is_at
        if g.pinned is not None:
            if g.served == by:
                if all(self.reach(k, by) for k in g.fighters):
                    return by
                common = [q for q in (*self.gpus, HOST) if all(self.reach(k, q) for k in g.fighters)]
                return common[0] if common else by
            return g.pinned if self.reach(by, g.pinned) else "off"
        if g.served != by:
            return "off"
        return by if g.naps >= NAPS else "serve"

    def judge(self, by, p):
        """serve, off, or where it is pinned."""
        if not self.page:
            return "serve"
        quiet = self.last_thrashing is not None and self.t - self.last_thrashing > self.epoch_us
        if quiet and self.resets_left and all(g.pinned is None for g in self.page):
            self.resets_left -= 1
            self.page = self.last = self.last_by = self.last_thrashing = None
            return "serve"
        g = self.page[p]
        if g.moves < THRESHOLD:
            return "serve"
        if by in g.off:
            if self.t < g.end and g.served != by:
                return "off"
            g.off.discard(by)
            if not g.off:
                g.end = -1
        since = self.t - g.last
        self.vote += -1 if since < self.lapse else 1
        if (self.vote < 0 or self.vote >= 32) and self.lapse < LAPSE_MAX:
            self.lapse += min(self.lapse / 8, LAPSE_MAX / 10)
            self.vote = int(self.vote / 2)
        if since > self.lapse and g.pinned is None:
            return "serve"
        g.fighters.add(by)
        if self.t > g.end:
            g.end = self.t + LAPSE
            g.served = None if g.served == by else by
        elif g.served is None:
            g.served = by
        is_at = next(k for k in (*self.gpus, HOST) if p in self.at[k])
        what = self.decide(g, by, is_at)
        if what == "off":
            g.naps += by not in g.off and g.pinned is None
            g.off.add(by)
        elif what != "serve":
            if g.off and (g.pinned is None or is_at != what):
                g.off, g.end = set(), -1
            if g.pinned is None:
                g.unpin, g.naps = self.t + self.pin_us, 0
                self.n["pinned_bytes"] += PAGE
            g.pinned = what
        return what

    # --- pages

    def tree(self, there, faulted):
        """All that comes with these pages, and themselves."""
        still = self.thrashing()
        leaf = lambda p: set(range(p // LEAF * LEAF, p // LEAF * LEAF + LEAF))
        whole = {p for p in faulted if not leaf(p) & still}
        full = there | faulted
        for p in whole:
            full |= leaf(p)
        take = set(faulted)
        for p in faulted - still:
            size = LEAF if p in whole else 1
            best = size
            while size <= BLOCK:
                sub = [q for q in range(p // size * size, p // size * size + size) if q < self.pages]
                if 100 * sum(q in full for q in sub) > 51 * len(sub):
                    best = size
                size *= 2
            take |= {q for q in range(p // best * best, p // best * best + best) if q < self.pages}
        return take - there - (still - faulted)

    def take(self, p):
        for k in self.at:
            self.at[k].discard(p)
        for k in self.gpus:
            self.mapped[k].discard(p)

    def go(self, p, to):
        at = next((k for k in (*self.gpus, HOST) if p in self.at[k]), None)
        if at is None:
            self.n["populated_bytes"] += PAGE
        elif to == HOST:
            self.n["migrated_to_host_bytes"] += PAGE
        elif at == HOST:
            self.n["migrated_to_gpu_bytes"] += PAGE
        elif self.peers:
            self.n["migrated_from_gpus_bytes"] += PAGE
        else:
            for key in ("migrated_to_host_bytes", "migrated_to_gpu_bytes", "staged_bytes"):
                self.n[key] += PAGE
        self.take(p)
        self.at[to].add(p)

    def map_fighters(self, p):
        for k in self.page[p].fighters:
            if k != HOST and any(p in self.at[j] and self.reach(k, j) for j in self.at if j != k):
                self.mapped[k].add(p)

    def gpu(self, k, p):
        self.t += 3.4
        self.unpin()
        if p in self.at[k] or (p in self.mapped[k] and any(p in self.at[j] for j in self.at)):
            self.t += 2
            return
        self.t += 10.3
        while True:
            self.unpin()
            what = self.judge(k, p)
            if what != "off":
                break
            self.put_off += 1
            self.t += PERIOD
        self.served += 1
        self.t += 10
        if what not in ("serve", k):
            if p not in self.at[what]:
                self.go(p, what)
            self.map_fighters(p)
        else:
            come = self.tree(self.at[k], {p})
            self.moved(k, {q for q in come if any(q in self.at[j] for j in self.at)})
            self.n["tree_prefetched_bytes"] += len(come - {p}) * PAGE
            for q in come:
                self.go(q, k)
            if what == k:
                self.map_fighters(p)
        self.t += 12

    def host(self, p):
        leaf = set(range(p // LEAF * LEAF, p // LEAF * LEAF + LEAF))
        self.at[HOST] |= {q for q in leaf if not any(q in self.at[k] for k in self.at)}
        touched = {q for q in leaf if q not in self.at[HOST]}
        until = 0
        self.t += 0.4
        while until is not None:
            until = None
            self.unpin()
            for k in self.gpus:
                if not touched & self.at[k]:
                    continue
                off = set()
                for q in sorted(leaf & self.at[k]):
                    if self.judge(HOST, q) == "off":
                        off.add(q)
                        until = max(until or 0, self.page[q].end)
                self.n["put_off_host_faults"] += bool(off)
                if not (leaf - off) & self.at[k]:
                    continue
                back = self.tree(self.at[HOST], leaf - off) & self.at[k]
                self.n["host_faults"] += 1
                for q in back:
                    self.go(q, HOST)
                self.moved(HOST, back)
                self.t += 15 + len(back) * PAGE / 25000
                for q in back:
                    if self.page and self.page[q].pinned is not None:
                        self.map_fighters(q)
            if until is not None:
                self.t = max(self.t, until) + 1e-6

    def step(self, s):
        who, n = s[0], int(s[2:])
        if who == "s":
            self.t += n * 1000 + 4
        elif who == "h":
            self.host(n)
        else:
            self.gpu(int(who), n)


def run(at, machine, pages, script, more, threads=1):
    binary, program, scratch = at
    out = f"{scratch}/swing{threads}.json"
    done = subprocess.run([binary, "exec", "--quiet", "--threads", str(threads), "--json", out, "--set", "gpu.sms=4", "--machine", machine,
                           "--set", f"uvm.thrash_lapse_us={LAPSE}", *more, program, str(pages), *script], capture_output=True, text=True)
    if done.stdout != "right\n" or done.returncode:
        return None, f"status {done.returncode}: {done.stdout} {done.stderr[:300]}"
    with open(out) as f:
        return f.read(), ""


NVLINK, PCIE = ("2x-rtx-3090-nvlink", 2, "fast"), ("4x-rtx-4090-pcie", 4, None)


def case(name, at, machine, pages, script, expect=(), more=(), **rules):
    m = Model(pages, *machine[1:], **rules)
    for s in script:
        m.step(s)
    text, why = run(at, machine[0], pages, script, more)
    if text:
        got = json.loads(text)["managed_memory"]
        wrong = [f"{k} {got[k]}, not {v}" for k, v in m.n.items() if got[k] != v]
        if got["faults"] - got["put_off_faults"] != m.served:
            wrong.append(f"{got['faults']} faults less {got['put_off_faults']}, not {m.served}")
        if abs(got["put_off_faults"] - m.put_off) > 0.05 * m.put_off:
            wrong.append(f"{got['put_off_faults']} faults were put off, not some {m.put_off}")
        wrong += [f"{k} {got[k]}, not {v} as the formula has it" for k, v in expect if got[k] != v]
        why = ", ".join(wrong)
    print(f"not ok managed memory that thrashes: {name}: {why}" if why else f"ok managed memory that thrashes: {name}")
    return not why


def same(name, at, machine, script):
    """… for one, two and three host threads."""
    texts = [run(at, machine[0], 16, script, (), threads) for threads in (1, 2, 3)]
    ok = all(t[0] and t[0] == texts[0][0] for t in texts)
    print(("ok" if ok else "not ok") + f" managed memory that thrashes: {name}, the same for one, two and three host threads {'' if ok else texts[0][1]}")
    return ok


def at_random(dice, gpus, pages):
    who = [HOST, *map(str, range(gpus))]
    hot = dice.sample(range(pages), 3)
    return [f"s:{dice.randrange(1, 9)}" if dice.random() < 0.06 else f"{dice.choice(who)}:{dice.choice(hot)}" for _ in range(dice.randrange(20, 70))]


def main():
    at, dice = sys.argv[1:], random.Random(23)
    turns = lambda n, *who: [f"{who[i % len(who)]}:0" for i in range(n)]
    # A page that GPU 0 and the host touch in turn, first the host. The first move to each makes the driver count, the next
    # two pairs make it thrash, then the host is served at once and each of ten further moves behind a nap; the tenth nap is
    # the host's, and pins the page there: eight moves each way.
    swing = [("migrated_to_gpu_bytes", 8 * PAGE), ("migrated_to_host_bytes", 8 * PAGE), ("put_off_host_faults", 5), ("pinned_bytes", PAGE)]
    # Two GPUs with fast links: five moves make it thrash, and the next fault pins it where it is.
    links = [("migrated_to_gpu_bytes", PAGE), ("migrated_from_gpus_bytes", 4 * PAGE), ("faults", 6), ("put_off_faults", 0), ("pinned_bytes", PAGE)]
    ok = [
        case("a GPU and the host in turn", at, NVLINK, 1, ["h:0", *turns(40, 0, HOST)], swing),
        case("two GPUs with a fast link", at, NVLINK, 1, ["h:0", *turns(40, 0, 1)], links),
        case("two GPUs without: the page ends at the host", at, PCIE, 1, ["h:0", *turns(30, 0, 1)], [("pinned_bytes", PAGE)]),
        case("pauses in which it is forgotten", at, NVLINK, 1, ["h:0", *(turns(5, 0, HOST) + ["s:3"]) * 4]),
        case("a pin ends, and the page thrashes again", at, NVLINK, 1, ["h:0", *turns(12, 0, 1), "s:9", *turns(12, 0, 1)],
             [("pinned_bytes", 2 * PAGE)], ("--set", "uvm.thrash_pin=4"), pin=4),
        case("a block that was quiet begins anew", at, NVLINK, 1, ["h:0", *(turns(8, 0, HOST) + ["s:9"]) * 3], (),
             ("--set", "uvm.thrash_epoch=4", "--set", "uvm.thrash_resets=2"), epoch=4, resets=2),
        case("three and the host", at, PCIE, 1, ["h:0", *turns(40, 0, 1, HOST, 2)]),
        *(case(f"at random, {i}", at, NVLINK, 64, at_random(dice, 2, 64)) for i in range(8)),
        *(case(f"at random without links, {i}", at, PCIE, 64, at_random(dice, 3, 64)) for i in range(8)),
        same("a kernel beside the host", at, NVLINK, ["h:0", "b:60"]),
        same("in turn", at, PCIE, ["h:0", *turns(24, 0, 1, HOST)]),
    ]
    return not all(ok)


sys.exit(main())
