"""A training loop by accelerate under `warpstep exec`."""

import torch

import checks


def accelerate_loop():
    from accelerate import Accelerator

    torch.manual_seed(0)
    a = Accelerator(mixed_precision="bf16")
    m = torch.nn.Linear(8, 2)
    o = torch.optim.AdamW(m.parameters(), 0.01)
    d = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(16, 8), torch.randint(0, 2, (16,))), 4)
    m, o, d = a.prepare(m, o, d)
    for x, y in d:
        l = torch.nn.functional.cross_entropy(m(x), y)
        a.backward(l)
        a.clip_grad_norm_(m.parameters(), 1.0)
        o.step()
        o.zero_grad()
    assert a.device.type == "cuda" and l.item() > 0


checks.run([accelerate_loop])
