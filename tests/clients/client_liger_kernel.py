"""Liger's Triton kernels under `warpstep exec`: equal to the CPU."""

import torch
import torch.nn.functional as F

import checks
from both import close, random


def liger():
    from liger_kernel.ops.rms_norm import LigerRMSNormFunction
    from liger_kernel.transformers import LigerCrossEntropyLoss, LigerSwiGLUMLP, LigerLayerNorm, LigerFusedLinearCrossEntropyLoss

    x, w = random(6, 64), random(64, seed=1)
    c = [t.cuda().requires_grad_() for t in (x.clone(), w.clone())]
    c = [t.detach().requires_grad_() for t in c]
    y = LigerRMSNormFunction.apply(c[0], c[1], 1e-6, 0.0, "llama", False)
    (y**2).sum().backward()
    p = [t.clone().requires_grad_() for t in (x, w)]
    z = F.rms_norm(p[0], (64,), p[1], 1e-6)
    (z**2).sum().backward()
    close("rms", [y] + [t.grad for t in c], [z] + [t.grad for t in p], 1e-4)
    t = torch.arange(6)
    a = x.cuda().detach().requires_grad_()
    l = LigerCrossEntropyLoss()(a, t.cuda())
    l.backward()
    b = x.clone().requires_grad_()
    k = F.cross_entropy(b, t)
    k.backward()
    close("ce", [l, a.grad], [k, b.grad], 1e-4)
    W = random(40, 64, seed=3)
    fl = LigerFusedLinearCrossEntropyLoss()
    Wc = W.cuda().requires_grad_()
    Wc = W.cuda().detach().requires_grad_()
    a = x.cuda().detach().requires_grad_()
    l = fl(Wc, a, t.cuda())
    l.backward()
    Wp = W.clone().requires_grad_()
    b = x.clone().requires_grad_()
    k = F.cross_entropy(b @ Wp.t(), t)
    k.backward()
    close("flce", [l, a.grad, Wc.grad], [k, b.grad, Wp.grad], 1e-3)
    ln = LigerLayerNorm(64).cuda()
    close("ln", [ln(x.cuda())], [F.layer_norm(x, (64,))], 1e-4)


checks.run([liger])
