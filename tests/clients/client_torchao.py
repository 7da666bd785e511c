"""Models that torchao quantises under `warpstep exec`: near the CPU's in float32."""

import copy

import torch
from torch import nn

import checks
from both import close, random


def torchao_int8():
    from torchao.quantization import quantize_, Int8WeightOnlyConfig, Int8DynamicActivationInt8WeightConfig

    torch.manual_seed(0)
    for cfg, lim in ((Int8WeightOnlyConfig(), 2e-2), (Int8DynamicActivationInt8WeightConfig(), 5e-2)):
        m = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 32)).to(torch.bfloat16)
        r = copy.deepcopy(m).float()
        m = m.cuda()
        quantize_(m, cfg)
        x = random(32, 64)
        close(type(cfg).__name__, [m(x.cuda().bfloat16())], [r(x)], lim * 2)


def torchao_float8():
    from torchao.quantization import quantize_, Float8DynamicActivationFloat8WeightConfig, Float8WeightOnlyConfig

    torch.manual_seed(0)
    for cfg in (Float8WeightOnlyConfig(), Float8DynamicActivationFloat8WeightConfig()):
        if isinstance(cfg, Float8DynamicActivationFloat8WeightConfig) and torch.cuda.get_device_capability() < (8, 9):
            continue
        m = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 32)).to(torch.bfloat16)
        r = copy.deepcopy(m).float()
        m = m.cuda()
        quantize_(m, cfg)
        x = random(32, 64)
        close(type(cfg).__name__, [m(x.cuda().bfloat16())], [r(x)], 0.1)


checks.run([torchao_int8, torchao_float8])
