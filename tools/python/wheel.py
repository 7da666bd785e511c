#!/usr/bin/env python3
"""wheel.py LIBRARY PRESETS OUT: the Python package as a wheel, with the C library and the presets inside.

Needs nothing but Python: a wheel is an archive with three files of metadata (packaging.python.org, binary distribution format).
Prints the name of the wheel.
"""
import base64
import hashlib
import pathlib
import subprocess
import sys
import sysconfig
import zipfile

HERE = pathlib.Path(__file__).resolve().parent.parent.parent
NAME = "warpstep"
METADATA = """Metadata-Version: 2.1
Name: {name}
Version: {version}
Summary: Runs the machine code of NVIDIA GPUs, cycle by cycle, without a GPU
Requires-Python: >=3.8
Provides-Extra: all
Requires-Dist: numpy; extra == "all"
Requires-Dist: pandas; extra == "all"
Requires-Dist: matplotlib; extra == "all"

{text}
"""


def library_version(library):
    code = "import ctypes, sys; f = ctypes.CDLL(sys.argv[1]).ws_version; f.restype = ctypes.c_char_p; print(f().decode())"
    return subprocess.run([sys.executable, "-c", code, library], check=True, capture_output=True, text=True).stdout.strip()


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__.splitlines()[0])
    library, presets, out = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    version = library_version(library)
    tag = "py3-none-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")
    package = HERE / "python" / NAME
    files = {f"{NAME}/{p.name}": p.read_bytes() for p in sorted(package.glob("*.py"))}
    files[f"{NAME}/libwarpstep.so"] = library.read_bytes()
    files.update({f"{NAME}/presets/{p.name}": p.read_bytes() for p in sorted(presets.glob("*.cfg"))})
    info = f"{NAME}-{version}.dist-info"
    files[f"{info}/METADATA"] = METADATA.format(name=NAME, version=version, text=(package / "__init__.py").read_text().split('"""')[1]).encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: warpstep\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    files[f"{info}/LICENSE"] = (HERE / "LICENSE").read_bytes()
    record = [f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}"
              for name, data in files.items()]
    files[f"{info}/RECORD"] = ("\n".join([*record, f"{info}/RECORD,,"]) + "\n").encode()
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{NAME}-{version}-{tag}.whl"
    with zipfile.ZipFile(path.with_suffix(".part"), "w", zipfile.ZIP_DEFLATED) as z:
        for name, data in files.items():
            z.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    path.with_suffix(".part").rename(path)
    print(path)


if __name__ == "__main__":
    main()
