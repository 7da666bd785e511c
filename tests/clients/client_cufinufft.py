"""cuFINUFFT (non-uniform FFTs) on PyTorch's tensors, against the sums that define them; it calls cuFFT."""
import cufinufft
import torch

import checks

torch.manual_seed(0)


def both_ways(real, complex_, eps):
    def check():
        x, y = ((torch.rand(200, dtype=real) - 0.5) * 6.28 for _ in range(2))
        c = torch.randn(200, dtype=complex_)
        ex, ey = (torch.exp(1j * p[:, None] * torch.arange(-n // 2, n // 2, dtype=real)) for p, n in ((x, 12), (y, 10)))
        modes = cufinufft.nufft2d1(x.cuda(), y.cuda(), c.cuda(), (12, 10), eps=eps)
        want = torch.einsum("m,mk,ml->kl", c, ex, ey)
        assert (modes.cpu() - want).abs().max() < 10 * eps * want.abs().max()
        values = cufinufft.nufft2d2(x.cuda(), y.cuda(), want.cuda(), eps=eps, isign=-1)
        want = torch.einsum("kl,mk,ml->m", want, ex.conj(), ey.conj())
        assert (values.cpu() - want).abs().max() < 10 * eps * want.abs().max()
    check.__name__ = str(real)
    return check


checks.run([both_ways(torch.float32, torch.complex64, 1e-5), both_ways(torch.float64, torch.complex128, 1e-10)])
