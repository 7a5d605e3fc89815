"""All-reduces of torch.distributed over hostwire. Start it by torchrun, with the package of a commit in PYTHONPATH, in turn with another
commit's. Prints ranks, bytes, and microseconds of a call: the median and the best of 9 batches."""

import statistics
import time

import hostwire.torch  # noqa: F401
import torch
import torch.distributed as dist

SIZES = ((8, 300), (1 << 10, 300), (4 << 10, 300), (16 << 10, 300), (64 << 10, 200), (256 << 10, 100), (1 << 20, 40))


def batch_us(tensor, calls):
    dist.barrier()
    begin = time.perf_counter()
    for _ in range(calls):
        dist.all_reduce(tensor)
    return (time.perf_counter() - begin) / calls * 1e6


dist.init_process_group("hostwire")
for size_bytes, calls in SIZES:
    tensor = torch.zeros(size_bytes // 4)
    batch_us(tensor, 20)
    times = [batch_us(tensor, calls) for _ in range(9)]
    if dist.get_rank() == 0:
        print(dist.get_world_size(), size_bytes, f"{statistics.median(times):.1f} {min(times):.1f}", flush=True)
dist.barrier()
dist.destroy_process_group()
