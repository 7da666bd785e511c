"""A model with LoRA by peft under `warpstep exec`: equal to the CPU."""

import torch

import checks
from both import model_both


def peft_lora():
    from peft import LoraConfig, get_peft_model
    import transformers as tf

    torch.manual_seed(0)
    base = tf.LlamaForCausalLM(
        tf.LlamaConfig(vocab_size=96, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4)
    )
    m = get_peft_model(base, LoraConfig(r=4, lora_dropout=0.0, target_modules=["q_proj", "v_proj"], init_lora_weights=False))
    ids = torch.randint(0, 90, (2, 9))
    model_both("lora", m, dict(input_ids=ids, labels=ids), loss=lambda o: o.loss)


checks.run([peft_lora])
