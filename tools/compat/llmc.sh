#!/usr/bin/env bash
# llm.c's test of its GPU code (test_gpt2_fp32.cu), as it is, with a tiny GPT-2 made on the spot in the place of the weights that
# it downloads: what it compares with comes from its own CPU code (train_gpt2.c). Logits, loss and gradients are compared by
# the test, the losses of its ten steps of AdamW here.
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

enum { HEADER = 256, LENGTH = 64, WORDS = 250, PADDED = 256, LAYERS = 2, HEADS = 4, WIDTH = 128, BATCH = 2, STEPS = 10 };

static uint32_t bits = 1;
static float number(void) /* from -1 to 1 */
{
  bits = bits * 1664525u + 1013904223u;
  return (float)(bits >> 8) / (1 << 23) - 1;
}

static void put(FILE *f, long n, float middle, float spread)
{
  for (long i = 0; i < n; i++) {
    const float v = middle + spread * number();
    fwrite(&v, sizeof v, 1, f);
  }
}

static void write_model(const char *path)
{
  const int head[HEADER] = {20240326, 3, LENGTH, WORDS, LAYERS, HEADS, WIDTH, PADDED};
  const long c = WIDTH, l = LAYERS;
  FILE *f = fopen(path, "wb");
  fwrite(head, sizeof head, 1, f);
  put(f, WORDS * c, 0, 0.1f), put(f, (PADDED - WORDS) * c, 0, 0);           /* words; its GPU code counts on these zeros */
  put(f, LENGTH * c, 0, 0.1f);                                              /* places */
  put(f, l * c, 1, 0.1f), put(f, l * c, 0, 0.1f);                           /* first norm */
  put(f, l * 3 * c * c, 0, 0.1f), put(f, l * 3 * c, 0, 0.1f);               /* queries, keys, values */
  put(f, l * c * c, 0, 0.1f), put(f, l * c, 0, 0.1f);                       /* behind attention */
  put(f, l * c, 1, 0.1f), put(f, l * c, 0, 0.1f);                           /* second norm */
  put(f, l * 4 * c * c, 0, 0.1f), put(f, l * 4 * c, 0, 0.1f);
  put(f, l * c * 4 * c, 0, 0.1f), put(f, l * c, 0, 0.1f);
  put(f, c, 1, 0.1f), put(f, c, 0, 0.1f);                                   /* last norm */
  fclose(f);
}

int main(void)
{
  GPT2 model;
  int x[BATCH * LENGTH], y[BATCH * LENGTH];
  write_model("gpt2_124M.bin");
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
    gpt2_update(&model, 1e-4f, 0.9f, 0.999f, 1e-8f, 0.01f, step + 1);
    fprintf(stderr, "%f\n", model.mean_loss);
  }
  return 0;
}
END
cd "$scratch" || exit 2
"${CC:-cc}" -O2 -I"$llmc" -o reference reference.c -lm 2>err || { echo "not ok llm.c: $(head -n 2 err)"; exit 1; }
./reference >out 2>cpu || { echo "not ok llm.c: its CPU code: $(tail -n 1 out)"; exit 1; }
"$nvcc" -O2 --use_fast_math -arch=sm_80 -cudart shared -o test "$llmc/test_gpt2_fp32.cu" -lcublas -lcublasLt 2>err ||
  { echo "not ok llm.c: $(head -n 2 err)"; exit 1; }
"$bin" exec --quiet "${MODE:---functional}" --gpu "${GPU:-rtx-3070}" ./test >out 2>err || { echo "not ok llm.c: $(tail -n 1 err)"; exit 1; }
failed=0
for line in 'OK (LOGITS)' 'LOSS OK: .*' 'TENSOR OK'; do
  if grep -qx "$line" out; then echo "ok llm.c ${line%%:*}"; else echo "not ok llm.c ${line%%:*}"; failed=1; fi
done
# Ten losses, within 1e-4 of the CPU's.
sed -n 's/^step [0-9]*: loss \([0-9.]*\) .*/\1/p' out >gpu
if paste cpu gpu | awk '{ d = ($1 - $2) / $1; if (d < 0) d = -d; if (d > most) most = d; n++ }
    END { printf "%d losses, %s to %s, off the CPU'"'"'s by %.1e at most\n", n, first, $2, most; exit !(n == 10 && most <= 1e-4) }
    NR == 1 { first = $2 }' >said; then
  echo "ok llm.c steps: $(cat said)"
else
  echo "not ok llm.c steps: $(cat said)"
  failed=1
fi
exit $failed
