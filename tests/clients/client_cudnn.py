"""cudnn-frontend's Python interface (nvidia-cudnn-frontend), attention as NVIDIA's samples of it: forward with the logarithms of sums, and gradients,
beside the host in binary64. Arrays are PyTorch's."""
import math
import sys

import cudnn

try:
    import torch
except ImportError:
    print("ok cudnn # SKIP no PyTorch, whose arrays it takes")
    sys.exit(0)

import checks

torch.manual_seed(1)
handle = cudnn.create_handle()
BATCHES, HEADS = 2, 4


def random(rows, heads, columns, kind):
    return torch.randn(BATCHES, rows, heads, columns).to(kind).cuda().transpose(1, 2)  # heads inside of rows


class Case:
    def __init__(self, kind=torch.float16, kv=HEADS, rows=96, columns=96, depth=64, right=None, left=None, bottom=False, bias=False, lengths=False):
        self.kind, self.kv, self.rows, self.columns = kind, kv, rows, columns
        self.right, self.left, self.bottom = right, left, bottom
        self.scale = 1 / math.sqrt(depth)
        self.q, self.d_o = (random(rows, HEADS, depth, kind) for _ in range(2))
        self.k, self.v = (random(columns, kv, depth, kind) for _ in range(2))
        self.bias = torch.randn(1, HEADS, rows, columns).to(kind).cuda() if bias else None
        self.of_rows = [rows - 5, rows // 2] if lengths else [rows] * BATCHES
        self.of_columns = [columns // 2, columns - 3] if lengths else [columns] * BATCHES
        self.lengths = [torch.tensor(n, dtype=torch.int32).view(-1, 1, 1, 1).cuda() for n in (self.of_rows, self.of_columns)] if lengths else None

    def kept(self):
        r, c = torch.arange(self.rows).view(-1, 1), torch.arange(self.columns)
        keep = []
        for rows, columns in zip(self.of_rows, self.of_columns):
            shift = columns - rows if self.bottom else 0
            k = (r < rows) & (c < columns)
            k &= c <= r + shift + self.right if self.right is not None else k
            k &= c + self.left > r + shift if self.left is not None else k
            keep.append(k)
        return torch.stack(keep).unsqueeze(1)

    def on_host(self):
        q, k, v = (t.cpu().double().requires_grad_() for t in (self.q, self.k, self.v))
        keep, group = self.kept(), HEADS // self.kv
        s = q @ k.repeat_interleave(group, 1).transpose(-1, -2) * self.scale
        s = (s if self.bias is None else s + self.bias.cpu().double()).masked_fill(~keep, -1e300)
        o = (torch.softmax(s, -1) * keep) @ v.repeat_interleave(group, 1)
        o.backward(self.d_o.cpu().double())
        return o.detach(), torch.logsumexp(s.detach(), -1, keepdim=True), q.grad, k.grad, v.grad

    def options(self, graph, given):
        options = {"attn_scale": self.scale}
        if self.right is not None:
            options["diagonal_band_right_bound"] = self.right
        if self.left is not None:
            options["diagonal_band_left_bound"] = self.left
        if self.bottom:
            options["diagonal_alignment"] = cudnn.diagonal_alignment.BOTTOM_RIGHT
        if self.bias is not None:
            options["bias"] = graph.tensor_like(self.bias)
            given[options["bias"]] = self.bias
        if self.lengths:
            tensors = [graph.tensor_like(t) for t in self.lengths]
            options.update(use_padding_mask=True, seq_len_q=tensors[0], seq_len_kv=tensors[1])
            given.update(zip(tensors, self.lengths))
        return options

    def graph(self):
        kind = cudnn.data_type.HALF if self.kind == torch.float16 else cudnn.data_type.BFLOAT16
        wide = cudnn.data_type.FLOAT
        return cudnn.pygraph(io_data_type=kind, intermediate_data_type=wide, compute_data_type=wide, handle=handle)

    def run(self, graph, given):
        graph.validate()
        graph.build_operation_graph()
        graph.create_execution_plans([cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK])
        graph.check_support()
        graph.build_plans()
        graph.execute(given, torch.empty(max(1, graph.get_workspace_size()), device="cuda", dtype=torch.uint8), handle=handle)
        torch.cuda.synchronize()

    def forward(self):
        graph, o, stats = self.graph(), torch.empty_like(self.q), torch.empty(BATCHES, HEADS, self.rows, 1, device="cuda")
        given = {graph.tensor_like(t): t for t in (self.q, self.k, self.v)}
        q, k, v = given
        out = graph.sdpa(name="forward", q=q, k=k, v=v, generate_stats=True, **self.options(graph, given))
        for tensor, t in zip(out, (o, stats)):
            tensor.set_output(True).set_dim(t.size()).set_stride(t.stride())
            given[tensor] = t
        out[1].set_data_type(cudnn.data_type.FLOAT)
        self.run(graph, given)
        return o, stats

    def backward(self, o, stats):
        graph, results = self.graph(), [torch.empty_like(t) for t in (self.q, self.k, self.v)]
        given = {graph.tensor_like(t): t for t in (self.q, self.k, self.v, o, self.d_o, stats)}
        q, k, v, out, d_o, sums = given
        tensors = graph.sdpa_backward(name="backward", q=q, k=k, v=v, o=out, dO=d_o, stats=sums, **self.options(graph, given))
        for tensor, t in zip(tensors, results):
            tensor.set_output(True).set_dim(t.size()).set_stride(t.stride())
            given[tensor] = t
        self.run(graph, given)
        return results


def compare(**setting):
    case = Case(**setting)
    limit = 2e-3 if case.kind == torch.float16 else 1.6e-2
    want = case.on_host()
    o, stats = case.forward()
    full = case.kept().any(-1, keepdim=True).expand(-1, HEADS, -1, -1)
    assert (stats.cpu().double() - want[1])[full].abs().max() < 1e-4
    for got, of in zip([o] + case.backward(o, stats), (want[0],) + want[2:]):
        assert (got.cpu().double() - of).abs().max() <= limit * of.abs().max()


def plain():
    compare()
    compare(kind=torch.bfloat16, depth=128)


def fewer_heads_of_keys():
    compare(kv=2, right=0)
    compare(kv=1, columns=130)


def diagonals():
    compare(right=0)
    compare(right=0, bottom=True, rows=64, columns=128)


def windows():
    compare(right=0, left=20)
    compare(right=0, left=20, bottom=True, rows=64, columns=128)


def bias():
    compare(bias=True)


def lengths():
    compare(lengths=True)
    compare(lengths=True, right=0, kind=torch.bfloat16)
    compare(lengths=True, right=0, bottom=True, columns=160)
    compare(lengths=True, bias=True, kv=2)


def more_columns_than_are_fused():
    case = Case(depth=256)
    want, (o, stats) = case.on_host(), case.forward()
    assert (o.cpu().double() - want[0]).abs().max() <= 2e-3 * want[0].abs().max() and (stats.cpu().double() - want[1]).abs().max() < 1e-4


checks.run([plain, fewer_heads_of_keys, diagonals, windows, bias, lengths, more_columns_than_are_fused])
