#!/usr/bin/env python3
"""warpstep sweep against single runs of warpstep run: prints "ok …" or "not ok …" for each check."""
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

BIN = os.path.abspath(os.environ["BIN"])
ROOT = pathlib.Path.cwd()
PRESETS = str(ROOT / "presets")
KERNELS = {k: f"{ROOT}/kernels/{k}/{k}.launch" for k in ("vecadd", "saxpy_loop", "sgemm_tiled")}
failed = 0

SWEEP = """
name = "test & <sweep>";
gpu = [ "rtx-3070", "rtx-2080ti" ];
run = [ "%s --no-check", "%s --no-check" ];
set = [ "gpu.sms=2" ];
vary = ( { key = "issue.policy"; values = [ "cggty", "lrr" ]; },
         { settings = [ "regfile.cache=true", "regfile.cache=false regfile.read_ports=2" ]; } );
""" % (KERNELS["vecadd"], KERNELS["saxpy_loop"])
SETTINGS = [f"issue.policy={p} {r}" for p in ("cggty", "lrr") for r in ("regfile.cache=true", "regfile.cache=false regfile.read_ports=2")]
POINTS = [(g, f"{KERNELS[k]} --no-check", s) for g in ("rtx-3070", "rtx-2080ti") for k in ("vecadd", "saxpy_loop") for s in SETTINGS]


def sweep(folder, text, *options, ok=(0,)):
    """Runs the sweep of this text in the folder."""
    (folder / "t.sweep").write_text(text)
    p = subprocess.run([BIN, "sweep", "t.sweep", "--presets", PRESETS, *options], cwd=folder, capture_output=True, text=True)
    assert p.returncode in ok, f"status {p.returncode}: {p.stderr}"
    return p


def rows(path, what="gpu, run, settings, cycles, status"):
    with sqlite3.connect(path) as db:
        return db.execute(f"SELECT {what} FROM result").fetchall()


def direct_cycles(gpu, run, settings):
    """The same point by a run of its own."""
    options = [w for s in ["gpu.sms=2", *settings.split()] for w in ("--set", s)]
    p = subprocess.run([BIN, "run", *run.split(), "--gpu", gpu, *options, "--presets", PRESETS, "--quiet", "--json", "-"],
                       capture_output=True, text=True, check=True)
    return json.loads(p.stdout)["stats"]["gpu"]["cycles"]


def check_results(d):
    p = sweep(d, SWEEP, "--jobs", "2", "--plot", "p.svg")
    got = {r[:3]: r[3] for r in rows(d / "t.sqlite")}
    assert sorted(got) == sorted(POINTS), "other points"
    for point in (POINTS[0], POINTS[3], POINTS[6], POINTS[13]):
        assert got[point] == direct_cycles(*point), f"{point}: {got[point]}"
    runs = [POINTS[0][1], POINTS[4][1]]
    lines = [x.split() for x in p.stdout.splitlines()]
    assert ["[4]", *SETTINGS[3].split()] in lines
    product = 1
    for run in runs:
        first, *rest = [got[("rtx-3070", run, s)] for s in SETTINGS]
        assert [run.split()[0].split("/")[-1], f"{first:.0f}", *[f"{first / x:.4f}" for x in rest]] in lines, lines
        product *= first / rest[2]
    mean = [x for x in lines if x[:2] == ["geometric", "mean"]][0]
    assert mean[-1] == f"{product ** 0.5:.4f}", mean
    with sqlite3.connect(d / "t.sqlite") as db:
        for gpu, run, settings, cycles in db.execute("SELECT gpu, run, settings, json_extract(report, '$.stats.gpu.cycles') FROM result"):
            assert got[(gpu, run, settings)] == cycles


def check_plot(d):
    sweep(d, SWEEP, "--quiet", "--plot", "p.svg")
    svg = xml.etree.ElementTree.parse(d / "p.svg").getroot()
    ns = "{http://www.w3.org/2000/svg}"
    words = ["".join(t.itertext()) for t in svg.iter(ns + "text")]
    assert any("test & <sweep>" in w for w in words) and SETTINGS[2] in words and "rtx-2080ti vecadd.launch" in words, words
    lines = [p.get("d") for p in svg.iter(ns + "path") if p.get("fill") == "none"]
    assert len(lines) == 4 + 2 and all(x.count("L") == 3 and x.count("M") == 1 for x in lines), lines
    # The vertical axis is linear: 1 at the first point of each line.
    assert len({x[1:].split("L")[0] for x in lines}) == 1, lines


def check_again(d):
    sweep(d, SWEEP, "--quiet")
    before = rows(d / "t.sqlite", "*")
    p = sweep(d, SWEEP)
    assert "0 of 16 points ran, 0 failed, 16 had a result" in p.stderr, p.stderr
    assert rows(d / "t.sqlite", "*") == before
    more = SWEEP.replace('"lrr"', '"lrr", "oldest"')
    p = sweep(d, more)
    assert "8 of 24 points ran, 0 failed, 16 had a result" in p.stderr, p.stderr
    assert set(before) < set(rows(d / "t.sqlite", "*"))


def check_killed(d):
    """kill -9 after some points: no child goes on, no finished point is lost or run again."""
    text = SWEEP.replace(KERNELS["vecadd"], KERNELS["sgemm_tiled"])
    (d / "t.sweep").write_text(text)
    p = subprocess.Popen([BIN, "sweep", "t.sweep", "--presets", PRESETS, "--jobs", "2"], cwd=d, stderr=subprocess.PIPE, text=True)
    for _ in range(3):
        assert "cycles" in p.stderr.readline()
    p.send_signal(signal.SIGKILL)
    p.wait()
    time.sleep(0.3)
    left = subprocess.run(["pgrep", "-f", f"{BIN} run --gpu.*warpstep-sweep"], capture_output=True, text=True).stdout.split()
    for pid in left:  # of this sweep: its folder
        cwd = f"/proc/{pid}/cwd"
        assert not (os.path.exists(cwd) and os.path.samefile(cwd, d)), "a child goes on"
    before = rows(d / "t.sqlite", "*")
    assert 3 <= len(before) < 16, len(before)
    q = sweep(d, text)
    assert f"{16 - len(before)} of 16 points ran, 0 failed, {len(before)} had a result" in q.stderr, q.stderr
    assert set(before) <= set(rows(d / "t.sqlite", "*")) and len(rows(d / "t.sqlite")) == 16


def check_tasks(d):
    sweep(d, SWEEP, "--quiet", "--out", "whole.sqlite")
    for i in range(3):
        sweep(d, SWEEP, "--quiet", "--out", "parts.sqlite", "--task", f"{i}/3")
    assert [len(rows(d / f"parts.sqlite.{i}")) for i in range(3)] == [6, 5, 5]
    sweep(d, SWEEP, "--out", "parts.sqlite", "--collect", "3")
    assert sorted(rows(d / "parts.sqlite")) == sorted(rows(d / "whole.sqlite"))
    script = sweep(d, SWEEP, "--out", "parts.sqlite", "--slurm", "3", "--limit", "60").stdout
    assert script.startswith("#!/bin/sh\n#SBATCH --array=0-2\n") and "--limit 60" in script
    (d / "parts.sqlite.1").unlink()
    p = subprocess.run(["sh", "-c", script], cwd=d, env={**os.environ, "SLURM_ARRAY_TASK_ID": "1"}, capture_output=True, text=True)
    assert p.returncode == 0 and len(rows(d / "parts.sqlite.1")) == 5, p.stderr
    # Submitted from another folder; and a task that was stopped half way: what it lacks is said, and made up for.
    (d / "away").mkdir()
    (d / "parts.sqlite.1").unlink()
    with sqlite3.connect(d / "parts.sqlite.2") as db:
        db.execute("DELETE FROM result WHERE rowid > 2")
    p = subprocess.run(["sh", "-c", script], cwd=d / "away", env={**os.environ, "SLURM_ARRAY_TASK_ID": "1"}, capture_output=True, text=True)
    assert p.returncode == 0 and not list((d / "away").iterdir()), p.stderr
    (d / "parts.sqlite").unlink()
    p = sweep(d, SWEEP, "--out", "parts.sqlite", "--collect", "3", ok=(1,))
    assert p.stderr == "3 of 16 points have no result yet\n" and len(rows(d / "parts.sqlite")) == 13, p.stderr
    p = sweep(d, SWEEP, "--out", "parts.sqlite", "--table")
    assert p.stderr == "3 of 16 points have no result yet\n", p.stderr
    p = sweep(d, SWEEP, "--out", "parts.sqlite", "--task", "2/3")
    assert "3 of 16 points ran, 0 failed, 2 had a result" in p.stderr, p.stderr
    p = sweep(d, SWEEP, "--out", "parts.sqlite", "--collect", "3")
    assert not p.stderr and sorted(rows(d / "parts.sqlite")) == sorted(rows(d / "whole.sqlite")), p.stderr


def kill_first_task(d):
    """kill -9 of task 0 of the array when it has a result: the rows that it leaves."""
    for _ in range(600):
        time.sleep(0.05)
        try:
            begun = rows(d / "s.sqlite.0")
        except sqlite3.Error:
            begun = []
        if begun:
            break
    found = subprocess.run(["pgrep", "-f", "sweep .*--task 0/3"], capture_output=True, text=True).stdout.split()
    for pid in found:
        if os.path.samefile(f"/proc/{pid}/cwd", d):
            os.kill(int(pid), signal.SIGKILL)
    return set(rows(d / "s.sqlite.0", "*"))


def check_slurm(d):
    """The script as a job array of a Slurm that runs here; a task is killed, and the array submitted again."""
    if not shutil.which("sbatch") or subprocess.run(["sinfo"], capture_output=True).returncode != 0:
        return "SKIP no Slurm runs on this machine"
    text = SWEEP.replace(f"{KERNELS['vecadd']} --no-check", "exec sleep 1")  # 0, 3 and 9 of task 0's points
    script = sweep(d, text, "--out", "s.sqlite", "--slurm", "3").stdout
    (d / "job.sh").write_text(script)
    submit = ["sbatch", "--wait", "job.sh"]
    array = subprocess.Popen(submit, cwd=d, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    before = kill_first_task(d)
    array.wait(300)
    assert array.returncode != 0 and 1 <= len(before) < 6, f"status {array.returncode}, {len(before)} points"
    assert "have no result yet" in sweep(d, text, "--out", "s.sqlite", "--collect", "3", ok=(1,)).stderr
    subprocess.run(submit, cwd=d, check=True, capture_output=True, timeout=300)
    sweep(d, text, "--out", "s.sqlite", "--collect", "3")
    got = rows(d / "s.sqlite", "*")
    assert before <= set(got) and len(got) == len({r[:3] for r in got}) == 16, got
    return ""


def check_failing(d):
    text = SWEEP.replace(KERNELS["saxpy_loop"], str(d / "none.launch"))
    launch = pathlib.Path(KERNELS["saxpy_loop"])
    (d / "none.launch").write_text(launch.read_text())  # its cubin does not lie beside it
    p = sweep(d, text, ok=(1,))
    assert "16 of 16 points ran, 8 failed" in p.stderr and "saxpy_loop.sm" in p.stderr, p.stderr
    assert sorted({r[4] for r in rows(d / "t.sqlite")}) == [0, 2]
    (d / "none.launch").write_text(launch.read_text().replace('"saxpy_loop.sm', f'"{launch.parent}/saxpy_loop.sm'))
    p = sweep(d, text, ok=(1,))
    assert "0 of 16 points ran" in p.stderr
    shutil.copy(d / "t.sqlite", d / "all.sqlite")
    p = sweep(d, text, "--retry")
    assert "8 of 16 points ran, 0 failed" in p.stderr, p.stderr
    assert {r[4] for r in rows(d / "t.sqlite")} == {0}
    sweep(d, text, "--out", "all.sqlite", "--table", ok=(1,))
    sweep(d, text, "--out", "all.sqlite", "--task", "0/1")
    sweep(d, text, "--out", "all.sqlite", "--collect", "1")  # what failed before is replaced
    assert {r[4] for r in rows(d / "all.sqlite")} == {0}
    p = sweep(d, SWEEP.replace(f"{KERNELS['vecadd']} --no-check", "exec sleep 30"), "--limit", "1", "--jobs", "8", "--out", "slow.sqlite", ok=(1,))
    assert "took longer than 1 s" in p.stderr and [r[4] for r in rows(d / "slow.sqlite")].count(-1) == 8, p.stderr
    # What a run started itself ends with it, whatever it does with signals.
    (d / "stay.sh").write_text("trap '' ALRM TERM INT\nsleep 31.5 &\nwait\nsleep 31.5\n")
    stay = SWEEP.replace(f"{KERNELS['vecadd']} --no-check", "exec sh stay.sh").replace(', "rtx-2080ti"', "")
    sweep(d, stay, "--limit", "1", "--jobs", "4", "--out", "stay.sqlite", ok=(1,))
    assert subprocess.run(["pgrep", "-f", "sleep 31.5"], capture_output=True).returncode == 1


def check_untimed(d):
    """A program that ends well without a timed launch: what was said of it under exec, not its own last words."""
    (d / "none.sh").write_text("echo 'warpstep: the program has no code for this GPU' >&2\necho ends well\n")
    p = sweep(d, SWEEP.replace(f"{KERNELS['vecadd']} --no-check", "exec sh none.sh"), "--jobs", "2")
    assert p.stderr.count("no launch was timed: warpstep: the program has no code for this GPU\n") == 8, p.stderr
    assert "16 of 16 points ran, 0 failed" in p.stderr, p.stderr
    assert {r[1] for r in rows(d / "t.sqlite", "run, why") if r[0].startswith("exec")} == {"warpstep: the program has no code for this GPU"}
    assert {r[1] for r in rows(d / "t.sqlite", "run, why") if not r[0].startswith("exec")} == {None}


def check_stopped(d):
    """SIGTERM: what runs is stopped, what has ended is kept, no folder is left."""
    tmp = d / "tmp"
    tmp.mkdir()
    text = SWEEP.replace(f"{KERNELS['vecadd']} --no-check", "exec sleep 32.5")
    (d / "t.sweep").write_text(text)
    p = subprocess.Popen([BIN, "sweep", "t.sweep", "--presets", PRESETS, "--jobs", "6"], cwd=d, stderr=subprocess.PIPE, text=True,
                         env={**os.environ, "TMPDIR": str(tmp)})
    assert "cycles" in p.stderr.readline()
    p.terminate()
    said = p.communicate(timeout=20)[1]
    assert p.returncode == 130 and "stopped; the results so far are kept" in said, (p.returncode, said)
    assert not list(tmp.iterdir()) and len(rows(d / "t.sqlite")) >= 1
    assert subprocess.run(["pgrep", "-f", "sleep 32.5"], capture_output=True).returncode == 1


def check_refused(d):
    sweep(d, SWEEP, "--quiet")
    before = rows(d / "t.sqlite", "*")
    for change, words in (
        (('"issue.policy"', '"issue.polcy"'), "did you mean 'issue.policy'?"),
        (('"lrr"', '"newest"'), "newest"),
        (('"rtx-3070"', '"rtx-3071"'), "no preset 'rtx-3071'"),
        (('"lrr"', '"cggty"'), "is there twice"),
        (("vary", "varies"), "no setting 'varies'"),
        (('"rtx-2080ti"', '"rtx-3070"'), "rtx-3070 is there twice"),
        (("--no-check", "--no-check --set l2.ways=4"), "--set is the sweep's own"),
        (("--no-check", "--json=x"), "--json is the sweep's own"),
        (("( { key", "{ key"), "t.sweep:"),
        (("values = [", 'settings = [ "l2.ways=8" ]; values = ['), "vary takes"),
        (('set = [ "gpu.sms=2" ]', "set = 5"), "set: from 1 to"),
        (("regfile.cache=true", "regfile.cache=true " + "x" * 2100), "more than 2048 characters"),
        (("run =", "runs ="), "no setting 'runs'"),
        (('[ "cggty", "lrr" ]', "[ ]"), "vary takes"),
        (('[ "cggty", "lrr" ]', "( { } )"), "choice 1"),
        (("gpu = [", "gpu = [ [ 1 ], "), "t.sweep:"),
        (("name", '@include "/etc/passwd"\nname'), "@include is not allowed"),
        (('"gpu.sms=2"', '"gpu.sms=0"'), "gpu.sms"),
        (('values = [ "cggty", "lrr" ]; }', 'values = [ %s ]; }, { settings = [ %s ]; }'
          % (", ".join(f'"a{i}"' for i in range(256)), ", ".join(f'"b{i}"' for i in range(256)))), "more than 100000 points"),
    ):
        p = sweep(d, SWEEP.replace(*change), ok=(2,))
        assert words in p.stderr and p.stderr.count("\n") == 1, f"{words}: {p.stderr}"
    assert rows(d / "t.sqlite", "*") == before
    for options in (["--task", "3/3"], ["--task", "x"], ["--jobs", "0"], ["more"], ["--plot", "/no/such/folder/x.svg"],
                    ["--out", "/no/such/folder/x.sqlite"], ["--out", "t.sweep"], ["--collect", "2"]):
        p = sweep(d, SWEEP, *options, ok=(2,))
        assert p.stderr.strip().splitlines()[-1].startswith("warpstep"), p.stderr
    for key, value in (("build", "'another'"), ("build", "NULL"), ("folder", "'/'")):
        shutil.copy(d / "t.sqlite", d / "other.sqlite")
        with sqlite3.connect(d / "other.sqlite") as db:
            db.execute(f"UPDATE study SET value = {value} WHERE key = '{key}'")
        p = sweep(d, SWEEP, "--out", "other.sqlite", ok=(2,))
        assert f"another {key}" in p.stderr, p.stderr
        shutil.copy(d / "other.sqlite", d / "new.sqlite.0")
        p = sweep(d, SWEEP, "--out", "new.sqlite", "--collect", "1", ok=(2,))
        assert "another build, folder or GPU" in p.stderr and not rows(d / "new.sqlite"), p.stderr
        (d / "new.sqlite").unlink()
    p = sweep(d, SWEEP.replace('"gpu.sms=2"', '"gpu.sms=1"'), ok=(2,))  # other numbers under the same name
    assert "of another rtx-3070 (its preset, or 'set')" in p.stderr, p.stderr
    (d / "below").mkdir()
    (d / "below" / "t.sweep").write_text(SWEEP)
    p = subprocess.run([BIN, "sweep", "below/t.sweep", "--presets", PRESETS], cwd=d, capture_output=True, text=True)
    assert p.returncode == 2 and "another folder" in p.stderr, p.stderr
    sweep(d, SWEEP, "--table")  # looking is allowed


def check_missing(d):
    """A file or program that is not there is one line before anything runs; looking at results needs none."""
    sweep(d, SWEEP, "--quiet")
    before = rows(d / "t.sqlite", "*")
    (d / "text").write_text("no program")
    for run, words in (
        ("none.launch", "./none.launch: cannot read: No such file"),
        ("--no-check /no/such/file.launch", "/no/such/file.launch: cannot read: No such file"),
        ("--buf x:u32:64 none.cubin", "./none.cubin: cannot read: No such file"),
        (f"{KERNELS['vecadd']} {d}/none.cubin", "none.cubin"),
        ("exec ./none 1000", "./none: No such file"),
        ("exec --functional none-such-program", "none-such-program: not found in PATH"),
        ("exec ./text", "chmod +x"),
        ("--no-such-option none.launch", "--no-such-option"),
    ):
        text = SWEEP.replace(f"{KERNELS['saxpy_loop']} --no-check", run)
        for options in ([], ["--slurm", "2"], ["--task", "0/2"]):
            p = sweep(d, text, *options, ok=(2,))
            assert words in p.stderr and p.stderr.count("\n") == 1 and not p.stdout, f"{words}: {p.stderr}"
        sweep(d, text, "--table")
    assert rows(d / "t.sqlite", "*") == before and not (d / "t.sqlite.0").exists()


def check_preset_file(d):
    """A preset that lies beside the sweep, wherever the command is given; and one that has changed."""
    below = d / "below"
    below.mkdir()
    (below / "my.cfg").write_text('inherit = "rtx-3070"; name = ("mine", "guess"); ' + mine("gpu", "sms", 3))
    text = SWEEP.replace('"rtx-3070", "rtx-2080ti"', '"./my.cfg"').replace('set = [ "gpu.sms=2" ];', "")
    (below / "t.sweep").write_text(text)
    command = [BIN, "sweep", "below/t.sweep", "--presets", PRESETS, "--quiet"]
    p = subprocess.run(command, cwd=d, capture_output=True, text=True)
    assert p.returncode == 0, p.stderr
    assert {r[0] for r in rows(d / "t.sqlite")} == {str((below / "my.cfg").resolve())}
    (below / "my.cfg").write_text('inherit = "rtx-3070"; name = ("mine", "guess"); ' + mine("gpu", "sms", 4))
    p = subprocess.run(command, cwd=d, capture_output=True, text=True)
    assert p.returncode == 2 and "its preset" in p.stderr, p.stderr


def mine(group, key, value):
    return f'{group} = {{ {key} = ( {value}, "guess" ); }};'


def check_quotes(d):
    folder = d / "it's"
    folder.mkdir()
    script = sweep(folder, SWEEP, "--out", "it's.sqlite", "--slurm", "8", "--retry").stdout
    p = subprocess.run(["sh", "-c", script], cwd=folder, env={**os.environ, "SLURM_ARRAY_TASK_ID": "7"}, capture_output=True, text=True)
    assert p.returncode == 0 and len(rows(folder / "it's.sqlite.7")) == 2, p.stderr


def check_lock(d):
    text = SWEEP.replace(f"{KERNELS['vecadd']} --no-check", "exec sleep 5")
    (d / "t.sweep").write_text(text)
    p = subprocess.Popen([BIN, "sweep", "t.sweep", "--presets", PRESETS], cwd=d, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    for _ in range(100):
        if (d / "t.sqlite").exists() and b"CREATE TABLE result" in (d / "t.sqlite").read_bytes():
            break
        time.sleep(0.05)
    time.sleep(0.2)
    q = sweep(d, text, ok=(2,))
    p.kill()
    p.wait()
    assert "another sweep is writing" in q.stderr, q.stderr


def main():
    global failed
    for name, check in list(globals().items()):
        if not name.startswith("check_"):
            continue
        name = "sweep " + name[len("check_"):]
        with tempfile.TemporaryDirectory() as d:
            try:
                said = check(pathlib.Path(d))
                print(f"ok {name}" + (f" # {said}" if said else ""))
            except (AssertionError, subprocess.SubprocessError, OSError, sqlite3.Error, IndexError) as e:
                print(f"not ok {name}: {type(e).__name__} {e}".replace("\n", " | "))
                failed += 1
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
