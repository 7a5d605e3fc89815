"""The backend of torch.distributed against what one process computes, and against gloo."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from conftest import LIMIT_S

# The values of a rank, known to all ranks.
VALUES = """
from torch.distributed import ReduceOp as Op

BITS = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
COMPLEX = [torch.complex64, torch.complex128]

def values(rank, count, dtype, seed=0):
    generator = torch.Generator().manual_seed(1000 * seed + rank)
    if dtype == torch.bool:
        return torch.randint(0, 2, (count,), generator=generator).bool()
    if dtype.is_complex:
        return torch.randn(count, dtype=dtype, generator=generator)
    if dtype.is_floating_point:
        return torch.randn(count, generator=generator).to(dtype)
    return torch.randint(0, 100, (count,), generator=generator).to(dtype)

def is_same(got, expected):
    if got.shape != expected.shape or got.dtype != expected.dtype:
        return False
    got, expected = got.contiguous().flatten(), expected.contiguous().flatten()
    return got.numel() == 0 or torch.equal(got.view(torch.uint8), expected.view(torch.uint8))

def refused(call):
    try:
        call()
    except ValueError as error:
        return str(error)
    raise AssertionError("no error")
"""


def of_values(program):
    return VALUES + textwrap.dedent(program)


@pytest.mark.parametrize("ranks", [2, 3])
def test_reductions_give_the_bits_of_the_order_of_ranks(torch_run, ranks):
    program = of_values("""
    COMBINE = {
        Op.SUM: torch.add, Op.AVG: torch.add, Op.PRODUCT: torch.mul, Op.MIN: torch.minimum,
        Op.MAX: torch.maximum, Op.BAND: torch.bitwise_and, Op.BOR: torch.bitwise_or,
        Op.BXOR: torch.bitwise_xor,
    }

    def combined(op, count, dtype, seed=0):
        total = values(0, count, dtype, seed)
        for other in range(1, size):
            total = COMBINE[op](total, values(other, count, dtype, seed))
        if op == Op.AVG:
            (torch.view_as_real(total) if total.is_complex() else total).div_(size)
        return total

    for dtype in BITS + FLOATS + COMPLEX:
        for op in COMBINE:
            takes = BITS + FLOATS
            if op == Op.SUM:
                takes = BITS + FLOATS + COMPLEX
            elif op == Op.AVG:
                takes = FLOATS + COMPLEX
            elif op in (Op.BAND, Op.BOR, Op.BXOR):
                takes = BITS
            if dtype not in takes:
                refused(lambda: dist.all_reduce(values(rank, 3, dtype), op))
                continue
            for count in (0, 1, 7, 40_000, 300_001):
                tensor = values(rank, count, dtype)
                dist.all_reduce(tensor, op)
                assert is_same(tensor, combined(op, count, dtype)), (dtype, op, count)
            for count in (7, 40_000):
                tensor = values(rank, count, dtype)
                dist.reduce(tensor, size - 1, op)
                is_root = rank == size - 1
                right = combined(op, count, dtype) if is_root else values(rank, count, dtype)
                assert is_same(tensor, right), (dtype, op, count)
                inputs = [values(rank, count, dtype, part) for part in range(size)]
                out = torch.empty(count, dtype=dtype)
                right = combined(op, count, dtype, rank)
                dist.reduce_scatter(out, inputs, op)
                assert is_same(out, right), (dtype, op, count)
                out.zero_()
                dist.reduce_scatter_tensor(out, torch.cat(inputs), op)
                assert is_same(out, right), (dtype, op, count)
    """)
    torch_run(ranks, program)


@pytest.mark.parametrize("ranks", [2, 3])
def test_what_moves_arrives(torch_run, ranks):
    program = of_values("""
    for dtype in BITS + FLOATS + COMPLEX:
        for count in (0, 1, 5, 70_000, 600_000):
            own = values(rank, count, dtype)
            everything = [values(other, count, dtype) for other in range(size)]
            outs = [torch.empty_like(own) for _ in range(size)]
            dist.all_gather(outs, own)
            assert all(map(is_same, outs, everything))
            out = torch.empty(size * count, dtype=dtype)
            dist.all_gather_into_tensor(out, own)
            assert is_same(out, torch.cat(everything))
            for root in range(size):
                tensor = own.clone()
                dist.broadcast(tensor, root)
                assert is_same(tensor, everything[root])
            outs = [torch.empty_like(own) for _ in range(size)] if rank == 1 else None
            dist.gather(own, outs, 1)
            assert rank != 1 or all(map(is_same, outs, everything))
            out = torch.empty_like(own)
            dist.scatter(out, everything if rank == 0 else None, 0)
            assert is_same(out, own)
            # Of any lengths.
            inputs = [values(rank, count + to, dtype, to) for to in range(size)]
            outs = [torch.empty(count + rank, dtype=dtype) for _ in range(size)]
            dist.all_to_all(outs, inputs)
            right = [values(source, count + rank, dtype, rank) for source in range(size)]
            assert all(map(is_same, outs, right))
            out = torch.empty(size * (count + rank), dtype=dtype)
            rows = [count + rank] * size, [count + to for to in range(size)]
            dist.all_to_all_single(out, torch.cat(inputs), *rows)
            assert is_same(out, torch.cat(right))
            out = torch.empty(size * count, dtype=dtype)
            dist.all_to_all_single(out, torch.cat(everything))
            assert is_same(out, torch.cat([own] * size))
    objects = [None] * size
    dist.all_gather_object(objects, {"rank": rank})
    assert objects == [{"rank": other} for other in range(size)]
    """)
    torch_run(ranks, program)


def test_tensors_of_any_shape(torch_run):
    torch_run(
        2,
        """
        apart = (torch.arange(24.0) + rank).view(2, 3, 4).transpose(0, 2)
        dist.all_reduce(apart)
        assert torch.equal(apart, (2 * torch.arange(24.0) + 1).view(2, 3, 4).transpose(0, 2))
        whole = torch.arange(10.0)
        dist.all_reduce(whole[::2])
        assert torch.equal(whole[::2], 2 * torch.arange(10.0)[::2])
        assert torch.equal(whole[1::2], torch.arange(10.0)[1::2])
        number = torch.tensor(3.0 + rank)
        dist.all_reduce(number)
        assert number.item() == 7
        parameter = torch.nn.Parameter(torch.full((3,), float(rank)))
        dist.broadcast(parameter.data, 1)
        assert parameter.tolist() == [1, 1, 1]
        out = torch.zeros(3, 4).t()
        dist.all_gather_into_tensor(out, torch.full((2, 3), float(rank)))
        assert torch.equal(out, torch.tensor([[0.0] * 3] * 2 + [[1.0] * 3] * 2))
        """,
    )


def test_messages(torch_run):
    torch_run(
        3,
        """
        sizes = (0, 1, 100, 200_000)
        if rank == 0:
            sent = [
                dist.isend(torch.full((length,), float(tag)), 1, tag=tag)
                for tag, length in enumerate(sizes)
            ]
            for work in sent:
                work.wait()
        if rank == 1:
            outs = [torch.empty(length) for length in sizes]
            works = {tag: dist.irecv(outs[tag], 0, tag=tag) for tag in (3, 1, 2, 0)}
            for tag, work in works.items():
                work.wait()
                assert work.is_completed() and (outs[tag] == tag).all()
        # Of any source, and tags that come in another order.
        if rank == 2:
            dist.send(torch.full((4,), 1.0), 0, tag=1)
            dist.send(torch.full((4,), 2.0), 0, tag=2)
        if rank == 0:
            out = torch.empty(4)
            assert dist.recv(out, tag=2) == 2 and (out == 2).all()
            assert dist.recv(out, tag=1) == 2 and (out == 1).all()
        out = torch.empty(1000)
        operations = [
            dist.P2POp(dist.isend, torch.full((1000,), float(rank)), (rank + 1) % size),
            dist.P2POp(dist.irecv, out, (rank - 1) % size),
        ]
        for work in dist.batch_isend_irecv(operations):
            work.wait()
        assert (out == (rank - 1) % size).all()
        # A message of another length is an error of its receiver.
        if rank == 0:
            dist.send(torch.ones(3), 1)
        if rank == 1:
            try:
                dist.recv(torch.empty(5), 0)
            except ValueError as error:
                assert "12 bytes" in str(error) and "20" in str(error), error
            else:
                raise AssertionError("no error")
        dist.barrier()
        """,
    )


def test_operations_in_the_background(torch_run):
    torch_run(
        3,
        """
        from datetime import timedelta

        # Rank 0 begins what the others do after its message.
        tensor = torch.ones(2)
        if rank == 0:
            work = dist.all_reduce(tensor, async_op=True)
            dist.send(torch.ones(1), 1)
            work.wait()
        else:
            if rank == 1:
                dist.recv(torch.empty(1), 0)
            dist.all_reduce(tensor)
        assert tensor.tolist() == [3, 3]
        works = [dist.all_reduce(torch.full((1000,), 1.0), async_op=True) for _ in range(50)]
        for work in works:
            assert work.wait(timedelta(seconds=300)) and work.is_success()
            assert work.result()[0][0] == 3
        future = dist.all_reduce(torch.ones(2), async_op=True).get_future()
        assert future.then(lambda done: done.value()[0] * 2).wait().tolist() == [6, 6]
        # A wait with a limit, for what rank 0 does later.
        if rank:
            work = dist.barrier(async_op=True)
            try:
                work.wait(timedelta(seconds=0.1))
            except dist.DistBackendError as error:
                assert "has not ended within" in str(error)
            else:
                raise AssertionError("no error")
            dist.send(torch.ones(1), 0)
            work.wait()
        else:
            for other in (1, 2):
                dist.recv(torch.empty(1), other)
            dist.barrier()
        """,
    )


def test_groups(torch_run):
    torch_run(
        3,
        """
        for members in ([0, 1], [2, 0], [0, 1, 2], [1]):
            group = dist.new_group(members)
            if rank in members:
                tensor = torch.full((3,), float(rank))
                dist.all_reduce(tensor, group=group)
                assert tensor.tolist() == 3 * [sum(members)]
                seen = [None] * len(members)
                dist.all_gather_object(seen, rank, group=group)
                assert seen == sorted(members)
                dist.destroy_process_group(group)
        # More than there is room for at a time, one after the other.
        for _ in range(100):
            group = dist.new_group([0, 1])
            if rank < 2:
                tensor = torch.ones(3)
                dist.all_reduce(tensor, group=group)
                assert tensor[0] == 2
                dist.destroy_process_group(group)
        # Two groups at once, in another order on each rank.
        first, second = dist.new_group(), dist.new_group()
        one, two = torch.ones(9), torch.ones(9)
        order = [(one, first), (two, second)]
        works = [
            dist.all_reduce(tensor, group=group, async_op=True)
            for tensor, group in (order if rank else order[::-1])
        ]
        for work in works:
            work.wait()
        assert one[0] == two[0] == size
        # Again from the start.
        dist.barrier()
        dist.destroy_process_group()
        dist.init_process_group("hostwire")
        tensor = torch.ones(3)
        dist.all_reduce(tensor)
        assert tensor[0] == size
        """,
    )


def test_errors_say_what_is_wrong(torch_run):
    torch_run(
        2,
        of_values("""
        assert "one on meta" in refused(lambda: dist.all_reduce(torch.empty(3, device="meta")))
        sparse = torch.eye(3).to_sparse_csr()
        assert "sparse" in refused(lambda: dist.broadcast(sparse, 0))
        text = refused(lambda: dist.all_to_all_single(torch.empty(3), torch.empty(3)))
        assert "a multiple of 2, got 3" in text
        assert "32" in refused(lambda: dist.send(torch.ones(1), 1 - rank, tag=1 << 32))
        # What is refused has not been begun.
        tensor = torch.ones(3)
        dist.all_reduce(tensor)
        assert tensor[0] == 2
        text = refused(lambda: dist.all_reduce(torch.ones(3 + rank)))
        assert f"rank {1 - rank}" in text and "the same sizes" in text, text
        assert "can do nothing more" in refused(lambda: dist.all_reduce(tensor))
        """),
    )


@pytest.mark.parametrize("how", ["dies", "is silent"])
def test_a_rank_that_does_not_come(tmp_path, how):
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent(f"""
        import os, sys
        from datetime import timedelta
        import hostwire.torch
        import torch, torch.distributed as dist
        rank = int(sys.argv[1])
        dist.init_process_group(
            "hostwire", init_method="file://{tmp_path}/store", rank=rank, world_size=2,
            timeout=timedelta(seconds={20 if how == "dies" else 2}),
        )
        dist.barrier()
        if rank == 1:
            if {how == "dies"}:
                os._exit(3)
            sys.stdin.read()
            os._exit(0)
        try:
            dist.all_reduce(torch.ones(4))
        except dist.DistBackendError as error:
            print(error, flush=True)
        os._exit(0)
        """)
    )
    start = lambda rank: subprocess.Popen(
        [sys.executable, program, str(rank)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={name: value for name, value in os.environ.items() if not name.startswith("PMI")},
    )
    other, one = start(1), start(0)
    try:
        said, _ = one.communicate(timeout=LIMIT_S)
    finally:
        other.communicate(timeout=LIMIT_S)
    if how == "dies":
        assert said == "hostwire: PE 1 is lost: its process has ended\n"
    else:
        assert said == "hostwire: rank 1 (PE 1) has not done its part within 2 s\n"


def test_a_rank_that_ends_early_is_missed_at_once(tmp_path):
    """By sys.exit: its process waits for the others in peace, which wait for its part."""
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent(f"""
        import sys
        from datetime import timedelta
        import hostwire.torch
        import torch, torch.distributed as dist
        rank = int(sys.argv[1])
        dist.init_process_group(
            "hostwire", init_method="file://{tmp_path}/store", rank=rank, world_size=3,
            timeout=timedelta(seconds={LIMIT_S}),
        )
        dist.barrier()
        if rank == 1:
            sys.exit(0)
        try:
            dist.all_reduce(torch.ones(4))
        except dist.DistBackendError as error:
            print(error, flush=True)
        """)
    )
    ranks = [
        subprocess.Popen(
            [sys.executable, program, str(rank)],
            stdout=subprocess.PIPE,
            text=True,
            env={name: value for name, value in os.environ.items() if not name.startswith("PMI")},
        )
        for rank in range(3)
    ]
    # Less than the time limit of the operation.
    said = [rank.communicate(timeout=LIMIT_S / 2)[0] for rank in ranks]
    assert said[1] == ""
    assert all(text.startswith("hostwire: rank 1 (PE 1) has left the group") for text in (said[0], said[2])), said
    assert all(rank.returncode == 0 for rank in ranks)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to make network namespaces")
def test_groups_of_two_hosts(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent("""
        import hostwire.torch
        import torch, torch.distributed as dist
        dist.init_process_group("hostwire")
        rank, size = dist.get_rank(), dist.get_world_size()
        job = hostwire.torch.job()
        assert len({job.node(pe) for pe in range(size)}) == 2
        for count in (1, 12_000, 1_000_001):
            values = torch.arange(count, dtype=torch.float32) + rank
            dist.all_reduce(values)
            expected = size * torch.arange(count, dtype=torch.float32) + sum(range(size))
            assert torch.equal(values, expected)
            parts = [torch.empty(count) for _ in range(size)]
            dist.all_gather(parts, torch.full((count,), float(rank)))
            assert all((part == other).all() for other, part in enumerate(parts))
        # Where sums are rounded, all have the same bits.
        for count in (17, 1_000_003):
            torch.manual_seed(rank)
            values = torch.randn(count)
            parts = [torch.empty(count) for _ in range(size)]
            dist.all_gather(parts, values)
            dist.all_reduce(values)
            assert torch.allclose(values, sum(parts), atol=1e-5)
            dist.all_gather(parts, values)
            assert all(torch.equal(part, values) for part in parts)
        # Two ranks of one host, one of the other; then one of each.
        for members in ([0, 1, 3], [0, 2]):
            group = dist.new_group(members)
            if rank in members:
                values = torch.full((500_001,), float(rank))
                dist.all_reduce(values, group=group)
                assert (values == sum(members)).all()
        if rank in (0, 2):
            value = torch.tensor([rank])
            dist.broadcast(value, 2, group=group)
            assert value.item() == 2
        dist.barrier()
        # In one write: unbuffered, "print" has two.
        print(f"rank {rank} done\\n", end="", flush=True)
        dist.destroy_process_group()
        """)
    )
    words = "-m torch.distributed.run --nnodes 2 --nproc-per-node 2 --master-addr 10.9.0.1"
    start = f"{sys.executable} {words} --master-port 29561"
    script = tmp_path / "hosts.sh"
    script.write_text(
        textwrap.dedent(f"""
        set -e
        export HOSTWIRE_WIRE=udp HOSTWIRE_IFACE=wire OMP_NUM_THREADS=1
        /run/agent fb exec {start} --node-rank 1 {program} &
        {start} --node-rank 0 {program}
        wait $!
        """)
    )
    hosts = Path(__file__).parents[4] / "tools/cli/tests/launchers/hosts.sh"
    done = subprocess.run(
        ["bash", hosts, "bash", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        timeout=LIMIT_S,
        env={name: value for name, value in os.environ.items() if not name.startswith("PMI")},
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(done.stdout.split("\n")[:-1]) == [f"rank {rank} done" for rank in range(4)]


def test_training_gives_the_losses_of_gloo(torch_run):
    program = """
    import os

    from torch.nn.parallel import DistributedDataParallel

    # The first rank's parameters are taken by all.
    torch.manual_seed(rank)
    model = torch.nn.Sequential(
        torch.nn.Linear(20, 300), torch.nn.BatchNorm1d(300), torch.nn.ReLU(), torch.nn.Linear(300, 1)
    )
    # Several buckets.
    model = DistributedDataParallel(model, bucket_cap_mb=0.01)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001, momentum=0.9)
    generator = torch.Generator().manual_seed(100 + rank)
    losses = []
    for _ in range(100):
        inputs = torch.randn(32, 20, generator=generator)
        right = (inputs**2).sum(1, keepdim=True)
        loss = ((model(inputs) - right) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    # It trains.
    assert sum(losses[-10:]) < sum(losses[:10]) / 2, losses
    # In one piece, as the ranks share a pipe.
    os.write(1, (" ".join([str(rank), *map(float.hex, losses)]) + "\\n").encode())
    """
    ours, theirs = (torch_run(2, program, backend=backend) for backend in ("hostwire", "gloo"))
    assert len(ours) == 2 and ours == theirs
