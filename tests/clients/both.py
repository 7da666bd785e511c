"""What the checks of models share: results and gradients on the CPU and on the simulated GPU, from the same start."""

import copy

import torch

torch.set_num_threads(1)


def random(*size, seed=0):
    return torch.randn(*size, generator=torch.Generator().manual_seed(seed))


def tensors(out):
    """All tensors of what a model returns."""
    if isinstance(out, torch.Tensor):
        yield out
    elif isinstance(out, dict):
        for part in out.values():
            yield from tensors(part)
    elif isinstance(out, (list, tuple)):
        for part in out:
            yield from tensors(part)


def close(name, got, want, limit, floor=1e-6):
    """Each tensor's largest difference, relative to its largest element; integers are equal."""
    got, want = list(got), list(want)
    assert len(got) == len(want), f"{name}: {len(got)} results, not {len(want)}"
    for i, (g, w) in enumerate(zip(got, want)):
        g, w = g.detach().cpu(), w.detach().cpu()
        assert g.shape == w.shape, f"{name}: result {i} has shape {tuple(g.shape)}, not {tuple(w.shape)}"
        if not w.is_floating_point() and not w.is_complex():
            assert torch.equal(g, w), f"{name}: result {i} differs"
        elif w.numel():
            kind = torch.complex128 if w.is_complex() else torch.float64
            off = (g.to(kind) - w.to(kind)).abs().max().item() / (w.to(kind).abs().max().item() + floor)
            assert off <= limit, f"{name}: result {i}, {tuple(w.shape)}, is off by {off:.1e}"


def move(given, device, kind):
    """Floating point in `kind`'s numbers; on the CPU as float32."""

    def place(t):
        if not isinstance(t, torch.Tensor):
            return t
        return t.to(kind).to(kind if device == "cuda" else torch.float32).to(device) if t.is_floating_point() else t.to(device)

    return {name: place(t) for name, t in given.items()}


def model_both(name, model, given, loss=None, limit=1e-4, kind=torch.float32, backward=True):
    """Outputs and gradients of model(**given) in `kind` beside float32 on the CPU. Gradients that should be 0, such as those of
    the bias of keys, are measured by the largest of all."""
    results = []
    for device in ("cpu", "cuda"):
        m = copy.deepcopy(model).to(kind).to(kind if device == "cuda" else torch.float32).to(device)
        out = m(**move(given, device, kind))
        outs = [t for t in tensors(out) if t.is_floating_point()]
        grads = []
        if backward:
            total = (
                loss(out)
                if loss
                else sum((t.float() * random(*t.shape, seed=3).to(device)).sum() for t in outs if t.requires_grad)
            )
            total.backward()
            grads = [p.grad for p in m.parameters() if p.grad is not None]
        results.append((outs, grads))
    close(name, results[1][0], results[0][0], limit)
    if backward:
        close(
            name + ", gradients", results[1][1], results[0][1], limit * 3, 1e-2 * max(g.abs().max().item() for g in results[0][1])
        )
