#!/usr/bin/env python3
"""Runs the commands of documents as they stand there.

A fenced block marked `sh` holds commands. When some of its lines begin with "$ ", those are the commands, and the other lines
are quoted output. Each command must end with status 0, and each quoted line must be part of a line of what the commands of its block
printed (runs of blanks count as one). The commands of one document run one after another in one scratch folder, in which
the folders of the tree that documents name are links. Prints "ok NAME", "not ok NAME: why" or "ok NAME # SKIP why".

A block without `sh` behind a comment `<!-- screen: COMMAND -->` is what that command prints, shortened ("..." stands for lines left out).

--update writes into the documents what the commands print now: each quoted line that is not printed becomes the printed line that says the
same with other numbers. A line that has no such counterpart is left, and named: mend it by hand. Read the diff.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

LIMIT = 300  # seconds for one command
FOLDERS = ("bench", "build", "kernels", "examples", "presets", "data")
DOCUMENTS = ("README.md", "docs/tutorial.md", "docs/recipes.md", "docs/debug.md", "docs/ncu.md", "docs/html.md", "docs/limiter.md",
             "docs/annotate.md", "docs/machines.md")
BLOCK = re.compile(r"^(?:<!-- screen: (?P<screen>.*) -->\n```|```sh)\n(?P<text>.*?)^```", re.M | re.S)
NUMBER = re.compile(r"-?\d[\d,.]*")


def squeeze(line):
    return " ".join(line.split())


def sections(lines):
    """(commands, [(index, quoted line)]) of each run of commands with what they print."""
    commands, quoted = [], []
    for i, line in enumerate(lines):
        if line.startswith("$ "):
            if quoted:
                yield commands, quoted
                commands, quoted = [], []
            commands.append(line[2:])
        elif line.strip() not in ("", "..."):
            quoted.append((i, line))
    yield commands, quoted


def blocks(text):
    """(commands, {number of a line: quoted line}) of each block."""
    for found in BLOCK.finditer(text):
        lines, first = found.group("text").splitlines(), text.count("\n", 0, found.start("text"))
        screen = found.group("screen")
        if screen:
            lines, first = ["$ " + screen] + lines, first - 1
        if not any(line.startswith("$ ") for line in lines):
            yield lines, {}
            continue
        for commands, quoted in sections(lines):
            yield commands, {first + i: line for i, line in quoted}


def same_words(line):
    """What matches the line with other numbers, and other blanks between its words."""
    words = [NUMBER.sub(lambda _: "\0", word) for word in line.split()]
    return re.compile(r"\s+".join(re.escape(word).replace("\0", NUMBER.pattern) for word in words))


def renewed(line, printed):
    """The line as it is printed now; None: no printed line says the same."""
    words = same_words(line)
    for now in printed:
        found = words.search(now)
        if found:
            return re.match(r"\s*", line).group() + found.group()
    return None


def run_block(commands, quoted, folder):
    """(why the block fails or None, {number of a quoted line that was not printed: the printed one or None})."""
    printed = []
    for command in commands:
        try:
            done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=folder, timeout=LIMIT, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        except subprocess.TimeoutExpired:
            return "no end after %d s: %s" % (LIMIT, command), {}
        if done.returncode:
            last = (done.stdout.strip().splitlines() or [""])[-1]
            return "status %d from %s: %s" % (done.returncode, command, last), {}
        printed += done.stdout.splitlines()
    squeezed = [squeeze(line) for line in printed]
    stale = {n: renewed(line, printed) for n, line in quoted.items() if not any(squeeze(line) in p for p in squeezed)}
    for n, now in stale.items():
        instead = "" if now is None else "; it printed '%s'" % squeeze(now)
        return "'%s' was not printed by %s%s" % (squeeze(quoted[n]), "; ".join(commands), instead), stale
    return None, {}


def write_renewed(path, text, stale):
    lines = text.split("\n")
    for n, now in stale.items():
        lines[n] = lines[n] if now is None else now
    if lines != text.split("\n"):
        with open(path, "w", encoding="utf-8") as f:
            f.write("\n".join(lines))


def run_document(path, root, update):
    failed, all_stale = 0, {}
    with open(path, encoding="utf-8") as f:
        text = f.read()
    with tempfile.TemporaryDirectory() as folder:
        for name in FOLDERS:
            os.symlink(os.path.join(root, name), os.path.join(folder, name))
        missing = None
        found = list(blocks(text))
        if not found:
            print("not ok docs %s: no block of commands" % os.path.basename(path))
            failed = 1
        for i, (commands, quoted) in enumerate(found, 1):
            name = "docs %s block %d" % (os.path.basename(path), i)
            if missing is None and any(re.match(r"nvcc\b", c) for c in commands) and not shutil.which("nvcc"):
                missing = "no nvcc on the search path"
            if missing:
                print("ok %s # SKIP %s" % (name, missing))
                continue
            why, stale = run_block(commands, quoted, folder)
            all_stale.update(stale)
            if update and stale and None not in stale.values():
                why = None
            print("not ok %s: %s" % (name, why) if why else "ok %s" % name, flush=True)
            failed += why is not None
    if update:
        write_renewed(path, text, all_stale)
    return failed


def main():
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    update = sys.argv[1:2] == ["--update"]
    documents = sys.argv[1 + update:] or [os.path.join(root, name) for name in DOCUMENTS]
    return 1 if sum(run_document(d, root, update) for d in documents) else 0


if __name__ == "__main__":
    sys.exit(main())
