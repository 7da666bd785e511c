#!/usr/bin/env bash
# Rebuilds the prebuilt cubins: build.sh [KERNEL...], all kernels by default.
# SMS and NVCC may be set in the environment.
set -eu
cd "$(dirname "$0")"

sms=${SMS:-80 86 90}
nvcc=${NVCC:-nvcc}

if ! command -v "$nvcc" >/dev/null; then
    echo "build.sh: no nvcc found; install the CUDA toolkit or set NVCC" >&2
    exit 1
fi
if [ $# -eq 0 ]; then
    set -- */*.cu
    set -- "${@%%/*}"
fi
for name; do
    if [ ! -f "$name/$name.cu" ]; then
        echo "build.sh: no kernel $name" >&2
        exit 1
    fi
    flags=()
    if [ -f "$name/$name.flags" ]; then
        read -r -a flags <"$name/$name.flags"
    fi
    for sm in $sms; do
        (cd "$name" && "$nvcc" -cubin -arch="sm_$sm" -O3 ${flags[@]+"${flags[@]}"} \
            -o "$name.sm_$sm.cubin" "$name.cu")
    done
done
"$nvcc" --version | sed -n 's/^Cuda compilation tools, /nvcc: /p' >COMPILER
