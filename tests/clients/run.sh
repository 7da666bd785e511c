#!/usr/bin/env bash
# Python packages that open the CUDA driver or bring their own runtime, unmodified, under `warpstep exec
# --functional`: Numba's CUDA target, CuPy, tinygrad's CUDA backend, Triton, PyTorch, JAX, XGBoost, CatBoost, Taichi, FAISS,
# cuFINUFFT, bitsandbytes, ONNX Runtime, OpenMM, spconv, Qiskit Aer, TensorFlow, and what stands on PyTorch: transformers, diffusers,
# timm, torchvision, PyTorch Geometric, peft, accelerate, Lightning, torchao, xFormers, Liger; Warp, PyCUDA, cuda.core, cuDF, cuML, cuTile, CuTe DSL, TileLang, nvCOMP, NPP, nvmath-python, cudnn-frontend, Dr.Jit, KeOps, Mojo, MAX, MLX, vLLM, LMDeploy. A package that the interpreter does not find is skipped with a line. Each script checks its results
# against NumPy or against what the package does without a GPU.
#
#   tests/clients/run.sh [numba|cupy|cupy_libs|tinygrad|triton|torch|torch_layers|torch_train|jax|
#                         xgboost|catboost|taichi|faiss|cufinufft|bitsandbytes|onnxruntime|openmm|
#                         spconv|qiskit_aer|tensorflow|torch_more|torch_compile|transformers|diffusers|timm|
#                         torchvision|torch_geometric|peft|accelerate|lightning|torchao|xformers|liger_kernel|
#                         warp|pycuda|cuda_core|cudf|torch_distributed|cuml|cuda_tile|cutlass|tilelang|cutensor|
#                         jax_pallas|nvcomp|npp|nvmath|cudnn|drjit|pykeops|mojo|max|mlx|vllm|vllm_more|
#                         lmdeploy ...]
#
# cupy_libs: what calls cuBLAS, cuFFT, cuRAND, cuSOLVER, cuSPARSE. torch_layers: what calls cuDNN. torch_more: graphs, sparse and nested
# tensors, linear algebra, process groups. torch_compile: Inductor. torch_train: a ResNet, an
# LSTM, a transformer, STEPS steps each (2; the 20 of docs/pytorch.md take minutes).
#
# torch_distributed: a process for each of two GPUs of MACHINE (dgx-a100). cuml: with cuVS and cuGraph.
# tilelang: nvcc of CUDA compiles what it writes.
#
# vllm, vllm_more: with GPU=a100 or a later one; three minutes of processor time each, and some of nvcc's at the first start
# of vllm (FlashInfer). vllm_more: quantised weights, other models, adapters. lmdeploy: GPU=a100, h100 …
#
# jax_pallas: kernels by Mosaic GPU with GPU=h100 and GPU=b200, else those by Triton alone.
#
# warp, cuda_core, cudf, cuml, cutlass, cutensor, nvcomp, nvmath: with stripped runtimes inside, whose archives WARPSTEP_CUDART names (docs/python.md).
#
# Environment: BIN (build/warpstep), PYTHON (an interpreter with the packages: python3), GPU (rtx-3070),
# CUDA (toolkit, for its libnvrtc: /usr/local/cuda), TINYGRAD_TESTS (folder `test` of tinygrad's repository: its
# tensor tests are run, too, and counted; they take minutes, and with PyTorch, whose libraries must be in
# LD_LIBRARY_PATH, half an hour more).
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
bin=$(realpath "${BIN:-$root/build/warpstep}")
python=${PYTHON:-$(command -v python3)}
export LD_LIBRARY_PATH=${CUDA:-/usr/local/cuda}/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export CUDA_PATH=${CUDA:-/usr/local/cuda} CUDA_HOME=${CUDA:-/usr/local/cuda} DEV=CUDA NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS=0
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT

if [ ! -x "$bin" ] || [ ! -f "$(dirname "$bin")/cuda/libwarpstep-cuda.so" ]; then
  echo "ok clients # SKIP no $bin with its shim libraries"
  exit 0
fi
if [ -z "$python" ]; then
  echo "ok clients # SKIP no python3"
  exit 0
fi

under() {
  "$bin" exec --functional --quiet --gpu "${GPU:-rtx-3070}" "$python" -W ignore "$@"
}

# tensor_tests: tinygrad's own; test_ops.py compares with PyTorch on the CPU.
tensor_tests() {
  local files=() name ops=''
  "$python" -c 'import torch' 2>/dev/null && ops=backend/test_ops.py
  for name in $ops test_tiny.py backend/test_symbolic_ops.py backend/test_setitem.py backend/test_const_folding.py \
    backend/test_softmax_fusion.py backend/test_subbuffer.py; do
    [ -f "$TINYGRAD_TESTS/$name" ] && files+=("$TINYGRAD_TESTS/$name")
  done
  (cd "$TINYGRAD_TESTS/.." && PYTHONPATH=. under -m pytest -q -p no:cacheprovider "${files[@]}") \
    >"$scratch/out" 2>"$scratch/err"
  echo "   tinygrad's own tests: $(tail -n 1 "$scratch/out")"
}

# package NAME: what the script imports.
package() {
  case $1 in
  qiskit_aer | torch_geometric | liger_kernel) echo "$1" ;;
  cuda_core) echo cuda.core ;;
  cuda_tile) echo cuda.tile ;;
  nvcomp) echo nvidia.nvcomp ;;
  *) echo "${1%%_*}" ;;
  esac
}

# has NAME: NPP has no module of its own to import.
has() {
  if [ "$1" = npp ]; then
    "$python" -c "import numpy, importlib.metadata as m; m.distribution('nvidia-npp')"
  else
    "$python" -c "import numpy, importlib.util as u, sys; sys.exit(not u.find_spec('$(package "$1")'))"
  fi
}

failed=0
[ $# -gt 0 ] || set -- numba cupy cupy_libs tinygrad triton torch torch_layers torch_train jax \
  xgboost catboost taichi faiss cufinufft bitsandbytes onnxruntime openmm spconv qiskit_aer tensorflow torch_more torch_compile \
  transformers diffusers timm torchvision torch_geometric peft accelerate lightning torchao xformers liger_kernel \
  warp pycuda cuda_core cudf torch_distributed cuml cuda_tile cutlass tilelang cutensor jax_pallas nvcomp npp nvmath cudnn drjit pykeops mojo max mlx vllm vllm_more lmdeploy
for name; do
  if ! has "$name" 2>/dev/null; then
    echo "ok clients $name # SKIP $python does not have it"
    continue
  fi
  args=()
  [ "$name" = torch_train ] && args=(all "${STEPS:-2}")
  where=(--gpu "${GPU:-rtx-3070}")
  [ "$name" = torch_distributed ] && where=(--machine "${MACHINE:-dgx-a100}")
  if timeout 1800 "$bin" exec --functional --quiet "${where[@]}" "$python" -W ignore \
    "$here/client_$name.py" "${args[@]}" >"$scratch/out" 2>"$scratch/err"; then
    echo "ok clients $name: $(grep -c '^ok' "$scratch/out") checks"
  else
    echo "not ok clients $name: $(grep -v '^ok' "$scratch/out" | head -n 3) $(tail -n 1 "$scratch/err")"
    failed=1
  fi
  [ "$name" = tinygrad ] && [ -n "${TINYGRAD_TESTS-}" ] && tensor_tests
done
exit $failed
