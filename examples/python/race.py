"""A race of all-reduces: hostwire, gloo of PyTorch, and plain sockets.

    hostwire run -n 4 python examples/python/race.py

Every PE has an array, and all want the sum of all. Who takes part: `Job.world.all_reduce`; the backends
hostwire and gloo of torch.distributed, if PyTorch is installed; and what one would write with sockets:
everybody sends to PE 0, which adds and sends back. They run in turn, all results are checked, and of
several rounds the median counts.
"""

import argparse
import importlib
import importlib.util
import socket
import statistics
import time

import numpy as np

import hostwire

BAR = 48


class Sockets:
    """All-reduce over TCP by way of PE 0."""

    def __init__(self, job):
        self.pe, self.pes = job.pe, job.pes
        if self.pe == 0:
            with socket.create_server(("127.0.0.1", 0)) as server:
                job.world.broadcast(np.array([server.getsockname()[1]]))
                peers = [self._prepared(server.accept()[0]) for _ in range(1, self.pes)]
            # In the order of PEs, so that all sums are added in one order.
            by_pe = {int.from_bytes(self._read(peer, 4), "little"): peer for peer in peers}
            self.peers = [by_pe[pe] for pe in range(1, self.pes)]
        else:
            port = int(job.world.broadcast(np.zeros(1, "int64"))[0])
            self.root = self._prepared(socket.create_connection(("127.0.0.1", port)))
            self.root.sendall(self.pe.to_bytes(4, "little"))

    @staticmethod
    def _prepared(connection):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    @staticmethod
    def _read(connection, size_bytes):
        data = bytearray(size_bytes)
        view = memoryview(data)
        while view:
            view = view[connection.recv_into(view) :]
        return data

    def __call__(self, values):
        if self.pe > 0:
            self.root.sendall(values.tobytes())
            return np.frombuffer(self._read(self.root, values.nbytes), values.dtype)
        total = values.copy()
        for peer in self.peers:
            total += np.frombuffer(self._read(peer, values.nbytes), values.dtype)
        for peer in self.peers:
            peer.sendall(total.tobytes())
        return total


def of_torch(group):
    """All-reduce of torch.distributed, in place, as it is there."""
    import torch
    import torch.distributed as dist

    def reduced(values):
        tensor = torch.from_numpy(values.copy())
        dist.all_reduce(tensor, group=group)
        return tensor.numpy()

    return reduced


def contenders(job):
    """Names and functions, the same on all PEs."""
    them = {"hostwire": job.world.all_reduce}
    if importlib.util.find_spec("torch") is not None:
        import torch.distributed as dist

        dist.init_process_group("hostwire")
        them["torch, hostwire"] = of_torch(dist.group.WORLD)
        if dist.is_gloo_available():
            them["torch, gloo"] = of_torch(dist.new_group(backend="gloo"))
    elif job.pe == 0:
        print("PyTorch is not installed: gloo does not take part.")
    if len({job.node(pe) for pe in range(job.pes)}) == 1:
        them["sockets"] = Sockets(job)
    elif job.pe == 0:
        print("There are several hosts: sockets do not take part.")
    return them


def joined():
    """The job. With PyTorch the backend has one, and there can be no second."""
    if importlib.util.find_spec("torch") is None:
        return hostwire.Job()
    return importlib.import_module("hostwire.torch").job()


def latency_s(job, reduced, values, calls):
    job.barrier()
    begin = time.perf_counter()
    for _ in range(calls):
        result = reduced(values)
    spent = (time.perf_counter() - begin) / calls
    if not (result == sum(range(1, job.pes + 1))).all():
        raise AssertionError("a wrong sum")
    return spent


def race(job, them, size_bytes, rounds, calls):
    """Median seconds of each."""
    values = np.full(size_bytes // 4, job.pe + 1.0, "float32")
    times = {name: [] for name in them}
    for number in range(rounds + 1):
        # Who is first changes.
        order = list(them.items())[:: 1 if number % 2 else -1]
        for name, reduced in order:
            spent = latency_s(job, reduced, values, calls)
            # The first round is the warm-up.
            if number:
                times[name].append(spent)
    return {name: statistics.median(spent) for name, spent in times.items()}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bytes", type=int, nargs="+", default=(8, 4096, 48 << 10, 4 << 20))
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--calls", type=int, default=20, help="in a round")
    options = parser.parse_args()
    with joined() as job:
        them = contenders(job)
        for size_bytes in options.bytes:
            spent = race(job, them, size_bytes, options.rounds, options.calls)
            if job.pe > 0:
                continue
            print(f"{size_bytes} bytes, {job.pes} PEs")
            slowest = max(spent.values())
            for name, seconds in sorted(spent.items(), key=lambda item: item[1]):
                bar = "\u2588" * max(1, round(BAR * seconds / slowest))
                print(f"  {name:16} {seconds * 1e6:10.1f} us  {bar}", flush=True)
        job.barrier()
        if len(them) > 2 and "torch, hostwire" in them:
            import torch.distributed as dist

            dist.destroy_process_group()


main()
