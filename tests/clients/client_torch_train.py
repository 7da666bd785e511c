"""Models that PyTorch trains under `warpstep exec`, with the losses of the CPU: ResNet-18 on images of 32 x 32 (batch 8), an LSTM (width
256, length 64, batch 8), a transformer (2 layers, width 256, length 128, batch 4). Arguments: a model (all) and steps (2); `gpu` after them:
the GPU alone, for a table of its kernels."""
import sys
import time

import torch
from torch import nn

import checks

torch.set_num_threads(1)
STEPS = int(sys.argv[2]) if len(sys.argv) > 2 else 2
ALONE = sys.argv[3:] == ["gpu"]


class Block(nn.Module):
    """Two convolutions and a way past them."""

    def __init__(self, i, o, stride):
        super().__init__()
        self.first, self.norm1 = nn.Conv2d(i, o, 3, stride, 1, bias=False), nn.BatchNorm2d(o)
        self.second, self.norm2 = nn.Conv2d(o, o, 3, 1, 1, bias=False), nn.BatchNorm2d(o)
        self.past = nn.Identity()
        if stride != 1 or i != o:
            self.past = nn.Sequential(nn.Conv2d(i, o, 1, stride, bias=False), nn.BatchNorm2d(o))

    def forward(self, x):
        y = torch.relu(self.norm1(self.first(x)))
        return torch.relu(self.norm2(self.second(y)) + self.past(x))


class ResNet(nn.Module):
    """ResNet-18 (He et al., Deep Residual Learning for Image Recognition, table 1)."""

    def __init__(self, classes=10):
        super().__init__()
        stem = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
        widths = (64, 64, 128, 256, 512)
        blocks = [Block(widths[i + j], widths[i + 1], 1 if i == 0 or j else 2) for i in range(4) for j in (0, 1)]
        self.body, self.head = nn.Sequential(*stem, *blocks), nn.Linear(512, classes)

    def forward(self, x):
        return self.head(self.body(x).mean((2, 3)))


class Recurrent(nn.Module):
    def __init__(self, width, classes=10):
        super().__init__()
        self.layer, self.head = nn.LSTM(width, width, batch_first=True), nn.Linear(width, classes)

    def forward(self, x):
        return self.head(self.layer(x)[0][:, -1])


class Language(nn.Module):
    """Embedding, blocks of attention, a head."""

    def __init__(self, width, length, words=64):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Parameter(torch.zeros(length, width))
        block = nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0, activation="gelu", batch_first=True)
        self.blocks, self.head = nn.TransformerEncoder(block, 2, enable_nested_tensor=False), nn.Linear(width, words)

    def forward(self, x):
        return self.head(self.blocks(self.words(x) + self.places)).flatten(0, 1)


def losses(device, make, x, y, optimiser, kind=torch.float32):
    torch.manual_seed(1)
    place = lambda t: t.to(device, kind if t.is_floating_point() else t.dtype)
    model, x, y = make().to(device, kind), place(x), place(y)
    opt = optimiser(model.parameters())
    for _ in range(STEPS):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        opt.step()
        yield loss.item()


def off(some, others):
    return max(abs(a - b) / abs(b) for a, b in zip(some, others))


def train(make, x, y, optimiser):
    """Losses may be as far from those of binary64 as three times the CPU's own in float32 (rounding grows from step to step), or 1e-5."""
    torch.manual_seed(2)
    x, y = x(), y()
    begin = time.process_time()
    gpu = list(losses("cuda", make, x, y, optimiser))
    print(f"  {STEPS} steps, {time.process_time() - begin:.0f} s, loss {gpu[0]:.6f} to {gpu[-1]:.6f}", end="", flush=True)
    assert STEPS == 1 or gpu[-1] < gpu[0], "it did not learn"
    if ALONE:
        return
    exact = list(losses("cpu", make, x, y, optimiser, torch.float64))
    cpu = list(losses("cpu", make, x, y, optimiser))
    print(f"; off the CPU's by {off(gpu, cpu):.1e}, off binary64 by {off(gpu, exact):.1e} (the CPU: {off(cpu, exact):.1e})", flush=True)
    assert off(gpu, exact) <= max(1e-5, 3 * off(cpu, exact)), list(zip(exact, cpu, gpu))


def resnet():
    train(ResNet, lambda: torch.randn(8, 3, 32, 32), lambda: torch.randint(10, (8,)), torch.optim.SGD)


def lstm():
    train(lambda: Recurrent(256), lambda: torch.randn(8, 64, 256), lambda: torch.randint(10, (8,)), torch.optim.AdamW)


def transformer():
    train(lambda: Language(256, 128), lambda: torch.randint(64, (4, 128)), lambda: torch.randint(64, (512,)), torch.optim.AdamW)


ALL = {"resnet": resnet, "lstm": lstm, "transformer": transformer}
checks.run([ALL[sys.argv[1]]] if len(sys.argv) > 1 and sys.argv[1] != "all" else ALL.values())
