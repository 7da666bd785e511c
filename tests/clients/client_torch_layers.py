"""PyTorch's layers that call cuDNN, under `warpstep exec`: results and gradients equal to the CPU's."""
import torch
from torch import nn

import checks

torch.set_num_threads(1)
assert torch.backends.cudnn.is_available() and torch.backends.cudnn.enabled


def close(name, got, want, limit):
    for i, (g, w) in enumerate(zip(got, want)):
        w = w.double()
        off = (g.detach().cpu().double() - w).abs().max().item() / (w.abs().max().item() + 1e-9)
        assert off <= limit, f"{name}: result {i}, {tuple(w.shape)}, is off by {off:.1e}"


def both(name, make, inputs, limit, kind=torch.float32, last=False, train=True):
    """Outputs and all gradients of make()(*inputs) on both devices, from the same start. Narrow types are held against float32."""
    torch.manual_seed(0)
    start = make().state_dict()
    results = []
    for device in ("cpu", "cuda"):
        wide = kind if device == "cuda" or kind == torch.float64 else torch.float32
        place = lambda t: t.to(kind).to(wide).to(device).clone().detach()
        model = make()
        model.load_state_dict(start)
        model = model.to(kind).to(wide).to(device).train(train)
        given = [place(t) for t in inputs]
        if last:
            model, given = model.to(memory_format=torch.channels_last), [t.to(memory_format=torch.channels_last) for t in given]
        for t in given:
            t.requires_grad_()
        out = model(*given)
        outs = [t for t in flat(out)]
        source = torch.Generator().manual_seed(3)
        sum((t * place(torch.randn(t.shape, generator=source))).sum() for t in outs).backward()
        state = [b for b in model.buffers() if b.is_floating_point()]
        results.append(outs + [t.grad for t in given] + [p.grad for p in model.parameters()] + state)
    close(name, results[1], results[0], limit)


def flat(out):
    if isinstance(out, torch.Tensor):
        yield out
    else:
        for part in out:
            yield from flat(part)


CONVOLUTIONS = {(1, False): nn.Conv1d, (2, False): nn.Conv2d, (3, False): nn.Conv3d,
                (1, True): nn.ConvTranspose1d, (2, True): nn.ConvTranspose2d, (3, True): nn.ConvTranspose3d}


def convolution(name, n, i, o, size, filter, limit=1e-5, transposed=False, kind=torch.float32, last=False, **rest):
    make = lambda: CONVOLUTIONS[len(size), transposed](i, o, filter, **rest)
    torch.manual_seed(1)
    both(name, make, [torch.randn(n, i, *size)], limit, kind, last)


def convolutions():
    convolution("3 x 3", 2, 16, 24, (9, 11), 3, padding=1)
    convolution("7 x 7, stride 2", 2, 3, 64, (16, 16), 7, stride=2, padding=3)
    convolution("1 x 1, stride 2, no bias", 4, 64, 128, (8, 8), 1, stride=2, bias=False)
    convolution("dilated", 2, 8, 8, (13, 9), 3, padding=2, dilation=2)
    convolution("groups", 2, 8, 16, (13, 9), 3, padding=1, groups=4)
    convolution("a group per channel", 2, 8, 8, (13, 9), 5, stride=2, padding=1, groups=8)
    convolution("channels last", 2, 16, 24, (9, 11), 3, stride=2, padding=1, last=True)
    convolution("one pixel", 8, 256, 64, (1, 1), 3, padding=1)
    convolution("line", 2, 16, 24, (29,), 3, stride=2, padding=1)
    convolution("volume", 2, 6, 8, (5, 6, 7), (3, 2, 3), stride=2, padding=1)


def transposed_convolutions():
    convolution("plane", 2, 16, 24, (9, 11), 3, stride=2, padding=1, output_padding=1, transposed=True)
    convolution("groups", 2, 16, 24, (9, 11), 3, stride=2, groups=4, transposed=True)
    convolution("volume", 2, 6, 8, (3, 4, 5), 3, stride=2, padding=1, transposed=True)


def convolutions_of_other_types():
    shape = dict(n=2, i=16, o=24, size=(9, 11), filter=3, stride=2, padding=1)
    convolution("float16", **shape, kind=torch.float16, limit=3e-3)
    convolution("float16, channels last", **shape, kind=torch.float16, limit=3e-3, last=True)
    convolution("bfloat16", **shape, kind=torch.bfloat16, limit=2e-2)
    convolution("float64", **shape, kind=torch.float64, limit=1e-12)


def autotuned_convolution():
    torch.backends.cudnn.benchmark = True
    convolution("benchmark", 2, 4, 6, (9, 11), 3, padding=1)
    torch.backends.cudnn.benchmark = False


def fused_convolution():
    torch.manual_seed(1)
    x, w, b, z = torch.randn(2, 8, 9, 9), torch.randn(12, 8, 3, 3), torch.randn(12), torch.randn(2, 12, 9, 9)
    plain = nn.functional.conv2d(x, w, b, padding=1)
    c = [t.cuda() for t in (x, w, b, z)]
    got = torch.cudnn_convolution_relu(c[0], c[1], c[2], (1, 1), (1, 1), (1, 1), 1)
    close("relu", [got], [plain.relu()], 1e-5)
    got = torch.cudnn_convolution_add_relu(c[0], c[1], c[3], 0.5, c[2], (1, 1), (1, 1), (1, 1), 1)
    close("add, relu", [got], [(plain + 0.5 * z).relu()], 1e-5)


def batch_norms():
    torch.manual_seed(1)
    for last in (False, True):
        both("plane", lambda: nn.BatchNorm2d(6), [torch.randn(4, 6, 7, 5)], 1e-5, last=last)
    both("rows", lambda: nn.BatchNorm1d(6), [torch.randn(9, 6)], 1e-5)
    both("volume", lambda: nn.BatchNorm3d(6), [torch.randn(2, 6, 3, 4, 5)], 1e-5)
    both("float64", lambda: nn.BatchNorm2d(6), [torch.randn(4, 6, 7, 5)], 1e-12, torch.float64)
    both("evaluation", lambda: nn.BatchNorm2d(6), [torch.randn(4, 6, 7, 5)], 1e-5, train=False)


class Sequence(nn.Module):
    """A recurrent layer given its states, of sequences of one length or of several."""

    def __init__(self, make, lengths=None):
        super().__init__()
        self.layer, self.lengths = make(), lengths

    def forward(self, x, h, c=None):
        if self.lengths:
            x = nn.utils.rnn.pack_padded_sequence(x, self.lengths, batch_first=self.layer.batch_first)
        y, state = self.layer(x, h if c is None else (h, c))
        return (y.data if self.lengths else y), state


def recurrent(name, kind, i, h, steps, batch, limit=1e-5, type=torch.float32, lengths=None, **rest):
    torch.manual_seed(1)
    make = lambda: Sequence(lambda: kind(i, h, **rest), lengths)
    layers = rest.get("num_layers", 1) * (2 if rest.get("bidirectional") else 1)
    shape = (batch, steps, i) if rest.get("batch_first") else (steps, batch, i)
    states = [torch.randn(layers, batch, h) for _ in range(2 if kind is nn.LSTM else 1)]
    both(name, make, [torch.randn(*shape)] + states, limit, type)


def recurrent_layers():
    for kind in (nn.LSTM, nn.GRU, nn.RNN):
        recurrent("plain", kind, 12, 20, 5, 3)
        recurrent("two layers, both ways", kind, 12, 40, 5, 11, num_layers=2, bidirectional=True, batch_first=True)
        recurrent("packed", kind, 12, 20, 7, 4, lengths=[7, 5, 5, 1], num_layers=2, bidirectional=True)
    recurrent("relu", nn.RNN, 12, 20, 5, 3, nonlinearity="relu")
    recurrent("wide", nn.LSTM, 12, 300, 3, 2)
    recurrent("no bias", nn.LSTM, 12, 20, 5, 3, bias=False)
    recurrent("float64", nn.LSTM, 12, 20, 5, 3, 1e-12, torch.float64)
    recurrent("float16", nn.LSTM, 16, 24, 5, 3, 1e-2, torch.float16)
    recurrent("bfloat16", nn.GRU, 16, 24, 5, 3, 5e-2, torch.bfloat16)


def dropout_between_layers():
    torch.manual_seed(1)
    layer = nn.LSTM(8, 16, 2, dropout=0.5).cuda()
    x = torch.randn(4, 3, 8, device="cuda")
    first, second = layer(x)[0], layer(x)[0]
    assert not torch.equal(first, second), "the same elements were dropped twice"
    first.sum().backward()
    assert all(p.grad.isfinite().all() for p in layer.parameters())
    layer.eval()
    assert torch.equal(layer(x)[0], layer(x)[0])


def attend(name, kind, limit, heads=4, heads_kv=4, rows=40, columns=40, turned=False, mask=None, **rest):
    """Attention through cuDNN and its gradients beside the CPU's in float32."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    torch.manual_seed(1)

    def given(heads, length):
        t = torch.randn(2, length, heads, 64).transpose(1, 2) if turned else torch.randn(2, heads, length, 64)
        return t.to(kind)

    start = [given(heads, rows), given(heads_kv, columns), given(heads_kv, columns)]
    more = None if mask is None else torch.randn(*mask).to(kind)
    weight = torch.randn(2, heads, rows, 64).to(kind)
    results = []
    for device, wide, which in (("cpu", torch.float32, SDPBackend.MATH), ("cuda", kind, SDPBackend.CUDNN_ATTENTION)):
        place = lambda t: t.to(wide).to(device)
        inputs = [place(t).detach().requires_grad_() for t in start]
        with sdpa_kernel([which]):
            out = nn.functional.scaled_dot_product_attention(*inputs, attn_mask=None if more is None else place(more),
                                                             enable_gqa=heads != heads_kv, **rest)
            results.append([out, *torch.autograd.grad(out, inputs, place(weight))])
    close(name, results[1], results[0], limit)


def attention():
    attend("float16", torch.float16, 2e-3)
    attend("causal", torch.float16, 2e-3, is_causal=True)
    attend("bfloat16, causal", torch.bfloat16, 2e-2, rows=130, columns=130, is_causal=True)
    attend("heads inside, other lengths", torch.float16, 2e-3, columns=72, turned=True, scale=0.2)
    attend("a mask", torch.float16, 2e-3, mask=(2, 1, 40, 40))
    attend("heads share keys", torch.float16, 2e-3, heads_kv=2)


def attention_with_dropout():
    from torch.nn.attention import SDPBackend, sdpa_kernel
    torch.manual_seed(1)
    q, k = (torch.randn(2, 4, 64, 64, dtype=torch.float16, device="cuda") for _ in range(2))
    v = torch.eye(64, dtype=torch.float16, device="cuda").expand(2, 4, 64, 64).contiguous().requires_grad_()
    with sdpa_kernel([SDPBackend.CUDNN_ATTENTION]):
        left = nn.functional.scaled_dot_product_attention(q, k, v, dropout_p=0.25)  # of the weights, for V is the identity
        gradient, = torch.autograd.grad(left, v, torch.ones_like(left))
    weights, stays = torch.softmax(q.float() @ k.float().transpose(-1, -2) / 8, -1), left != 0
    assert abs(stays.float().mean().item() - 0.75) < 0.02, "a quarter is dropped"
    close("weights", [left * 0.75], [(weights * stays).cpu()], 2e-3)
    close("the same are dropped on the way back", [gradient], [left.float().transpose(-1, -2).sum(-1, keepdim=True).expand(2, 4, 64, 64).cpu()], 2e-3)


def ctc(times, symbols, lengths):
    """The CTC loss of 32-bit targets and its gradient beside the CPU's in float64: lengths as lists, as tensors on either side."""
    torch.manual_seed(1)
    x = torch.randn(times, len(lengths), symbols)
    targets = torch.randint(1, symbols, (sum(lengths),), dtype=torch.int32)

    def loss(x, targets, *both):
        x = x.detach().clone().requires_grad_()
        cost = nn.functional.ctc_loss(x.log_softmax(2), targets, *both, reduction="none")
        return cost, *torch.autograd.grad(cost, x, torch.arange(1, len(lengths) + 1, dtype=x.dtype, device=x.device))

    want = loss(x.double(), targets.long(), [times] * len(lengths), lengths)
    tensors = [torch.tensor(n, dtype=torch.int32) for n in ([times] * len(lengths), lengths)]
    assert torch._use_cudnn_ctc_loss(x.cuda(), targets, [times] * len(lengths), lengths, 0), "PyTorch does not ask cuDNN"
    for name, where, both in (("lists", "cpu", ([times] * len(lengths), lengths)), ("tensors", "cpu", tensors),
                              ("tensors of the GPU", "cuda", [t.cuda() for t in tensors])):
        close(f"{times} times, lengths as {name}", loss(x.cuda(), targets.to(where), *both), want, 1e-5)


def ctc_losses():
    ctc(20, 7, [5, 1, 3])
    ctc(120, 40, [50, 12])


def spatial_transformers():
    """Places at corners, which PyTorch gives to cuDNN; others are its own kernels'."""
    torch.manual_seed(1)
    x, places, theta = torch.randn(2, 3, 9, 8), torch.rand(2, 5, 6, 2) * 2.4 - 1.2, torch.randn(2, 2, 3)
    for kind, limit in ((torch.float32, 1e-5), (torch.float64, 1e-12), (torch.float16, 1e-2)):
        results = []
        for device in ("cpu", "cuda"):
            wide = torch.float64 if device == "cpu" else kind
            given = [t.to(kind).to(wide).to(device).clone().requires_grad_() for t in (x, places, theta)]
            given = [t.detach().requires_grad_() for t in given]
            y = nn.functional.grid_sample(given[0], given[1], "bilinear", "zeros", True)
            grid = nn.functional.affine_grid(given[2], (2, 3, 5, 6), True)
            ((y * torch.arange(6).to(wide).to(device)).sum() + (grid ** 2).sum()).backward()
            results.append([y, grid] + [t.grad for t in given])
        close(f"spatial transformer of {kind}", results[1], results[0], limit)


checks.run([convolutions, transposed_convolutions, convolutions_of_other_types, autotuned_convolution, fused_convolution,
            batch_norms, recurrent_layers, dropout_between_layers, attention, attention_with_dropout, ctc_losses,
            spatial_transformers])
