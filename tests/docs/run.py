#!/usr/bin/env python3
"""Runs the commands of documents as they stand there.

A fenced block marked `sh` holds commands. When some of its lines begin with "$ ", those are the commands, and the other lines
are quoted output. Each command must end with status 0, and each quoted line must be part of a line of what the commands of its block
printed (runs of blanks count as one). The commands of one document run one after another in one scratch folder, in which
the folders of the tree that documents name are links. Prints "ok NAME", "not ok NAME: why" or "ok NAME # SKIP why".
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

LIMIT = 300  # seconds for one command
FOLDERS = ("build", "kernels", "examples", "presets", "data")
DOCUMENTS = ("README.md", "docs/tutorial.md", "docs/recipes.md", "docs/debug.md", "docs/ncu.md", "docs/html.md")
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.M | re.S)


def squeeze(line):
    return " ".join(line.split())


def blocks(text):
    """(commands, quoted lines) of each block."""
    for found in BLOCK.finditer(text):
        lines = found.group(1).splitlines()
        commands = [line[2:] for line in lines if line.startswith("$ ")]
        if commands:
            yield commands, [squeeze(line) for line in lines if line.strip() and not line.startswith("$ ")]
        else:
            yield lines, []


def run_block(commands, quoted, folder):
    """Why the block fails, or None."""
    printed = []
    for command in commands:
        try:
            done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=folder, timeout=LIMIT, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        except subprocess.TimeoutExpired:
            return "no end after %d s: %s" % (LIMIT, command)
        if done.returncode:
            last = (done.stdout.strip().splitlines() or [""])[-1]
            return "status %d from %s: %s" % (done.returncode, command, last)
        printed += [squeeze(line) for line in done.stdout.splitlines()]
    for line in quoted:
        if not any(line in p for p in printed):
            return "'%s' was not printed by %s" % (line, "; ".join(commands))
    return None


def run_document(path, root):
    failed = 0
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
            why = run_block(commands, quoted, folder)
            print("not ok %s: %s" % (name, why) if why else "ok %s" % name, flush=True)
            failed += why is not None
    return failed


def main():
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    documents = sys.argv[1:] or [os.path.join(root, name) for name in DOCUMENTS]
    return 1 if sum(run_document(d, root) for d in documents) else 0


if __name__ == "__main__":
    sys.exit(main())
