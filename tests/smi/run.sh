#!/usr/bin/env bash
# nvidia-smi of the simulated GPUs (src/smi), as scripts start it: what it prints for boards whose data sheets are public, for
# machines whose topology is published, and for questions that make no sense.
#
#   tests/smi/run.sh
#
# BIN names the program (build/warpstep).
set -u
cd "$(dirname "$0")/../.." || exit 2
BIN=$(realpath "${BIN:-build/warpstep}")
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
failed=0

# is NAME WANTED: what the last command printed, and its exit status behind it.
is() {
  if [ "$(cat "$scratch/said")" = "$2" ]; then echo "ok smi $1"; else
    echo "not ok smi $1"
    sed 's/^/# /' "$scratch/said"
    failed=1
  fi
}

# smi OPTION-OF-EXEC... -- ARGUMENT...: nvidia-smi, found in PATH.
smi() {
  local options=()
  while [ "$1" != -- ]; do options+=("$1") && shift; done
  shift
  "$BIN" exec --quiet "${options[@]}" nvidia-smi "$@" >"$scratch/said" 2>&1
  echo "$?" >>"$scratch/said"
}

# Data sheet of the A100 80 GB SXM: compute capability 8.0, 80 GiB, 1,410 MHz; of the RTX 3090: 8.6, 24 GB.
smi --gpu a100-sxm4-80gb -- --query-gpu=index,compute_cap,memory.total,clocks.max.sm,temperature.gpu --format=csv
is csv "index, compute_cap, memory.total [MiB], clocks.max.sm [MHz], temperature.gpu
0, 8.0, 81920 MiB, 1410 MHz, [N/A]
0"
smi --gpu rtx-3090 -- --query-gpu=compute_cap,memory.total,fan.speed --format=csv,noheader,nounits
is bare "8.6, 24576, [N/A]
0"
smi --gpu rtx-3090 -- --query-gpu="gpu_name, gpu_bus_id, clocks.sm" --format="csv, nounits"
is aliases "name, pci.bus_id, clocks.current.sm [MHz]
NVIDIA GeForce RTX 3090, 00000000:01:00.0, 1695
0"

# DGX A100: every GPU reaches every other one by 12 NVLinks (NVIDIA's user guide); two RTX 3090 with a bridge: by 4.
smi --machine dgx-a100 -- topo -m
head -n 9 "$scratch/said" >"$scratch/matrix"
wanted=$(for i in 0 1 2 3 4 5 6 7; do printf '\tGPU%d' $i; done)
for i in 0 1 2 3 4 5 6 7; do
  wanted+=$'\n'"GPU$i"
  for k in 0 1 2 3 4 5 6 7; do [ $i = $k ] && wanted+=$'\t X ' || wanted+=$'\tNV12'; done
done
mv "$scratch/matrix" "$scratch/said"
is topology "$wanted"
smi --machine 2x-rtx-3090-nvlink -- topo -m
sed -i 4,\$d "$scratch/said"
is bridge $'\tGPU0\tGPU1\nGPU0\t X \tNV4\nGPU1\tNV4\t X '
smi --machine 4x-rtx-4090-pcie -- topo -m
sed -i '3,$d; s/SYS\|PHB\|NODE\|PXB\|PIX/pci/g' "$scratch/said"
is bus $'\tGPU0\tGPU1\tGPU2\tGPU3\nGPU0\t X \tpci\tpci\tpci'

# Some of the GPUs, by each kind of name.
smi --machine dgx-a100 -- --query-gpu=index,uuid --format=csv,noheader
uuid=$(sed -n 's/^5, //p' "$scratch/said")
smi --machine dgx-a100 -- -i "$uuid,2" --query-gpu=index --format=csv,noheader
is some $'2\n5\n0'
smi --machine dgx-a100 -- --id=8 -L
is none $'No devices were found: there is no GPU 8\n6'
smi --machine dgx-a100 -- -L -i "$(printf '%0137d' 1)"
grep -q 'there is no GPU 000' "$scratch/said" && echo long >"$scratch/said"
is 'long name' long
smi --gpu a100-sxm4-80gb --mig 3g.40gb,4g.40gb -- -L
sed -i 's/(UUID.*//; s/ *$//' "$scratch/said"
is instances $'GPU 0: NVIDIA A100-SXM4-80GB\n  MIG 3g.40gb     Device  0:\n  MIG 4g.40gb     Device  1:\n0'

smi --gpu rtx-3090 -- --query-gpu=name,speed --format=csv
is field $'Field "speed" is not a valid field to query.\n2'
smi --gpu rtx-3090 -- --query-gpu=name
is format $'A query needs --format=csv, and may have ,noheader and ,nounits behind it.\n2'
smi --gpu rtx-3090 -- --query-gpu=name --format=csv,xml
is words $'A query needs --format=csv, and may have ,noheader and ,nounits behind it.\n2'
smi --gpu rtx-3090 -- -pl 300
is changes $'Invalid combination of input arguments: -pl is not there. Please run \'nvidia-smi -h\' for help.\n2'

smi --machine dgx-a100 -- topo -m -i 0
is 'more than topo' $'Invalid combination of input arguments: -i is not there. Please run \'nvidia-smi -h\' for help.\n2'
smi --gpu rtx-3090 -- --query-gpu=name --help
grep -q -e --list-gpus "$scratch/said" && echo help >"$scratch/said"
is help help
# Options change what is told, before CUDA starts, too.
smi --machine 2x-rtx-3090-nvlink --set gpu.clock_khz=1234000 -- --query-gpu=clocks.sm --format=csv,noheader
is options $'1234 MHz\n1234 MHz\n0'

# What PyTorch's collect_env and build scripts look for in the table.
smi --gpu rtx-3090 --
sed -n 's/.*\(Driver Version: [0-9.]*\) .*\(CUDA Version: [0-9.]*\) .*/\1 \2/p; s/.*| *\([0-9]*MiB\) *\/ *\([0-9]*MiB\) |.*/\1 of \2/p' "$scratch/said" >"$scratch/words"
mv "$scratch/words" "$scratch/said"
is table $'Driver Version: 580.00.00 CUDA Version: 13.0\n0MiB of 24576MiB'

# A program that starts it keeps the name of its report: nvidia-smi has none, nor has a process that asks CUDA for GPUs alone.
cat >"$scratch/both.py" <<'P'
import ctypes, subprocess
subprocess.run(["nvidia-smi", "-L"], check=True, stdout=subprocess.DEVNULL)
cuda = ctypes.CDLL("libcuda.so.1")
context = ctypes.c_void_p()
subprocess.run(["python3", "-c", "import ctypes; c = ctypes.CDLL('libcuda.so.1'); n = ctypes.c_int(); assert c.cuInit(0) == 0 == c.cuDeviceGetCount(ctypes.byref(n))"],
               check=True)
assert cuda.cuInit(0) == 0 and cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
subprocess.run(["nvidia-smi", "-L"], check=True, stdout=subprocess.DEVNULL)
P
"$BIN" exec --gpu rtx-3090 --quiet --json "$scratch/report.json" python3 "$scratch/both.py" >"$scratch/said" 2>&1
(cd "$scratch" && ls report.json*) >>"$scratch/said"
is report report.json
# One that another process of it started and that makes a context has a report of its own.
cat >"$scratch/child.py" <<'P'
import ctypes, subprocess, sys
cuda = ctypes.CDLL("libcuda.so.1")
context = ctypes.c_void_p()
assert cuda.cuInit(0) == 0 and cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
if len(sys.argv) == 1:
    subprocess.run([sys.executable, __file__, "child"], check=True)
P
"$BIN" exec --gpu rtx-3090 --quiet --json "$scratch/two.json" python3 "$scratch/child.py" 2>"$scratch/words"
(cd "$scratch" && printf '%s\n' two.json* | sed 's/[0-9]\{1,\}$/PID/') >"$scratch/said"
is 'report of a child' $'two.json\ntwo.json.PID'
# Without PATH, programs are found in the system's folders, and ours in its own.
env -i "$BIN" exec --quiet --gpu rtx-3090 /bin/sh -c 'nvidia-smi -L | cut -c 1-5; ls -d /' >"$scratch/said" 2>&1
is 'no PATH' $'GPU 0\n/'
# Each process that a hub started is the program.
"$BIN" exec --gpu rtx-3090 --share slices --json "$scratch/shared.json" python3 -c 'import ctypes; c = ctypes.CDLL("libcuda.so.1"); n = ctypes.c_int(); assert c.cuInit(0) == 0 == c.cuDeviceGetCount(ctypes.byref(n))' >"$scratch/said" 2>&1
(cd "$scratch" && ls shared.json*) >"$scratch/said"
is hub shared.json
exit $failed
