"""Copies between memory of hosts and of accelerators: the TCA interface.

    import hostwire
    from hostwire import tca

    with hostwire.Job() as job, tca.open(job) as t:
        inbox = t.malloc(4096, 0)            # of device 0; of the host without a number
        outbox = t.malloc(4096)
        words = t.malloc(64)
        spots, flags = t.exchange(inbox), t.exchange(words)
        right = (job.pe + 1) % job.pes
        outbox.write(b"hello")
        stream = t.stream()
        stream.memcpy_peer(spots[right], outbox.spot, 5)
        stream.signal(flags[right], 1)       # behind the copy
        words.wait_until(0, 1)
        print(inbox.read(0, 5))
        stream.synchronize()
        job.barrier()

The source of a copy is memory of this PE; its target is memory of any device of any PE. docs/tca.md of the
repository says what each call means.
"""

from ._hostwire import Buffer, Chain, Prepared, Spot, Stream, Tca

__all__ = ["Buffer", "Chain", "Prepared", "Spot", "Stream", "Tca", "open"]


def open(job, host_bytes=16 << 20):
    """A `Tca` over `job`, with `host_bytes` of host memory for `malloc`. Collective."""
    return Tca(job, host_bytes)
