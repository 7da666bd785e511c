# shellcheck shell=bash disable=SC2153  # TOOLKIT, NVCC and other names in capitals come from run.sh
# The suites of run.sh. For each: list_SUITE FOLDER prints "folder<TAB>program"; in that folder,
# build_SUITE PROGRAM builds it and command_SUITE PROGRAM prints what to run.
# TOOLKIT is what make_toolkit made. Files and options are those that the suite's own build description names.

# Arguments and limits of programs whose own sizes take long: samples.list, hecbench.list, one program a line,
# NAME|ARGUMENTS|SECONDS, where SECONDS is the limit of a program that has no arguments for it. @ in arguments is their folder.
lists=$(dirname "${BASH_SOURCE[0]}")

# listed SUITE PROGRAM FIELD
listed() {
  [ ! -f "$lists/$1.list" ] || awk -F '|' -v name="$2" -v field="$3" '$1 == name { print $field }' "$lists/$1.list"
}

# A toolkit whose nvcc ignores the architectures that a build description asks for, and links the
# runtime as CUDART says. Functions that CUDA 13 removed and that have a successor of the same form get
# its name, or the older suites would not compile at all. The C++ dialect is at least 17, which the toolkit's
# headers need; gcc links the C++ library, as the objects that nvcc makes need.
make_toolkit() {
  local toolkit
  toolkit=$(dirname "$(dirname "$(realpath "$NVCC")")")
  mkdir -p "$1/bin"
  ln -s "$toolkit/include" "$toolkit/lib64" "$1/"
  cat >"$1/bin/nvcc" <<EOF
#!/usr/bin/env bash
kept=()
while [ \$# -gt 0 ]; do
  case \$1 in
  -arch | -gencode | --gpu-architecture | -cudart) shift ;;
  -arch=* | -gencode=* | --gpu-architecture=* | --generate-code=* | -cudart=*) ;;
  -std=c++11 | -std=c++14 | --std=c++11 | --std=c++14) kept+=(-std=c++17) ;;
  *) kept+=("\$1") ;;
  esac
  shift
done
exec "$NVCC" -arch=$ARCH -cudart $CUDART $DEFINES -Wno-deprecated-gpu-targets \\
  -DcudaThreadSynchronize=cudaDeviceSynchronize -DcudaThreadExit=cudaDeviceReset \\
  -L "$toolkit/lib64" -L "$toolkit/lib64/stubs" "\${kept[@]}"
EOF
  printf '#!/bin/sh\nexec /usr/bin/gcc "$@" -lstdc++\n' >"$1/bin/gcc"
  chmod +x "$1/bin/nvcc" "$1/bin/gcc"
}

# NVIDIA/cuda-samples: no graphics interface, none of another operating system -----------------------

list_samples() {
  local at
  for at in "$1"/Samples/[0-6]_*/*/CMakeLists.txt; do
    grep -qE 'OpenGL|GLUT|EGL|Vulkan|D3D|FreeImage|NvSci|QNX_' "$at" && continue
    at=$(dirname "$at")
    printf '%s\t%s\n' "$at" "$(basename "$at")"
  done
}

# Second words of add_executable(NAME FILE...), libraries CUDA::NAME.
build_samples() {
  local app=./$1.app text sources libraries=() library
  [ -x "$app" ] && [ "$REBUILD" = 0 ] && return
  text=$(sed 's/#.*//' CMakeLists.txt)
  sources=$(tr '\n' ' ' <<<"$text" | grep -oE 'add_executable\([^)]*\)' | head -n 1 |
    sed 's/add_executable(//; s/)//')
  read -ra sources <<<"${sources#* }"
  while read -r library; do
    case $library in
    cuda_driver) libraries+=(-lcuda) ;;
    cudart* | '') ;;
    cusolver) libraries+=(-lcusolver -lcusparse) ;; # as CMake's CUDA::cusolver brings it
    *) libraries+=("-l$library") ;;
    esac
  done <<<"$(grep -oE 'CUDA::[a-zA-Z_]+' <<<"$text" | sort -u | sed 's/CUDA:://')"
  grep -q 'nvJitLink' <<<"$text" && libraries+=(-lnvJitLink)
  grep -q 'OpenMP' <<<"$text" && libraries+=(-Xcompiler -fopenmp)
  grep -q 'CUDA_SEPARABLE_COMPILATION ON' <<<"$text" && libraries+=(-rdc=true)
  if grep -q 'cooperative_groups' <<<"$text"; then # it copies headers for the run-time compiler
    local include
    include=$(realpath "$TOOLKIT/include") # the toolkit itself is gone after this pass
    ln -sfn "$include/cooperative_groups" cooperative_groups
    ln -sf "$include/cooperative_groups.h" .
    ln -sfn "$include/cccl/nv" nv
    ln -sfn "$include/cccl/cuda" cuda
  fi
  build_images "$text" || return
  "$TOOLKIT/bin/nvcc" -std=c++17 --extended-lambda -I ../../../Common -I inc -o "$app" "${sources[@]}" \
    "${libraries[@]}" -lpthread
}

# Fat binaries and PTX that a sample loads at run time: the first CUDA_..._FILE and CUDA_KERNEL_SOURCE.
build_images() {
  local image source
  image=$(grep -oE '[A-Za-z0-9_]+\.(fatbin|ptx)"' <<<"$1" | head -n 1 | tr -d '"')
  source=$(sed -n 's|.*CUDA_KERNEL_SOURCE.*/\([A-Za-z0-9_]*\.cu\)".*|\1|p' <<<"$1" | head -n 1)
  [ -n "$image" ] && [ -n "$source" ] || return 0
  "$TOOLKIT/bin/nvcc" -I ../../../Common "-${image##*.}" -o "$image" "$source"
}

command_samples() {
  echo "./$1.app $(listed samples "$1" 2)"
}

# sgrauerg/polybenchGpu: the CUDA folder. With SIZE every dimension is that, and TSTEPS and the like 8: a copy of the
# program, .SIZE-NAME beside it, is built and run ---------------------------------------------------------

list_polybench() {
  local at
  for at in "$1"/CUDA/*/Makefile; do
    at=$(dirname "$at")
    printf '%s\t%s\n' "$at" "$(basename "$at")"
  done
}

build_polybench() {
  local app
  [ -z "$SIZE" ] || copy_polybench || return
  app=$(command_polybench)
  [ -x "$app" ] && [ "$REBUILD" = 0 ] && return
  (cd "$(dirname "$app")" && PATH=$TOOLKIT/bin:$PATH make)
}

copy_polybench() {
  local at
  at=$(small_polybench)
  [ -d "$at" ] && [ "$REBUILD" = 0 ] && return
  rm -rf "$at" && mkdir "$at" && cp ./*.cu ./*.cuh Makefile "$at" &&
    sed -i -E -e "s/^( *# *define (N|M|NX|NY|NI|NJ|NK|NL|NM|NP|NQ|NR) +)[0-9]+/\1$SIZE/" \
      -e 's/^( *# *define (TMAX|TSTEPS) +)[0-9]+/\18/' "$at"/*.cuh
}

# A copy lies beside the folder, where relative paths of its sources hold.
small_polybench() {
  echo "../.$SIZE-$(basename "$PWD")"
}

command_polybench() {
  local at=.
  [ -z "$SIZE" ] || at=$(small_polybench)
  echo "$at/$(sed -n -e "s/^EXECUTABLE *:*= *//p" -e "s/.*nvcc.* -o \([^$ ]*\.exe\).*/\1/p" Makefile | tr -d "\r ")"
}

# yuhc/gpu-rodinia: programs that make their own input, with the arguments of their `run` files -------

rodinia_programs='backprop|backprop|backprop|65536
gaussian|gaussian|gaussian|-s 16
hybridsort|hybridsort|hybridsort|r
lavaMD|lavaMD|lavaMD|-boxes1d 10
lud|lud|cuda/lud_cuda|-s 256 -v
nw|nw|needle|2048 10
particlefilter_float|particlefilter|particlefilter_float|-x 128 -y 128 -z 10 -np 1000
particlefilter_naive|particlefilter|particlefilter_naive|-x 128 -y 128 -z 10 -np 1000
pathfinder|pathfinder|pathfinder|100000 100 20
srad_v1|srad/srad_v1|srad|100 0.5 502 458
srad_v2|srad/srad_v2|srad|2048 2048 0 127 0 127 0.5 2
streamcluster|streamcluster|sc_gpu|10 20 256 65536 65536 1000 none output.txt 1'

list_rodinia() {
  local name at rest
  while IFS='|' read -r name at rest; do
    [ -n "$rest" ] && printf '%s\t%s\n' "$1/cuda/$at" "$name"
  done <<<"$rodinia_programs"
}

build_rodinia() {
  local app
  read -r app _ <<<"$(command_rodinia "$1")"
  if [ "$REBUILD" = 0 ] && [ -e .built-here ] && [ -x "$app" ]; then return; fi
  make clean
  rm -f "$app"
  PATH=$TOOLKIT/bin:$PATH make CUDA_DIR="$TOOLKIT" CUDA_LIB_DIR="$TOOLKIT/lib64" KERNEL_DIM= && touch .built-here &&
    [ -x "$app" ]
}

# With SIZE streamcluster has that many points, in one chunk, and fewer dimensions and centres.
command_rodinia() {
  [ "$1" = streamcluster ] && [ -n "$SIZE" ] && echo "./sc_gpu 5 10 64 $SIZE $SIZE 100 none output.txt 1" && return
  awk -F '|' -v name="$1" '$1 == name { print "./" $3, $4 }' <<<"$rodinia_programs"
}

# NVIDIA/compute-sanitizer-samples: one defect each, for CHECK; those for interfaces of the tool itself are left out ----

list_sanitizer() {
  local at
  for at in "$1"/{Memcheck,Racecheck,Initcheck,Synccheck,Suppressions}/*.cu; do
    printf '%s\t%s\n' "$(dirname "$at")" "$(basename "$at" .cu)"
  done
}

build_sanitizer() {
  [ -x "$1.app" ] && [ "$REBUILD" = 0 ] && return
  "$TOOLKIT/bin/nvcc" -o "$1.app" "$1.cu"
}

command_sanitizer() {
  echo "./$1.app"
}

# Scientific-Computing-Lab/gpuFLOPBench: its copy of HeCBench; hecbench.list has the programs that were measured
# there on an RTX 3080, with arguments that keep them short (repetitions, where it says nothing about them 1). All
# other programs of HeCBench itself are in hecbench_rest.list (zjin-lcf/HeCBench) ------------------------------

list_hecbench() { # FOLDER [LIST]
  local name at
  while IFS='|' read -r name _; do
    for at in "$1/src/$name-cuda" "$1/src/$name-cuda/src"; do
      [ -f "$at/Makefile" ] && printf '%s\t%s\n' "$at" "$name" && break
    done
  done <"$lists/${2-hecbench}.list"
}

list_hecbench_rest() { list_hecbench "$1" hecbench_rest; }

build_hecbench() {
  local app
  read -r app _ <<<"$(command_hecbench "$1")"
  [ -x "$app" ] && [ "$REBUILD" = 0 ] && return
  PATH=$TOOLKIT/bin:$PATH make ARCH=sm_86 CUDA_DIR="$TOOLKIT" CUDA_HOME="$TOOLKIT"
}

build_hecbench_rest() { build_hecbench "$1"; }

# The program of its rule `run`, with the arguments of the list.
command_hecbench() { # PROGRAM [LIST]
  local app arguments
  app=$(make -n run 2>/dev/null | grep -oE '^ *[^ #]*/[^ ]+' | tail -n 1 | tr -d ' ')
  arguments=$(listed "${2-hecbench}" "$1" 2)
  echo "${app:-./main} ${arguments//@/$(realpath "$lists")}"
}

command_hecbench_rest() { command_hecbench "$1" hecbench_rest; }

# NVIDIA/cccl: examples of CUB and Thrust, with the headers of that tree instead of the toolkit's. They check themselves or
# print what they computed ---------------------------------------------------------------------------------------

cccl_includes() { # TREE
  printf -- '-I %s ' "$1/libcudacxx/include" "$1/cub" "$1/thrust" "$1/thrust/examples" "$1"
}

# CUB's tests and examples share headers that want Catch2 3 (CATCH2: where it is installed).
c2h_flags() {
  printf -- '%s ' -DCATCH_CONFIG_PREFIX_ALL -DC2H_HAS_CURAND=1 -I "$CATCH2/include" -I c2h/include -I cub/test
  cccl_includes .
}

list_cccl() {
  local file tree
  tree=$(realpath "$1")
  for file in "$tree"/cub/examples/*/*.cu "$tree"/thrust/examples/*.cu "$tree"/thrust/examples/cuda/*.cu; do
    printf '%s\t%s\n' "$tree" "${file#"$tree"/}"
  done
}

# build_in_place FILE FLAG...: into FILE.app
build_in_place() {
  local file=$1
  shift
  [ -x "$file.app" ] && [ "$REBUILD" = 0 ] && return
  "$TOOLKIT/bin/nvcc" -std=c++17 --extended-lambda -o "$file.app" "$@" "$file"
}

build_cccl() {
  # shellcheck disable=SC2046  # words
  case $1 in
  cub/*) build_in_place "$1" $(c2h_flags) -L "$CATCH2/lib" -lCatch2 ;;
  *) build_in_place "$1" $(cccl_includes .) ;;
  esac
}

command_cccl() {
  echo "./$1.app"
}

# NVIDIA/cccl: a sample of CUB's and Thrust's own tests (cub.list, thrust.list). A test of CUB is compiled once, with the first value of
# each of its %PARAM% lines, or with LAUNCH=2 through a graph where it can. What all tests of a suite share is compiled once, into
# a folder .common-ARCH of the tree --------------------------------------------------------------------------------------------

list_cub() {
  listed_tests cub "$1"
}

list_thrust() {
  listed_tests thrust "$1"
}

listed_tests() { # SUITE TREE
  local tree name
  tree=$(realpath "$2")
  while IFS='|' read -r name _; do
    [ -f "$tree/$name" ] && printf '%s\t%s\n' "$tree" "$name"
  done <"$lists/$1.list"
}

# common_objects PREFIX FILE... -- FLAG...: prints the objects, compiles those that are missing; one process does it at a time
common_objects() {
  local at=.common-$ARCH prefix=$1 files=() file object
  shift
  while [ "$1" != -- ]; do
    files+=("$1")
    shift
  done
  shift
  mkdir -p "$at"
  for file in "${files[@]}"; do
    object=$at/$prefix-$(basename "$(dirname "$file")")-$(basename "$file" .cu).o
    (flock 9 && { [ -f "$object" ] ||
      "$TOOLKIT/bin/nvcc" -std=c++17 --extended-lambda -c -o "$object" "$@" "$file" >&2; }) 9>"$at/lock" || return
    echo "$object"
  done
}

build_cub() {
  local flags objects values name parameters=()
  [ -x "$1.app" ] && [ "$REBUILD" = 0 ] && return
  # shellcheck disable=SC2207  # words
  flags=($(c2h_flags))
  while read -r _ _ name _ values; do
    [ "$name $LAUNCH" = "TEST_LAUNCH 2" ] && [[ :$values: = *:2:* ]] && values=2
    parameters+=("-D$name=${values%%:*}")
  done < <(grep -E '^// %PARAM%' "$1")
  objects=$(common_objects cub c2h/*.cu -- "${flags[@]}") || return
  # shellcheck disable=SC2086  # words
  build_in_place "$1" "${flags[@]}" "${parameters[@]}" $objects -L "$CATCH2/lib" -lCatch2 -lcurand -lnvrtc -lcuda
}

# The same random numbers on every run.
command_cub() {
  echo "./$1.app --rng-seed 1 $(listed cub "$1" 2)"
}

build_thrust() {
  local flags objects
  [ -x "$1.app" ] && [ "$REBUILD" = 0 ] && return
  # shellcheck disable=SC2207  # words
  flags=(-I thrust/testing $(cccl_includes .))
  case $1 in
  */catch2_test_*)
    build_in_place "$1" "${flags[@]}" -I "$CATCH2/include" -L "$CATCH2/lib" -lCatch2Main -lCatch2
    ;;
  *)
    objects=$(common_objects thrust thrust/testing/unittest/testframework.cu \
      thrust/testing/unittest/cuda/testframework.cu -- "${flags[@]}") || return
    # shellcheck disable=SC2086  # words
    build_in_place "$1" "${flags[@]}" $objects
    ;;
  esac
}

command_thrust() {
  echo "./$1.app $(listed thrust "$1" 2)"
}

# NVIDIA/cccl: tests of libcu++ that have code of their own for GPUs: atomics, barriers, pipelines, asynchronous copies, PTX, …, each
# run on the host and, by one thread or as many as it says, in a kernel. "runfail" ones are to fail and are left out.

libcudacxx_folders='cuda/annotated_ptr cuda/atomics cuda/barrier cuda/bit cuda/execution cuda/hierarchy cuda/memcpy_async cuda/memory
cuda/memory_resource cuda/pipeline cuda/ptx cuda/stream_ref cuda/tma cuda/warp cuda/work_stealing std/atomics'

list_libcudacxx() {
  local tree folder
  tree=$(realpath "$1")
  for folder in $libcudacxx_folders; do
    (cd "$tree/libcudacxx/test/libcudacxx" && find "$folder" -name '*.pass.cpp' | sort) |
      sed "s|^|$tree/libcudacxx/test/libcudacxx\t|"
  done
}

build_libcudacxx() {
  # shellcheck disable=SC2046  # words
  build_in_place "$1" -x cu -include force_include.h -DCCCL_ENABLE_ASSERTIONS -DCCCL_IGNORE_DEPRECATED_CPP_DIALECT \
    -DLIBCUDACXX_IGNORE_DEPRECATED_ABI --expt-relaxed-constexpr -I ../support $(cccl_includes ../../..)
}

command_libcudacxx() {
  echo "./$1.app"
}

# Programs of one file each (single.list: SUITE|FOLDER|FILE|OPTIONS OF NVCC|ARGUMENTS, FOLDER inside the checked-out repository, where it is
# compiled and run). Each suite of the list gets its three functions. -lgtest is Debian's libgtest-dev ----------------------------------

single_field() { # FILE FIELD
  awk -F '|' -v file="$1" -v field="$2" '$3 == file { print $field }' "$lists/single.list"
}

list_single() { # SUITE TREE
  awk -F '|' -v suite="$1" -v tree="$(realpath "$2")" '$1 == suite { print tree "/" $2 "\t" $3 }' "$lists/single.list"
}

build_single() {
  # shellcheck disable=SC2046  # words
  build_in_place "$1" $(single_field "$1" 4)
}

command_single() {
  echo "./$1.app $(single_field "$1" 5)"
}

while read -r single; do
  eval "list_$single() { list_single $single \"\$1\"; }
    build_$single() { build_single \"\$1\"; }
    command_$single() { command_single \"\$1\"; }"
done < <(cut -d '|' -f 1 "$lists/single.list" | sort -u)

# NVIDIA/cutlass: its examples for GPUs before Blackwell, those of cutlass.list whose target (fourth field) ARCH is. Most sizes are options of
# the examples; where they have none, a copy beside the source has them changed (fifth field, of sed -E) ----------------------------------------

list_cutlass() {
  local tree name
  tree=$(realpath "$1")
  awk -F '|' -v arch="${ARCH#sm_}" '$4 == arch { print $1 }' "$lists/cutlass.list" | while read -r name; do
    [ -f "$tree/examples/$name" ] && printf '%s\t%s\n' "$tree/examples/$(dirname "$name")" "$name"
  done
}

build_cutlass() {
  local app=$1 changes source
  app=./$(basename "$1" .cu).app source=$(basename "$1")
  [ ! -f visualize_layout.cpp ] || more=(-x cu visualize_layout.cpp)
  [ -x "$app" ] && [ "$REBUILD" = 0 ] && return
  changes=$(listed cutlass "$1" 5)
  if [ -n "$changes" ]; then
    sed -E "$changes" "$source" >".small-$source" || return
    ! cmp -s "$source" ".small-$source" || { echo "error: nothing to change in $source" && return 1; }
    source=.small-$source
  fi
  "$TOOLKIT/bin/nvcc" -std=c++17 --expt-relaxed-constexpr -DNDEBUG -I ../../include -I ../../tools/util/include \
    -I ../common -I . -o "$app" "$source" "${more[@]}" -lcuda
}

command_cutlass() {
  echo "./$(basename "$1" .cu).app $(listed cutlass "$1" 2)"
}
