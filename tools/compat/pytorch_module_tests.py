"""What PyTorch's wheel has of its own tests beside the operators: cases of test_nn.py and of test_optim.py, for pytest on a GPU.

The checks are PyTorch's own where the wheel has them (`test_cuda` of the cases of test_nn.py, which holds a module's results and gradients against the
CPU's) and as its test files state them where it has only the cases: an optimiser of optim_db gives on the GPU what it gives on the CPU.
pytorch_modules.py runs it."""
import copy

import pytest
import torch
from torch import nn
from torch.testing._internal import common_nn
from torch.testing._internal.common_optimizers import optim_db
from torch.testing._internal.common_utils import freeze_rng_state
from torch.utils._pytree import tree_leaves


class Case(common_nn.NNTestCase):
    """What the cases of test_nn.py ask of the class that they are in."""

    def _forward(self, module, args):
        with freeze_rng_state():
            return module(*args) if isinstance(args, tuple) else module(args)

    def _backward(self, module, args, output, grad_output, create_graph=False):
        output.backward(grad_output, retain_graph=True, create_graph=create_graph)
        grads = [None if a.grad is None else a.grad.data for a in (args if isinstance(args, tuple) else (args,))]
        return tuple(grads) if isinstance(args, tuple) else grads[0]

    def _forward_criterion(self, criterion, args, target, extra_args=None):
        args = args if isinstance(args, tuple) else (args,)
        return criterion(*args, target, *(extra_args or ()))

    def _backward_criterion(self, criterion, args, output, target, gradOutput=None, extra_args=None):
        tuple_of = args if isinstance(args, tuple) else (args,)
        for a in tuple_of:
            if a.grad is not None:
                a.grad.data.zero_()
        output.backward(torch.ones(()).type_as(output) if gradOutput is None else gradOutput.type_as(output))
        grads = [a.grad.data for a in tuple_of]
        return tuple(grads) if isinstance(args, tuple) else grads[0]

    def _zero_grad_parameters(self, module):
        for p in module.parameters():
            if p.grad is not None:
                p.grad = torch.zeros_like(p.grad)

    def _get_parameters(self, module):
        return [p for p in module.parameters()], [p.grad for p in module.parameters()]

    def runTest(self):
        pass


def nn_cases():
    tests = [(common_nn.NewModuleTest, p) for p in list(common_nn.module_tests) + common_nn.get_new_module_tests()]
    for kind, params in tests + [(common_nn.CriterionTest, p) for p in common_nn.criterion_tests]:
        params = {k: v for k, v in params.items() if k != "decorator"}
        if "constructor" not in params:
            params["constructor"] = getattr(nn, params.pop("module_name"))
        yield kind(**params)


NN = {case.get_name(): case for case in nn_cases()}


@pytest.mark.parametrize("name", sorted(NN))
def test_nn(name):
    case = NN[name]
    if not case.should_test_cuda:
        pytest.skip("not on a GPU")
    if isinstance(case, common_nn.CriterionTest):
        case.test_cuda(Case(), dtype=torch.float, extra_args=case.extra_args)
    else:
        case.test_cuda(Case())


def near(got, want, limit):
    got, want = tree_leaves(got), tree_leaves(want)
    assert len(got) == len(want)
    for g, w in zip(got, want):
        if isinstance(w, torch.Tensor):
            torch.testing.assert_close(g.cpu(), w, atol=limit, rtol=limit, equal_nan=True)


@pytest.mark.parametrize("way", ["plain", "foreach", "fused", "capturable"])
@pytest.mark.parametrize("info", optim_db, ids=lambda i: i.optim_cls.__name__)
def test_optimizers(info, way):
    if way not in ("plain", *info.supported_impls, *(["capturable"] if info.has_capturable_arg else [])):
        pytest.skip("the optimiser does not have it")
    if info.only_supports_sparse_grads:
        pytest.skip("of sparse gradients alone")
    for item in info.optim_inputs_func(device="cpu"):
        # LBFGS that maximises a sum of squares is at 1e30 after three steps: on the CPU, too, another last bit of one weight changes all digits.
        if info.optim_cls.__name__ == "LBFGS" and item.kwargs.get("maximize"):
            continue
        options = {k: v for k, v in item.kwargs.items() if k not in ("foreach", "fused", "capturable", "differentiable")}
        torch.manual_seed(1)
        host = nn.Sequential(nn.Linear(20, 12, dtype=torch.float64), nn.Tanh(), nn.Linear(12, 5, dtype=torch.float64))
        if info.optim_cls.__name__ == "Muon":
            host = nn.Sequential(nn.Linear(20, 12, bias=False, dtype=torch.float64), nn.Linear(12, 5, bias=False, dtype=torch.float64))
        device = copy.deepcopy(host).cuda()
        x = torch.randn(8, 20, dtype=torch.float64)
        results = []
        for model, data, more in ((host, x, {}), (device, x.cuda(), {} if way == "plain" else {way: True})):
            optimizer = info.optim_cls(model.parameters(), **options, **more)

            def closure():
                optimizer.zero_grad()
                loss = model(data).square().mean()
                loss.backward()
                return loss

            for _ in range(3):
                optimizer.step(closure)
            results.append([p.detach() for p in model.parameters()])
        # Muon computes in bfloat16. A capturable optimiser counts its steps in a float32 on the GPU, so that 1 - 0.999 ** step, near 0.001, has an
        # error of 3e-5 of itself, and a step of 0.001 one of some 1e-7.
        near(results[1], results[0], 1e-3 if info.optim_cls.__name__ == "Muon" else 1e-6 if way == "capturable" else 1e-7)
