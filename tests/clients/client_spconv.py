"""spconv: sparse convolutions by each of its algorithms, in FP32 and FP16, against PyTorch's dense ones. (Indices must be contiguous,
which those of torch.nonzero are not; it does not check that.)"""
import spconv.pytorch as spconv
import torch
from spconv.core import ConvAlgo

import checks

torch.manual_seed(0)
SHAPE, IN, OUT = [6, 7, 8], 4, 8


def same_as_dense(algorithm, kind, layer):
    @torch.no_grad()
    def check():
        index = (torch.rand(1, *SHAPE) < 0.3).nonzero().int().contiguous()
        features = torch.randn(len(index), IN).to(kind)
        convolution = layer(IN, OUT, 3, padding=1, bias=False, algo=algorithm).cuda().to(kind)
        out = convolution(spconv.SparseConvTensor(features.cuda(), index.cuda(), SHAPE, 1))
        at = lambda i: tuple(i[:, k].cpu().long() for k in (1, 2, 3))
        dense = torch.zeros(IN, *SHAPE)
        dense[(slice(None), *at(index))] = features.float().T
        want = torch.nn.functional.conv3d(dense[None], convolution.weight.cpu().float().permute(0, 4, 1, 2, 3), padding=1)[0]
        got = out.features.cpu().float()
        assert (got - want[(slice(None), *at(out.indices))].T).abs().max() < (1e-5 if kind is torch.float32 else 5e-3)
        assert len(got) >= len(index)
    check.__name__ = f"{layer.__name__} {algorithm} {kind}"
    return check


checks.run([same_as_dense(a, k, layer) for layer in (spconv.SubMConv3d, spconv.SparseConv3d)
            for a in (ConvAlgo.Native, ConvAlgo.MaskImplicitGemm) for k in (torch.float32, torch.float16)])
