#!/usr/bin/env bash
# Rebuilds the prebuilt cubins: build.sh [KERNEL...], all kernels by default.
#
# TARGETS lists the architectures and NVCC names the compiler; both may be set in the environment. Without TARGETS the
# kernels of the second line of the file selection are built for the targets of its first line, too.
# A kernel with a file NAME.targets is built only for those of them that this file lists; sm_100a there stands for
# sm_100 with the instructions of that architecture alone.
set -eu
cd "$(dirname "$0")"

targets=${TARGETS:-sm_75 sm_80 sm_86 sm_90 sm_100 sm_120}
nvcc=${NVCC:-nvcc}
{ read -r further; read -r selected; } <selection

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
    flags=() only=''
    if [ -f "$name/$name.flags" ]; then
        read -r -a flags <"$name/$name.flags"
    fi
    if [ -f "$name/$name.targets" ]; then
        read -r only <"$name/$name.targets"
    fi
    more=''
    case ${TARGETS:-} in '') case " $selected " in *" $name "*) more=$further ;; esac ;; esac
    for target in $targets $more; do
        arch=$target
        case " ${only:-$target} $more " in
        *" $target "*) ;;
        *" ${target}a "*) arch=${target}a ;;
        *) continue ;;
        esac
        (cd "$name" && "$nvcc" -cubin -arch="$arch" -O3 ${flags[@]+"${flags[@]}"} \
            -o "$name.$target.cubin" "$name.cu")
    done
done
"$nvcc" --version | sed -n 's/^Cuda compilation tools, /nvcc: /p' >COMPILER
