"""The Python package against formulas and against the command line. Prints "ok …", "not ok …", with a reason where something is not
installed."""
import contextlib
import hashlib
import io
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import warpstep

try:
    import numpy as np
except ImportError:
    np = None

ROOT = pathlib.Path(os.environ["ROOT"])
VECADD = ROOT / "kernels/vecadd/vecadd.sm_86.cubin"
LINES = ROOT / "tests/data/lines.sm_86.cubin"
LINKED = ROOT / "tests/data/linked.sm_86.cubin"


def raises(kind, text, call, *arguments, **options):
    try:
        call(*arguments, **options)
    except kind as e:
        assert text in str(e), f"{e!r} has no {text!r}"
        return
    raise AssertionError(f"no {kind.__name__} with {text!r}")


def check_wheel():
    """Every file is in the record, with its checksum."""
    import base64

    site = pathlib.Path(warpstep.__file__).parent.parent
    info = next(site.glob("*.dist-info"))
    rows = [r.rsplit(",", 2) for r in (info / "RECORD").read_text().splitlines()]
    listed = {r[0] for r in rows}
    there = {str(p.relative_to(site)) for p in site.rglob("*") if p.is_file()}
    assert listed == there, listed ^ there
    for name, checksum, size in rows:
        if not checksum:
            continue
        data = (site / name).read_bytes()
        assert len(data) == int(size)
        assert checksum == "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    assert f"Version: {warpstep.version()}" in (info / "METADATA").read_text()
    assert not str(site).startswith(str(ROOT))


def check_without_arrays():
    with warpstep.Device("rtx-3070", {"gpu.sms": 2, "icache.perfect": True}) as gpu:
        assert gpu.parameter("gpu.sms") == "2" and gpu.parameter("icache.perfect") == "true"
        raises(KeyError, "no.such", gpu.parameter, "no.such")
        module = gpu.load(VECADD.read_bytes())
        assert module.names() == ["vecadd"] and list(module) == ["vecadd"]
        kernel = module["vecadd"]
        assert kernel.parameter_bytes == (8, 8, 8, 4) and kernel.registers > 0 and kernel.shared_bytes == 0
        result = kernel(1, 32, 0, 0, 0, 0)  # nobody is below n = 0
        assert result.end == "ended" and result.cycles > 0 and result.fault is None and result.profile is None
        result = kernel(1, 32, 0, 0, 0, 32, functional=True)
        assert result.end == "fault" and result.fault.kind == "illegal address" and result.fault.address == 0
        assert result.fault.thread == (0, 0, 0) and "LDG" in result.fault.instruction and result.cycles == 0
        assert "no memory" in repr(result)
    raises(warpstep.Error, "closed", gpu.load, VECADD)
    gpu.close()


def check_errors():
    raises(warpstep.Error, "no preset 'rtx-3071'", warpstep.Device, "rtx-3071")
    raises(warpstep.Error, "gpu.smss", warpstep.Device, "rtx-3070", {"gpu.smss": 2})
    with warpstep.Device("rtx-3070", {"gpu.sms": 2}) as gpu:
        raises(warpstep.Error, "cannot read", gpu.load, "/no/such/file")
        raises(warpstep.Error, "memory", gpu.load, b"rubbish")
        module = gpu.load(VECADD)
        raises(warpstep.Error, "did you mean 'vecadd'?", module.__getitem__, "vecad")
        k = module["vecadd"]
        raises(TypeError, "takes 4 arguments", k, 1, 32, 0, 0, 0)
        raises(OverflowError, "does not fit 4 bytes", k, 1, 32, 0, 0, 0, 1 << 32)
        raises(TypeError, "has 8 bytes", k, 1, 32, b"1234", 0, 0, 0)
        raises(TypeError, "neither array, number nor bytes", k, 1, 32, "x", 0, 0, 0)
        raises(ValueError, "one to three sizes", k, (1, 1, 1, 1), 32, 0, 0, 0, 0)
        raises(ValueError, "one to three sizes", k, 1, -1, 0, 0, 0, 0)
        raises(ValueError, "hazards", k, 1, 32, 0, 0, 0, 0, hazards="maybe")
        raises(warpstep.Error, "grid dimension x is 0", k, 0, 32, 0, 0, 0, 0)
        raises(ZeroDivisionError, "", k, 8192, 256, 0, 0, 0, 0, progress=lambda *_: 1 / 0)


def check_arrays():
    with warpstep.Device("rtx-3070", {"gpu.sms": 2}) as gpu:
        vecadd = gpu.load(VECADD)["vecadd"]
        x, y, z = np.arange(1000, dtype="f4"), np.full(1000, 0.5, "f4"), np.zeros(1000, "f4")
        result = vecadd(4, 256, x, y, z, np.uint32(1000))
        assert (z == np.arange(1000) + 0.5).all() and (x == np.arange(1000)).all()
        assert result.instructions > 0 and result.counters["gpu.warp_insts" if "gpu.warp_insts" in result.counters else "warp_insts"] > 0
        every = np.zeros((1000, 2), "f4")
        vecadd(4, 256, x, x, every[:, 1], 1000)  # not contiguous; x twice
        assert (every[:, 1] == 2 * x).all() and not every[:, 0].any()
        x.flags.writeable = False
        vecadd(4, 256, x, y, z, 1000, functional=True)
        dx, dz = gpu.array(x), gpu.empty(1000)
        for _ in range(3):
            vecadd(4, 256, dx, dz, dz, 1000, functional=True)
        assert (dz.get() == 3 * x).all() and (np.asarray(dz) == 3 * x).all()
        raises(ValueError, "shape", dz.set, np.zeros(3))
        with warpstep.Device("rtx-3070", {"gpu.sms": 2}) as other:
            raises(TypeError, "another device", vecadd, 1, 32, other.array(x), dz, dz, 1)
        dz.free()


def check_hostile_arrays():
    with warpstep.Device("rtx-3070", {"gpu.sms": 1}) as gpu:
        vecadd = gpu.load(VECADD)["vecadd"]
        x, z = np.arange(256, dtype="f4"), np.zeros(256, "f4")
        for bad in (np.array([object()] * 256, dtype=object), np.zeros(256, [("a", object)])):
            raises(TypeError, "Python objects", vecadd, 1, 256, x, bad, z, 256)
            raises(TypeError, "Python objects", gpu.array, bad)
        vecadd(1, 256, x.astype(">f4"), x, z, 256)
        assert (z == 2 * x).all()
        big = np.zeros(256, ">f4")
        vecadd(1, 256, x, x, big, 256)
        assert (big == 2 * x).all()
        raises(ValueError, "no shape", gpu.empty, -5)
        for option, value in (("max_cycles", 2**64 + 5), ("max_cycles", -1), ("shared_bytes", 2**32 + 16), ("threads", -1), ("stack_bytes", 0.5)):
            raises(ValueError, option, vecadd, 1, 256, x, x, z, 256, **{option: value})
        raises(warpstep.Error, "choose 1 to 1024", vecadd, 1, 256, x, x, z, 256, threads=4_000_000_000)
        raises(ValueError, "no name", gpu.parameter, "gpu.sms\0x")
        raises(ValueError, "no name", gpu.load(VECADD).__getitem__, "vecadd\0x")
        for _ in range(3000):  # 48 GiB, were they kept: the board has 8
            gpu.empty(4 << 20)


def check_example():
    """The one at the top of the package's manual."""
    text = warpstep.__doc__
    code = "\n".join(line[4:] for line in text[text.index("    import"):text.index("Arrays that")].splitlines())
    with contextlib.redirect_stdout(io.StringIO()) as said:
        exec(code.replace('"vecadd.sm_86.cubin"', repr(str(VECADD))), {})
    assert said.getvalue().startswith("[2. 2. 2."), said.getvalue()[:60]


def check_interrupt():
    """Ctrl-C ends a launch long before it would."""
    code = (f"import warpstep\ngpu = warpstep.Device('rtx-3070', {{'gpu.sms': 1}})\nk = gpu.load({str(VECADD)!r})['vecadd']\n"
            "print('begins', flush=True)\nk(1 << 20, 256, 0, 0, 0, 0)\nprint('ended')")
    p = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert p.stdout.readline() == "begins\n"
    time.sleep(0.5)
    began = time.monotonic()
    p.send_signal(signal.SIGINT)
    said, errors = p.communicate(timeout=60)
    assert time.monotonic() - began < 10 and "KeyboardInterrupt" in errors and "ended" not in said, (said, errors)


def check_cycles():
    """The same launch by the command line."""
    command = [str(ROOT / "build/warpstep"), "run", str(VECADD), "--kernel", "vecadd", "--gpu", "rtx-3070", "--grid", "4", "--block", "256",
               "--buf", "x:f32:1024:iota", "--buf", "y:f32:1024", "--buf", "z:f32:1024", "--arg", "x", "--arg", "y", "--arg", "z",
               "--arg", "u32:1024", "--quiet", "--json", "-", "--presets", str(ROOT / "presets")]
    document = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    with warpstep.Device("rtx-3070") as gpu:
        x, y, z = gpu.array(np.arange(1024, dtype="f4")), gpu.empty(1024), gpu.empty(1024)
        result = gpu.load(VECADD)["vecadd"](4, 256, x, y, z, 1024, json=True, threads=2)
    assert result.cycles == document["stats"]["gpu"]["cycles"], (result.cycles, document["stats"]["gpu"]["cycles"])
    assert result.json["stats"] == document["stats"]


def check_profile():
    with warpstep.Device("rtx-3070", {"gpu.sms": 1}) as gpu:
        i, o = np.arange(64, dtype="f4"), np.zeros(64, "f4")
        result = gpu.load(LINES)["second"](1, 32, i, o, profile=True)
    p = result.profile
    assert sum(r.issued for r in p.rows) == result.instructions
    assert sum(r.threads for r in p.rows) == result.thread_instructions
    for name, cycles in result.stalls.items():
        got = sum(r.states.get(name, 0) for r in p.rows)
        assert got == cycles or (name == "drain" and got <= cycles), name
    stores = [r.line for r in p.rows if "STG" in r.instruction]
    assert stores == [16, 17] and all(r.file.endswith("lines.cu") for r in p.rows if r.line)
    assert p.listing().count("\n") == len(p.rows) and p.listing(3).count("\n") == 3 and "STG" in p.listing()


def check_variables():
    """linked.cu: out[0] = 2 out[1] + scale[...]; counter += 1; prints the result."""
    said = io.StringIO()
    with warpstep.Device("rtx-3070", {"gpu.sms": 1}, print=said.write) as gpu:
        module = gpu.load(LINKED)
        module.write("scale", [10, 20, 30, 40], "i4")
        before = module.read("counter", "i4")
        out = np.array([0, 5], "i4")
        module["linked"](1, 1, out, 0)
        assert out[0] == 2 * 5 + 20 and said.getvalue() == "30\n", (out, said.getvalue())
        assert module.read("counter", "i4") == before + 1
        assert (module.read("scale", "i4", 4) == [10, 20, 30, 40]).all()
        raises(warpstep.Error, "no variable 'none'", module.read, "none")
    with contextlib.redirect_stdout(io.StringIO()) as text, warpstep.Device("rtx-3070", {"gpu.sms": 1}) as gpu:
        gpu.load(LINKED)["linked"](1, 1, np.array([0, 5], "i4"), 0, functional=True)
    assert text.getvalue().strip().isdigit()


def check_cancel():
    with warpstep.Device("rtx-3070", {"gpu.sms": 1}) as gpu:
        n = 1 << 20
        x = gpu.empty(n)
        seen = []
        result = gpu.load(VECADD)["vecadd"](n // 256, 256, x, x, x, n, progress=lambda *p: seen.append(p) or True)
    assert result.end == "cancelled" and len(seen) == 1 and seen[0][3] == n // 256, (result, seen)
    with warpstep.Device("rtx-3070", {"gpu.sms": 1}) as gpu:
        x = gpu.empty(n)
        assert gpu.load(VECADD)["vecadd"](n // 256, 256, x, x, x, n, max_cycles=5000).end == "cycle limit"


def check_pandas():
    with warpstep.Device("rtx-3070", {"gpu.sms": 1}) as gpu:
        i, o = np.arange(64, dtype="f4"), np.zeros(64, "f4")
        result = gpu.load(LINES)["second"](1, 32, i, o, profile=True)
    f = result.frame()
    assert dict(f["value"]) == result.counters and f.loc["sm.warp_state.wait"].unit
    p = result.profile.frame()
    assert p.issued.sum() == result.instructions and len(p) == len(result.profile.rows)
    lines = result.profile.lines()
    assert {16, 17} <= set(lines.index.get_level_values("line")) and lines.warp_cycles.is_monotonic_decreasing


def check_plots():
    import matplotlib

    matplotlib.use("Agg")
    with warpstep.Device("rtx-3070", {"gpu.sms": 1}) as gpu:
        i, o = np.arange(64, dtype="f4"), np.zeros(64, "f4")
        result = gpu.load(LINES)["second"](1, 32, i, o, profile=True)
    bars = {t.get_text(): b.get_width() for t, b in zip(result.plot_stalls().get_yticklabels(), result.plot_stalls().patches)}
    assert bars == {k: v for k, v in result.stalls.items() if v}, bars
    assert len(result.profile.plot(top=5).patches) == 5


NEEDS = {"arrays": "numpy", "hostile_arrays": "numpy", "example": "numpy", "cycles": "numpy", "profile": "numpy", "variables": "numpy", "cancel": "numpy", "pandas": "pandas",
         "plots": "matplotlib"}


def missing(name):
    try:
        __import__(name)
    except ImportError:
        return True
    return False


def main():
    failed = 0
    for key, check in list(globals().items()):
        if not key.startswith("check_"):
            continue
        name = key[len("check_"):]
        needed = NEEDS.get(name)
        if needed and missing(needed):
            print(f"ok python {name} # SKIP no {needed} (pip install {needed})")
            continue
        try:
            check()
            print(f"ok python {name}")
        except Exception as e:  # noqa: whatever goes wrong is this check's
            print(f"not ok python {name}: {type(e).__name__} {e}".replace("\n", " | "))
            failed += 1
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
