"""A small UNet and autoencoder of diffusers under `warpstep exec`: equal to the CPU."""

import torch

import checks
from both import close, model_both


def diffusers_unet():
    from diffusers import UNet2DConditionModel, AutoencoderKL, DDPMScheduler

    torch.manual_seed(0)
    m = UNet2DConditionModel(
        sample_size=8,
        block_out_channels=(32, 64),
        layers_per_block=1,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        cross_attention_dim=32,
        attention_head_dim=8,
        norm_num_groups=8,
    ).eval()
    model_both(
        "unet",
        m,
        dict(sample=torch.randn(1, 4, 8, 8), timestep=torch.tensor([10]), encoder_hidden_states=torch.randn(1, 7, 32)),
        limit=1e-3,
    )
    v = AutoencoderKL(
        block_out_channels=(32, 32),
        down_block_types=("DownEncoderBlock2D",) * 2,
        up_block_types=("UpDecoderBlock2D",) * 2,
        norm_num_groups=8,
    ).eval()
    z = v.encode(torch.ones(1, 3, 16, 16)).latent_dist.mode()
    c = v.cuda().encode(torch.ones(1, 3, 16, 16).cuda()).latent_dist.mode()
    close("vae", [c, v.decode(c).sample], [z, v.cpu().decode(z).sample], 1e-3)


checks.run([diffusers_unet])
