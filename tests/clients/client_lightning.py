"""A training loop by Lightning under `warpstep exec`."""

import torch

import checks


def lightning_loop():
    import lightning as L

    class M(L.LightningModule):
        def __init__(s):
            super().__init__()
            s.l = torch.nn.Linear(8, 2)

        def training_step(s, b, i):
            return torch.nn.functional.cross_entropy(s.l(b[0]), b[1])

        def configure_optimizers(s):
            return torch.optim.SGD(s.parameters(), 0.1)

    d = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(16, 8), torch.randint(0, 2, (16,))), 4)
    m = M()
    L.Trainer(
        max_epochs=1, accelerator="gpu", devices=1, logger=False, enable_checkpointing=False, enable_progress_bar=False
    ).fit(m, d)


checks.run([lightning_loop])
