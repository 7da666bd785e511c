#!/usr/bin/env python3
"""Every C file below src/time/ that is no table of counters or wiring has a page: docs/blocks/*.md names it, and names a test. Files that
ARCHITECTURE.md and these pages name exist."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
NO_BOX = re.compile(r".*_stats|gpu|gpu_results|gpu_follow|netlist")  # counters; the netlist and what runs it


def main():
    pages = {p: p.read_text() for p in sorted((ROOT / "docs/blocks").glob("*.md"))}
    status = 0
    for path in sorted((ROOT / "src/time").rglob("*.c")):
        named = any(re.search(rf"\b{path.stem}\.c\b", text) for text in pages.values())
        if not named and not NO_BOX.fullmatch(path.stem):
            print(f"{path.relative_to(ROOT)}: no page in docs/blocks names it")
            status = 1
    for page, text in pages.items():
        tests = re.findall(r"\b(test_\w+\.c|tests/\w+(?:\.sh)?)", text)
        missing = [t for t in tests if not (ROOT / t).exists() and not any((ROOT / "tests").glob(f"*/{t}"))]
        if not tests or missing:
            print(f"{page.relative_to(ROOT)}: names no test" if not tests else f"{page.name}: no {missing[0]}")
            status = 1
    files = {path.name for top in ("src", "include", "tests", "tools", "kernels", "bench") for path in (ROOT / top).rglob("*.*")}
    for page, text in {ROOT / "ARCHITECTURE.md": (ROOT / "ARCHITECTURE.md").read_text(), **pages}.items():
        for name in re.findall(r"`[\w/]*?(\w+\.(?:c|h|def))`", text):
            if name not in files:
                print(f"{page.relative_to(ROOT)}: there is no {name}")
                status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
