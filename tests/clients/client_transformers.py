"""Small models of Hugging Face's transformers under `warpstep exec`: losses, gradients and generated tokens are the CPU's."""

import copy

import torch
import transformers as tf

import checks
from both import model_both

IDS = torch.randint(3, 90, (2, 9), generator=torch.Generator().manual_seed(2))
# What small models have in common, by the names that most configurations have for it.
SIZES = dict(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128)


def small(model, config, **kw):
    """MODEL with weights that are the same in every run, of SIZES and what CONFIG takes beside them."""
    torch.manual_seed(0)
    return model(config(**{**SIZES, **kw})).eval()


def lm(name, model, limit=1e-4, **kw):
    ids = torch.randint(0, 90, (2, 17), generator=torch.Generator().manual_seed(1))
    model_both(name, model.eval(), dict(input_ids=ids, labels=ids), loss=lambda o: o.loss, limit=limit, **kw)


def gpt2(attn="sdpa"):
    torch.manual_seed(0)
    return tf.GPT2LMHeadModel(
        tf.GPT2Config(
            vocab_size=96,
            n_positions=64,
            n_embd=64,
            n_layer=2,
            n_head=4,
            attn_implementation=attn,
            bos_token_id=1,
            eos_token_id=2,
        )
    )


def llama(attn="sdpa"):
    return small(tf.LlamaForCausalLM, tf.LlamaConfig, vocab_size=96, num_key_value_heads=2, attn_implementation=attn)


def mixtral():
    experts = dict(intermediate_size=96, num_local_experts=4, num_experts_per_tok=2)
    return small(tf.MixtralForCausalLM, tf.MixtralConfig, vocab_size=96, num_key_value_heads=2, **experts)


def generate(name, model, ids, **kw):
    # double precision, so that the largest of close logits is the same one
    outs = []
    for d in ("cpu", "cuda"):
        m = copy.deepcopy(model).double().to(d).eval()
        outs.append(m.generate(ids.to(d), max_new_tokens=8, pad_token_id=0, **kw).cpu())
    assert torch.equal(outs[0], outs[1]), (name, outs)


def gpt2_sdpa():
    lm("gpt2", gpt2())


def gpt2_eager():
    lm("gpt2", gpt2("eager"))


def gpt2_generate():
    generate("gpt2", gpt2(), IDS, do_sample=False)


def gpt2_beams():
    generate("gpt2", gpt2(), IDS, do_sample=False, num_beams=3)


def llama_sdpa():
    lm("llama", llama())


def llama_eager():
    lm("llama", llama("eager"))


def llama_bf16():
    lm("llama", llama(), limit=6e-2, kind=torch.bfloat16)


def llama_fp16():
    lm("llama", llama(), limit=1e-2, kind=torch.float16)


def llama_generate():
    generate("llama", llama(), IDS, do_sample=False)


def llama_static_cache():
    generate("llama", llama(), IDS, do_sample=False, cache_implementation="static")


def llama_padded():
    m = torch.ones(2, 9, dtype=torch.long)
    m[0, :4] = 0
    outs = []
    for d in ("cpu", "cuda"):
        x = copy.deepcopy(llama()).double().to(d).eval()
        outs.append(x.generate(IDS.to(d), attention_mask=m.to(d), max_new_tokens=8, pad_token_id=0, do_sample=False).cpu())
    assert torch.equal(*outs)


def llama_sampling():
    x = llama().cuda().eval()
    torch.manual_seed(5)
    out = x.generate(IDS.cuda(), max_new_tokens=8, pad_token_id=0, do_sample=True, top_k=10, top_p=0.9)
    assert out.shape[0] == 2 and out.max() < 96


def mixtral_f32():
    lm("mixtral", mixtral())


def mixtral_bf16():
    m = mixtral().cuda().to(torch.bfloat16)
    out = m(input_ids=IDS.cuda(), labels=IDS.cuda())
    out.loss.backward()
    want = mixtral()(input_ids=IDS, labels=IDS).loss
    assert abs(out.loss.item() - want.item()) < 0.05, (out.loss, want)


def bert():
    lm("bert", small(tf.BertForMaskedLM, tf.BertConfig, vocab_size=96))


def bert_mask():
    m = small(tf.BertForSequenceClassification, tf.BertConfig, vocab_size=96)
    mask = torch.ones(2, 9, dtype=torch.long)
    mask[1, 5:] = 0
    model_both("bert", m, dict(input_ids=IDS, attention_mask=mask, labels=torch.tensor([0, 1])), loss=lambda o: o.loss)


def vit():
    m = small(tf.ViTForImageClassification, tf.ViTConfig, image_size=32, patch_size=8)
    model_both("vit", m, dict(pixel_values=torch.randn(2, 3, 32, 32)))


def t5():
    torch.manual_seed(0)
    m = tf.T5ForConditionalGeneration(
        tf.T5Config(vocab_size=96, d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4, decoder_start_token_id=0)
    )
    lm("t5", m)
    generate("t5", m, IDS, do_sample=False)


def whisper():
    torch.manual_seed(0)
    m = tf.WhisperForConditionalGeneration(
        tf.WhisperConfig(
            vocab_size=96,
            d_model=64,
            encoder_layers=2,
            decoder_layers=2,
            encoder_attention_heads=4,
            decoder_attention_heads=4,
            encoder_ffn_dim=128,
            decoder_ffn_dim=128,
            num_mel_bins=16,
            max_source_positions=50,
            max_target_positions=40,
            decoder_start_token_id=1,
            pad_token_id=0,
            bos_token_id=1,
            eos_token_id=2,
            begin_suppress_tokens=None,
            suppress_tokens=None,
        )
    ).eval()
    model_both("whisper", m, dict(input_features=torch.randn(2, 16, 100), labels=IDS), loss=lambda o: o.loss)


def clip():
    torch.manual_seed(0)
    m = tf.CLIPModel(
        tf.CLIPConfig(
            text_config=dict(SIZES, vocab_size=96, max_position_embeddings=32, eos_token_id=2),
            vision_config=dict(SIZES, image_size=32, patch_size=8),
            projection_dim=32,
        )
    ).eval()
    model_both("clip", m, dict(input_ids=IDS, pixel_values=torch.randn(2, 3, 32, 32), return_loss=True), loss=lambda o: o.loss)


def mamba():
    torch.manual_seed(0)
    m = tf.MambaForCausalLM(tf.MambaConfig(vocab_size=96, hidden_size=32, num_hidden_layers=2, state_size=8))
    lm("mamba", m)


def gemma3():
    heads = dict(num_key_value_heads=2, head_dim=16, sliding_window=8)
    lm("gemma3", small(tf.Gemma3ForCausalLM, tf.Gemma3TextConfig, vocab_size=96, **heads))


def deepseek():
    m = small(
        tf.DeepseekV3ForCausalLM,
        tf.DeepseekV3Config,
        vocab_size=96,
        moe_intermediate_size=32,
        num_key_value_heads=4,
        n_routed_experts=8,
        n_group=2,
        topk_group=1,
        num_experts_per_tok=2,
        first_k_dense_replace=1,
        q_lora_rank=32,
        kv_lora_rank=16,
        qk_rope_head_dim=8,
        v_head_dim=16,
        qk_nope_head_dim=8,
    )
    lm("deepseek", m)


def qwen3():
    lm("qwen3", small(tf.Qwen3ForCausalLM, tf.Qwen3Config, vocab_size=96, num_key_value_heads=2, head_dim=16))


def wav2vec2():
    m = small(
        tf.Wav2Vec2ForCTC,
        tf.Wav2Vec2Config,
        vocab_size=32,
        conv_dim=(32, 32),
        conv_stride=(5, 2),
        conv_kernel=(10, 3),
        num_conv_pos_embeddings=16,
        num_conv_pos_embedding_groups=4,
        num_feat_extract_layers=2,
    )
    inputs = dict(input_values=torch.randn(2, 400), labels=torch.randint(1, 31, (2, 5)))
    model_both("wav2vec2", m, inputs, loss=lambda o: o.loss, limit=1e-3)


def segformer():
    torch.manual_seed(0)
    m = tf.SegformerForSemanticSegmentation(
        tf.SegformerConfig(
            num_encoder_blocks=2,
            depths=[1, 1],
            sr_ratios=[2, 1],
            hidden_sizes=[16, 32],
            patch_sizes=[7, 3],
            strides=[4, 2],
            num_attention_heads=[1, 2],
            mlp_ratios=[2, 2],
            decoder_hidden_size=32,
            num_labels=5,
        )
    ).eval()
    model_both(
        "segformer",
        m,
        dict(pixel_values=torch.randn(2, 3, 32, 32), labels=torch.randint(0, 5, (2, 32, 32))),
        loss=lambda o: o.loss,
        limit=1e-3,
    )


checks.run(
    [
        gpt2_sdpa,
        gpt2_eager,
        gpt2_generate,
        gpt2_beams,
        llama_sdpa,
        llama_eager,
        llama_bf16,
        llama_fp16,
        llama_generate,
        llama_static_cache,
        llama_padded,
        llama_sampling,
        mixtral_f32,
        mixtral_bf16,
        bert,
        bert_mask,
        vit,
        t5,
        whisper,
        clip,
        mamba,
        gemma3,
        deepseek,
        qwen3,
        wav2vec2,
        segformer,
    ]
)
