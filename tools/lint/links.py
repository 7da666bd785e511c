#!/usr/bin/env python3
"""Links of documents (README and other pages at the root, docs, kernels, data, ...) to files of the tree, and to headings of pages: the file is
there, and the heading, by the name that GitHub and GitLab make of it. A page of docs that a source names by its path is there, too."""
import pathlib
import re
import subprocess
import sys

LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"^```.*?^```", re.M | re.S)
PAGE = re.compile(r"(?<![\w./-])docs/[\w./-]+\.md\b")
FOREIGN = {"docs/kanata-log-format.md", "docs/design/nvvm-texture-query-contract.md"}  # of other projects
TEXTS = {".c", ".h", ".py", ".sh", ".md", ".csv", ".suite", ".def", ".inc", ".mk", ".cu", ".cc", ".cfg"}


def anchors(path, kept={}):
    """Names of the headings of a page; of equal ones the second is NAME-1."""
    if path not in kept:
        names = []
        for heading in re.findall(r"^#+ (.*)$", CODE.sub("", path.read_text()), re.M):
            heading = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
            name = re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")
            names.append(f"{name}-{names.count(name)}" if name in names else name)
        kept[path] = set(names)
    return kept[path]


def faults(page):
    text = CODE.sub(lambda block: "\n" * block.group().count("\n"), page.read_text())
    for number, line in enumerate(text.splitlines(), 1):
        for link in LINK.findall(re.sub(r"`[^`]*`", "", line)):
            if re.match(r"[a-z]+:", link):
                continue
            name, _, anchor = link.partition("#")
            target = page.parent / name if name else page
            if not target.exists():
                yield f"{page}:{number}: no file {name}"
            elif anchor and target.suffix == ".md" and anchor not in anchors(target):
                yield f"{page}:{number}: {name or page.name} has no heading #{anchor}"


def pages_named(path):
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        yield from (f"{path}:{number}: no page {name}" for name in PAGE.findall(line)
                   if name not in FOREIGN and not name.endswith("NAME.md") and not pathlib.Path(name).exists())


def tracked():
    done = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True)
    names = done.stdout.splitlines() if not done.returncode else pathlib.Path(".").rglob("*")
    paths = (pathlib.Path(n) for n in names)
    return [p for p in paths if p.suffix in TEXTS and p.is_file() and p.parts[0] != "build"]


def main():
    files = tracked()
    bad = [fault for page in files if page.suffix == ".md" for fault in faults(page)]
    bad += [fault for path in files for fault in pages_named(path)]
    print("\n".join(bad), end="\n" if bad else "")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
