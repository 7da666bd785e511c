"""Layers of PyTorch Geometric under `warpstep exec`: equal to the CPU."""

import torch

import checks
from both import close, model_both


def pyg():
    import torch_geometric.nn as G

    ei = torch.randint(0, 20, (2, 60), generator=torch.Generator().manual_seed(0))
    x = torch.randn(20, 8, generator=torch.Generator().manual_seed(1))
    for c in (G.GCNConv(8, 6), G.GATConv(8, 6, 2), G.SAGEConv(8, 6), G.GINConv(torch.nn.Linear(8, 6)), G.TransformerConv(8, 6)):
        model_both(type(c).__name__, c.eval(), dict(x=x, edge_index=ei))
    from torch_geometric.utils import softmax, scatter

    idx = ei[0]
    v = torch.randn(60)
    close(
        "softmax",
        [softmax(v.cuda(), idx.cuda()), scatter(v.cuda(), idx.cuda(), reduce="max")],
        [softmax(v, idx), scatter(v, idx, reduce="max")],
        1e-5,
    )


checks.run([pyg])
