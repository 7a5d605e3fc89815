"""What gloo.sh starts: one rank."""

import statistics
import sys
import time

import hostwire.torch
import torch
import torch.distributed as dist

# Bytes, and calls of one round.
SIZES = ((8, 300), (4096, 300), (48 << 10, 200), (4 << 20, 20))


def latency_us(tensor, calls, group):
    """Microseconds of one call, of many behind each other."""
    dist.barrier(group)
    begin = time.perf_counter()
    for _ in range(calls):
        dist.all_reduce(tensor, group=group)
    return (time.perf_counter() - begin) / calls * 1e6


def main():
    rounds = int(sys.argv[1])
    dist.init_process_group("hostwire")
    groups = (dist.group.WORLD, dist.new_group(backend="gloo"))
    for size_bytes, calls in SIZES:
        tensor = torch.zeros(size_bytes // 4)
        for group in groups:
            latency_us(tensor, 20, group)
        # The order changes from round to round.
        times = []
        for number in range(rounds):
            order = groups if number % 2 == 0 else groups[::-1]
            of = {group: latency_us(tensor, calls, group) for group in order}
            times.append([of[group] for group in groups])
        if dist.get_rank() == 0:
            for what, pick in (("median", statistics.median), ("best", min), ("worst", max)):
                ours, theirs = (pick(column) for column in zip(*times, strict=True))
                ratio = theirs / ours
                if what == "median":
                    ratio = statistics.median(theirs / ours for ours, theirs in times)
                print(
                    f"{dist.get_world_size():5}  {size_bytes:10} B  {what:8}  {ours:7.0f} us  "
                    f"{theirs:7.0f} us  {ratio:6.2f}",
                    flush=True,
                )
    dist.barrier()
    dist.destroy_process_group()


main()
