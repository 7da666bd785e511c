"""vLLM's engine under `warpstep exec`: a small Llama with random weights, made here, writes the tokens that transformers writes on the CPU."""

import os
import sys
import tempfile

# One process; nothing is fetched or reported.
for key, value in {
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "VLLM_NO_USAGE_STATS": "1",
    "HF_HUB_OFFLINE": "1",
    "VLLM_LOGGING_LEVEL": "ERROR",
}.items():
    os.environ.setdefault(key, value)

import torch
import transformers as tf
from vllm import LLM, SamplingParams

import checks

PROMPTS = [[1, 17, 99, 205], [1, 44, 300, 12, 8, 411, 77], [1, *range(100, 160)]]
TOKENS = 12
SIZES = dict(
    vocab_size=512,
    hidden_size=256,
    intermediate_size=512,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    max_position_embeddings=256,
    bos_token_id=1,
    eos_token_id=2,
)


def save_model(folder):
    """Matrices four times as large as usual: logits of random weights are else too close for two orders of sums."""
    torch.manual_seed(7)
    model = tf.LlamaForCausalLM(tf.LlamaConfig(tie_word_embeddings=False, **SIZES))
    with torch.no_grad():
        for weights in model.parameters():
            if weights.dim() > 1:
                weights.mul_(4)
    model.half().save_pretrained(folder)


def greedy(folder, prompt):
    model = tf.LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32)
    ids = list(prompt)
    for _ in range(TOKENS):
        ids.append(int(model(torch.tensor([ids])).logits[0, -1].argmax()))
    return ids[len(prompt) :]


def engine(folder, **options):
    usual = dict(
        skip_tokenizer_init=True,
        dtype="float16",
        max_model_len=128,
        max_num_seqs=4,
        num_gpu_blocks_override=64,
        gpu_memory_utilization=0.5,
    )
    return LLM(model=folder, **{**usual, **options})


def written(llm):
    how = SamplingParams(temperature=0, max_tokens=TOKENS, ignore_eos=True, detokenize=False)
    out = llm.generate([{"prompt_token_ids": p} for p in PROMPTS], how, use_tqdm=False)
    return [list(o.outputs[0].token_ids) for o in out]


def main():
    folder = tempfile.mkdtemp()
    save_model(folder)
    wanted = [greedy(folder, p) for p in PROMPTS]
    assert len({tuple(w) for w in wanted}) == len(wanted) and all(len(set(w)) > 3 for w in wanted), wanted
    llm = engine(folder, enforce_eager=True)

    def tokens_in_one_batch():
        got = written(llm)
        assert got == wanted, (got, wanted)

    def tokens_again_from_cached_keys():
        got = written(llm)  # blocks of the long prompt are in the prefix cache now
        assert got == wanted, (got, wanted)

    checks.run([tokens_in_one_batch, tokens_again_from_cached_keys])


if __name__ == "__main__":
    sys.exit(main())
