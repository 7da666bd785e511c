#!/usr/bin/env python3
"""check_rights.py BIN RIGHTS SCRATCH: rights of GPUs to pages at a host without atomics for them (rights.cu), against a model.

The model is written from the rules (docs/managed-memory.md): of each page, which GPU may do atomics of system scope there, and
which may only read it.
"""
import json
import random
import subprocess
import sys

PAGE = 4096


def model(gpus, script):
    """Faults, and pages from which rights were taken, of each GPU."""
    faults, gone = [0] * gpus, [0] * gpus
    atomic, reads = {}, {}  # page: GPU; page: GPUs
    for s in script:
        what, page = s[0], int(s.split(":")[1])
        only = reads.setdefault(page, set())
        if what in "hr":
            continue
        k = int(s[1])
        others = set(range(gpus)) - {k}
        if what == "a" and atomic.get(page) != k:
            for j in others - only:
                gone[j] += 1
            atomic[page], reads[page] = k, others
        elif what != "a" and k in only:
            if page in atomic:
                gone[atomic.pop(page)] += 1
            only.discard(k)
        else:
            continue
        faults[k] += 1
    return faults, gone


def run(at, machine, pages, script, more, threads=1):
    binary, program, scratch = at
    out = f"{scratch}/rights{threads}.json"
    done = subprocess.run([binary, "exec", "--quiet", "--threads", str(threads), "--json", out, "--set", "gpu.sms=4", "--machine", machine, *more,
                           program, str(pages), *script], capture_output=True, text=True)
    if done.stdout != "right\n" or done.returncode:
        return None, f"status {done.returncode}: {done.stdout} {done.stderr[:300]}"
    with open(out) as f:
        return f.read(), ""


def case(name, at, pages, script, machine="4x-rtx-4090-pcie", gpus=4, expect=None):
    faults, gone = expect or model(gpus, script)
    text, why = run(at, machine, pages, script, ("--set", "uvm.thrash_threshold=0"))
    if text:
        m = json.loads(text)["managed_memory"]
        of = m["gpus"] if gpus > 1 else [m]
        want = {"faults": faults, "revoked_bytes": [PAGE * n for n in gone], "migrated_to_gpu_bytes": [0] * gpus}
        why = ", ".join(f"{k} of GPU {i} {of[i][k]}, not {v[i]}" for k, v in want.items() for i in range(gpus) if of[i][k] != v[i])
    print(f"not ok rights to pages at the host: {name}: {why}" if why else f"ok rights to pages at the host: {name}")
    return not why


def thrashes(at):
    """Two GPUs whose atomics take each other's rights: without the rules a fault each; with them those that come in the other's nap
    are put off, on the page that stays where it is."""
    script = [f"a{i % 2}:0" for i in range(24)]
    texts = [run(at, "4x-rtx-4090-pcie", 1, script, ("--set", "uvm.thrash_lapse_us=2000"), threads) for threads in (1, 2, 3)]
    m = json.loads(texts[0][0])["managed_memory"] if texts[0][0] else {}
    ok = m.get("faults", 0) - m.get("put_off_faults", 0) == 24 and m["put_off_faults"] > 0 and m["migrated_to_gpu_bytes"] == 0 and m["pinned_bytes"] == PAGE
    ok = ok and all(t[0] == texts[0][0] for t in texts)
    print(("ok" if ok else "not ok") + f" rights to pages at the host: two GPUs in turn thrash{'' if ok else ': ' + str(m) + texts[0][1]}")
    return ok


def at_once(at, more):
    """Four GPUs whose atomics and writes meet on one page: all of them happen, at the same times for any number of host threads."""
    texts = [run(at, "4x-rtx-4090-pcie", 1, ["c:60"], more, threads) for threads in (1, 2, 3)]
    m = json.loads(texts[0][0])["managed_memory"] if texts[0][0] else {}
    ok = m.get("revoked_bytes", 0) > 3 * PAGE and all(t[0] == texts[0][0] for t in texts)
    print(("ok" if ok else "not ok") + f" rights to pages at the host: four GPUs at once {' '.join(more)}{'' if ok else ': ' + str(m) + texts[0][1]}")
    return ok


def main():
    at, dice = sys.argv[1:], random.Random(31)
    at_random = lambda n: [f"{dice.choice('aadwr')}{dice.randrange(4)}:{dice.randrange(3)}" if dice.random() < 0.9 else f"h:{dice.randrange(3)}"
                           for _ in range(n)]
    ok = [
        case("one GPU asks once", at, 1, ["w0:0", "a0:0", "a0:0", "d0:0", "h:0", "a0:0"], expect=([1, 0, 0, 0], [0, 1, 1, 1])),
        case("its own atomics ask nothing", at, 1, ["d0:0", "d1:0", "w2:0"], expect=([0] * 4, [0] * 4)),
        case("two in turn ask each time", at, 1, ["a0:0", "a1:0"] * 5, expect=([5, 5, 0, 0], [5, 5, 1, 1])),
        case("who writes takes it, who reads does not", at, 1, ["a0:0", "r1:0", "w1:0", "w1:0", "a0:0"], expect=([2, 1, 0, 0], [1, 2, 1, 1])),
        *(case(f"at random, {i}", at, 3, at_random(40)) for i in range(4)),
        case("bulk copies write what others write", at, 1, ["a0:0", "b1:0", "b0:0", "a1:0", "b0:0", "w0:0"], "hgx-h100", 8,
             ([2, 1] + [0] * 6, [1, 2] + [1] * 6)),
        case("a host that is coherent takes none", at, 1, ["a0:0", "h:0", "a0:0"], "gh200", 1, ([0], [0])),
        thrashes(at),
        at_once(at, ()),
        at_once(at, ("--set", "uvm.thrash_threshold=0")),
    ]
    return not all(ok)


sys.exit(main())
