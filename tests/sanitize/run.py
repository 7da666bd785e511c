#!/usr/bin/env python3
"""Planted defects: every case of planted.cu must be found by its own check, at its own line, and its right twin by none.

planted.sm_86.cubin.xz is made by `nvcc -cubin -arch=sm_86 -lineinfo`; nvcc is not needed here. Programs that need a host (host.cu) are
compiled when there is nvcc, else skipped.

  tests/sanitize/run.sh [NAME...]      BIN: the program, NVCC: the compiler
"""
import lzma
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BIN = os.environ.get("BIN", "build/warpstep")
BUFFERS = ["--buf", "x:u32:64:iota", "--buf", "y:u32:64", "--buf", "odd:u32:61:iota", "--arg", "x", "--arg", "y", "--arg", "odd"]


def cases(path):
    """(name, grid, block, tool, text, options, lines): lines that end in the mark and belong to the case."""
    lines = path.read_text().splitlines()
    start = [i for i, l in enumerate(lines) if re.match(r"// \w+ \|", l)]
    message = [i + 1 for i, l in enumerate(lines) if l.endswith("// HERE: message")]
    for i, end in zip(start, start[1:] + [len(lines)]):
        f = [part.strip() for part in lines[i][3:].split("|")]
        here = [k + 1 for k in range(i, end) if re.search(r"// HERE(: asm)?$", lines[k])]
        if any("// HERE: of message" in lines[k] for k in range(i, end)):
            here += message
        yield f[0], *f[1].split(), f[2], f[3], f[4].split() if len(f) > 4 else [], here


def run(cubin, kernel, grid, block, tool, options):
    cmd = [BIN, "run", str(cubin), "--kernel", kernel, "--grid", grid, "--block", block, *BUFFERS,
           "--check", tool, "--quiet", *options]
    r = subprocess.run(cmd, capture_output=True, text=True, timeout=120, cwd=ROOT)
    return r.returncode, r.stdout


def report_of(out, text, here):
    """Why none of the reports is the one: '' when one is."""
    reports = [r for r in out.split("=========\n") if text in r]
    if not reports:
        return f"no report with '{text}'"
    places = {int(n) for r in reports for n in re.findall(r"planted\.cu:(\d+)", r)}
    return "" if places & set(here) else f"reported at lines {sorted(places)}, not {here}"


def check(cubin, name, grid, block, tool, text, options, here):
    status, out = run(cubin, name + "_bad", grid, block, tool, options)
    why = report_of(out, text, here)
    if not why and status == 0:
        why = "exit status 0"
    if why:
        return why
    status, out = run(cubin, name + "_ok", grid, block, "all", options)
    return "" if status == 0 and " 0 errors" in out else "the right twin: " + out.replace("\n", " ")[:300]


UNCHANGED = """cubin = "planted.sm_86.cubin"; kernel = "global_raw_bad"; grid = [ 1 ]; block = [ 64 ];
args = ( { buffer = "x"; }, { buffer = "y"; }, { buffer = "y"; } );
buffers = { x = { type = "u32"; count = 64; fill = "iota"; start = 1; }; y = { type = "u32"; count = 64; fill = "zero"; }; };
"""


def check_left_out(scratch):
    """Words that are written with what they hold: races that are notes. By default the summary counts them, without printing one."""
    launch = scratch / "unchanged.launch"
    launch.write_text(UNCHANGED)
    left = "Not shown: 2 notes (--print-level info)\n"
    for level, shown, absent in ("error", left, "Same value"), ("warn", left, "Same value"), ("info", "SUMMARY: 2 hazards", "Not shown"), \
                                ("info", "(Same value)", "WARNING SUMMARY"):
        r = subprocess.run([BIN, "run", str(launch), "--check", "racecheck", "--print-level", level, "--quiet"],
                           capture_output=True, text=True, timeout=120, cwd=ROOT)
        if r.returncode or shown not in r.stdout or absent in r.stdout:
            return f"--print-level {level}: status {r.returncode}: {(r.stdout + r.stderr)[-300:]!r}"
    return ""


def check_host(name, tool, want, nvcc, scratch):
    """A case of host.cu: want is the text of the report, '' for none."""
    r = subprocess.run([BIN, "sanitize", "--tool", tool, "--leak-check", "full", str(scratch / "host"), name], capture_output=True,
                       text=True, timeout=120, cwd=ROOT)
    if not want:
        return "" if r.returncode == 0 else r.stdout.replace("\n", " ")[:300] + r.stderr[:100]
    if want not in r.stdout:
        return f"no report with '{want}': {r.stdout[:200]!r}"
    return "" if r.returncode == 1 else f"exit status {r.returncode}"


def check_end(line, status, text, absent, host):
    """How a program and its processes end: 64 threads of each process that works write to freed memory."""
    log = host.parent / "log"
    log.write_text("old\n")
    for options, reports in (["--log-file", str(log)], lambda r: log.read_text()), ([], lambda r: r.stdout):
        r = subprocess.run([BIN, "sanitize", "--tool", "memcheck", *options, *line], capture_output=True, text=True, timeout=120, cwd=ROOT)
        out = reports(r) + r.stderr
        if r.returncode != status or text not in out or "old" in out or (absent and absent in out):
            return f"{options} exit status {r.returncode}: {out[-300:]!r}"
    return ""


def ends(host):
    bad, ok = [str(host), "write_after_free_bad"], [str(host), "write_after_free_ok"]
    none = "no kernel ran"
    yield "ends_exit", bad, 1, "ERROR SUMMARY: 64 errors\n", none
    yield "ends__exit", bad + ["_exit"], 1, "ERROR SUMMARY: 64 errors\n", "without a summary"
    yield "ends_kill", bad + ["kill"], -9, "1 of 1 process ended without a summary\n========= ERROR SUMMARY: 64 errors\n", none
    yield "ends_exec", bad + ["exec"], 1, "ERROR SUMMARY: 64 errors\n", none
    yield "ends_fork", bad + ["fork"], 1, "ERROR SUMMARY: 128 errors in 2 processes\n", none
    yield "ends_script", ["sh", "-c", '"$@"; exit 0', "sh", *bad], 1, "ERROR SUMMARY: 64 errors\n", none
    yield "ends_script_status", ["sh", "-c", '"$@"; exit 7', "sh", *bad], 7, "ERROR SUMMARY: 64 errors\n", none
    yield "ends_signal", ["sh", "-c", '"$@"; kill -TERM $$', "sh", *ok], -15, "ERROR SUMMARY: 0 errors\n", none
    yield "ends_exec_ok", ok + ["exec"], 0, "ERROR SUMMARY: 0 errors\n", none
    yield "ends_no_kernel", ok + ["none"], 0, none, "SUMMARY"


def host_cases(path):
    for line in path.read_text().splitlines():
        m = re.match(r"// host (\w+) \| (\w+) \| (.*)$", line)
        if m:
            yield m.group(1) + "_bad", m.group(2), m.group(3)
            yield m.group(1) + "_ok", "all", ""


def main():
    wanted, passed, failed, skipped = set(sys.argv[1:]), 0, 0, 0

    def tell(name, why):
        nonlocal passed, failed
        passed, failed = passed + (not why), failed + bool(why)
        print(f"not ok sanitize {name}: {why}" if why else f"ok sanitize {name}", flush=True)

    nvcc = os.environ.get("NVCC") or shutil.which("nvcc", path=os.environ.get("PATH", "") + ":/usr/local/cuda/bin")
    host = [c for c in host_cases(HERE / "host.cu") if not wanted or c[0] in wanted]
    shim = (ROOT / BIN).parent / "cuda" / "libwarpstep-cuda.so"
    if host and (not nvcc or not shim.exists()):
        why = "no nvcc" if not nvcc else f"no shim libraries beside {BIN}"
        for name, *_ in host:
            print(f"ok sanitize {name} # SKIP {why}")
        skipped, host = len(host), []
    with tempfile.TemporaryDirectory() as tmp:
        scratch = pathlib.Path(tmp)
        cubin = scratch / "planted.sm_86.cubin"
        cubin.write_bytes(lzma.decompress((HERE / "planted.sm_86.cubin.xz").read_bytes()))
        for name, *rest in cases(HERE / "planted.cu"):
            if not wanted or name in wanted:
                tell(name, check(cubin, name, *rest))
        if not wanted or "left_out" in wanted:
            tell("left_out", check_left_out(scratch))
        if host:
            subprocess.run([nvcc, "-arch=sm_86", "-std=c++14", "-lineinfo", "-o", str(scratch / "host"), str(HERE / "host.cu")], check=True)
        for name, tool, want in host:
            tell(name, check_host(name, tool, want, nvcc, scratch))
        for name, *rest in ends(scratch / "host") if host else []:
            tell(name, check_end(*rest, scratch / "host"))
    print(f"sanitize: {passed} passed, {failed} failed, {skipped} skipped")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
