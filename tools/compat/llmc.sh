#!/usr/bin/env bash
# llm.c's tests of its GPU code (test_gpt2_fp32.cu, and test_gpt2.cu in FP32 and in BF16), as they are, with a tiny GPT-2 made
# on the spot in the place of the weights that they download: what they compare with comes from its own CPU code
# (train_gpt2.c), for BF16 with weights that BF16 holds. Logits, loss and gradients are compared by the tests, the losses of
# their ten steps of AdamW here, and for BF16 the distances of logits and gradients, too, because the test's own limits are
# wide. Ten more steps from a checkpoint have to give the same losses to the last bit.
#
#   LLMC=DIR tools/compat/llmc.sh       a checkout of karpathy/llm.c
#
# Environment: BIN (build/warpstep), NVCC, GPU (rtx-3070), MODE (--functional; --timed).
set -u
bin=$(realpath "${BIN:-build/warpstep}")
nvcc=${NVCC:-$(PATH=$PATH:/usr/local/cuda/bin command -v nvcc)}
llmc=${LLMC:-}
if [ ! -f "$llmc/test_gpt2_fp32.cu" ] || [ ! -x "$nvcc" ]; then
  echo "ok llm.c # SKIP no nvcc, or no checkout in LLMC"
  exit 0
fi
llmc=$(realpath "$llmc")
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT

# Weights and tokens by a generator of its own, then what the CPU makes of them: the state that the test reads.
cat >"$scratch/reference.c" <<'END'
#define TESTING
#include "train_gpt2.c"

enum { HEADER = 256, LENGTH = 64, LAYERS = 2, HEADS = 4, WIDTH = 128, BATCH = 2, STEPS = 10 };

static uint32_t bits = 1;
static float number(void) /* from -1 to 1 */
{
  bits = bits * 1664525u + 1013904223u;
  return (float)(bits >> 8) / (1 << 23) - 1;
}

/* A file of weights, in BF16 or not; rounded says that FP32 has numbers of BF16, too. */
typedef struct Weights {
  FILE *f;
  int brief, rounded;
} Weights;

static void put(Weights *w, long n, float middle, float spread)
{
  for (long i = 0; i < n; i++) {
    float v = middle + spread * number();
    uint32_t u;
    memcpy(&u, &v, sizeof u);
    if (w->rounded) u = (u + 0x7fff + ((u >> 16) & 1)) & 0xffff0000u; /* to nearest, ties to even */
    const uint16_t half = (uint16_t)(u >> 16);
    if (w->brief) fwrite(&half, sizeof half, 1, w->f);
    else fwrite(&u, sizeof u, 1, w->f);
  }
}

static void write_model(const char *path, int brief, int rounded)
{
  const int head[HEADER] = {20240326, brief ? 5 : 3, LENGTH, WORDS, LAYERS, HEADS, WIDTH, PADDED};
  const long c = WIDTH, l = LAYERS;
  Weights file = {fopen(path, "wb"), brief, rounded}, *f = &file;
  bits = 1;
  fwrite(head, sizeof head, 1, f->f);
  put(f, WORDS * c, 0, 0.1f), put(f, (PADDED - WORDS) * c, 0, 0);           /* words; its GPU code counts on these zeros */
  put(f, LENGTH * c, 0, 0.1f);                                              /* places */
  put(f, l * c, 1, 0.1f), put(f, l * c, 0, 0.1f);                           /* first norm */
  put(f, l * 3 * c * c, 0, 0.1f), put(f, l * 3 * c, 0, 0.1f);               /* queries, keys, values */
  put(f, l * c * c, 0, 0.1f), put(f, l * c, 0, 0.1f);                       /* behind attention */
  put(f, l * c, 1, 0.1f), put(f, l * c, 0, 0.1f);                           /* second norm */
  put(f, l * 4 * c * c, 0, 0.1f), put(f, l * 4 * c, 0, 0.1f);
  put(f, l * c * 4 * c, 0, 0.1f), put(f, l * c, 0, 0.1f);
  put(f, c, 1, 0.1f), put(f, c, 0, 0.1f);                                   /* last norm */
  fclose(f->f);
}

/* Tokens as its loader reads them, for the steps around its checkpoint. */
static void write_tokens(const char *path)
{
  enum { TOKENS = BATCH * LENGTH * 12 + 1 };
  const int head[HEADER] = {20240520, 1, TOKENS};
  FILE *f = fopen(path, "wb");
  fwrite(head, sizeof head, 1, f);
  for (int i = 0; i < TOKENS; i++) {
    const uint16_t word = (uint16_t)(i * 37 % WORDS);
    fwrite(&word, sizeof word, 1, f);
  }
  fclose(f);
}

/* test_gpt2.cu holds the gradient's norm to 1 at most. */
static void limit_norm(GPT2 *model)
{
  double sum = 0;
  for (size_t i = 0; i < model->num_parameters; i++) sum += (double)model->grads_memory[i] * model->grads_memory[i];
  for (size_t i = 0; i < model->num_parameters && sum > 1; i++) model->grads_memory[i] /= (float)sqrt(sum);
}

/* NEWER: for test_gpt2.cu, whose classifier has blocks of 1,024 threads count down from the end of the vocabulary and compares
   without signs: with fewer than 8 words for each thread it goes round 2^32 before it ends. */
int main(void)
{
  GPT2 model;
  enum { newer = NEWER };
  int x[BATCH * LENGTH], y[BATCH * LENGTH];
  write_model("gpt2_124M_bf16.bin", 1, 1);
  write_tokens("tokens.bin");
  write_model("gpt2_124M.bin", 0, newer);
  for (int i = 0; i < BATCH * LENGTH; i++) x[i] = (int)((number() + 1) / 2 * (WORDS - 1)), y[i] = (x[i] * 7 + 3) % WORDS;
  gpt2_build_from_checkpoint(&model, "gpt2_124M.bin");
  FILE *f = fopen("gpt2_124M_debug_state.bin", "wb");
  const int head[HEADER] = {20240327, 2, BATCH, LENGTH};
  fwrite(head, sizeof head, 1, f), fwrite(x, sizeof x, 1, f), fwrite(y, sizeof y, 1, f);
  for (int step = 0; step < STEPS; step++) {
    gpt2_forward(&model, x, y, BATCH, LENGTH);
    gpt2_zero_grad(&model);
    gpt2_backward(&model);
    if (step == 0) {
      for (int i = 0; i < BATCH * LENGTH; i++) fwrite(model.acts.logits + (size_t)i * PADDED, sizeof(float), WORDS, f);
      fwrite(&model.mean_loss, sizeof(float), 1, f);
      fwrite(model.grads_memory, sizeof(float), model.num_parameters, f);
      fclose(f);
    }
    if (newer) limit_norm(&model);
    gpt2_update(&model, 1e-4f, 0.9f, newer ? 0.95f : 0.999f, 1e-8f, newer ? 0 : 0.01f, step + 1);
    fprintf(stderr, "%f\n", model.mean_loss);
  }
  return 0;
}
END
cd "$scratch" || exit 2
if ! "${CC:-cc}" -O2 -DNEWER=0 -DWORDS=250 -DPADDED=256 -I"$llmc" -o reference reference.c -lm 2>err ||
  ! "${CC:-cc}" -O2 -DNEWER=1 -DWORDS=8200 -DPADDED=8320 -I"$llmc" -o reference_newer reference.c -lm 2>err; then
  echo "not ok llm.c: $(head -n 2 err)"
  exit 1
fi
mkdir -p dev/data/tinyshakespeare
failed=0

verdict() # NAME STATUS [NOTE]
{
  if [ "$2" = 0 ]; then echo "ok llm.c $1${3:+: $3}"; else echo "not ok llm.c $1${3:+: $3}"; failed=1; fi
}

# Ten losses in the file gpu, their distance from the CPU's at most $2 of them.
losses() # NAME LIMIT
{
  paste cpu gpu | awk -v limit="$2" '{ d = ($1 - $2) / $1; if (d < 0) d = -d; if (d > most) most = d; n++ }
    NR == 1 { first = $2 }
    END { printf "%d losses, %s to %s, off the CPU'"'"'s by %.1e at most\n", n, first, $2, most; exit !(n == 10 && most <= limit) }' >said
  verdict "$1 steps" $? "$(cat said)"
}

run() # NAME PROGRAM OPTION ...
{
  local name=$1
  shift
  "$bin" exec --quiet "${MODE:---functional}" --gpu "${GPU:-rtx-3070}" "$@" >out 2>err
  if ! grep -q '^step 9' out; then verdict "$name" 1 "$(tail -n 1 err)"; return 1; fi
  sed -n 's/^step [0-9]*: loss \([0-9.]*\) .*/\1/p' out >gpu
}

./reference >out 2>cpu || { echo "not ok llm.c: its CPU code: $(tail -n 1 out)"; exit 1; }
"$nvcc" -O2 --use_fast_math -arch=sm_80 -cudart shared -o test "$llmc/test_gpt2_fp32.cu" -lcublas -lcublasLt 2>err ||
  { echo "not ok llm.c: $(head -n 2 err)"; exit 1; }
if run fp32 ./test; then
  for line in 'OK (LOGITS)' 'LOSS OK: .*' 'TENSOR OK'; do
    grep -qx "$line" out
    verdict "${line%%:*}" $?
  done
  losses fp32 1e-4
fi

# The newer test, in FP32 and BF16. CUDA 13 has the place of memory advice as a structure, so the older form comes from here.
cat >cuda12.h <<'END'
#include <cuda_runtime.h>
static inline cudaError_t cudaMemAdvise(const void *at, size_t bytes, cudaMemoryAdvise advice, int device)
{
  return cudaMemAdvise(at, bytes, advice,
                       cudaMemLocation{device < 0 ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice, device < 0 ? 0 : device});
}
END
./reference_newer >out 2>cpu || { echo "not ok llm.c: its CPU code: $(tail -n 1 out)"; exit 1; }
mv tokens.bin dev/data/tinyshakespeare/tiny_shakespeare_val.bin
# The test of each tensor ends with a line of its greatest distance; limits of BF16 are of its 8 bits (2^-8 = 0.004).
newer() # NAME LOGITS TENSORS LOSSES OPTION ...
{
  local name=$1 logits=$2 tensors=$3 limit=$4
  shift 4
  run "$name" "./test_${name%% *}" "$@" || return
  awk -v logits="$logits" -v tensors="$tensors" '/^OK \(LOGITS\)/ { good++ } /^logit max diff/ { l = $NF }
      /^TENSOR/ { sub(/.*max diff: /, ""); d = $1 + 0; if (d > most) most = d; n++ } /^loss ok at step [0-9]: / && $6 == $7 { same++ }
      /Nondeterminism/ { other = 1 }
      END { printf "logits off by %s, %d gradients by %.1e at most", l, n, most
            exit !(good == 1 && l <= logits && n == 16 && most <= tensors && !other) }' out >said
  verdict "$name logits, gradients, steps from a checkpoint" $? "$(cat said)"
  losses "$name" "$limit"
}

for kind in FP32 BF16; do
  "$nvcc" -std=c++17 -O3 --use_fast_math -DENABLE_$kind -arch=sm_80 -cudart shared -include ./cuda12.h -o "test_$kind" \
    "$llmc/test_gpt2.cu" -lcublas -lcublasLt 2>err || { echo "not ok llm.c $kind: $(head -n 2 err)"; exit 1; }
done
newer FP32 1e-3 1e-4 1e-5
newer BF16 0.05 2e-3 1e-3
newer 'BF16 gelu fused, all recomputed' 0.05 2e-3 1e-3 -ge 2 -r 2
newer 'BF16 gelu fused forward, no master weights' 0.05 2e-3 1e-3 -ge 1 -r 0 -w 0
exit $failed
