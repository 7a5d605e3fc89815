"""How fast put, get and all_reduce are here: `hostwire run -n 2 python -m hostwire.bench`.

PE 0 puts to the last PE and gets from it, while the others wait: a time is that of one call of
many behind each other, with one quiet at the end. All PEs take part in all_reduce. Each figure is
the median of several runs.
"""

import argparse
import statistics
import time

import numpy as np

import hostwire

_SIZES_BYTES = (8, 64, 512, 4096, 32768, 262144, 2097152)
_RUNS = 7


def _seconds(call, count, end=lambda: None):
    """Seconds for one of `count` calls with `end` behind them; the median of several runs."""
    runs = []
    for _ in range(_RUNS):
        begin = time.perf_counter()
        for _ in range(count):
            call()
        end()
        runs.append((time.perf_counter() - begin) / count)
    return statistics.median(runs)


def _time(latency_s):
    if latency_s < 1e-6:
        return f"{latency_s * 1e9:.0f} ns"
    if latency_s < 1e-3:
        return f"{latency_s * 1e6:.2f} us"
    return f"{latency_s * 1e3:.2f} ms"


def _rate(size_bytes, latency_s):
    return f"{size_bytes / latency_s / 1e9:.3f} GB/s"


def _count(size_bytes, work_bytes):
    return max(3, min(20_000, work_bytes // size_bytes))


def _rows(job, sizes_bytes, work_bytes):
    """Yields a row for each size, on PE 0; None elsewhere."""
    peer = job.pes - 1
    array = job.zeros(max(sizes_bytes), "uint8")
    job.barrier()
    for size_bytes in sizes_bytes:
        row = None
        count = _count(size_bytes, work_bytes)
        if job.pe == 0:
            values = np.ones(size_bytes, "uint8")
            out = np.empty(size_bytes, "uint8")

            def put(values=values):
                array.put(peer, values)

            def get(out=out):
                array.get(peer, out)

            latencies_s = []
            for call in (put, get):
                call()
                job.quiet()
                latencies_s.append(_seconds(call, count, job.quiet))
            row = latencies_s
        job.barrier()
        summands = np.ones(max(1, size_bytes // 8))
        # The same number on all PEs.
        calls = max(3, min(500, count))
        latency_s = _seconds(lambda values=summands: job.world.all_reduce(values), calls)
        if row is not None:
            yield size_bytes, *row, latency_s
        else:
            yield None


def main(arguments=None):
    """Prints a table."""
    parser = argparse.ArgumentParser(prog="python -m hostwire.bench", description=__doc__)
    parser.add_argument(
        "--bytes",
        type=int,
        nargs="+",
        default=_SIZES_BYTES,
        metavar="N",
        help="sizes, multiples of 8 (default: %(default)s)",
    )
    parser.add_argument(
        "--work-bytes",
        type=int,
        default=64 << 20,
        metavar="N",
        help="bytes that each figure moves in one run, where that is 3 to 20000 calls "
        "(default: %(default)s)",
    )
    options = parser.parse_args(arguments)
    if any(size < 8 or size % 8 for size in options.bytes):
        parser.error("--bytes: expected multiples of 8, of 8 or more")
    if options.work_bytes < 1:
        parser.error("--work-bytes: expected 1 or more")
    columns = "{:>10}  {:>10} {:>12}  {:>10} {:>12}  {:>14}"
    with hostwire.Job() as job:
        if job.pe == 0:
            print(f"PE 0 and PE {job.pes - 1}; all_reduce of {job.pes} PEs, sum of float64")
            print(columns.format("size", "put", "put", "get", "get", "all_reduce"))
        for row in _rows(job, options.bytes, options.work_bytes):
            if row is None:
                continue
            size_bytes, put_s, get_s, reduce_s = row
            text = columns.format(
                f"{size_bytes} B",
                _time(put_s),
                _rate(size_bytes, put_s),
                _time(get_s),
                _rate(size_bytes, get_s),
                _time(reduce_s),
            )
            print(text, flush=True)


if __name__ == "__main__":
    main()
