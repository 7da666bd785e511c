#!/usr/bin/env python3
"""Runs the examples of `warpstep help COMMAND` and the lines of docs/commands.md.

They run in a scratch folder in which the folders of the tree are links, and must end with status 0. What they need of a user is made
first: ./saxpy, ./train, ./app and ./a.out from programs.cu (by nvcc, else their examples are skipped), ./program.riscv (by Debian's cross
compiler, likewise), cases/ by capturing, two reports to compare. In docs/commands.md "…" stands for a launch. Examples over HeCBench need its sources and are skipped.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

LIMIT = 300  # seconds for one command
FOLDERS = ("kernels", "examples", "presets", "data", "studies", "tests")
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BIN = os.path.realpath(os.environ.get("BIN", os.path.join(ROOT, "build/warpstep")))
PROGRAMS = ("saxpy", "train", "app", "a.out")
LAUNCH = "kernels/vecadd/vecadd.launch"


def shell(command, folder):
    env = dict(os.environ, PATH=folder + "/bin:" + os.environ["PATH"])
    return subprocess.run(["bash", "-c", "set -o pipefail; " + command], cwd=folder, env=env, timeout=LIMIT, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")


def joined(lines):
    """Commands, with lines that end in a backslash put together, without comments."""
    whole = "\n".join(lines)
    whole = re.sub(r"\\\n\s*", " ", whole)
    for line in whole.splitlines():
        command = re.sub(r"(^|\s+)#.*", "", line).strip()
        if command:
            yield command


def help_examples():
    listing = subprocess.run([BIN, "help"], stdout=subprocess.PIPE, text=True, check=True).stdout
    names = re.findall(r"^  ([a-z]+) +\S", listing.split("Examples:")[0], re.M)
    # Captures first: others run what they saved.
    for name in sorted(names, key=lambda n: n != "capture"):
        text = subprocess.run([BIN, "help", name], stdout=subprocess.PIPE, text=True, check=True).stdout
        found = list(joined(text.split("Examples:\n")[1].splitlines()))
        for i, command in enumerate(found, 1):
            yield "%s %d" % (name, i), command
    for i, command in enumerate(joined(listing.split("Examples:\n")[1].splitlines()), 1):
        yield "help %d of all" % i, command


def documented():
    with open(os.path.join(ROOT, "docs/commands.md"), encoding="utf-8") as f:
        block = re.search(r"^```\n(.*?)^```", f.read(), re.M | re.S).group(1)
    for i, command in enumerate(joined(block.splitlines()), 1):
        yield "commands.md %d" % i, command.replace("…", LAUNCH)


def make_riscv(folder):
    compiler = shutil.which("riscv64-linux-gnu-gcc")
    if compiler:
        subprocess.run([compiler, "-static", "-x", "c", "-o", folder + "/program.riscv", "-"], input="int main(void) { return 0; }",
                       text=True, check=True)


def set_up(folder):
    """Whether there are programs."""
    os.mkdir(folder + "/bin")
    os.symlink(BIN, folder + "/bin/warpstep")
    os.mkdir(folder + "/build")
    os.symlink(BIN, folder + "/build/warpstep")
    for name in FOLDERS:
        os.symlink(os.path.join(ROOT, name), os.path.join(folder, name))
    for name, policy in (("a", "cggty"), ("b", "lrr"), ("before", "lrr"), ("after", "cggty")):
        shell("warpstep run %s --no-check --quiet --set issue.policy=%s --json %s.json" % (LAUNCH, policy, name), folder)
    with open(folder + "/ncu.csv", "w", encoding="utf-8") as f:
        f.write("kernel,time_us\ngemm,5.0\n")
    make_riscv(folder)
    nvcc = shutil.which("nvcc", path=os.environ["PATH"] + ":/usr/local/cuda/bin")
    if not nvcc or not os.path.exists(os.path.join(os.path.dirname(BIN), "cuda/libwarpstep-cuda.so")):
        return False
    subprocess.run([nvcc, "-gencode", "arch=compute_86,code=sm_86", "-gencode", "arch=compute_80,code=sm_80", "-std=c++14", "-o", folder + "/a.out",
                    os.path.join(ROOT, "tests/help/programs.cu")], check=True)
    for name in PROGRAMS[:-1]:
        shutil.copy(folder + "/a.out", os.path.join(folder, name))
    return True


def why_not(command, programs):
    if "HeCBench" in command:
        return "HeCBench's sources are not here"
    if "program.riscv" in command and not shutil.which("riscv64-linux-gnu-gcc"):
        return "no riscv64-linux-gnu-gcc"
    if not programs and re.search(r"\./(saxpy|train|app|a\.out)\b|cases/|\ba\.out", command):
        return "no nvcc, or no shim libraries"
    return None


def once(examples, seen):
    """The texts give some examples twice. Those that write nothing others read run once."""
    for name, command in examples:
        first = seen.setdefault(re.sub(r"^build/", "", command), name)
        if first != name and re.fullmatch(r"(build/)?warpstep (run|disasm|probe|validate|area|machines|diff|help) [^>|&]*", command + " "):
            print("ok help %s, as %s" % (name, first))
        else:
            yield name, command


def run_all(examples, seen, made, programs):
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(made, folder, symlinks=True, dirs_exist_ok=True)
        for name, command in once(examples, seen):
            skip = why_not(command, programs)
            if skip:
                print("ok help %s # SKIP %s" % (name, skip))
                continue
            try:
                done = shell(command, folder)
                why = "" if done.returncode == 0 else "status %d: %s" % (done.returncode, done.stdout.strip()[-200:])
            except subprocess.TimeoutExpired:
                why = "no end after %d s" % LIMIT
            print("not ok help %s: %s: %s" % (name, command, why.replace("\n", " ")) if why else "ok help %s" % name, flush=True)
            failed += bool(why)
    return failed


def main():
    seen = {}
    with tempfile.TemporaryDirectory() as made:
        programs = set_up(made)
        failed = [run_all(examples, seen, made, programs) for examples in (help_examples(), documented())]
    return 1 if any(failed) else 0


if __name__ == "__main__":
    sys.exit(main())
