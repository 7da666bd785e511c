"""bitsandbytes: quantisation of PyTorch's tensors to 4 and 8 bits, products with quantised weights, an optimiser with 8-bit states."""
import bitsandbytes as bnb
import bitsandbytes.functional as F
import torch

import checks

torch.manual_seed(0)
A, W = torch.randn(64, 128).half(), torch.randn(32, 128)


def four_bits():
    """FP4's thresholds lie in the middle between its eight sizes; each byte has two numbers, of blocks with a factor each."""
    packed, state = F.quantize_4bit(A.cuda(), quant_type="fp4")
    blocks = A.float().view(-1, state.blocksize)
    x = (blocks / blocks.abs().max(1, keepdim=True)[0]).flatten()
    code = state.code[:8].cpu()
    sizes, order = code.sort()
    got = packed.cpu().flatten()
    got = torch.stack((got >> 4, got & 15), 1).flatten().long()
    middle = (sizes[1:] + sizes[:-1]) / 2
    want = order[torch.bucketize(x.abs(), middle)] + 8 * (x < 0)
    assert (got != want).float().mean() < 1e-3  # but for numbers on a threshold
    back = F.dequantize_4bit(packed, state).cpu().float().view(-1, state.blocksize)
    assert torch.allclose(back, state.code.cpu()[got].view_as(blocks) * blocks.abs().max(1, keepdim=True)[0], rtol=2e-3, atol=1e-3)


def eight_bits():
    """Each number becomes the nearest one of the code."""
    quantised, state = F.quantize_blockwise(A.float().cuda())
    blocks = A.float().flatten().view(-1, state.blocksize)
    x, code = (blocks / blocks.abs().max(1, keepdim=True)[0]).flatten(), state.code.cpu()
    best = (x[:, None] - code[None]).abs().min(1)[0]
    assert ((x - code[quantised.cpu().flatten().long()]).abs() <= best + 1e-6).all()


def products():
    x = torch.randn(16, 128).half().cuda()
    layer = bnb.nn.Linear8bitLt(128, 32, bias=False, has_fp16_weights=False)
    layer.weight = bnb.nn.Int8Params(W, requires_grad=False)
    assert (layer.cuda()(x).float().cpu() - x.float().cpu() @ W.T).abs().max() < 0.5
    layer = bnb.nn.Linear4bit(128, 32, bias=False, compute_dtype=torch.float16, quant_type="nf4")
    layer.weight = bnb.nn.Params4bit(W, requires_grad=False, quant_type="nf4")
    layer = layer.cuda()
    whole = F.dequantize_4bit(layer.weight.data, layer.weight.quant_state).float()
    for rows in (1, 16):
        assert (layer(x[:rows]).float() - x[:rows].float() @ whole.T).abs().max() < 0.05


def optimiser():
    p = torch.nn.Parameter(torch.linspace(-2, 2, 5000).cuda())
    q = torch.nn.Parameter(p.detach().cpu().clone())
    eight, plain = bnb.optim.Adam8bit([p], lr=0.01), torch.optim.Adam([q], lr=0.01)
    for _ in range(3):
        p.grad, q.grad = torch.sin(p.detach()), torch.sin(q.detach())
        eight.step(), plain.step()
    assert (p.detach().cpu() - q.detach()).abs().mean() < 3e-3


checks.run([four_bits, eight_bits, products, optimiser])
