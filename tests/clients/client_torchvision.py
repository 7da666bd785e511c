"""torchvision's operators, transforms and models under `warpstep exec`: equal to the CPU."""

import torch

import checks
from both import close, model_both


def tv_ops():
    import torchvision.ops as o

    b = torch.rand(60, 4, generator=torch.Generator().manual_seed(0)) * 50
    b[:, 2:] += b[:, :2]
    s = torch.rand(60, generator=torch.Generator().manual_seed(1))
    assert torch.equal(o.nms(b.cuda(), s.cuda(), 0.4).cpu(), o.nms(b, s, 0.4))
    assert torch.equal(
        o.batched_nms(b.cuda(), s.cuda(), (torch.arange(60) % 3).cuda(), 0.4).cpu(),
        o.batched_nms(b, s, torch.arange(60) % 3, 0.4),
    )
    x = torch.randn(2, 8, 20, 20, generator=torch.Generator().manual_seed(2))
    rois = torch.tensor([[0, 1.0, 1, 12, 15], [1, 3, 2, 18, 19], [0, 0, 0, 5, 5]])
    for f in (
        lambda x, r: o.roi_align(x, r, 5, 0.9, 2, True),
        lambda x, r: o.roi_pool(x, r, 5, 0.9),
        lambda x, r: o.ps_roi_align(x, r, 2, 0.9),
        lambda x, r: o.ps_roi_pool(x, r, 2, 0.9),
    ):
        res = []
        for d in ("cpu", "cuda"):
            t = x.detach().clone().to(d).requires_grad_()
            y = f(t, rois.to(d))
            (y**2).sum().backward()
            res.append([y, t.grad])
        close("roi", res[1], res[0], 1e-4)


def tv_deform():
    import torchvision.ops as o

    torch.manual_seed(0)
    x, off, m, w = torch.randn(2, 4, 9, 9), torch.randn(2, 18, 9, 9) * 0.3, torch.rand(2, 9, 9, 9), torch.randn(6, 4, 3, 3)
    res = []
    for d in ("cpu", "cuda"):
        t = [v.to(d).requires_grad_() for v in (x.clone(), off.clone(), w.clone(), m.clone())]
        t = [v.detach().requires_grad_() for v in t]
        y = o.deform_conv2d(t[0], t[1], t[2], padding=1, mask=t[3])
        (y**2).sum().backward()
        res.append([y] + [v.grad for v in t])
    close("deform", res[1], res[0], 1e-4)


def tv_models():
    import torchvision.models as M

    torch.manual_seed(0)
    for name in ("mobilenet_v3_small", "shufflenet_v2_x0_5", "squeezenet1_1"):
        m = getattr(M, name)(num_classes=10).eval()
        model_both(name, m, dict(x=torch.randn(2, 3, 64, 64)), backward=False)


def tv_transforms():
    import torchvision.transforms.v2.functional as F

    x = torch.rand(2, 3, 20, 24)
    for f in (
        lambda t: F.resize(t, [13, 17], antialias=True),
        lambda t: F.rotate(t, 30),
        lambda t: F.gaussian_blur(t, 5),
        lambda t: F.adjust_hue(t, 0.2),
        lambda t: F.perspective(t, [[0, 0], [23, 0], [23, 19], [0, 19]], [[2, 1], [20, 3], [22, 18], [1, 17]]),
    ):
        close("transform", [f(x.cuda())], [f(x)], 1e-3)


def tv_detection():
    import torchvision

    torch.manual_seed(0)
    m = torchvision.models.detection.fasterrcnn_mobilenet_v3_large_320_fpn(
        weights=None, weights_backbone=None, num_classes=5, min_size=64, max_size=64
    ).eval()
    x = [torch.rand(3, 64, 64)]
    a = m(x)[0]
    b = m.cuda()([t.cuda() for t in x])[0]
    assert len(a["boxes"]) == len(b["boxes"]), (len(a["boxes"]), len(b["boxes"]))
    close("scores", [b["scores"]], [a["scores"]], 1e-3)


checks.run([tv_ops, tv_deform, tv_models, tv_transforms, tv_detection])
