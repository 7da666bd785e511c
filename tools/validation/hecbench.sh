#!/usr/bin/env bash
# Builds HeCBench programs as they were measured (data/validation/hecbench-rtx-3080.csv): with clang, so that operation counts agree.
#
#   hecbench.sh SOURCES CUDA12 TARGET...
#
# SOURCES: src/ of github.com/Scientific-Computing-Lab/gpuFLOPBench, commit 4738733b. CUDA12: a toolkit of CUDA 12 (headers, ptxas,
# libdevice, fatbinary, lib/libcudart.so), as toolkit.sh makes one. TARGET: a folder of SOURCES, such as triad-cuda. CLANG names the compiler (clang++-19).
# Then: warpstep validate --suite hecbench-rtx-3080 --programs SOURCES
set -u
if [ $# -lt 3 ]; then
  sed -n 's/^# \{0,1\}//p' "$0" | sed -n 2,10p >&2
  exit 2
fi
sources=$1 toolkit=$(realpath "$2")
shift 2
wrapper=$(mktemp) || exit 2
trap 'rm -f "$wrapper"' EXIT

# The compiler's own folders of headers but for /usr/local/include, where another CUDA or another CUB may lie; behind
# clang's wrappers of them, as ever.
headers=(-nostdlibinc)
while read -r folder; do
  headers+=(-idirafter "$folder")
done < <(${CLANG:-clang++-19} -E -x c++ -v /dev/null 2>&1 |
  sed -n '/^#include <...>/,/^End of search/{ s|^ ||; \|^/usr/local/include|d; \|/lib/clang/|d; \|^/|p }')

# The makefiles call nvcc; this takes its options and calls clang.
cat >"$wrapper" <<EOF
#!/usr/bin/env bash
options=() compile=''
while [ \$# -gt 0 ]; do
  case \$1 in
  -Xcompiler | -Xptxas | --compiler-options) shift ;;
  -arch=* | -gencode* | -Xcompiler=* | --extended-lambda | --expt-* | -lineinfo | -lcudart) ;;
  --use_fast_math | -use_fast_math) options+=(-ffast-math) ;;
  -std=c++11 | -std=c++14) options+=(-std=c++17) ;;
  -c) compile='-x cuda' options+=(-c) ;;
  *) options+=("\$1") ;;
  esac
  shift
done
link=(-L"$toolkit/lib" -L"$toolkit/lib64" -lcudart)
[ -z "\$compile" ] || link=()
exec ${CLANG:-clang++-19} ${headers[@]@Q} \$compile -w -O3 --cuda-gpu-arch=sm_86 --cuda-path="$toolkit" \\
  -Wno-unknown-cuda-version -Wno-register "\${options[@]}" "\${link[@]}"
EOF
chmod +x "$wrapper"

failed=0
for target; do
  if (cd "$sources/$target" && make CC="$wrapper" program=main >build.log 2>&1); then
    echo "$target built"
  else
    echo "$target failed, see $sources/$target/build.log"
    failed=1
  fi
done
exit $failed
