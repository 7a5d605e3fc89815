"""What PyTorch builds on groups (FSDP, DTensor, optimizers in parts) gives the numbers of gloo, to the last bit.

Sums of two have one order only, so two ranks are compared."""

import textwrap

HEAD = """
import os

def say(*numbers):
    # In one piece, as the ranks share a pipe.
    words = [number.hex() if isinstance(number, float) else str(number) for number in numbers]
    os.write(1, (" ".join([str(rank), *words]) + "\\n").encode())

def data(step):
    generator = torch.Generator().manual_seed(1000 * step + rank)
    inputs = torch.randn(16, 12, generator=generator)
    return inputs, (inputs**2).sum(1, keepdim=True)

def layers():
    torch.manual_seed(7)
    sizes = [(12, 40), (40, 24), (24, 1)]
    parts = [torch.nn.Sequential(torch.nn.Linear(*size), torch.nn.Tanh()) for size in sizes]
    return torch.nn.Sequential(*parts, torch.nn.Linear(1, 1))

def train(model, optimizer, steps=8):
    losses = []
    for step in range(steps):
        inputs, right = data(step)
        loss = ((model(inputs) - right) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert len(set(losses)) == steps
    return losses
"""


def same(torch_run, program):
    """What both backends print, which is the same."""
    text = HEAD + textwrap.dedent(program)
    ours, theirs = (torch_run(2, text, backend=backend) for backend in ("hostwire", "gloo"))
    assert len(ours) >= 2 and ours == theirs
    return ours


def test_tensors_stay_as_they_are(torch_run):
    """But for their elements: they can be resized, and versions count as with gloo."""
    torch_run(
        2,
        """
        def resizable(*tensors):
            for tensor in tensors:
                storage = tensor.untyped_storage()
                size = storage.size()
                storage.resize_(0)
                storage.resize_(size)

        other = 1 - rank
        for count in (1, 5, 40_000):
            new = lambda times=1: torch.full((count * times,), 1.0 + rank)
            one, two, three, both, lists = new(), new(), new(), new(2), [new(), new()]
            dist.all_reduce(one)
            dist.broadcast(two, 0)
            dist.reduce(three, 1)
            resizable(one, two, three)
            one, two, three = new(), new(), new()
            dist.all_gather_into_tensor(both, one)
            dist.reduce_scatter_tensor(two, both)
            dist.all_gather(lists, three)
            resizable(one, two, three, both, *lists)
            lists, both = [new(), new()], new(2)
            dist.all_to_all(lists, [new(), new()])
            dist.all_to_all_single(both, into := new(2))
            dist.scatter(one := new(), lists if rank == 0 else None)
            dist.gather(two := new(), lists if rank == 0 else None)
            resizable(one, two, both, into, *lists)
            sent, got = new(), new()
            if rank == 0:
                dist.send(sent, other), dist.recv(got, other)
            else:
                dist.recv(got, other), dist.send(sent, other)
            work = dist.all_reduce(late := new(), async_op=True)
            work.wait()
            resizable(sent, got, late)
            # And so are those that NumPy's side of the package takes.
            given = new()
            hostwire.torch.job().world.all_gather(given)
            resizable(given)
        """,
        backend="hostwire",
    )


def test_fully_sharded_data_parallel(torch_run):
    same(
        torch_run,
        """
        from torch.distributed.fsdp import FullyShardedDataParallel, ShardingStrategy
        from torch.distributed.fsdp.wrap import ModuleWrapPolicy

        for strategy in (ShardingStrategy.FULL_SHARD, ShardingStrategy.SHARD_GRAD_OP):
            model = FullyShardedDataParallel(
                layers(), auto_wrap_policy=ModuleWrapPolicy({torch.nn.Sequential}),
                sharding_strategy=strategy, device_id=torch.device("cpu"),
            )
            optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
            losses = train(model, optimizer)
            norm = model.clip_grad_norm_(1.0)
            state = FullyShardedDataParallel.optim_state_dict(model, optimizer)["state"]
            moments = sum(
                entry["exp_avg"].double().sum().item() for entry in state.values() if "exp_avg" in entry
            )
            with FullyShardedDataParallel.summon_full_params(model):
                total = sum(parameter.double().sum().item() for parameter in model.parameters())
            say(*losses, norm.item(), moments, total)
        """,
    )


def test_fully_shard_of_single_parameters(torch_run):
    same(
        torch_run,
        """
        from torch.distributed.checkpoint.state_dict import get_state_dict, StateDictOptions
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import fully_shard

        mesh = init_device_mesh("cpu", (size,))
        model = layers()
        for part in model:
            fully_shard(part, mesh=mesh)
        fully_shard(model, mesh=mesh)
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
        losses = train(model, optimizer)
        options = StateDictOptions(full_state_dict=True)
        parameters, state = get_state_dict(model, optimizer, options=options)
        total = sum(value.double().sum().item() for value in parameters.values())
        moments = sum(entry["exp_avg"].double().sum().item() for entry in state["state"].values())
        say(*losses, total, moments)
        """,
    )


def test_distributed_tensors(torch_run):
    same(
        torch_run,
        """
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.tensor import Partial, Replicate, Shard, distribute_tensor
        from torch.distributed.tensor.parallel import (
            ColwiseParallel, RowwiseParallel, parallelize_module,
        )

        mesh = init_device_mesh("cpu", (size,))
        torch.manual_seed(3)
        left, right = torch.randn(7, 6), torch.randn(6, 5)
        rows = distribute_tensor(left, mesh, [Shard(1)])
        columns = distribute_tensor(right, mesh, [Shard(0)])
        product = rows @ columns
        assert product.placements == (Partial(),)
        for placement in (Replicate(), Shard(0), Shard(1)):
            full = product.redistribute(mesh, [placement]).full_tensor()
            say(full.double().sum().item(), full.max().item())
        moved = rows.redistribute(mesh, [Shard(0)])
        assert torch.equal(moved.full_tensor(), left)
        model = layers()
        parallelize_module(model, mesh, {"0.0": ColwiseParallel(), "1.0": RowwiseParallel()})
        torch.manual_seed(11)
        inputs = torch.randn(4, 12)
        loss = model(inputs).square().mean()
        loss.backward()
        grad = model[0][0].weight.grad.full_tensor()
        say(loss.item(), grad.double().sum().item())
        """,
    )


def test_optimizers_in_parts(torch_run):
    same(
        torch_run,
        """
        from torch.distributed.optim import ZeroRedundancyOptimizer
        from torch.nn.parallel import DistributedDataParallel

        model = DistributedDataParallel(layers())
        optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.Adam, lr=0.01)
        losses = train(model, optimizer)
        optimizer.consolidate_state_dict(to=0)
        moments = 0.0
        if rank == 0:
            state = optimizer.state_dict()["state"]
            moments = sum(entry["exp_avg"].double().sum().item() for entry in state.values())
        total = sum(parameter.double().sum().item() for parameter in model.parameters())
        say(*losses, moments, total)
        """,
    )


def test_parameters_that_are_not_used(torch_run):
    same(
        torch_run,
        """
        from torch.nn.parallel import DistributedDataParallel

        class Choice(torch.nn.Module):
            def __init__(self):
                super().__init__()
                torch.manual_seed(5)
                self.first, self.second = torch.nn.Linear(12, 1), torch.nn.Linear(12, 1)
                self.never = torch.nn.Linear(12, 1)
                self.step = 0

            def forward(self, inputs):
                # Another one on each rank, and now and then the same.
                self.step += 1
                use_first = (self.step + rank * (self.step % 3)) % 2
                return (self.first if use_first else self.second)(inputs)

        model = DistributedDataParallel(Choice(), find_unused_parameters=True, bucket_cap_mb=0.0001)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        losses = train(model, optimizer)
        total = sum(parameter.double().sum().item() for parameter in model.parameters())
        say(*losses, total)
        """,
    )


def test_ranks_that_call_other_operations_are_told(torch_run):
    """With other sizes, dtypes and reductions, in all operations: an error, and no number."""
    torch_run(
        2,
        """
        from torch.distributed import ReduceOp as Op

        new = lambda dtype=torch.float32, count=2: torch.ones(count, dtype=dtype)
        reduce = lambda *args, op=Op.SUM: lambda group: dist.all_reduce(new(*args), op, group=group)
        gather = lambda dtype, count: lambda group: dist.all_gather(
            [new(dtype, count), new(dtype, count)], new(dtype, count), group=group)
        broadcast = lambda dtype, root: lambda group: dist.broadcast(new(dtype), root, group=group)
        barrier = lambda group: dist.barrier(group=group)
        long = 1 << 19
        pairs = [
            (reduce(torch.int32), reduce(torch.float32)),
            (reduce(op=Op.MAX), reduce(op=Op.MIN)),
            (reduce(torch.float32, 0), reduce(torch.float32, 2)),
            (reduce(torch.float32, long), reduce(torch.float32, 2 * long)),
            (reduce(torch.float32, long), reduce(torch.int32, long)),
            (reduce(), barrier),
            (gather(torch.float32, 2), gather(torch.float64, 1)),
            (gather(torch.float32, 2), reduce()),
            (broadcast(torch.float32, 0), broadcast(torch.int32, 0)),
            (broadcast(torch.float32, 0), broadcast(torch.float32, 1)),
            (broadcast(torch.float32, 0), barrier),
        ]
        for pair in pairs:
            group = dist.new_group(backend="hostwire")
            try:
                pair[rank](group)
                dist.all_reduce(new(), group=group)
            except ValueError as error:
                assert "all ranks have to call the same" in str(error) or "failed" in str(error), error
            except dist.DistBackendError as error:
                # The other one has heard of it, and left.
                assert "has left the group" in str(error), error
            else:
                raise AssertionError(pairs.index(pair))
            dist.destroy_process_group(group)
            # The next one works.
            total = new()
            dist.all_reduce(total)
            assert total.tolist() == [2, 2]
        """,
    )
