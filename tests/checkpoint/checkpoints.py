#!/usr/bin/env python3
"""checkpoints.py BIN: a run that is saved and restored is the run. Each kernel is run as it is; again, saved at random
windows; and from each of these on, on another number of threads. Reports, buffers, printed text and exit status must be
the same to the byte. Files that are no checkpoint of this program, or are damaged, must be refused with one line."""
import json
import lzma
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

BIN = pathlib.Path(sys.argv[1]).resolve()
ROOT = pathlib.Path.cwd()
WINDOWS = 50
# Barriers, shared memory; atomics; textures, surfaces; clusters; text; locks; copies in flight; tensor products.
KERNELS = [("sgemm_tiled", "rtx-3070"), ("reduce_shfl", "a100"), ("atomics", "rtx-3070"), ("tex_filter2d", "rtx-3070"),
           ("cluster_reduce", "h200"), ("printf_demo", "rtx-3070"), ("grid_barrier", "a100"), ("mbarrier", "a100"),
           ("bulk_pipeline", "h200"), ("spin_lock_inside", "rtx-3070")]
dice = random.Random(7)
failed = []


def run(folder, *words, program=BIN):
    folder.mkdir(parents=True)
    p = subprocess.run([program, *map(str, words)], cwd=folder, capture_output=True, timeout=600)
    files = {f.relative_to(folder): f.read_bytes() for f in sorted(folder.rglob("*"))
             if f.is_file() and not f.name.startswith("saved")}
    return p.returncode, p.stdout, p.stderr.decode(errors="replace"), files


def verdict(name, wrong):
    print(f"not ok checkpoint {name}: {wrong}" if wrong else f"ok checkpoint {name}")
    if wrong:
        failed.append(name)


def rv64(folder, *words, text=b""):
    """A program of the simulated CPU, in a folder that has its files."""
    folder.mkdir(parents=True, exist_ok=True)
    p = subprocess.run([BIN, "exec", *map(str, words)], cwd=folder, capture_output=True, timeout=600, input=text,
                       env=dict(os.environ, WARPSTEP_PRESETS=ROOT / "presets"))
    files = {f.relative_to(folder): f.read_bytes() for f in sorted(folder.rglob("*"))
             if f.is_file() and not f.name.startswith("saved")}
    return p.returncode, p.stdout, p.stderr.decode(errors="replace"), files


def differs(plain, other, from_middle):
    """What is wrong with `other`; the text of a run that goes on from its middle is the end of the whole."""
    if other[0] != plain[0]:
        return f"status {other[0]}, not {plain[0]}: {other[2].strip()}"
    if not (plain[1].endswith(other[1]) if from_middle else plain[1] == other[1]):
        return "another text on stdout"
    if plain[3].keys() != other[3].keys():
        return f"files {sorted(map(str, other[3]))}, not {sorted(map(str, plain[3]))}"
    return "".join(f"{name} differs; " for name in plain[3] if plain[3][name] != other[3][name])


def pairs(scratch, name, words, cycles, threads):
    """Runs `words`, saves it at these cycles, and goes on from each."""
    plain = run(scratch / "plain", "run", *words)
    at = ",".join(map(str, cycles))
    saved = run(scratch / "saved", "run", *words, "--threads", threads, "--checkpoint", "saved", "--checkpoint-at", at)
    verdict(f"{name}: saved, it goes on as ever", differs(plain, saved, False))
    if saved[2].count("saved in cycle") not in (0, len(cycles)):
        verdict(f"{name}: every file", saved[2])
    for i, cycle in enumerate(cycles):
        file = scratch / "saved" / ("saved" if len(cycles) == 1 else f"saved.{cycle}")
        t = 1 + (threads + i) % 3
        again = run(scratch / f"from{cycle}", "run", "--restore", file, "--threads", t)
        verdict(f"{name}: from cycle {cycle}, {threads} threads, then {t}", differs(plain, again, True))
    return plain, saved


def random_windows(scratch):
    for n, (kernel, gpu) in enumerate(KERNELS):
        launch = ROOT / f"kernels/{kernel}/{kernel}.launch"
        words = [launch, "--gpu", gpu, "--quiet", "--json", "report.json", "--out", "buffers"]
        first = run(scratch / kernel / "first", "run", *words)
        if first[0] != 0:
            verdict(kernel, first[2])
            continue
        cycles = json.loads(first[3][pathlib.Path("report.json")])["stats"]["gpu"]["cycles"]
        at = sorted(dice.sample(range(1, cycles - 100), WINDOWS // len(KERNELS)))
        pairs(scratch / kernel, f"{kernel} on {gpu}", words, at, 1 + n % 3)


def other_ends(scratch):
    """Reports of other kinds, and runs that do not end well."""
    launch = ROOT / "kernels/sgemm_tiled/sgemm_tiled.launch"
    many = [launch, "--quiet", "--json", "report.json", "--gpu", "rtx-3070"]
    for name, more in (("pipeline", ["--pipeline", "pipe.log", "--pipeline-warps", "all"]),
                       ("timeline", ["--timeline", "timeline.json", "--timeline-warps", "0"]),
                       ("page", ["--html", "page.html"]), ("what-if", ["--what-if", "stalls,tail"]),
                       ("hazards", ["--hazards", "check"]), ("warm-up", ["--warm-up", "1"]),
                       ("cycles", ["--max-cycles", "4000"]), ("instructions", ["--max-instructions", "9000"])):
        pairs(scratch / name, name, many + more, [1500], 2)
    cubin = ROOT / "kernels/vecadd/vecadd.sm_86.cubin"
    fault = [cubin, "--grid", "64", "--block", "256", "--buf", "x:f32:1024:iota", "--buf", "y:f32:1024:iota", "--buf",
             "z:f32:1024", "--arg", "x", "--arg", "y", "--arg", "u64:0", "--arg", "u32:16384", "--json", "report.json",
             "--quiet"]
    plain, _ = pairs(scratch / "fault", "a fault", fault, [300], 1)
    verdict("a fault is one", "" if plain[0] == 3 else f"status {plain[0]}")


def missed(scratch):
    launch = ROOT / "kernels/vecadd/vecadd.launch"
    status, _, text, _ = run(scratch / "missed", "run", launch, "--quiet", "--checkpoint", "saved", "--checkpoint-at",
                             "900000000")
    there = (scratch / "missed" / "saved").exists()
    verdict("a cycle beyond the end", "" if status == 0 and "no checkpoint at cycle 900000000" in text and not there
            else f"{status} {text}")


def refused(scratch, name, file, program=BIN, says=""):
    status, out, text, _ = run(scratch / name.replace(" ", "_").replace("/", "_"), "run", "--restore", file,
                               program=program)
    right = status == 2 and not out and text.count("\n") == 1 and text.startswith("warpstep: ") and says in text
    verdict(f"refused: {name}", "" if right else f"status {status}: {text}")


def fnv1a(data):
    h = 0xcbf29ce484222325
    for byte in data:
        h = (h ^ byte) * 0x100000001b3 % 2**64
    return h.to_bytes(8, "little")


def bad_files(scratch):
    launch = ROOT / "kernels/vecadd/vecadd.launch"
    run(scratch / "good", "run", launch, "--quiet", "--checkpoint", "saved", "--checkpoint-at", "500")
    good = (scratch / "good" / "saved").read_bytes()
    file = scratch / "file"
    for at in [0, 7, 8, 27, 29] + sorted(dice.sample(range(32, len(good)), 25)) + [len(good) - 1]:
        bad = bytearray(good)
        bad[at] ^= 1 << dice.randrange(8)
        file.write_bytes(bad)
        refused(scratch, f"bit in byte {at}", file)
    bad = bytearray(good)
    bad[36] ^= 1 << 4  # of the frame's header, behind zstd's four bytes of magic: no decoder looks at it
    file.write_bytes(bad)
    refused(scratch, "the unused bit of a frame", file)
    for size in [0, 5, 20, 31, 32, 33] + sorted(dice.sample(range(34, len(good)), 8)) + [len(good) - 1]:
        file.write_bytes(good[:size])
        refused(scratch, f"{size} of {len(good)} bytes", file)
    file.write_bytes(good + b"x")
    refused(scratch, "a byte too many", file)
    # A frame of one raw block: a page of the run where this process has its program, which is linked at 0x400000.
    range_there = (0x400000).to_bytes(8, "little") + (1).to_bytes(8, "little")
    block = (len(range_there) << 3 | 1).to_bytes(3, "little") + range_there
    frame = bytes([0x28, 0xb5, 0x2f, 0xfd, 0x20, len(range_there)]) + block
    file.write_bytes(good[:32] + frame + fnv1a(frame))
    refused(scratch, "addresses that are taken", file, says="memory at 0x400000")
    refused(scratch, "no file", scratch / "nothing")
    refused(scratch, "a folder", scratch)
    refused(scratch, "something else", launch, says="no checkpoint")
    # The same program under another name of its build.
    build = good[8:28]
    program = BIN.read_bytes()
    if program.count(build) != 1:
        verdict("the build's name", f"{program.count(build)} times in the program")
        return
    other = scratch / "other"
    other.write_bytes(program.replace(build, bytes(20)))
    other.chmod(0o755)
    file.write_bytes(good)
    refused(scratch, "another build", file, other, "another build")


def unwritable(scratch):
    launch = ROOT / "kernels/vecadd/vecadd.launch"
    status, out, text, _ = run(scratch / "unwritable", "run", launch, "--checkpoint", "nowhere/saved", "--checkpoint-at",
                               "500")
    verdict("no folder", "" if status == 2 and text.count("\n") == 1 and not out else f"status {status}: {text}")


def options(scratch):
    launch = ROOT / "kernels/vecadd/vecadd.launch"
    for name, words in (("no cycle", [launch, "--checkpoint", "saved"]), ("no file", [launch, "--checkpoint-at", "5"]),
                        ("no time", [launch, "--functional", "--checkpoint", "saved", "--checkpoint-at", "5"]),
                        ("not ascending", [launch, "--checkpoint", "saved", "--checkpoint-at", "5,5"]),
                        ("no number", [launch, "--checkpoint", "saved", "--checkpoint-at", "5,"]),
                        ("other options", ["--restore", "saved", "--quiet"]),
                        ("another option", ["--restore=saved", "--quiet"]),
                        ("a launch", ["--restore", "saved", launch]),
                        ("one file for two", [launch, "--checkpoint", "a", "--json", "a", "--checkpoint-at", "5"])):
        status, out, text, _ = run(scratch / name.replace(" ", "_"), "run", *words)
        verdict(f"options: {name}", "" if status == 2 and text.count("\n") == 1 and not out else f"{status} {text}")


def fill(folder):
    folder.mkdir(parents=True)
    (folder / "in").write_bytes(bytes(range(32, 127)) * 4)


def rv64_pairs(scratch, name, machine, words, places, threads=1):
    """Saves the program at these places, and goes on from each in a folder as it was then."""
    words = ["--machine", machine, "--quiet", "--json", "report.json", "--threads", threads, *words]
    fill(scratch / "plain")
    plain = rv64(scratch / "plain", *words)
    if plain[0] != 0 or pathlib.Path("report.json") not in plain[3]:
        verdict(name, f"status {plain[0]}: {plain[2]}")
        return
    report = json.loads(plain[3][pathlib.Path("report.json")])
    end = report.get("program", report)["time_ps"] // 1000 if not isinstance(places, str) else 0
    at = places if isinstance(places, str) else ",".join(map(str, sorted(dice.sample(range(1, end), places))))
    fill(scratch / "saved")
    saved = rv64(scratch / "saved", "--checkpoint", "saved", "--checkpoint-at", at, *words)
    verdict(f"{name} on {machine}: saved, it goes on as ever", differs(plain, saved, False))
    for file in sorted((scratch / "saved").glob("saved*")):
        # Once more in the folder of the run: files are opened by their names. What they have there is more than then.
        (scratch / "saved" / "report.json").unlink(missing_ok=True)
        other = ["--threads", 3 - threads] if file.name.endswith(("1", "3", "5", "7", "9")) else []
        again = rv64(scratch / "saved", "--restore", file, *other)
        verdict(f"{name} on {machine}: from {file.name}", differs(plain, again, True))
    there = len(list((scratch / "saved").glob("saved*")))
    wanted = 1 if isinstance(places, str) else places
    verdict(f"{name} on {machine}: {wanted} files", "" if there == wanted else f"{there}: {saved[2]}")


def programs(scratch):
    compiler = shutil.which("riscv64-linux-gnu-gcc")
    if not compiler or not pathlib.Path("/usr/riscv64-linux-gnu/lib/libc.so.6").exists():
        print("ok checkpoint programs of RISC-V # SKIP no cross compiler")
        return
    scratch.mkdir()
    for name in ("threads", "signals", "atomics", "library", "kept"):
        source = ROOT / f"tests/rv64/programs/{name}.c" if name != "kept" else ROOT / "tests/checkpoint/kept.c"
        static = [] if name == "library" else ["-static"]
        subprocess.run([compiler, "-std=gnu17", "-O2", "-w", f"-I{ROOT}/include", *static, "-o", scratch / name, source,
                        "-lm", "-ldl", "-latomic"], check=True)
    for name, machine, places in (("threads", "fused-rv64", 10), ("threads", "split-rv64", 4), ("signals", "c2c-rv64", 8),
                                  ("atomics", "fused-rv64", 6), ("library", "fused-rv64", 8), ("kept", "fused-rv64", 14),
                                  ("kept", "split-rv64", "region")):
        rv64_pairs(scratch / f"{name}-{machine}", name, machine, [scratch / name], places)
    unkept(scratch)


def gpu_programs(scratch):
    """Programs of the simulated CPU that give GPUs work: kernels, copies, streams, functions, flags in shared memory."""
    if not pathlib.Path("/usr/riscv64-linux-gnu/lib/libc.so.6").exists():
        print("ok checkpoint programs with a GPU # SKIP no C library for RISC-V")
        return
    scratch.mkdir()
    for name, machine, places, threads in (("flags", "fused-rv64", 6, 1), ("overlap", "fused-rv64", 6, 2),
                                           ("sharing", "c2c-rv64", 6, 1), ("threads", "fused-rv64", 5, 1),
                                           ("functions", "fused-rv64", 5, 1), ("symbols", "split-rv64", 5, 2),
                                           ("overlap", "split-rv64", 6, 1), ("sharing", "split-rv64", 6, 1),
                                           ("printing", "fused-rv64", 6, 1), ("printing", "split-rv64", 6, 1),
                                           ("exec_streams", "split-rv64", 5, 1)):
        program = scratch / name
        packed = (ROOT / f"tests/rv64_cuda/prebuilt/{name}.xz").read_bytes()
        program.write_bytes(lzma.decompress(packed))
        program.chmod(0o755)
        rv64_pairs(scratch / f"{name}-{machine}-run", name, machine, [program], places, threads)


def unkept(scratch):
    """What cannot be opened again is told, when it is saved or when it is restored."""
    at = ["--machine", "fused-rv64", "--quiet", "--checkpoint", "saved", "--checkpoint-at", "region", scratch / "kept"]
    for name in ("pipe", "removed"):
        fill(scratch / name)
        status, _, text, _ = rv64(scratch / name, *at, name)
        right = status == 2 and text.count("\n") == 1 and not (scratch / name / "saved").exists()
        verdict(f"an open {name}", "" if right else f"status {status}: {text}")
    fill(scratch / "files")
    rv64(scratch / "files", *at)
    for name, change in (("a file is shorter", lambda f: f.write_bytes(b"few")), ("a file is gone", lambda f: f.unlink()),
                         ("a file is a folder", lambda f: f.mkdir())):
        change(scratch / "files" / "in")
        status, _, text, _ = rv64(scratch / "files", "--restore", "saved")
        verdict(name, "" if status == 2 and text.count("\n") == 1 and "/in" in text else f"status {status}: {text}")
    for name, words in (("this machine's", ["--checkpoint", "saved", "--checkpoint-at", "5", "/bin/true"]),
                        ("no time", ["--functional", *at])):
        status, out, text, _ = rv64(scratch / "others", *words)
        verdict(f"a program that cannot be saved: {name}", "" if status == 2 and text.count("\n") == 1 and not out
                else f"status {status}: {text}")


def main():
    scratch = pathlib.Path(tempfile.mkdtemp())
    try:
        launch = ROOT / "kernels/vecadd/vecadd.launch"
        text = run(scratch / "can", "run", launch, "--quiet", "--checkpoint", "saved", "--checkpoint-at", "500")[2]
        if "without the address sanitizer" in text or "16 TiB of addresses" in text:
            print(f"ok checkpoint # SKIP {text.strip()}")
            return False
        chosen = sys.argv[2:]
        for part in (random_windows, other_ends, missed, bad_files, unwritable, options, programs, gpu_programs):
            if not chosen or part.__name__ in chosen:
                part(scratch / part.__name__)
    finally:
        shutil.rmtree(scratch)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
