#!/usr/bin/env bash
# Stands for a compiler in the builds of compile.sh. As nvcc: compiles each CUDA source among the arguments to
# COVER_OUT/NAME.fatbin, device code only, for COVER_TARGETS. As any other tool: compiles nothing. Writes an
# empty file where the command names one with -o, so that the build goes on.
set -u
sources=() kept=() output='' language=''

take() {
  case $1 in
  *.cu) sources+=("$1") ;;
  *.c | *.cc | *.cpp | *.cxx) [ "$language" = cu ] && sources+=("$1") ;;
  *.o | *.a | *.so) ;;
  *) kept+=("$1") ;;
  esac
}

while [ $# -gt 0 ]; do
  case $1 in
  -o) output=$2 && shift ;;
  -x) language=$2 && shift ;;
  -arch | -code | -gencode | --gpu-architecture | --gpu-code | -cudart | -Xlinker | -L | -l) shift ;;
  -I | -D | -Xcompiler | -Xptxas | -Xcudafe | -include | -maxrregcount | -std | --maxrregcount)
    kept+=("$1" "$2") && shift
    ;;
  -arch=* | -code=* | -gencode=* | --gpu-architecture=* | --gpu-code=* | --generate-code=* | -cudart=* | \
    -L* | -l*) ;;
  -dc | --device-c) kept+=(-rdc=true) ;;
  -c | -ptx | -cubin | -fatbin | --ptx | --cubin | --fatbin) ;;
  -std=* | --std=*) kept+=(-std=c++17) ;; # the toolkit's headers need 17
  -g | -pg | -M*) ;;
  *) take "$1" ;;
  esac
  shift
done

[ -n "$output" ] && mkdir -p "$(dirname "$output")" && [ ! -e "$output" ] && : >"$output"
[ "$(basename "$0")" = nvcc ] || exit 0
for target in $COVER_TARGETS; do
  codes=${target#*:}
  kept+=(-gencode "arch=compute_${target%:*},code=[sm_${codes//,/,sm_}]")
done
# Names that CUDA 13 removed get those of successors where a source does not compile without: host code.
successors=(-DcudaThreadSynchronize=cudaDeviceSynchronize -DcudaThreadExit=cudaDeviceReset
  -DclockRate=memoryBusWidth -DdeviceOverlap=asyncEngineCount -DcomputeMode=integrated)

# compile SOURCE NAME [OPTION...]
compile() {
  # shellcheck disable=SC2086  # COVER_FLAGS: options
  PATH=$COVER_PATH timeout 300 "$COVER_NVCC" -w -Wno-deprecated-gpu-targets -x cu --fatbin "${kept[@]}" \
    $COVER_FLAGS "${@:3}" -o "$COVER_OUT/$2.fatbin" "$1" >"$COVER_OUT/$2.log" 2>&1
}

for source in "${sources[@]}"; do
  name=$(tr -c '[:alnum:]\n' _ <<<"${source#./}")
  [ -e "$COVER_OUT/$name.fatbin" ] && continue
  compile "$source" "$name" || compile "$source" "$name" "${successors[@]}"
  [ -s "$COVER_OUT/$name.log" ] || rm -f "$COVER_OUT/$name.log"
done
exit 0
