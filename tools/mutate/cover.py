"""Which lines of the source a test executes, from breakpoints at the addresses of the line tables (cover.c), so that only tests that
reach a mutant's line are run. What a library's constructors do before that of cover.c is not seen."""
import bisect
import os
import pathlib
import re
import struct
import subprocess

NAME, LIBRARIES = 56, 4  # as in cover.c
ROW = re.compile(r"^(\S+\.c) +(\d+) +0x([0-9a-f]+)( .*)?$")


def rows(library, names):
    """{address: {(path, line)}} of statements of the files wanted; names: base name -> path."""
    out = {}
    p = subprocess.Popen(["objdump", "-WL", str(library)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace")
    for text in p.stdout:
        m = ROW.match(text)
        path = names.get(os.path.basename(m.group(1))) if m else None
        if path and text.rstrip().endswith("x"):
            out.setdefault(int(m.group(3), 16), set()).add((path, int(m.group(2))))
    if p.wait():
        raise SystemExit(f"mutants.py: objdump cannot read {library}")
    return out


class Cover:
    """libraries: linked with line tables; sources: paths of the files that are mutated, relative to the tree."""
    def __init__(self, build, libraries, sources):
        self.build = pathlib.Path(build)
        self.preload, self.list, self.record = self.build / "libcover.so", self.build / "points", self.build / "covered"
        here = pathlib.Path(__file__).resolve().parent
        subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-D_GNU_SOURCE", "-o", self.preload, here / "cover.c", "-ldl"], check=True)
        names = {os.path.basename(s): s for s in sources}
        self.lines = []  # of each point, a set of (path, line)
        head, offsets = [], []
        for library in libraries:
            found = rows(library, names)
            head.append(struct.pack(f"{NAME}sII", os.path.basename(library).encode(), len(offsets), len(found)))
            for address in sorted(found):
                offsets.append(address)
                self.lines.append(found[address])
        head += [bytes(NAME + 8)] * (LIBRARIES - len(head))
        self.list.write_bytes(b"".join(head) + struct.pack(f"{len(offsets)}I", *offsets))
        known = {}
        for lines in self.lines:
            for path, line in lines:
                known.setdefault(path, set()).add(line)
        self.known = {path: sorted(lines) for path, lines in known.items()}

    def environment(self):
        """Of a test whose lines are wanted; begins a new record."""
        self.record.write_bytes(bytes(len(self.lines)))
        return {"LD_PRELOAD": str(self.preload), "MUTATE_POINTS": str(self.list), "MUTATE_COVER": str(self.record)}

    def covered(self):
        """What the record says: {path: bits of lines}."""
        out = {}
        for hit, lines in zip(self.record.read_bytes(), self.lines):
            for path, line in lines if hit else ():
                out[path] = out.get(path, 0) | 1 << line
        return out

    def near(self, path, line, text):
        """Bits of the lines that say whether a line is executed: itself, or its neighbours in the function that the compiler has names
        for. 0: not known, it is in no function."""
        lines = self.known.get(path, [])
        i = bisect.bisect_left(lines, line)
        if i < len(lines) and lines[i] == line:
            return 1 << line
        ends = [k + 1 for k, s in enumerate(text.split("\n")) if s.startswith("}")]
        j = bisect.bisect_left(ends, line)
        first, last = ends[j - 1] if j else 0, ends[j] if j < len(ends) else 0
        bits = 0
        if i > 0 and lines[i - 1] > first:
            bits |= 1 << lines[i - 1]
        if i < len(lines) and lines[i] <= last:
            bits |= 1 << lines[i]
        return bits
