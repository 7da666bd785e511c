"""Models of timm under `warpstep exec`: results, and gradients of three, equal to the CPU's."""
import timm
import torch

import checks
from both import model_both

SMALL = dict(img_size=64)
MODELS = {
    "resnet10t": {}, "efficientnet_lite0": {}, "convnext_atto": {}, "vit_tiny_patch16_224": SMALL,
    "swin_tiny_patch4_window7_224": dict(img_size=56, window_size=7, depths=(1, 1, 1, 1)), "mobilenetv4_conv_small": {},
    "regnetx_002": {}, "mixer_s32_224": SMALL, "maxvit_pico_rw_256": SMALL, "repvgg_a0": {}, "edgenext_xx_small": {},
}
WITH_GRADIENTS = ("resnet10t", "convnext_atto", "swin_tiny_patch4_window7_224")


def check_of(name, options):
    def check():
        torch.manual_seed(0)
        model = timm.create_model(name, num_classes=10, **options).eval()
        size = options.get("img_size", 64)
        model_both(name, model, dict(x=torch.randn(1, 3, size, size)), backward=name in WITH_GRADIENTS, limit=1e-3)
    check.__name__ = name
    return check


checks.run([check_of(name, options) for name, options in MODELS.items()])
