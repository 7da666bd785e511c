#!/usr/bin/env bash
# The tables of entry points against the toolkit's headers and library (entries.py; skipped without a toolkit), and programs of
# CUDA 11, 12 and 13, which call the same names with other arguments (earlier.c); libraries that a program opens by their path though
# one of ours stands in for them (by_path.c); programs that were stripped, with and without the archive of their runtime (stripped.c).
cd "$(dirname "$0")/../.." || exit 2
bin=${BIN:-build/warpstep}
shims=$(dirname "$bin")/cuda
status=0
python3 tests/cuda/entries.py || status=1
if [ ! -f "$shims/libcudart.so.13" ]; then
  echo "ok programs of earlier versions # SKIP no shim libraries beside $bin"
  exit $status
fi
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
for version in 11.0 12 13; do
  if ${CC:-gcc} -w -O1 -DCUDART="${version%.0}" -o "$scratch/earlier" tests/cuda/earlier.c "$shims/libcudart.so.$version" \
    -L "$shims" -Wl,-rpath-link,"$shims" -l:libwarpstep-cuda.so 2>"$scratch/err" &&
    timeout 60 "$bin" exec --functional --quiet --gpu rtx-3070 "$scratch/earlier" >"$scratch/out" 2>>"$scratch/err"; then
    echo "ok a program of CUDA $version"
  else
    echo "not ok a program of CUDA $version: $(tail -n 1 "$scratch/out") $(head -n 1 "$scratch/err")"
    status=1
  fi
done

printf 'int cublasGetProperty(int type, int *value) { return type ? 1 : (*value = 4711, 0); }\n' >"$scratch/fake.c"
for name in libcublas.so.13 libother.so; do
  ${CC:-gcc} -shared -fPIC -o "$scratch/$name" "$scratch/fake.c" || status=1
done
${CC:-gcc} -o "$scratch/by_path" tests/cuda/by_path.c || status=1
for libs in own native; do
  file=$([ $libs = own ] && echo 0 || echo 1)
  if timeout 60 "$bin" exec --functional --quiet --libs $libs "$scratch/by_path" "$scratch/libcublas.so.13" "$scratch/libother.so" \
    "$file" >"$scratch/out" 2>"$scratch/err"; then
    echo "ok a library by its path, --libs $libs"
  else
    echo "not ok a library by its path, --libs $libs: $(tail -n 1 "$scratch/out") $(head -n 1 "$scratch/err")"
    status=1
  fi
done

# stripped NAME ARCHIVE WANTED: the program's status with this archive.
stripped() {
  WARPSTEP_CUDART=$2 timeout 60 "$bin" exec --functional --quiet "$scratch/stripped" >"$scratch/out" 2>"$scratch/err"
  local got=$?
  if [ $got = "$3" ]; then
    echo "ok a stripped program, $1"
  else
    echo "not ok a stripped program, $1: status $got, $(tail -n 1 "$scratch/out") $(head -n 1 "$scratch/err")"
    status=1
  fi
}
mkdir "$scratch/archive"
archive=$scratch/archive/libcudart_static.a
${CC:-gcc} -O1 -fPIC -c -o "$scratch/cudart_static.o" tests/cuda/stripped_runtime.c && ar rc "$archive" "$scratch/cudart_static.o" &&
  ${CC:-gcc} -s -o "$scratch/stripped" tests/cuda/stripped.c "$archive" || status=1
stripped "without its archive" "" 1
stripped "with its archive" "$archive" 0
stripped "with the archive's folder behind another" "/nowhere:$scratch/archive" 0
for at in 8000 40000 81900; do # a byte of its code: in front of the longest run, which is looked for first, in it, and behind it
  python3 - "$archive" "$scratch/other.a" $at <<'EOF' && stripped "with an archive that differs in byte $at" "$scratch/other.a" 1
import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[int(sys.argv[3])] ^= 1
open(sys.argv[2], "wb").write(data)
EOF
done
for bytes in 0 8 70 5000 60000 -1; do
  head -c $bytes "$archive" >"$scratch/short.a"
  stripped "with an archive of $bytes bytes" "$scratch/short.a" 1
done

# With the toolkit's own.
nvcc=${NVCC:-$(PATH=$PATH:/usr/local/cuda/bin command -v nvcc)}
if [ ! -x "$nvcc" ]; then
  echo "ok a stripped program of nvcc # SKIP no nvcc"
elif "$nvcc" -arch=sm_86 -std=c++14 -o "$scratch/stripped" examples/column_sums.cu && strip "$scratch/stripped"; then
  stripped "of nvcc" "$(dirname "$(realpath "$nvcc")")/../lib64" 0
else
  echo "not ok a stripped program of nvcc: it was not made"
  status=1
fi
exit $status
