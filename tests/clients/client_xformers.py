"""xFormers' attention under `warpstep exec`: equal to the CPU."""

import torch
import torch.nn.functional as F

import checks
from both import close, random


def xformers_attention():
    import xformers.ops as xo

    q, k, v = (random(1, 20, 2, 16, seed=i).half() for i in range(3))
    w = F.scaled_dot_product_attention(*(t.float().transpose(1, 2) for t in (q, k, v))).transpose(1, 2)
    close("xf", [xo.memory_efficient_attention(q.cuda(), k.cuda(), v.cuda())], [w], 5e-3)


checks.run([xformers_attention])
