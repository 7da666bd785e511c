#!/usr/bin/env python3
"""check.py rules FILE JSON CTAS: what holds for every file of whole warps; JSON: the report of a run that the file has all
warps of. check.py part FILE WHOLE WARPS FIRST END PLACE: a file is what the choice
leaves of another one. check.py known FILE LATENCIES: the kernel known.sass, cycle by cycle; LATENCIES: lat.fma, lat.pred and lat.sfu of the run."""
import collections
import json
import re
import sys

import kanata

READ = 3  # cycles of operand reads (Huerta et al., MICRO 2025)
FIXED = ["F", "Dc", "Ib", "Is", "C", "Al", "Rd", "X", "Wb"]
QUEUED = ["F", "Dc", "Ib", "Is", "C", "Qu", "Ad", "Rd", "XM", "X", "Wb"]


def equal(what, got, wanted):
    if got != wanted:
        sys.exit(f"{what}: {got}, expected {wanted}")


def rules(path, report, ctas):
    insts = kanata.read(path)
    with open(report, encoding="utf-8") as f:
        said = json.load(f)
    equal("instructions", len(insts), said["counters"]["sm__inst_executed.sum"])
    by_warp = collections.defaultdict(list)
    for x in insts:
        names = [s[0] for s in x.lanes[0]]
        order = QUEUED if "Qu" in names else FIXED
        equal(f"stages of {x.label}", names, [n for n in order if n in names])
        equal(f"stages of {x.label} begin", names[:2], ["F", "Dc"])
        equal(f"issue and control of {x.label}", x.stage("Is")[1] - x.issued, 1)
        equal(f"flushed: {x.label}", x.flushed, False)
        by_warp[x.thread].append(x)
    equal("CTAs", len({re.match(r"cta (\d+) ", x.label).group(1) for x in insts}), int(ctas))
    for warp in by_warp.values():
        warp.sort(key=lambda x: x.order)
        for a, b in zip(warp, warp[1:]):
            if b.issued <= a.issued:
                sys.exit(f"{b.label} issues in cycle {b.issued}, before the one ahead of it")
            waits = b.lanes[1]
            equal(f"cycles between {a.label} and {b.label} that have a reason", sum(w[2] - w[1] for w in waits),
                  b.issued - a.issued - 1)
            for w, v in zip(waits, waits[1:] + [("issue", b.issued)]):
                equal(f"{w[0]} of {b.label} ends", w[2], v[1])


def said_of(x):
    """What does not depend on what else is in the file."""
    return x.label, x.tooltip, x.begin, x.lanes, x.end


def part(path, whole, warps, first, end, place):
    """The instructions of the whole whose label begins with `warps`, tooltip holds `place`, issued in [first, end)."""
    wanted = [said_of(x) for x in kanata.read(whole)
              if re.match(warps, x.label) and int(first) <= x.issued < int(end) and (place == "-" or place in x.tooltip)]
    got = [said_of(x) for x in kanata.read(path)]
    if not wanted or len(wanted) == len(kanata.read(whole)):
        sys.exit("nothing, or everything, is chosen")
    equal("instructions", len(got), len(wanted))
    for a, b in zip(sorted(got, key=str), sorted(wanted, key=str)):
        equal(a[0], a, b)


def known(path, fma, pred, sfu):
    x = sorted(kanata.read(path), key=lambda i: i.order)
    text = [re.sub(r"cta 0 warp 0: ", "", i.label) for i in x]
    issue = [i.issued - x[0].issued for i in x]
    stalls = [4, 4, 6, 5, 4, 1, 7]  # up to MUFU, whose result the next one waits for
    equal("issue by stall counts", issue[:8], [sum(stalls[:k]) for k in range(8)])
    mufu, use = text.index("MUFU.RCP R6, R1 ;"), 8
    equal("MUFU's consumer", issue[use] - issue[mufu], sfu)
    equal("its waits", [(w[0], w[2] - w[1]) for w in x[use].lanes[1]], [("wait", 1), ("short_scoreboard", sfu - 2)])
    equal("arrows to it", sorted(p.label for p in x[use].producers), sorted(x[k].label for k in (mufu, 5)))
    equal("behind it", [issue[k] - issue[use] for k in (9, 10, 11)], [4, 6, 19])
    for k, i in enumerate(x):
        if text[k].split()[0] not in ("FADD", "ISETP.GT.U32.AND"):
            continue
        lat = fma if text[k].startswith("FADD") else pred
        at = {s[0]: s[1] - i.issued for s in i.lanes[0] if s[1] > i.issued}
        equal(text[k], at, {"C": 1, "Al": 2, "Rd": 3, "X": 3 + READ, "Wb": 3 + lat})
        equal(f"{text[k]} leaves", i.end - i.issued, 3 + lat + 1)
    store = next(k for k, t in enumerate(text) if "STG" in t)
    equal("the store's producers", sorted(x.index(p) for p in x[store].producers), [0, 1, 2, 9, 10])
    # Table 2 of Huerta et al., MICRO 2025: 14 from a clock read one cycle before the store.
    equal("the store's data may be overwritten", issue[store + 1] - issue[store], 14 - 1)
    if x[store].end <= x[store].stage("XM")[0]:
        sys.exit("the store leaves before it is answered")
    equal("the last", text[-1], "EXIT ;")


if __name__ == "__main__":
    try:
        {"rules": rules, "part": part, "known": lambda path, *n: known(path, *map(int, n))}[sys.argv[1]](*sys.argv[2:])
    except kanata.Broken as e:
        sys.exit(f"{sys.argv[2]}: {e}")
