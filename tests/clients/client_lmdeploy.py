"""LMDeploy's TurboMind: a small Llama with random weights writes the tokens that transformers writes on the CPU."""

import asyncio
import os
import sys
import tempfile

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
import transformers as tf
from lmdeploy import GenerationConfig, TurbomindEngineConfig, pipeline
from tokenizers import Tokenizer, models, pre_tokenizers

import checks

PROMPTS = [[1, 17, 99, 205], [1, 44, 300, 12, 8, 411, 77], [1, *range(100, 160)]]
TOKENS = 8


def saved():
    """With a vocabulary of words, as it wants one. Matrices four times as large as usual, lest two tokens be equally likely."""
    torch.manual_seed(7)
    sizes = dict(vocab_size=512, hidden_size=256, intermediate_size=512, num_hidden_layers=2, num_attention_heads=4)
    ends = dict(max_position_embeddings=256, tie_word_embeddings=False, bos_token_id=1, eos_token_id=2)
    model = tf.LlamaForCausalLM(tf.LlamaConfig(num_key_value_heads=2, **sizes, **ends))
    with torch.no_grad():
        for weights in model.parameters():
            if weights.dim() > 1:
                weights.mul_(4)
    folder = tempfile.mkdtemp()
    model.half().save_pretrained(folder)
    words = Tokenizer(models.WordLevel({f"w{i}": i for i in range(512)}, unk_token="w0"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    names = dict(bos_token="w1", eos_token="w2", unk_token="w0")
    tf.PreTrainedTokenizerFast(tokenizer_object=words, **names).save_pretrained(folder)
    return folder, model.float()


async def written(engine):
    """What it writes for each prompt, one after the other."""
    how = GenerationConfig(max_new_tokens=TOKENS, ignore_eos=True, do_sample=False)
    all_ = []
    for k, prompt in enumerate(PROMPTS):
        request = await engine.preprocess(None, k + 1, gen_config=how, input_ids=prompt)
        all_.append([token async for part in engine.generate(request) for token in part.token_ids or []])
    return all_


def main():
    folder, model = saved()
    settings = TurbomindEngineConfig(dtype="float16", session_len=128, max_batch_size=4, cache_max_entry_count=0.01)
    engine = pipeline(folder, backend_config=settings, log_level="ERROR").async_engine

    def tokens():
        for prompt, got in zip(PROMPTS, asyncio.get_event_loop().run_until_complete(written(engine))):
            assert len(got) == TOKENS, got
            wanted = model(torch.tensor([prompt + got])).logits[0, len(prompt) - 1 : -1].argmax(-1)
            assert got == wanted.tolist(), (got, wanted)

    try:
        checks.run([tokens])
    except SystemExit as end:
        sys.stdout.flush()
        os._exit(end.code)  # its threads do not end by themselves


if __name__ == "__main__":
    main()
