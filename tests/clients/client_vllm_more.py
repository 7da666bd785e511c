"""vLLM with quantised weights, other models and ways to serve them, all made here with random weights. The engine's logarithms
of probabilities, of its 20 likeliest tokens at each place, beside those of transformers on the CPU with the same (dequantised) weights."""

import copy
import json
import os
import sys
import tempfile

import torch
import transformers as tf
from safetensors.torch import load_file, save_file

import checks
from client_vllm import PROMPTS, SIZES, TOKENS, engine
from vllm import SamplingParams
from vllm.lora.request import LoRARequest

os.environ.setdefault("VLLM_USE_FLASHINFER_SAMPLER", "0")  # nothing is drawn here, and it takes nvcc minutes


def model_of(config, kind=torch.float16, factor=3.0, seed=7):
    """Random weights, rounded to `kind`'s numbers; matrices larger than usual, lest all tokens be equally likely."""
    torch.manual_seed(seed)
    config._attn_implementation = "eager"
    model = tf.AutoModelForCausalLM.from_config(config).float().eval()
    with torch.no_grad():
        for name, weights in model.named_parameters():
            if "sinks" in name or "experts" in name and "bias" in name:
                weights.normal_(0, 0.5)
            elif config.model_type == "gpt_oss" and weights.dim() > 1:
                weights.normal_(0, 0.06)
            elif weights.dim() > 1:
                weights.mul_(factor)
            weights.copy_(weights.to(kind).float())
    return model


def llama():
    return model_of(tf.LlamaConfig(tie_word_embeddings=False, **SIZES))


def saved(model, kind=torch.float16, weights=None, how=None):
    """`weights` take the place of the model's (None: gone), `how` says what they mean."""
    folder = tempfile.mkdtemp()
    copy.deepcopy(model).to(kind).save_pretrained(folder)
    if how:
        with open(folder + "/config.json") as f:
            config = json.load(f)
        with open(folder + "/config.json", "w") as f:
            json.dump({**config, "quantization_config": how}, f)
        held = load_file(folder + "/model.safetensors")
        held.update(weights)
        held = {name: t.contiguous() for name, t in held.items() if t is not None}
        save_file(held, folder + "/model.safetensors", metadata={"format": "pt"})
    return folder


def compare(llm, model, limit, prompts=PROMPTS, **options):
    """Largest difference in units of what the logarithms of a place differ by (their standard deviation)."""
    how = SamplingParams(temperature=0, max_tokens=TOKENS, ignore_eos=True, detokenize=False, logprobs=20)
    outs = llm.generate([{"prompt_token_ids": p} for p in prompts], how, use_tqdm=False, **options)
    for prompt, out in zip(prompts, outs):
        ids = list(out.outputs[0].token_ids)
        with torch.no_grad():
            wanted = torch.log_softmax(model(torch.tensor([prompt + ids])).logits[0].float(), -1)
        for place, given in enumerate(out.outputs[0].logprobs, len(prompt) - 1):
            assert len(given) >= 20
            for token, got in given.items():
                off = abs(got.logprob - wanted[place, token].item()) / wanted[place].std().item()
                assert off <= limit, f"place {place}, token {token}: off by {off:.3f}"


def serve(folder, **options):
    return engine(folder, **{"enforce_eager": True, "max_logprobs": 20, **options})


# ---- quantised weights ----


def matrices(model):
    return [(n, m) for n, m in model.named_modules() if isinstance(m, torch.nn.Linear) and "lm_head" not in n]


def packed(q, order=range(8)):
    """Numbers of 4 bits along the last dimension into words, the first of `order` lowest."""
    q = q.long().reshape(*q.shape[:-1], -1, 8)[..., list(order)]
    words = (q << torch.arange(0, 32, 4)).sum(-1)
    return torch.where(words >= 2**31, words - 2**32, words).to(torch.int32)


def symmetric(w, group):
    """Along the last dimension: integers from -8 to 7, factors, what they stand for."""
    parts = w.reshape(w.shape[0], -1, group)
    s = (parts.abs().amax(-1, keepdim=True) / 7.5).half().float()
    q = (parts / s).round().clamp(-8, 7)
    return q.reshape(w.shape), s[..., 0], (q * s).reshape(w.shape)


def weights_of_4_bits():
    """Of compressed-tensors: Marlin's products, on Hopper Machete's."""
    model, new = llama(), {}
    for name, m in matrices(model):
        q, s, m.weight.data = symmetric(m.weight.data, 128)
        new[name + ".weight"] = None
        new[name + ".weight_packed"], new[name + ".weight_scale"] = packed(q + 8), s.half()
        new[name + ".weight_shape"] = torch.tensor(q.shape)
    scheme = dict(num_bits=4, type="int", symmetric=True, strategy="group", group_size=128, dynamic=False)
    how = {
        "quant_method": "compressed-tensors",
        "format": "pack-quantized",
        "quantization_status": "compressed",
        "ignore": ["lm_head"],
        "config_groups": {"group_0": {"targets": ["Linear"], "weights": scheme, "input_activations": None}},
    }
    compare(serve(saved(model, weights=new, how=how)), model, 0.05)


def weights_of_gptq():
    model, new = llama(), {}
    for name, m in matrices(model):
        q, s, m.weight.data = symmetric(m.weight.data, 64)
        k = q.shape[1]
        new[name + ".weight"] = None
        new[name + ".qweight"], new[name + ".scales"] = packed(q + 8).t(), s.t().half()
        new[name + ".qzeros"] = packed(torch.full((k // 64, q.shape[0]), 7))
        new[name + ".g_idx"] = (torch.arange(k) // 64).to(torch.int32)
    how = {"quant_method": "gptq", "bits": 4, "group_size": 64, "desc_act": False, "sym": True, "checkpoint_format": "gptq"}
    compare(serve(saved(model, weights=new, how=how)), model, 0.05)


def weights_of_awq():
    """With zero points; columns in its own order."""
    model, new = llama(), {}
    for name, m in matrices(model):
        w = m.weight.data.t()
        k, n = w.shape
        parts = w.reshape(k // 64, 64, n)
        low, high = parts.amin(1, keepdim=True).clamp(max=0), parts.amax(1, keepdim=True).clamp(min=0)
        s = ((high - low) / 15).half().float()
        zero = (-low / s).round().clamp(0, 15)
        q = (parts / s + zero).round().clamp(0, 15)
        m.weight.data = ((q - zero) * s).reshape(k, n).t().contiguous()
        order = [0, 2, 4, 6, 1, 3, 5, 7]
        new[name + ".weight"] = None
        new[name + ".qweight"], new[name + ".qzeros"] = packed(q.reshape(k, n), order), packed(zero[:, 0], order)
        new[name + ".scales"] = s[:, 0].half()
    how = {"quant_method": "awq", "bits": 4, "group_size": 64, "zero_point": True, "version": "gemm"}
    compare(serve(saved(model, weights=new, how=how)), model, 0.05)


# ---- other models ----


def windows_and_soft_caps():
    model = model_of(tf.Gemma2Config(head_dim=64, sliding_window=16, query_pre_attn_scalar=64, **SIZES), torch.bfloat16)
    compare(serve(saved(model, torch.bfloat16), dtype="bfloat16"), model, 0.2)


def experts():
    # A model in which no token's second and third expert are nearly equally good: rounding would choose.
    model = model_of(tf.MixtralConfig(num_local_experts=8, num_experts_per_tok=2, tie_word_embeddings=False, **SIZES), seed=8)
    compare(serve(saved(model)), model, 0.05)


def latent_attention():
    """DeepSeek-V3. What its router does vLLM takes from two fields that transformers' own configuration does not have:
    without them it would choose experts by softmax. Angles are stretched (YaRN), and experts have a bias."""
    fields = dict(topk_method="noaux_tc", scoring_func="sigmoid", tie_word_embeddings=False)
    heads = dict(kv_lora_rank=512, q_lora_rank=128, qk_rope_head_dim=64, qk_nope_head_dim=128, v_head_dim=128)
    experts_of = dict(n_routed_experts=8, n_shared_experts=1, num_experts_per_tok=2, n_group=4, topk_group=2)
    angles = dict(rope_type="yarn", factor=4, rope_theta=10000.0, original_max_position_embeddings=64)
    angles |= dict(beta_fast=32, beta_slow=1, mscale=1.0, mscale_all_dim=1.0)
    sizes = {**SIZES, "num_key_value_heads": SIZES["num_attention_heads"]}
    layers = dict(moe_intermediate_size=128, first_k_dense_replace=1, routed_scaling_factor=2.5, rope_parameters=angles)
    model = model_of(tf.DeepseekV3Config(**fields, **heads, **experts_of, **layers, **sizes), torch.bfloat16)
    for name, values in model.named_buffers():
        if name.endswith("e_score_correction_bias"):
            values.normal_(0, 0.05)
    compare(serve(saved(model, torch.bfloat16), dtype="bfloat16"), model, 0.2)


def sinks():
    layers = ["sliding_attention", "full_attention"]
    experts_of = dict(num_local_experts=4, num_experts_per_tok=2, sliding_window=16, layer_types=layers)
    model = model_of(tf.GptOssConfig(head_dim=64, tie_word_embeddings=False, **experts_of, **SIZES), torch.bfloat16)
    compare(serve(saved(model, torch.bfloat16), dtype="bfloat16"), model, 0.2)


# ---- ways to serve ----


def adapter():
    model, folder, new = llama(), tempfile.mkdtemp(), {}
    base = saved(model)
    names = ["q_proj", "v_proj", "o_proj", "down_proj", "up_proj"]
    for name, m in matrices(model):
        if name.rsplit(".", 1)[1] not in names:
            continue
        a, b = torch.randn(8, m.in_features).mul(0.1).half(), torch.randn(m.out_features, 8).mul(0.1).half()
        new[f"base_model.model.{name}.lora_A.weight"], new[f"base_model.model.{name}.lora_B.weight"] = a, b
        m.weight.data += 2 * b.float() @ a.float()
    save_file(new, folder + "/adapter_model.safetensors")
    with open(folder + "/adapter_config.json", "w") as f:
        json.dump(dict(peft_type="LORA", r=8, lora_alpha=16, target_modules=names, bias="none", task_type="CAUSAL_LM"), f)
    llm = serve(base, enable_lora=True, max_lora_rank=16, max_loras=1)
    compare(llm, model, 0.05, lora_request=LoRARequest("adapter", 1, folder))


def guesses_by_repetition():
    model = llama()
    guess = dict(method="ngram", num_speculative_tokens=3, prompt_lookup_max=3, prompt_lookup_min=1)
    prompts = [[1, 5, 6, 7, 8, 9] * 4 + [5, 6], [1, 44, 300, 44, 300, 44]]
    compare(serve(saved(model), speculative_config=guess), model, 0.05, prompts)


def prompts_in_parts():
    model = llama()
    compare(serve(saved(model), enable_chunked_prefill=True, max_num_batched_tokens=16), model, 0.05)


if __name__ == "__main__":
    sys.exit(
        checks.run(
            [
                weights_of_4_bits,
                weights_of_gptq,
                weights_of_awq,
                windows_and_soft_caps,
                experts,
                latent_attention,
                sinks,
                adapter,
                guesses_by_repetition,
                prompts_in_parts,
            ]
        )
    )
