#!/usr/bin/env bash
# Rebuilds the prebuilt cubins: build.sh [KERNEL...], all kernels by default.
#
# TARGETS lists the architectures and NVCC names the compiler; both may be set in the environment. Without TARGETS the
# kernels of the second line of the file selection are built for the targets of its first line, too.
# nvcc 13 does not know sm_70 and sm_72: those are compiled by the run-time compiler of CUDA 11.8, which
# tools/nvrtc/nvrtc_cubin.py has pip unpack into NVRTC_PACKAGES (build/nvrtc-11.8) when it is not there.
# A kernel with a file NAME.targets is built only for those of them that this file lists; sm_100a there stands for
# sm_100 with the instructions of that architecture alone.
set -eu
cd "$(dirname "$0")"

targets=${TARGETS:-sm_70 sm_75 sm_80 sm_86 sm_90 sm_100 sm_120}
nvcc=${NVCC:-nvcc}
{ read -r further; read -r selected; } <selection
nvrtc=(python3 "$PWD/../tools/nvrtc/nvrtc_cubin.py" --install --packages "${NVRTC_PACKAGES:-$PWD/../build/nvrtc-11.8}")

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
    if [ -z "${TARGETS:-}" ] && [[ " $only " == *" sm_72 "* ]]; then
        more="sm_72 ${more#sm_72}"
    fi
    for target in $targets $more; do
        # What sm_70 cannot run sm_72 cannot, unless its file says so.
        if [ "$target" = sm_72 ] && [[ " ${only:-sm_70} " != *" sm_7"[02]" "* ]]; then
            continue
        fi
        arch=$target
        case " ${only:-$target} $more " in
        *" $target "*) ;;
        *" ${target}a "*) arch=${target}a ;;
        *) continue ;;
        esac
        compile=("$nvcc" -cubin -O3)
        case $target in sm_7[02]) compile=("${nvrtc[@]}") ;; esac
        (cd "$name" && "${compile[@]}" -arch="$arch" ${flags[@]+"${flags[@]}"} -o "$name.$target.cubin" "$name.cu")
    done
done
{
    "$nvcc" --version | sed -n 's/^Cuda compilation tools, /nvcc: /p'
    echo "sm_70, sm_72: $("${nvrtc[@]}" --version)"
} >COMPILER
