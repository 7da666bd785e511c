"""PyTorch eager under `warpstep exec`: products, layers, and models that train with the losses the CPU gives."""
import sys

import numpy as np
import torch
from torch import nn

import checks

torch.manual_seed(1)
torch.set_num_threads(1)


def close(got, want, limit=1e-4):
    got, want = got.detach().cpu().to(torch.complex128), want.detach().to(torch.complex128)
    return (got - want).abs().max().item() <= limit * (want.abs().max().item() + 1e-6)


def products(kind, limit):
    for m, n, k in ((64, 64, 64), (70, 33, 65)):
        for turned in range(4):
            a = torch.randn(k, m).to(kind).t() if turned & 1 else torch.randn(m, k).to(kind)
            b = torch.randn(n, k).to(kind).t() if turned & 2 else torch.randn(k, n).to(kind)
            exact = a.to(torch.complex128) @ b.to(torch.complex128)
            if not close(a.cuda() @ b.cuda(), exact, limit):
                return False
    return True


def batch():
    a, b, c = torch.randn(5, 40, 30), torch.randn(5, 30, 20), torch.randn(5, 40, 20)
    return close(torch.baddbmm(c.cuda(), a.cuda(), b.cuda(), beta=0.5), torch.baddbmm(c, a, b, beta=0.5))


def vectors():
    v, w, m = torch.randn(1000), torch.randn(1000), torch.randn(50, 1000)
    return close(torch.dot(v.cuda(), w.cuda()), torch.dot(v, w)) and close(m.cuda().mv(v.cuda()), m.mv(v))


def gelu():
    x, w, b = torch.randn(32, 64).half(), torch.randn(128, 64).half(), torch.randn(128).half()
    want = nn.functional.gelu(x.float() @ w.float().t() + b.float(), approximate="tanh")
    return close(torch._addmm_activation(b.cuda(), x.cuda(), w.cuda().t(), use_gelu=True), want, 2e-3)


def rounded(x):
    """The nearest TF32, ties away from 0."""
    return ((x.view(torch.int32) + 0x1000) & ~0x1FFF).view(torch.float32)


def tf32_product():
    a, b = torch.randn(70, 130), torch.randn(130, 65)
    torch.backends.cuda.matmul.allow_tf32 = True
    got = a.cuda() @ b.cuda()
    torch.backends.cuda.matmul.allow_tf32 = False
    exact = a.double() @ b.double()
    return close(got, rounded(a).double() @ rounded(b).double(), 1e-6) and not close(got, exact, 1e-6)


def scaled(out, limit):
    """FP8 with factors, and a bias."""
    a, b = torch.randn(64, 96).to(torch.float8_e4m3fn), torch.randn(48, 96).to(torch.float8_e4m3fn)
    factors, bias = (torch.tensor(0.5), torch.tensor(3.0)), torch.randn(48).to(torch.bfloat16)
    want = a.double() @ b.double().t() * factors[0] * factors[1] + (bias.double() if out == torch.bfloat16 else 0)
    got = torch._scaled_mm(a.cuda(), b.cuda().t(), scale_a=factors[0].cuda(), scale_b=factors[1].cuda(), out_dtype=out,
                           bias=bias.cuda() if out == torch.bfloat16 else None)
    return close(got, want, limit)


def tiled(f):
    """Factors [lines, blocks] where cuBLAS wants them: tiles of 128 lines by 4 blocks, whole at the edges."""
    rows, cols = -(-f.shape[0] // 128), -(-f.shape[1] // 4)
    whole = torch.zeros(rows * 128, cols * 4, dtype=torch.uint8)
    whole[: f.shape[0], : f.shape[1]] = f.view(torch.uint8)
    return whole.view(rows, 4, 32, cols, 4).permute(0, 3, 2, 1, 4).reshape(-1).view(f.dtype).cuda()


E2M1 = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], dtype=torch.float64)


def in_blocks(four, out, limit):
    """FP8 with a power of two for 32 elements, or FP4 (`four`) with a factor in e4m3 for 16."""
    block, wide, there, factors = 16 if four else 32, [], [], []
    for lines in (160, 96):
        if four:
            x = torch.randint(0, 256, (lines, 128), dtype=torch.uint8)
            value = torch.stack([E2M1[(x & 15).long()], E2M1[(x >> 4).long()]], 2).reshape(lines, 256)
            f = torch.rand(lines, 256 // block).add(0.1).to(torch.float8_e4m3fn)
        else:
            x = torch.randn(lines, 256).to(torch.float8_e4m3fn)
            value, f = x.double(), torch.randint(120, 131, (lines, 256 // block), dtype=torch.uint8).view(torch.float8_e8m0fnu)
        wide.append(value * f.float().double().repeat_interleave(block, 1))
        there.append(x.cuda().view(torch.float4_e2m1fn_x2) if four else x.cuda())
        factors.append(tiled(f))
    got = torch._scaled_mm(there[0], there[1].t(), scale_a=factors[0], scale_b=factors[1], out_dtype=out)
    return close(got, wide[0] @ wide[1].t(), limit)


def in_wide_blocks(square_a, square_b, out, limit):
    """FP8 with factors in FP32 of 128 along k: of each line, or of 128 lines."""
    wide, there, factors = [], [], []
    for lines, square in ((256, square_a), (384, square_b)):
        x, f = torch.randn(lines, 1024).to(torch.float8_e4m3fn), torch.rand(lines // 128 if square else lines, 8) + 0.5
        each = f.repeat_interleave(128, 0) if square else f
        wide.append(x.double() * each.double().repeat_interleave(128, 1))
        there.append(x.cuda())
        factors.append(f.cuda() if square else f.t().contiguous().cuda().t())
    got = torch._scaled_mm(there[0], there[1].t(), scale_a=factors[0], scale_b=factors[1].t(), out_dtype=out)
    return close(got, wide[0] @ wide[1].t(), limit)


def train(make, x, y, steps, loss_of, rate=1e-3):
    """The losses of a model on the CPU and on the GPU, from the same start."""
    both = []
    start = make().state_dict()
    for device in ("cpu", "cuda"):
        model = make().to(device)
        model.load_state_dict(start)
        optimiser = torch.optim.AdamW(model.parameters(), lr=rate)
        losses = []
        for _ in range(steps):
            optimiser.zero_grad()
            loss = loss_of(model, x.to(device), y.to(device))
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
        both.append(losses)
    print("  losses:", " ".join(f"{c:.6f}/{g:.6f}" for c, g in zip(*both)), flush=True)
    return np.allclose(*both, rtol=1e-4)


class Model(nn.Module):
    """A small language model: embedding, blocks of attention, a head."""

    def __init__(self, width, layers, words, length):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Parameter(torch.zeros(length, width))
        block = nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0, activation="gelu", batch_first=True)
        self.blocks, self.head = nn.TransformerEncoder(block, layers, enable_nested_tensor=False), nn.Linear(width, words)

    def forward(self, x):
        return self.head(self.blocks(self.words(x) + self.places))


def transformer(width, length, batch, steps):
    x, y = torch.randint(64, (batch, length)), torch.randint(64, (batch, length))
    return train(lambda: Model(width, 2, 64, length), x, y, steps,
                 lambda m, x, y: nn.functional.cross_entropy(m(x).flatten(0, 1), y.flatten()))


class Recurrent(nn.Module):
    """An LSTM written with PyTorch's cell, and a head."""

    def __init__(self, width):
        super().__init__()
        self.cell, self.head = nn.LSTMCell(16, width), nn.Linear(width, 1)

    def forward(self, x):
        h = c = x.new_zeros(x.shape[0], self.cell.hidden_size)
        for t in range(x.shape[1]):
            h, c = self.cell(x[:, t], (h, c))
        return self.head(h)


def recurrent():
    x, y = torch.randn(8, 6, 16), torch.randn(8, 1)
    return train(lambda: Recurrent(32), x, y, 3, lambda m, x, y: nn.functional.mse_loss(m(x), y))


def float32():
    assert products(torch.float32, 1e-5)


def float64():
    assert products(torch.float64, 1e-12)


def float16():
    assert products(torch.float16, 2e-3)


def bfloat16():
    assert products(torch.bfloat16, 1e-2)


def complex64():
    assert products(torch.complex64, 1e-5)


def batches():
    assert batch()


def dot_and_mv():
    assert vectors()


def epilogue():
    assert gelu()


def transformer_trains():
    assert transformer(64, 32, 2, 4)


def lstm_trains():
    assert recurrent()


def tf32():
    assert tf32_product()


def float8():
    assert scaled(torch.float32, 1e-6) and scaled(torch.bfloat16, 5e-3) and scaled(torch.float16, 1e-3)


def blocks():
    limits = ((torch.float32, 1e-6), (torch.bfloat16, 5e-3), (torch.float16, 1e-3))
    assert all(in_blocks(four, out, limit) for four in (False, True) for out, limit in limits)


def wide_blocks():
    assert all(in_wide_blocks(a, b, out, limit) for a, b in ((False, False), (False, True), (True, False))
               for out, limit in ((torch.float32, 1e-6), (torch.bfloat16, 5e-3)))


def given():
    """The transformer alone: width, length, batch, steps."""
    assert transformer(*map(int, sys.argv[1:]))


ALL = [float32, float64, float16, bfloat16, complex64, batches, dot_and_mv, epilogue, transformer_trains, lstm_trains]
ALL += [tf32] if torch.cuda.get_device_capability() >= (8, 0) else []
ALL += [float8] if torch.cuda.get_device_capability() >= (8, 9) else []
ALL += [blocks] if torch.cuda.get_device_capability() >= (10, 0) else []
ALL += [wide_blocks] if torch.cuda.get_device_capability() == (9, 0) else []
checks.run([given] if len(sys.argv) > 1 else ALL)
