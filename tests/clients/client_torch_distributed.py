"""torch.distributed with the wheel's NCCL: a process for each of two GPUs (exec --machine), collectives and training in shares, against
the same on the CPU in one process."""
import traceback

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

WORLD = 2


def model():
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 8))


def data():
    random = torch.Generator().manual_seed(2)
    return torch.randn(8 * WORLD, 32, generator=random), torch.randn(8 * WORLD, 8, generator=random)


def steps(m, x, y, optimiser=None):
    o = optimiser or torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9)
    for _ in range(3):
        o.zero_grad()
        nn.functional.mse_loss(m(x), y).backward()
        o.step()


def trained():
    m = model()
    steps(m, *data())
    return m.parameters()


def share(rank):
    return [t[rank * 8 : rank * 8 + 8].cuda() for t in data()]


def same(got, want):
    for g, w in zip(got, want, strict=True):
        assert torch.allclose(g.detach().cpu(), w.detach(), rtol=1e-4, atol=1e-5), (g.detach().cpu() - w).abs().max()


def sums(rank):
    parts = [torch.arange(1, 1000) % 5 + i for i in range(WORLD)]
    for kind in (torch.float32, torch.float16, torch.bfloat16, torch.int64):
        for op, want in ((dist.ReduceOp.SUM, sum(parts)), (dist.ReduceOp.MAX, parts[1])):
            t = parts[rank].to(kind).cuda()
            dist.all_reduce(t, op)
            assert torch.equal(t.cpu().long(), want)
    t = torch.arange(300000.0, device="cuda") + rank
    dist.all_reduce(t)
    assert torch.equal(t.cpu(), torch.arange(300000.0) * WORLD + 1)


def rounds(rank):
    """Many sums of the size that goes by NCCL's protocol LL: eight bytes with a flag in them, which are seen whole or not at all."""
    for i in range(60):
        t = torch.arange(20000.0, device="cuda") + rank + i
        dist.all_reduce(t)
        assert torch.equal(t.cpu(), torch.arange(20000.0) * WORLD + 1 + WORLD * i)


def collectives(rank):
    t = torch.arange(100.0, device="cuda") + 1000 * rank
    whole = torch.empty(100 * WORLD, device="cuda")
    dist.all_gather_into_tensor(whole, t)
    assert torch.equal(whole.cpu(), torch.cat([torch.arange(100.0) + 1000 * i for i in range(WORLD)]))
    part = torch.empty(50, device="cuda")
    dist.reduce_scatter_tensor(part, torch.arange(50.0 * WORLD, device="cuda"))
    assert torch.equal(part.cpu(), WORLD * torch.arange(50.0 * rank, 50.0 * rank + 50))
    a = torch.arange(10.0 * WORLD, device="cuda") + 100 * rank
    b = torch.empty_like(a)
    dist.all_to_all_single(b, a)
    assert torch.equal(b.cpu(), torch.cat([torch.arange(10.0) + 10 * rank + 100 * i for i in range(WORLD)]))
    t = torch.full((5,), float(rank), device="cuda")
    dist.broadcast(t, 1)
    assert (t == 1).all()
    dist.barrier()


def messages(rank):
    t, got = torch.full((1000,), float(rank), device="cuda"), torch.empty(1000, device="cuda")
    other = 1 - rank
    for work in dist.batch_isend_irecv([dist.P2POp(dist.isend, t, other), dist.P2POp(dist.irecv, got, other)]):
        work.wait()
    assert (got == other).all()


def data_parallel(rank):
    m = nn.parallel.DistributedDataParallel(model().cuda(), device_ids=[rank])
    steps(m, *share(rank))
    same(m.parameters(), trained())


def fully_sharded(rank):
    from torch.distributed.fsdp import fully_shard

    m = model().cuda()
    for layer in m:
        if isinstance(layer, nn.Linear):
            fully_shard(layer)
    fully_shard(m)
    steps(m, *share(rank))
    same([p.full_tensor() for p in m.parameters()], trained())


def tensor_parallel(rank):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

    m = model().cuda()
    parallelize_module(m, init_device_mesh("cuda", (WORLD,)), {"0": ColwiseParallel(), "2": RowwiseParallel()})
    same([m(data()[0].cuda())], [model()(data()[0])])


def batch_norm(rank):
    torch.manual_seed(0)
    x = torch.randn(4 * WORLD, 3, 5, 5)
    mine = slice(4 * rank, 4 * rank + 4)
    same([nn.SyncBatchNorm(3).cuda()(x[mine].cuda())], [nn.BatchNorm2d(3)(x)[mine]])


def captured(rank):
    """A sum in a graph, launched twice."""
    t = torch.ones(256, device="cuda")
    dist.all_reduce(t)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        dist.all_reduce(t)
    t.fill_(rank + 1.0)
    graph.replay()
    graph.replay()
    assert (t == 6).all()


def symmetric_memory(rank):
    import torch.distributed._symmetric_memory as symmetric

    t = symmetric.empty(1024, device=f"cuda:{rank}", dtype=torch.float32)
    handle = symmetric.rendezvous(t, dist.group.WORLD)
    t.fill_(rank + 1.0)
    handle.barrier()
    assert (handle.get_buffer(1 - rank, (1024,), torch.float32) == 2 - rank).all()
    handle.barrier()
    assert (torch.ops.symm_mem.one_shot_all_reduce(t, "sum", dist.group.WORLD.group_name) == 3).all()


CHECKS = [sums, rounds, collectives, messages, data_parallel, fully_sharded, tensor_parallel, batch_norm, captured, symmetric_memory]


def rank_main(rank, port):
    torch.set_num_threads(1)
    torch.cuda.set_device(rank)
    place = dict(init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=WORLD)
    dist.init_process_group("nccl", device_id=torch.device("cuda", rank), **place)
    failed = 0
    for check in CHECKS:
        try:
            check(rank)
            torch.cuda.synchronize()
            if rank == 0:
                print("ok", check.__name__, flush=True)
        except Exception as error:  # the next check may still say something
            failed += 1
            print("not ok", check.__name__, "of rank", rank, type(error).__name__, str(error)[:200], flush=True)
            traceback.print_exc()
    dist.destroy_process_group()
    assert not failed


if __name__ == "__main__":
    mp.spawn(rank_main, (29531,), WORLD)
