#!/usr/bin/env python3
"""Breaks the control bits of compiled kernels and holds the two hazard modes against each other:
`mutate.py [--count N] [--seed N] [--kernels A,B...] [--least CHANGED,EACH] [-v] [TARGET...]`, TARGET as 86:rtx-3070.

A variant is a kernel of kernels/ with protections of one class taken away, drawn with the seed: stall counts
lowered, wait bits cleared, counters removed from the instruction that raises them, DEPBARs weakened. What a
protection is for is read off the text; one that is for two things is left alone. `--hazards emulate` then computes what silicon would; when the CPU
reference says that the result changed (or the kernel faults, or does not end), the checker has to report a
hazard of that class in the same run (`--hazards both`). A run of `--hazards check` alone is counted beside it: where warps
race for locks, the right values make other turns, and the hazard may not come up. Status 1 when a change is not reported, when
warpstep itself fails, or when fewer than CHANGED variants in all (3 in 10), EACH of every class (1 in 25), changed their result.

BIN names the program (build/warpstep), JOBS the number of runs at a time (2). `make refs` must have run."""
import argparse
import collections
import concurrent.futures
import dataclasses
import functools
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

BIN = os.environ.get("BIN", "build/warpstep")
WORKERS = int(os.environ.get("JOBS", "2"))
TARGETS = ["75:rtx-2080ti", "80:a100", "86:rtx-3070", "90:h200", "100:b200", "120:rtx-5070ti"]
CLASSES = ["fixed RAW", "variable RAW", "WAR", "WAW", "DEPBAR"]
TURNS = CLASSES + ["WAR"] * 2  # classes in turn, WAR three times: few of its variants change a result
# Places broken in one variant. What waits in a queue has mostly read its sources before an early writer
# lands, so that few variants with one broken place of the class WAR differ.
PLACES = {"fixed RAW": 2, "variable RAW": 2, "WAR": 32, "WAW": 2, "DEPBAR": 1}
LINE = re.compile(r"  \[B([\d-]{6}):R(.):W(.):(.):S(\d\d)\] (@!?\w+ )?([A-Z]\w*)([\w.]*)(.*?) ;")
REGISTER = re.compile(r"\b(U?[RP])(\d+)\b")
NO_RESULT = re.compile(r"ST|RED|SURED|SUST|BRA|BRX|JM|EXIT|BAR|BS|NOP|DEPBAR|LDGSTS|LDGDEPBAR|MEMBAR|ERRBAR|CCTL"
                       r"|WARPSYNC|CALL|RET|YIELD|NANOSLEEP|BPT|UTM|FENCE")
VARIABLE = re.compile(r"LD|ST|AT|RED|S2|SHFL|MATCH|TEX|TLD|TMML|SU|MUFU|[IF]2[IF]|FRND|POPC|FLO|BREV|R2UR|BMOV")
FP64 = ("DADD", "DMUL", "DFMA", "DSETP")
ENDS = (0, 1, 3, 5)  # results match, do not, the kernel faulted, did not end
AHEAD = 15   # instructions in which a consumer is looked for behind a stall count
MAX_CYCLES = 3000000  # twice the longest kernel
BACK = 200   # instructions in which the one that raised a counter is looked for


@dataclasses.dataclass
class Inst:
    """What a line of `disasm --asm` says of one instruction."""
    line: int
    guarded: bool
    wait: frozenset
    read: str
    write: str
    stall: int
    name: str
    modifiers: str
    operands: str
    results: frozenset
    sources: frozenset
    entry: bool  # a label stands before it

    def fixed(self):
        return self.write == "-" and not VARIABLE.match(self.name)

    def on_fp64(self):
        return self.name in FP64 or ".F64" in self.modifiers


def registers(text, width):
    return {(file, int(n) + k) for file, n in REGISTER.findall(text) for k in range(width)}


def width_of(name, modifiers, operand, result):
    """Registers of an operand, as far as the text tells: too few only loses places to break."""
    if ".128" in modifiers:
        return 4 if "[" not in operand else 2
    if ".64" in operand or (".64" in modifiers and "[" not in operand):
        return 2
    return 2 if name in FP64 or (result and ".WIDE" in modifiers) else 1


def parse(text):
    found, entry = [], True
    for number, line in enumerate(text):
        m = LINE.match(line)
        if not m:
            entry = True
            continue
        wait, read, write, _, stall, guard, name, modifiers, operands = m.groups()
        parts = operands.split(",")
        n = 0 if NO_RESULT.match(name) else 1
        results, sources = set(), registers(guard or "", 1)
        for i, part in enumerate(parts):
            # Second results (carry, predicate) come before the first source: both, to be safe.
            regs = registers(part, width_of(name, modifiers, part, i < n))
            if i < n:
                results |= regs
            else:
                sources |= regs
        found.append(Inst(number, bool(guard), frozenset(int(c) for c in wait if c != "-"), read, write, int(stall),
                          name, modifiers, operands, frozenset(results), frozenset(sources), entry))
        entry = False
    return found


@dataclasses.dataclass(frozen=True)
class Place:
    """One protection: what it is for, and how its line looks without it."""
    kind: str
    line: int
    after: tuple  # lines to choose from


def control(line, field, value):
    """The line with one field of its control notation replaced."""
    at = {"B": r"\[B[\d-]{6}", "R": r":R.", "W": r":W.", "S": r":S\d\d"}[field]
    prefix = "[B" if field == "B" else ":" + field
    return re.sub(at, lambda _: prefix + value, line, count=1)


def without_wait(line, sb):
    at = line.index("[B") + 2
    return line[:at + sb] + "-" + line[at + sb + 1:]


def stall_places(code, n):
    """Lowered stall counts: a consumer close behind needs the cycles."""
    first = code[n]
    if first.stall < 2 or first.name == "DEPBAR":
        return None
    for later in code[n + 1:n + 1 + AHEAD]:
        if later.entry:
            return None
        if first.fixed() and first.results & later.sources:
            return "fixed RAW"
        if first.write != "-" and int(first.write) in later.wait and first.results & later.sources \
                and later is code[n + 1]:
            return "variable RAW"
        if later.stall > 1:
            return None
    return None


def result_kind(first, last):
    """What keeps `last` behind the result of `first`: most that overwrite a result read it, too. Results of
    one unit keep their order; a guarded instruction may write nothing."""
    if first.results & last.results and last.fixed() and not last.guarded and not (first.on_fp64() and last.on_fp64()):
        return "WAW"
    return "variable RAW" if first.results & last.sources else None


def guarded_by(code, n, sb):
    """What the wait of code[n] for counter sb is for, from the instructions that raise it since it was last waited
    for. None when it is for several things: whichever breaks would do."""
    last, kinds = code[n], set()
    for first in reversed(code[max(0, n - BACK):n]):
        if first.read == str(sb) and first.sources & last.results:
            kinds.add("WAR")
        if first.write == str(sb):
            kinds.add("DEPBAR" if first.name == "LDGDEPBAR" else result_kind(first, last))
        if sb in first.wait:
            break
    return kinds.pop() if len(kinds) == 1 else None


def counter_kind(code, n, write):
    """What the counter that code[n] raises is for, from the first instruction that waits for it."""
    first = code[n]
    sb = int(first.write if write else first.read)
    if write and first.name == "LDGDEPBAR":
        return "DEPBAR"
    for last in code[n + 1:n + 1 + BACK]:
        if sb in last.wait:
            if not write:
                return "WAR" if first.sources & last.results else None
            return result_kind(first, last)
        if str(sb) in (last.write, last.read):
            return None
    return None


def depbar_changes(inst, line):
    """DEPBAR waits for less, is left too early, or not waited for at all."""
    m = re.search(r"DEPBAR\.LE SB\d, (0x[\da-f]+)", line)
    limit = int(m.group(1), 16)
    out = [line.replace(m.group(1) + " ", f"{limit + more:#x} ", 1) for more in (1, 2, 8)]
    out += [control(line, "S", f"{s:02}") for s in range(1, min(inst.stall, 4))]
    return out


def places_of(kernel, sm, _):
    """Text of one kernel and the protections in it."""
    cubin = f"kernels/{kernel}/{kernel}.sm_{sm}.cubin"
    text = subprocess.run([BIN, "disasm", "--asm", cubin], capture_output=True, text=True, check=True
                          ).stdout.splitlines()
    code, found = parse(text), []

    def add(kind, line, after):
        if kind and after:
            found.append(Place(kind, line, tuple(after)))

    for n, inst in enumerate(code):
        line = text[inst.line]
        add(stall_places(code, n), inst.line,
            [control(line, "S", f"{s:02}") for s in range(1, inst.stall)])
        for sb in inst.wait:
            add(guarded_by(code, n, sb), inst.line, [without_wait(line, sb)])
        if inst.write != "-":
            add(counter_kind(code, n, True), inst.line, [control(line, "W", "-")])
        if inst.read != "-":
            add(counter_kind(code, n, False), inst.line, [control(line, "R", "-")])
        if inst.name == "DEPBAR":
            add("DEPBAR", inst.line, depbar_changes(inst, line))
    return text, found


def places(targets, kernels):
    """All places: class -> (kernel, sm, preset) -> [place], and the text of each kernel."""
    jobs = [(p.stem, *t.split(":")) for t in targets for p in sorted(pathlib.Path("kernels").glob("*/*.launch"))
            if p.with_name(f"{p.stem}.sm_{t.split(':')[0]}.cubin").exists() and (not kernels or p.stem in kernels)]
    texts, pool = {}, {kind: {} for kind in CLASSES}
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as workers:
        for job, (text, found) in zip(jobs, workers.map(lambda job: places_of(*job), jobs)):
            texts[job] = text
            for place in found:
                pool[place.kind].setdefault(job, []).append(place)
    return texts, pool


def choose(pool, count, seed):
    """`count` different variants, classes in turn: (class, job, changed lines). Kernels are drawn by how many places
    they have; each class has random numbers of its own."""
    rng = {kind: random.Random(f"{seed} {kind}") for kind in CLASSES}
    chosen, seen = [], set()
    jobs = {kind: list(pool[kind]) for kind in CLASSES}
    weights = {kind: [len(pool[kind][job]) for job in jobs[kind]] for kind in CLASSES}
    tries = 100 * count
    while len(chosen) < count and tries:
        kind = TURNS[tries % len(TURNS)]
        tries -= 1
        if not jobs[kind]:
            continue
        job = rng[kind].choices(jobs[kind], weights[kind])[0]
        some = rng[kind].sample(pool[kind][job], min(PLACES[kind], len(pool[kind][job])))
        lines = tuple(sorted({place.line: rng[kind].choice(place.after) for place in some}.items()))
        if (job, lines) not in seen:
            seen.add((job, lines))
            chosen.append((kind, job, lines))
    return chosen


def run(folder, job, mode):
    kernel, _, preset = job
    return subprocess.run([BIN, "run", f"{folder}/{kernel}.launch", "--data", f"build/ref/{kernel}", "--gpu", preset,
                           "--max-cycles", str(MAX_CYCLES), "--hazards", mode, "--quiet"],
                          capture_output=True, text=True, check=False)


@functools.lru_cache(None)
def unbroken(job):
    """Does the kernel give the right result as it is?"""
    return run(f"kernels/{job[0]}", job, "emulate").returncode == 0


def findings(checked):
    """Kinds of hazards that a run reports."""
    return set(re.findall(r"^  (RAW|WAR|WAW) ", checked.stdout, re.M))


def judge(scratch, number, text, kind, job, changes):
    """Outcome of one variant: same, reported (alone: by a run of check alone, too), MISSED or BROKEN, and what was said of it."""
    folder = pathlib.Path(scratch) / str(number)
    folder.mkdir()
    lines = list(text)
    for at, line in changes:
        lines[at] = line
    (folder / "k.sass").write_text("\n".join(lines) + "\n")
    shutil.copy(f"kernels/{job[0]}/{job[0]}.launch", folder)
    subprocess.run([BIN, "asm", folder / "k.sass", "-o", folder / f"{job[0]}.sm_{job[1]}.cubin"],
                   check=True, capture_output=True)
    emulated = run(folder, job, "emulate")
    outcome, said = "same", ""
    if emulated.returncode not in ENDS or not (emulated.returncode == 0 or unbroken(job)):
        outcome, said = "BROKEN", emulated.stderr
    elif emulated.returncode:
        checked = run(folder, job, "both"), run(folder, job, "check")
        wanted = {kind.split()[-1]} & {"RAW", "WAR", "WAW"}
        found = [bool(findings(c)) and findings(c) >= wanted for c in checked]
        said = " ".join(sorted(findings(checked[0])))
        outcome = "MISSED" if not found[0] else "alone" if found[1] else "reported"
        for c in checked:
            if c.returncode not in ENDS:
                outcome, said = "BROKEN", c.stderr
    shutil.rmtree(folder)
    return outcome, said


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kernels", default="")
    parser.add_argument("--least", default="")
    parser.add_argument("-v", action="store_true")
    parser.add_argument("targets", nargs="*", default=TARGETS)
    args = parser.parse_args()
    least, each = (int(x) for x in args.least.split(",")) if args.least else (args.count * 3 // 10, args.count // 25)
    texts, pool = places(args.targets, args.kernels.split(",") if args.kernels else [])
    variants = choose(pool, args.count, args.seed)
    outcomes = collections.Counter()
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(WORKERS) as workers:
        results = workers.map(lambda v: judge(scratch, v[0], texts[v[1][1]], *v[1]), enumerate(variants))
        for (kind, job, lines), (outcome, said) in zip(variants, results):
            outcomes[kind, outcome] += 1
            if args.v or outcome.isupper():
                print(f"{outcome} {kind}: {job[0]} sm_{job[1]}: {said}", flush=True)
                for at, line in lines:
                    print(f"    {at + 1}: {texts[job][at].strip()}\n      ->{line.rstrip()}", flush=True)
    bad = 0
    for kind in CLASSES:
        n = {o: outcomes[kind, o] for o in ("same", "reported", "alone", "MISSED", "BROKEN")}
        reported = n["reported"] + n["alone"]
        changed = reported + n["MISSED"]
        print(f"{kind:<14}{sum(n.values()):>6} variants {changed:>6} change the result {reported:>6} reported "
              f"{n['alone']:>6} by check alone")
        bad += n["MISSED"] + n["BROKEN"] + (changed < each)
    changed = sum(outcomes[k, o] for k in CLASSES for o in ("reported", "alone", "MISSED"))
    print(f"{'all':<14}{len(variants):>6} variants {changed:>6} change the result")
    return 1 if bad or changed < least or len(variants) < args.count else 0


if __name__ == "__main__":
    sys.exit(main())
