#!/usr/bin/env bash
# Puts a toolkit of CUDA 12.6 together for hecbench.sh, from NVIDIA's packages on PyPI: headers, ptxas, libdevice,
# libcudart.so.
#
#   toolkit.sh DIR
#
# fatbinary is in none of them: that of CUDA 13 is taken (on PATH or in /usr/local/cuda/bin), with the option that
# clang 19 gives, --image=profile=sm_86,file=F, in the form that it knows.
set -eu
if [ $# -ne 1 ]; then
  sed -n 's/^# \{0,1\}//p' "$0" | sed -n 2,8p >&2
  exit 2
fi
fatbinary=$(PATH=$PATH:/usr/local/cuda/bin command -v fatbinary) || {
  echo "toolkit.sh: no fatbinary on PATH; install CUDA 13's compiler" >&2
  exit 2
}
mkdir -p "$1"
dir=$(realpath "$1")
packages=$dir/packages
python3 -m pip install -q --no-deps --target "$packages" nvidia-cuda-nvcc-cu12==12.6.85 \
  nvidia-cuda-runtime-cu12==12.6.77 nvidia-cuda-cccl-cu12==12.6.77 nvidia-curand-cu12==10.3.7.77
mkdir -p "$dir/bin" "$dir/include" "$dir/lib"
for part in cuda_nvcc cuda_runtime cuda_cccl curand; do
  cp -r "$packages/nvidia/$part/include/." "$dir/include/"
done
cp -r "$packages/nvidia/cuda_nvcc/nvvm" "$dir/"
cp "$packages/nvidia/cuda_nvcc/bin/ptxas" "$dir/bin/"
cp "$packages/nvidia/cuda_runtime/lib/libcudart.so.12" "$dir/lib/"
ln -sf libcudart.so.12 "$dir/lib/libcudart.so"
ln -sfn lib "$dir/lib64"
chmod +x "$dir/bin/ptxas"
cat >"$dir/bin/fatbinary" <<EOF
#!/usr/bin/env bash
kept=()
for option; do
  case \$option in
  --image=profile=compute_*) option=\${option#*compute_} option=--image3=kind=ptx,sm=\$option ;;
  --image=profile=sm_*) option=\${option#*=sm_} option=--image3=kind=elf,sm=\$option ;;
  esac
  kept+=("\$option")
done
exec "$fatbinary" "\${kept[@]}"
EOF
chmod +x "$dir/bin/fatbinary"
rm -rf "$packages"
echo "$dir: toolkit of CUDA 12.6"
