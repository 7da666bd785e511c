"""A copy of the tree that is built for mutation: all objects of the library in one shared library, so that a changed
object costs one link and no test program has to be linked again."""
import lzma
import os
import pathlib
import re
import resource
import shlex
import shutil
import signal
import subprocess

FOLDERS = ("time", "func", "host", "cuda")
FLAGS = ["OPT=-O1", "SEM_OPT=-O1", "WARN=-Werror=incompatible-pointer-types -Werror=int-conversion -Werror=return-type",
         "EXTRA_CFLAGS=-g1 -gno-column-info -w -fvisibility=default -fno-semantic-interposition"]
MEMORY = 8 << 30  # bytes a test may allocate
CALL, MANY = re.compile(r"\bcu(?:da)?[A-Z]\w+\("), 5  # calls of CUDA; different ones that a program must have
ASLEEP = 60  # seconds without a runnable thread and without processor time after which a test hangs


def effort(session):
    """(seconds of a processor, whether a thread can run) of the live processes of a session and the children they waited for."""
    ticks, runnable = 0, False
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            words = stat.read_text().rpartition(") ")[2].split()
            if int(words[3]) != session:
                continue
            ticks += sum(int(w) for w in words[11:15])
            tasks = [t.read_text().rpartition(") ")[2][0] for t in stat.parent.glob("task/[0-9]*/stat")]
        except OSError:  # it has ended meanwhile
            continue
        runnable |= any(state in "RD" for state in tasks)
    return ticks / os.sysconf("SC_CLK_TCK"), runnable


def wait(process, limit):
    """Exit status, or "timeout": more than `limit` seconds of a processor, or asleep for good. A process that waits for its turn
    on a busy machine is neither."""
    pause, quiet, last = 1, 0, 0.0
    while True:
        try:
            return process.wait(timeout=pause)
        except subprocess.TimeoutExpired:
            seconds, runnable = effort(process.pid)
        quiet = 0 if runnable or seconds > last else quiet + pause
        last = seconds
        if seconds > limit or quiet >= ASLEEP:
            return "timeout"


class Tree:
    def __init__(self, source, work, jobs):
        self.source, self.root, self.jobs = pathlib.Path(source), pathlib.Path(work, "tree").resolve(), jobs
        self.compile, self.links = {}, {}  # source -> commands; program -> link command
        self.whole = self.root / "build/libmutated.so"
        self.shims = self.root / "build/libshims.so"
        self.shim = self.root / "build/cuda/libwarpstep-cuda.so"
        self.good, self.changed = self.root / "build/good", set()  # the libraries without a mutant; those with one now

    def copy(self, below=""):
        """Tracked and new files below a folder; what did not change keeps its time."""
        names = subprocess.run(["git", "-C", self.source, "ls-files", "-zco", "--exclude-standard"], check=True,
                               capture_output=True, text=True).stdout.split("\0")
        for name in filter(None, names):
            a, b = self.source / name, self.root / name
            if not a.is_file() or not name.startswith(below):
                continue
            if b.exists() and b.stat().st_size == a.stat().st_size and b.read_bytes() == a.read_bytes():
                continue
            b.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(a, b)

    def make(self, *arguments):
        subprocess.run(["make", f"-j{self.jobs}", "-s", *arguments], cwd=self.root, check=True)

    def recipes(self):
        """What make would do to build everything, as lists of words."""
        text = subprocess.run(["make", "-nB", *FLAGS, "all", "tests"], cwd=self.root, check=True, capture_output=True,
                              text=True).stdout.replace("\\\n", " ")
        for line in text.splitlines():
            if re.match(r"(\S*/)?(gcc|clang|cc)\S* ", line):
                yield shlex.split(line)

    def build(self):
        objects = {}
        for words in self.recipes():
            out = words[words.index("-o") + 1] if "-o" in words else ""
            if "-c" in words:
                source = words[-1]
                self.compile.setdefault(source, []).append(words)
                objects[out] = source
            elif out == "build/warpstep" or out.startswith("build/tests/") or out == "build/cuda/libwarpstep-cuda.so":
                self.links[out] = words
        self.make(*FLAGS, *objects, "refs")
        libs = [w for w in self.links["build/warpstep"] if w.startswith("-l")]
        shim = sorted(o for o, s in objects.items() if s.startswith("src/cuda/"))
        library = sorted(o for o, s in objects.items() if s.startswith(("src/", "build/gen/")) and
                         not s.startswith(("src/cuda/", "src/cli/", "src/study/", "src/libs/")))
        linker = ["-fuse-ld=lld"] if shutil.which("ld.lld") else []
        base = ["gcc", "-shared", "-pthread", *linker]
        self.link_library = [*base, "-Wl,-soname,libmutated.so", "-o", str(self.whole), *library, *libs]
        self.link_shims = [*base, "-Wl,-soname,libshims.so", "-o", str(self.shims), *shim, str(self.whole),
                           f"-Wl,-rpath,{self.root}/build"]
        words = self.links.pop("build/cuda/libwarpstep-cuda.so")
        i = words.index("build/warpstep.a")
        self.link_shim = [*words[:i], *library, *words[i + 1:], *linker]
        self.shim.parent.mkdir(exist_ok=True)
        self.good.mkdir(exist_ok=True)
        for words, target in ((self.link_library, self.whole), (self.link_shims, self.shims), (self.link_shim, self.shim)):
            if not self.link(words, show=True):
                raise SystemExit("mutants.py: the libraries do not link")
            shutil.copy(target, self.good)
        run = f"-Wl,-rpath,{self.root}/build"
        for out, words in self.links.items():
            own, program = [self.root / w for w in words if w.endswith(".o") and w not in shim], self.root / out
            if program.exists() and all(o.stat().st_mtime < program.stat().st_mtime for o in own):
                continue
            own = [w for w in words if w not in shim and w != "build/warpstep.a"]
            shims = [str(self.shims)] if any(w in shim for w in words) else []
            (self.root / out).parent.mkdir(parents=True, exist_ok=True)
            subprocess.run([*own, *shims, str(self.whole), run, *linker], cwd=self.root, check=True)
        self.make(*FLAGS, "-o", "build/cuda/libwarpstep-cuda.so", *(f"build/cuda/{n}" for n in
                  ("libcuda.so.1", "libcudart.so.12", "libcudart.so.13")))

    def link(self, words, show=False):
        return subprocess.run(words, cwd=self.root, capture_output=not show).returncode == 0

    def relink(self, source):
        """The library that has a source, with a mutant, without line tables."""
        self.changed.add(self.shims if source.startswith("src/cuda/") else self.whole)
        return self.link([*(self.link_shims if source.startswith("src/cuda/") else self.link_library), "-Wl,--strip-debug"])

    def relink_shim(self):
        """The shim of `exec`, which has all objects and only some tests want."""
        self.changed.add(self.shim)
        return self.link([*self.link_shim, "-Wl,--strip-debug"])

    def restore(self):
        """The libraries as they were before any mutant."""
        for library in self.changed:
            shutil.copy(self.good / library.name, library)
        self.changed.clear()

    def objects(self, source):
        return [self.root / words[words.index("-o") + 1] for words in self.compile[source]]

    def code(self, source):
        """Bytes of its objects without line tables, which differ between mutants that are the same program."""
        bare, found = self.root / "build/bare.o", []
        for o in self.objects(source):
            subprocess.run(["objcopy", "--strip-debug", o, bare], check=True)
            found.append(bare.read_bytes())
        return found

    def recompile(self, source):
        """False: it does not compile; pointers of other types are errors, too."""
        for words in self.compile[source]:
            words = [w for w in words if w != "-w"]
            if subprocess.run(words, cwd=self.root, capture_output=True, timeout=300).returncode:
                return False
        return True

    # --- tests ------------------------------------------------------------------------------------

    def tests(self, programs):
        """name -> shell command, run in the copy with $B for the build folder. Each ends at its first failure."""
        all_tests = {}
        for out in self.links:
            if out.startswith("build/tests/"):
                all_tests[pathlib.Path(out).name] = f"SEMANTICS_SETS=30 $B/tests/{pathlib.Path(out).name}"
        for sm, gpu, mode, step in ((86, "rtx-3070", "--functional", 1), (90, "h200", "--functional", 1),
                                    (86, "rtx-3070", "--threads 1 --hazards check", 2), (90, "h200", "--threads 1", 4),
                                    (86, "rtx-3070", "--threads 1 --hazards emulate", 5), (75, "rtx-2080ti", "--functional", 2),
                                    (120, "rtx-5070ti", "--functional", 2), (100, "b200", "--functional", 2),
                                    (100, "b200", "--threads 1", 30)):
            names = sorted(p.parent.name for p in (self.root / "kernels").glob(f"*/*.sm_{sm}*.cubin"))
            names = [n for n in names if (self.root / f"kernels/{n}/{n}.launch").exists() and self.built_for(n, sm)]
            names = [n for i, n in enumerate(names) if i % step == 0 or n.startswith(("bulk", "cluster", "cp_async", "wide", "tmem"))]
            for i in range(0, len(names), 20):
                loop = f"for k in {' '.join(names[i:i + 20])}; do $B/warpstep run kernels/$k/$k.launch --gpu {gpu} --quiet {mode}"
                all_tests[f"corpus {sm} {mode} {i // 20}"] = loop + " || exit 1; done"
        cases = sorted(str(p.relative_to(self.root)) for p in (self.root / "tests/exec/cases").glob("*.case"))[::3]
        all_tests["replay --threads 1"] = (
            f"for c in {' '.join(cases)}; do w=0; head -n 2 $c | grep -aq '\"fault\":0,' || w=3; "
            "$B/warpstep run $c --threads 1 --quiet; [ $? -eq $w ] || exit 1; done")
        all_tests["probe --threads 1"] = "$B/warpstep probe --paper"
        for p in sorted((self.root / "data/windows").glob("*.windows")):
            all_tests[f"probe {p.stem} --threads 1"] = f"$B/warpstep probe data/windows/{p.name}"
        goldens = sorted(p.stem for p in (self.root / "tests/cli").glob("*.cmd"))
        for i in range(4):  # named, so that the test of failing requests is left out, which wants a static program
            all_tests[f"cli {i} --threads 1"] = f"BIN=$B/warpstep tests/cli/run.sh {' '.join(goldens[i::4])}"
        all_tests["limiter --threads 1"] = "tools/limiter/pairs.py --bin $B/warpstep --check 1 barrier occupancy"
        all_tests["debug --functional"] = ("BIN=$B/warpstep tests/debug/run.sh values stored_register condition_over_lanes frames "
                                           "back_to_the_same_state change_and_back")
        for name in ("asm", "pipeline"):
            all_tests[f"{name} --threads 1"] = f"BIN=$B/warpstep JOBS=1 tests/{name}/run.sh"
        for name in ("timeline", "sanitize", "trace"):
            all_tests[f"exec of {name}"] = f"BIN=$B/warpstep JOBS=1 tests/{name}/run.sh"
        for p in sorted((self.root / "build/exec").glob("*")) if programs else []:
            args = self.root / f"tests/exec/{p.name}.args"
            all_tests[f"exec {p.name}"] = f"build/warpstep exec {args.read_text().strip() if args.exists() else ''} {p}"
        return {**all_tests, **self.riscv_tests()}

    def riscv_tests(self):
        """Programs of the simulated CPU: they say in time, under each protocol, what they say without, as they did without a mutant."""
        found, riscv = {}, "build/riscv"
        for p in sorted((self.root / riscv).glob("*.said")):
            def says(options, name=p.stem):
                program = f"--sysroot /usr/riscv64-linux-gnu {riscv}/{name} 'two words' '' last"
                return (f"echo some input | RV64_TEST=yes $B/warpstep exec {options} {program} >{riscv}/now 2>&1; echo $? >>{riscv}/now; "
                        f"cmp {riscv}/now {riscv}/{name}.said")
            found[f"riscv {p.stem} --functional"] = says("")
            if p.stem != "memory":
                found[f"riscv {p.stem}"] = says("--quiet --machine fused-rv64")
            if p.stem in ("threads", "atomics"):
                for protocol in ("mi", "mesi", "hammer", "vi_hammer", "hsc"):
                    found[f"riscv {p.stem} {protocol}"] = says(f"--quiet --machine {riscv}/{protocol}.cfg")
        for p in sorted((self.root / riscv).glob("*.cuda")):
            last = "true" if p.stem.startswith("exec_") else "tail -n 1 build/riscv/now | grep -qx PASS"
            for machine in ("fused", "c2c", "split"):
                if machine == "fused" or p.stem in ("flags", "overlap", "sharing", "pointers"):
                    own = {"sharing": "own", "pointers": "apart" if machine == "split" else "shared"}.get(p.stem, "")
                    found[f"riscv {p.stem} {machine}"] = (f"$B/warpstep exec --quiet --machine {machine}-rv64 {p} {own} >{riscv}/now 2>&1 && "
                                                          f"{last}")
        return found

    def riscv_programs(self):
        """tests/rv64 compiled, with what they say; those of tests/rv64_cuda. Without the cross compiler: none."""
        out, sysroot = self.root / "build/riscv", pathlib.Path("/usr/riscv64-linux-gnu")
        if not shutil.which("riscv64-linux-gnu-gcc") or not sysroot.is_dir():
            return
        out.mkdir(exist_ok=True)
        machine, topologies = (self.root / "presets/machines/fused-rv64.cfg").read_text(), ("crossbar", "ring", "mesh", "clusters")
        for i, protocol in enumerate(("mi", "mesi", "hammer", "vi_hammer", "hsc")):
            text = re.sub(r'^  protocol = \("[a-z]*"', f'  protocol = ("{protocol}"', machine, flags=re.M)
            text = re.sub(r'^  topology = \("[a-z]*"', f'  topology = ("{topologies[i % 4]}"', text, flags=re.M)
            (out / f"{protocol}.cfg").write_text(text)
        for source in sorted((self.root / "tests/rv64/programs").glob("*.c")):
            name, static = source.stem, [] if source.stem == "library" else ["-static"]
            if (out / name).exists():
                continue
            subprocess.run(["riscv64-linux-gnu-gcc", "-std=gnu17", "-O2", "-w", *static, "-o", out / name, source, "-lm", "-ldl", "-latomic"],
                           check=True)
            if name != "faults":
                (out / f"{name}.said").touch()
                subprocess.run(["bash", "-c", self.riscv_tests()[f"riscv {name} --functional"]], cwd=self.root, env=dict(os.environ, B="build"),
                               stdout=subprocess.DEVNULL)
                shutil.copy(out / "now", out / f"{name}.said")
        for packed in sorted((self.root / "tests/rv64_cuda/prebuilt").glob("*.xz")):
            program = out / f"{packed.stem}.cuda"
            program.write_bytes(lzma.decompress(packed.read_bytes()))
            program.chmod(0o755)

    def built_for(self, name, sm):
        path = self.root / f"kernels/{name}/{name}.targets"
        return not path.exists() or f"sm_{sm}" in path.read_text()

    def run(self, command, limit, more=None):
        """more: variables of the environment. Exit status of a test, or "timeout" after `limit` seconds of processor time (of all its processes) or when it sleeps
        for good; and its seconds of a processor. How busy the machine is does not matter. Its process group ends with it."""
        def start():
            os.setsid()
            resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_CPU, (int(limit) + 1, int(limit) + 2))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        env = dict(os.environ, B="build", BIN="build/warpstep", **(more or {}))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        p = subprocess.Popen(["bash", "-c", command], cwd=self.root, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, preexec_fn=start)
        status = wait(p, limit)
        try:
            os.killpg(p.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        p.wait()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return "timeout" if status and seconds > limit else status, seconds

    def programs(self):
        """Those of tests/exec that call many functions of CUDA, compiled once, with the shared runtime; they need one source and no
        tools. Without nvcc: none."""
        nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
        here, out = self.root / "tests/exec", self.root / "build/exec"
        out.mkdir(parents=True, exist_ok=True)
        for source in sorted(here.glob("*.cu")) if nvcc else []:
            name = source.stem
            if len(set(CALL.findall(source.read_text()))) < MANY:
                continue
            if "." in name or list(here.glob(f"{name}.part1.cu")) or list(here.glob(f"{name}.lib.cu")) or (out / name).exists():
                continue
            words = {k: (here / f"{name}.{k}").read_text().split() if (here / f"{name}.{k}").exists() else [] for k in ("arch", "flags")}
            subprocess.run([nvcc, *(words["arch"] or ["-arch=sm_86"]), "-cudart", "shared", *words["flags"], "-L",
                            f"{pathlib.Path(nvcc).resolve().parent.parent}/lib64/stubs", "-o", out / name, source],
                           cwd=self.root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
